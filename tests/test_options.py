"""Options: another value selects another method, with the same result."""

import math

import numpy as np
import pytest
from sklearn import config_context
from tests.problems import MODELS, example

from superfactor.options import Options
from superfactor.solvers import newton
from superfactor.subspace import Basis, Inside
from superfactor.theory import certify
from superfactor.theory.top_sums import FullSpectrum, KnownSpectrum, RitzSpectrum, spectrum_of

every_model = pytest.mark.parametrize("model", MODELS)


def solved(model, n, p, rank=2, search="auto", **options):
    """The problem with these options, and its solution."""
    case = {"kappa": 2, "weighted": True, "lam": 2.0, "options": Options(**options)}
    problem, _ = example(model, n, p, **case)
    return problem, newton.solve(problem, rank, tol=1e-10, search=search)


def assert_same_solution(one, other, rtol=1e-9):
    np.testing.assert_allclose(one.objective, other.objective, rtol=rtol)
    size = np.abs(one.factors.components).max()
    np.testing.assert_allclose(one.factors.components, other.factors.components, atol=1e-3 * size)


def test_compressed_side():
    (problem, found), (other, expected) = (
        solved("feature", 12, 30, compressed_side=side) for side in (12, 11)
    )
    assert problem.compact.shape == (12, 12)
    assert other.compact is other
    assert_same_solution(found, expected)


@every_model
def test_whole_range(model):
    """The whole range at once, or a growing subspace: bases of different size, the same optimum."""
    (_, found), (_, expected) = (solved(model, 60, 40, whole_range=size) for size in (40, 39))
    assert found.basis().size >= 40
    assert expected.basis().size < 40
    assert_same_solution(found, expected)


WAYS = {
    "dense": {"expected_products": 10**9},
    "no system may be so large": {"largest_system": 0},
    "dense is slow": {"dense_loss": 1e9},
}


@pytest.mark.parametrize("way", WAYS)
def test_dense_systems_or_conjugate_gradients(way, monkeypatch, model="filter"):
    """The calls to the samples show the method of a descent: curvature, or its products.

    Without other starts, which always descend together by products.
    """
    problem, _ = example(
        model, 40, 8, 2, weighted=True, lam=2.0, options=Options(**WAYS[way], whole_range=64)
    )
    asked = []
    summed = problem.samples.summed
    monkeypatch.setattr(
        problem.samples, "summed", lambda call, *rest: (asked.append(call.name), summed(call, *rest))[1]
    )
    found = newton.solve(problem, 2, tol=1e-10, search="off")
    assert ("curvature" in asked) == (way == "dense")
    assert ("curvature_product" in asked) == (way != "dense")
    _, expected = solved(model, 40, 8, search="off")
    assert_same_solution(found, expected)


def test_values_worth_coarse():
    """Products in single precision change directions, not the solution."""
    products = {"largest_system": 0}
    (problem, found), (_, expected) = (
        solved("filter", 40, 8, values_worth_coarse=values, **products) for values in (1, 10**9)
    )
    basis = Basis.empty(problem)
    basis, _ = basis.extended(problem.model.random(problem.side, np.random.default_rng(0), 4))
    assert Inside(basis, 2).loss.coarse.coarse
    assert_same_solution(found, expected)


def test_curvature_of_some_of_the_samples():
    few = {"rows_a_column": 1, "fewest_curvature_rows": 30, "curvature_gradients": 0}
    (problem, found), (other, expected) = (solved("feature", 300, 6, **options) for options in (few, {}))
    shares = [
        Inside(
            Basis.empty(each).extended(each.model.random(each.side, np.random.default_rng(0), 4))[0], 2
        ).loss.share
        for each in (problem, other)
    ]
    assert shares[0] < 0.2
    assert shares[1] == 1.0
    assert_same_solution(found, expected)


def test_subsample_ratio():
    sizes = {"fewest_subsample": 20, "enough_subsample": 100}
    (problem, found), (other, expected) = (
        solved("filter", 400, 6, subsample_ratio=ratio, **sizes) for ratio in (8, 21)
    )
    assert problem.subsample_share() == 50 / 400
    assert other.subsample_share() is None  # nineteen are too few
    assert_same_solution(found, expected)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        pytest.param({}, None, id="few samples"),
        pytest.param({"fewest_subsample": 40}, 50, id="one in eight"),
        pytest.param({"fewest_subsample": 51}, None, id="too few of them"),
        pytest.param(
            {"fewest_subsample": 1, "enough_subsample": 30, "enough_a_feature": 1}, 30, id="largest"
        ),
        pytest.param(
            {"fewest_subsample": 1, "enough_subsample": 1, "enough_a_feature": 7}, 42, id="by features"
        ),
        pytest.param({"fewest_subsample": 1, "subsample_memory": 1e-6}, 1.048576 / 48 * 1000, id="memory"),
        pytest.param({"fewest_subsample": 1, "subsample_memory": 1e-9}, None, id="no memory"),
    ],
)
def test_how_many_samples_to_begin_with(options, count):
    problem, _ = example("filter", 400, 6, 2, options=Options(**options))
    with config_context(working_memory=1000):
        share = problem.subsample_share()
    assert share == (None if count is None else pytest.approx(count / 400))


def test_the_memory_of_sparse_rows_is_that_of_their_values():
    options = Options(fewest_subsample=1, subsample_memory=1e-6)
    problem, _ = example("filter", 400, 6, 2, sparse=True, options=options)
    row = (problem.row_size + 1) * 8
    assert problem.row_size == problem.whole.data.nnz / 400
    with config_context(working_memory=1000):
        assert problem.subsample_share() == pytest.approx(1.048576 * 1000 / row / 400)


SPECTRA = {
    "exact": ({}, FullSpectrum),
    "side": ({"exact_side": 5}, RitzSpectrum),
    "operations": ({"exact_operations": 2 * 6 * 6 * 40 - 1}, RitzSpectrum),
}


@pytest.mark.parametrize("way", SPECTRA)
def test_exact_side(way, model="filter"):
    """The Gram matrix or a basis: the same bound, and only one of them is exact."""
    options, kind = SPECTRA[way]
    problem, found = solved(model, 40, 6, **options)
    assert type(spectrum_of(problem, 2, found.basis)) is kind
    proof = certify(problem, 2, found)
    assert proof.exact == (kind is FullSpectrum)
    exact_problem, expected = solved(model, 40, 6)
    exact = certify(exact_problem, 2, expected)
    np.testing.assert_allclose(proof.lower_bound, exact.lower_bound, rtol=1e-8)
    assert proof.is_global == exact.is_global


def test_known_singular_values_need_no_choice():
    problem, found = solved("filter", 12, 30, exact_side=0)
    assert type(spectrum_of(problem.compact, 2, found.basis)) is KnownSpectrum


@pytest.mark.parametrize(
    ("n", "columns", "outputs", "expected"),
    [
        pytest.param(100, 10, 1, 1.0, id="few samples: all"),
        pytest.param(16_000, 10, 1, 1.0, id="not yet twice the fewest rows"),
        pytest.param(10**6, 1000, 1, 64_000 / 10**6, id="64 rows per column"),
        pytest.param(10**6, 1000, 20, 64_000 / 10**6, id="however many outputs"),
        pytest.param(10**7, 100, 10, 0.016, id="sixteen gradients' worth of rows"),
        pytest.param(10**6, 2, 3, 1.0, id="few unknowns: as cheap as gradients"),
        pytest.param(10**6, 0, 1, 1.0, id="no columns"),
        pytest.param(10**5, 20, 60, 2048 / 10**5, id="many outputs: never fewer rows than 2048"),
    ],
)
def test_share_of_the_curvature(n, columns, outputs, expected):
    assert Options().curvature_share(n, columns, outputs) == pytest.approx(expected, rel=1e-12)


def test_what_a_dense_system_costs():
    """Its matrix, n(mκ)² operations, and a factorization, 2(mκ)³/3; none may be larger than allowed."""
    options = Options(call_overhead=7.0, dense_loss=3.0, largest_system=30)
    expected = 7 + 3 * (100 * 30**2 + 2 / 3 * 30**3)
    assert options.dense_operations(100, 10, 3) == pytest.approx(expected, rel=1e-12)
    assert options.dense_operations(100, 31, 1) == math.inf
    assert options.dense_operations(100, 30, 1) == options.dense_operations(100, 10, 3)
