"""Stating a problem: its numbers against the user's arrays, its other views, and who may ask for arrays."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from tests import naive
from tests.problems import MODELS, example, lifted, objective
from tests.samples.cutting import cut

from superfactor.losses import SquaredError, resolve_link
from superfactor.options import Options
from superfactor.problem import state
from superfactor.samples import Block, Design
from superfactor.solvers import newton
from superfactor.spectrum import as_rows
from superfactor.subspace import Basis, Inside, LossOn, fit_ridge
from superfactor.theory import certify
from superfactor.theory.top_sums import FullSpectrum, KnownSpectrum, RitzSpectrum, spectrum_of

every_model = pytest.mark.parametrize("model", MODELS)
CASES = {
    "binary": {"kappa": 1},
    "weighted": {"kappa": 3, "weighted": True},
    "neither": {"kappa": 1, "covariates": None, "fit_intercept": False},
    "squared": {"kappa": 2, "loss": "squared", "weighted": True},
    "sparse": {"kappa": 1, "sparse": True, "weighted": True},
    "no ridge": {"kappa": 1, "lam": 0.0},
}
every_case = pytest.mark.parametrize("case", CASES)


# --- the numbers of a problem -----------------------------------------------------------------------------


@every_model
@every_case
def test_numbers_are_those_of_the_users_arrays(model, case):
    problem, P = example(model, 9, 6, **CASES[case])
    assert problem.shape == (9, 6)
    assert (problem.n_samples, problem.n_outputs) == (9, P.kappa)
    assert problem.n_covariates == P.aux.shape[0]
    assert problem.has_intercept == CASES[case].get("fit_intercept", True)
    np.testing.assert_allclose(problem.covariate_ridge, P.ridge)
    size = np.linalg.norm(P.X * np.sqrt(P.weight))
    assert math.frexp(problem.scale)[0] == 0.5  # a power of two
    assert problem.scale <= size < 2 * problem.scale
    np.testing.assert_allclose(problem.squared_norm, (size / problem.scale) ** 2, rtol=1e-13)
    np.testing.assert_allclose(problem.users_weights, (P.xi, P.lam), rtol=1e-15)
    assert problem.smallest_weight == pytest.approx(P.class_weight.min(), rel=1e-12)
    assert problem.largest_weight == pytest.approx(P.class_weight.max(), rel=1e-12)
    zero = np.zeros(P.kappa)
    losses = [naive.loss_value(P.loss, y, zero) for y in P.Y.T]
    np.testing.assert_allclose(problem.null_loss, P.weight * P.class_weight @ losses, rtol=1e-13)
    np.testing.assert_allclose(problem.total_weight, P.weight @ P.class_weight, rtol=1e-13)
    gamma = np.random.default_rng(0).standard_normal((problem.n_covariates, P.kappa))
    penalty = np.sum(P.ridge[:, None] * gamma**2)
    np.testing.assert_allclose(problem.covariate_penalty(gamma), penalty, rtol=1e-13)


@every_model
def test_class_numbers_are_one_hot_targets(model):
    X, y = np.random.default_rng(0).standard_normal((9, 4)), np.arange(9) % 3
    loss = resolve_link("logistic", 2)
    numbered = state(model, X, y, loss, xi=1.0, lam=0.1)
    written = state(model, X, np.eye(3)[y][:, 1:], loss, xi=1.0, lam=0.1)
    assert numbered.n_outputs == written.n_outputs == 2
    np.testing.assert_array_equal(numbered.whole.known.targets, written.whole.known.targets)
    assert numbered.null_loss == written.null_loss


def test_who_can_be_bounded():
    assert example("filter", 9, 4, 1)[0].can_be_bounded
    assert not example("filter", 9, 4, 1, lam=0.0)[0].can_be_bounded


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_types(dtype):
    problem, _ = example("feature", 9, 4, 2, dtype=dtype)
    assert problem.epsilon == np.finfo(dtype).eps
    assert problem.covariate_ridge.dtype == problem.zeros(2, 3).dtype == np.float64
    arrays = problem.arrays()
    assert arrays.covariate_ridge.dtype == arrays.targets.dtype == dtype


# --- units -------------------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("unit", [1e-80, 1e-6, 1e6, 1e80])
def test_any_unit_of_X_is_the_same_problem(model, unit):
    """ξ and λ in the units of X: the same objective at the optimum."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 5)), np.arange(20) % 2

    def best(unit):
        lam = 0.3 * unit**2 if model == "filter" else 0.3
        stated = {"xi": 0.5 / unit**2, "lam": lam}
        problem = state(model, unit * X, y, resolve_link("logistic", 1), **stated)
        return newton.solve(problem, 2, search="off").objective

    np.testing.assert_allclose(best(unit), best(1.0), rtol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse", "source"])
@pytest.mark.parametrize(
    ("dtype", "unit"), [(np.float64, 1e-160), (np.float64, 1e140), (np.float32, 1e-18), (np.float32, 1e18)]
)
def test_units_whose_squares_have_no_number_are_refused(kind, dtype, unit, tmp_path):
    X = (np.random.default_rng(0).standard_normal((9, 4)) * unit).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    given = {
        "dense": X,
        "sparse": sp.csr_array(X),
        "source": as_rows(np.load(tmp_path / "X.npy", mmap_mode="r")),
    }[kind]
    message = rf"^X: the root of its sum of squares is .*range of {np.dtype(dtype).name}\. Rescale X$"
    with pytest.raises(ValueError, match=message):
        state("filter", given, np.arange(9) % 2, resolve_link("logistic", 1), xi=1.0, lam=1.0)


@every_model
def test_zero_data_have_a_problem(model):
    problem = state(model, np.zeros((6, 3)), np.arange(6) % 2, resolve_link("logistic", 1), xi=1.0, lam=1.0)
    assert (problem.scale, problem.squared_norm) == (1.0, 0.0)


# --- the same problem, seen otherwise -----------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("case", ["binary", "weighted", "squared"])
def test_restated_is_stated_anew(model, case):
    problem, _ = example(model, 9, 6, **CASES[case])
    other, _ = example(model, 9, 6, **CASES[case], xi=2.5, lam=0.08)
    found = problem.restated(2.5, 0.08)
    np.testing.assert_allclose((found.xi, found.lam), (other.xi, other.lam), rtol=1e-14)
    np.testing.assert_allclose(found.covariate_ridge, other.covariate_ridge, rtol=1e-14)
    np.testing.assert_allclose(found.users_weights, (2.5, 0.08), rtol=1e-14)
    assert found.samples is problem.samples
    assert found.whole is problem.whole
    assert problem.users_weights == pytest.approx((0.7, 0.3))  # as it was


@every_model
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kappa", [1, 3])
def test_compact_problem_has_the_same_objective(model, sparse, weighted, kappa):
    problem, P = example(model, 6, 14, kappa, sparse=sparse, weighted=weighted)
    small = problem.compact
    assert small.shape[1] <= 6 < problem.shape[1]
    np.testing.assert_allclose(small.squared_norm, problem.squared_norm, rtol=1e-12)
    sigma = np.linalg.svd(P.X * np.sqrt(P.weight) / problem.scale, compute_uv=False)
    np.testing.assert_allclose(small.singular_values, sigma[: small.shape[1]], rtol=1e-10)
    assert problem.singular_values is None
    rng = np.random.default_rng(0)
    W = np.linalg.qr(rng.standard_normal((small.model.side(small.shape), 2)))[0]
    beta = rng.standard_normal((2, kappa))
    gamma = rng.standard_normal((P.aux.shape[0], kappa))
    inner, outer = small.arrays(), problem.arrays()
    inside = objective(inner, W @ beta, (W, inner.image(W).T), gamma)
    V = problem.expand(W) if model == "filter" else W
    assert V.shape == (outer.side, 2)
    np.testing.assert_allclose(V.T @ V, np.eye(2), atol=1e-10)
    outside = objective(outer, V @ beta, (V, outer.image(V).T), gamma)
    np.testing.assert_allclose(inside, outside, rtol=1e-11)
    # Atoms (p, j) come back by `expand` in either model.
    atoms = W if model == "filter" else inner.image(W)
    expected = V if model == "filter" else outer.image(V)
    np.testing.assert_allclose(problem.expand(atoms), expected, atol=1e-11)
    value = naive.lifted_objective(P, *lifted(model, outer.unlift(V, beta, outer.image(V), gamma)))
    np.testing.assert_allclose(inside, value, rtol=1e-11)
    # Everybody shares one decomposition.
    again = problem.restated(1.0, 1.0).compact
    assert again.samples is small.samples
    assert problem.compact is small


@every_model
def test_tall_data_are_their_own_compact_problem(model):
    problem, _ = example(model, 9, 4, 1)
    assert problem.compact is problem
    T = np.ones((3, 1))
    assert problem.expand(T) is T


@every_model
def test_arrays_are_for_those_who_have_them(model):
    problem, _ = example(model, 9, 4, 1)
    with pytest.raises(ValueError, match=r"^X: an array in memory is required here; .*cluster$"):
        replace(problem, whole=None).arrays()


@every_model
@pytest.mark.parametrize("case", ["weighted", "squared", "sparse"])
def test_a_subsample_is_a_problem_of_its_own(model, case):
    problem, _ = example(model, 60, 6, **CASES[case])
    few = cut(problem, 4).subsampled(0.3)
    n = few.n_samples
    share = n / 60
    assert 18 <= n <= 22
    assert few.samples.n_samples == n
    assert few.shape == (n, 6)
    assert few.scale == problem.scale
    np.testing.assert_allclose(few.covariate_ridge, share * problem.covariate_ridge)
    np.testing.assert_allclose(few.null_loss, share * problem.null_loss)
    np.testing.assert_allclose(few.total_weight, share * problem.total_weight)
    ratio = share if model == "filter" else 1.0
    np.testing.assert_allclose(few.lam, ratio * problem.lam, rtol=1e-14)
    assert few.xi == problem.xi
    # What blocks are asked and what arrays say is one thing.
    gamma = np.random.default_rng(0).standard_normal((few.n_covariates, few.n_outputs))
    value, _ = few.samples.sum(Block.evaluate, Design(None), gamma)
    arrays = few.arrays()
    a = arrays.covariates @ gamma
    np.testing.assert_allclose(value, arrays.loss_terms(a)[0], rtol=1e-12)
    np.testing.assert_allclose(few.samples.sum(Block.squared_norm), few.squared_norm, rtol=1e-12)


@every_model
@pytest.mark.parametrize("case", ["binary", "weighted", "squared", "neither"])
def test_dual_bound_is_its_formula_and_bounds(model, case):
    """At the residuals of any point whose intercept is the best one, D ≤ F of every other point."""
    problem, P = example(model, 9, 6, **CASES[case])
    arrays = problem.arrays()
    rng = np.random.default_rng(1)
    A = rng.standard_normal((arrays.side, arrays.n_outputs))
    signal = problem.samples.keep(Block.given, problem.model.activations(arrays.data, arrays.known, A))
    design = Design(None, offset=signal.place)
    loss = LossOn(problem, design, problem.n_covariates)
    start = problem.zeros(problem.n_covariates, problem.n_outputs)
    gamma, _, pulled = fit_ridge(loss, problem.covariate_ridge, start)
    a = arrays.activations(A, gamma)
    value, E = arrays.loss_terms(a)
    conjugate = np.sum(E * a) - value
    Q = arrays.pull(E) * problem.dual_scale()
    assert problem.dual_scale() == pytest.approx(0.5 / math.sqrt(problem.xi * problem.lam))
    G = arrays.back(arrays.image(np.eye(arrays.side)))
    top = np.linalg.eigvalsh(G + Q @ Q.T)[::-1][:2].sum()
    bound = problem.dual_bound(conjugate, pulled, top)
    penalised = P.ridge > 0
    terms = np.sum(pulled[penalised] ** 2 / (4 * P.ridge[penalised, None]))
    expected = -conjugate - terms + problem.xi * (problem.squared_norm - top)
    np.testing.assert_allclose(bound, expected, rtol=1e-12)
    best = newton.solve(problem, 2).objective
    assert bound <= best * (1 + 1e-12)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        W = np.linalg.qr(rng.standard_normal((arrays.side, 2)))[0]
        beta = rng.standard_normal((2, arrays.n_outputs))
        point = objective(arrays, W @ beta, (W, arrays.image(W).T), gamma)
        assert bound <= point


# --- options: another value takes another way, and the answer stays ----------------------


def solved(model, n, p, rank=2, search="auto", **options):
    """The problem with these options, and its answer."""
    case = {"kappa": 2, "weighted": True, "lam": 2.0, "options": Options(**options)}
    problem, _ = example(model, n, p, **case)
    return problem, newton.solve(problem, rank, tol=1e-10, search=search)


def assert_same_answer(one, other, rtol=1e-9):
    np.testing.assert_allclose(one.objective, other.objective, rtol=rtol)
    size = np.abs(one.factors.components).max()
    np.testing.assert_allclose(one.factors.components, other.factors.components, atol=1e-3 * size)


@every_model
def test_compressed_side(model):
    (problem, found), (other, expected) = (solved(model, 12, 30, compressed_side=side) for side in (12, 11))
    assert problem.compact.shape == (12, 12)
    assert other.compact is other
    assert_same_answer(found, expected)


@every_model
def test_rows_a_block(model):
    (problem, found), (other, expected) = (solved(model, 40, 6, rows_a_block=rows) for rows in (4, 40))
    assert len(problem.samples.blocks) == 10 or problem.samples.threads == 1
    assert len(other.samples.blocks) == 1
    assert_same_answer(found, expected)


@every_model
def test_whole_range(model):
    """All of the range at once, or a subspace that grows: bases of another size, one optimum."""
    (_, found), (_, expected) = (solved(model, 120, 80, whole_range=size) for size in (80, 79))
    assert found.basis().size >= 80
    assert expected.basis().size < 80
    assert_same_answer(found, expected)


WAYS = {
    "dense": {"expected_products": 10**9},
    "no system may be so large": {"largest_system": 0},
    "products are cheap": {"expected_products": 1e-9},
    "dense is slow": {"dense_loss": 1e9},
}


@every_model
@pytest.mark.parametrize("way", WAYS)
def test_dense_systems_or_conjugate_gradients(model, way, monkeypatch):
    """What is asked of the samples tells the way of a descent: curvature, or its products.

    Other starts are left out: they descend side by side, by products whatever is cheaper for one.
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
    assert_same_answer(found, expected)


@every_model
def test_values_worth_coarse(model):
    """Products in single precision bend directions, not the answer."""
    products = {"largest_system": 0}
    (problem, found), (_, expected) = (
        solved(model, 40, 8, values_worth_coarse=values, **products) for values in (1, 10**9)
    )
    basis = Basis.empty(problem)
    basis, _ = basis.extended(problem.model.random(problem.side, np.random.default_rng(0), 4))
    assert Inside(basis, 2).loss.coarse.coarse
    assert_same_answer(found, expected)


@every_model
def test_curvature_of_some_of_the_samples(model):
    few = {"rows_a_column": 1, "fewest_curvature_rows": 30, "curvature_gradients": 0}
    (problem, found), (other, expected) = (solved(model, 300, 6, **options) for options in (few, {}))
    shares = [
        Inside(
            Basis.empty(each).extended(each.model.random(each.side, np.random.default_rng(0), 4))[0], 2
        ).loss.share
        for each in (problem, other)
    ]
    assert shares[0] < 0.2
    assert shares[1] == 1.0
    assert_same_answer(found, expected)


@every_model
def test_subsample_ratio(model):
    sizes = {"fewest_subsample": 20, "enough_subsample": 100}
    (problem, found), (other, expected) = (
        solved(model, 400, 6, subsample_ratio=ratio, **sizes) for ratio in (8, 21)
    )
    assert problem.subsample_share() == 50 / 400
    assert other.subsample_share() is None  # nineteen are too few
    assert_same_answer(found, expected)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        pytest.param({}, None, id="few samples"),
        pytest.param({"fewest_subsample": 40}, 50, id="one in eight"),
        pytest.param({"fewest_subsample": 51}, None, id="too few of them"),
        pytest.param({"fewest_subsample": 1, "enough_subsample": 30, "enough_a_feature": 1}, 30, id="enough"),
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


def test_rows_of_sparse_data_take_the_room_of_their_values():
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


@every_model
@pytest.mark.parametrize("way", SPECTRA)
def test_exact_side(model, way):
    """The Gram matrix or a basis: the same bound, and only one of them says it is exact."""
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
        pytest.param(10**6, 1000, 1, 64_000 / 10**6, id="64 rows a column"),
        pytest.param(10**6, 1000, 20, 64_000 / 10**6, id="however many outputs"),
        pytest.param(10**7, 100, 10, 0.016, id="sixteen gradients' worth of rows"),
        pytest.param(10**6, 2, 3, 1.0, id="few unknowns: as cheap as gradients"),
        pytest.param(10**6, 0, 1, 1.0, id="no columns"),
        pytest.param(10**5, 20, 60, 2048 / 10**5, id="many outputs: never fewer rows than 2048"),
    ],
)
def test_share_of_the_curvature(n, columns, outputs, expected):
    assert Options().curvature_share(n, columns, outputs) == pytest.approx(expected, rel=1e-12)


def test_share_falls_with_the_samples_and_its_work_is_bounded():
    columns, outputs, before = 60, 9, 1.0
    for n in np.logspace(3, 9, 40).astype(int):
        share = Options().curvature_share(int(n), columns, outputs)
        assert 0 < share <= before * (1 + 1e-12)
        before = share
        # The curvature of all samples, or that of 8192 of them, or the work of 16 gradients.
        unknowns = columns * outputs
        work = share * n * unknowns**2
        assert share == 1 or work <= max(8192 * unknowns**2, 16 * n * unknowns) * (1 + 1e-9)
    assert before < 0.05


def test_what_a_dense_system_costs():
    """Its matrix, n(mκ)² operations, and a factorization, 2(mκ)³/3; none may be larger than allowed."""
    options = Options(a_question=7.0, dense_loss=3.0, largest_system=30)
    expected = 7 + 3 * (100 * 30**2 + 2 / 3 * 30**3)
    assert options.dense_operations(100, 10, 3) == pytest.approx(expected, rel=1e-12)
    assert options.dense_operations(100, 31, 1) == math.inf
    assert options.dense_operations(100, 30, 1) == options.dense_operations(100, 10, 3)


def test_what_products_cost_instead():
    """Linear in rows, columns and outputs, and each of them is asked for."""
    options = Options(a_question=7.0, expected_products=5)
    one = options.product_operations(100, 10, 3) - 5 * 7
    assert one >= 5 * 2 * 2 * 100 * 10 * 3  # two products of a multiplication and an addition
    for sizes in ((200, 10, 3), (100, 20, 3), (100, 10, 6)):
        assert options.product_operations(*sizes) - 5 * 7 == pytest.approx(2 * one)
    assert options.product_operations(0, 10, 3) == 5 * 7


@pytest.mark.parametrize(
    ("rows", "columns", "outputs", "dense"),
    [
        pytest.param(100, 10, 1, True, id="small: a question costs more than a system"),
        pytest.param(2000, 60, 1, True, id="one output"),
        pytest.param(2000, 60, 30, False, id="many outputs"),
        pytest.param(2000, 60, 41, False, id="too many unknowns for any system"),
    ],
)
def test_many_outputs_go_by_products(rows, columns, outputs, dense):
    options = Options()
    costs = (way(rows, columns, outputs) for way in (options.dense_operations, options.product_operations))
    first, second = costs
    assert (first <= second) == dense


def test_covariate_penalty_of_points_side_by_side():
    problem, P = example("filter", 9, 4, 2)
    gamma = np.random.default_rng(0).standard_normal((2, 3, problem.n_covariates, 2))
    found = problem.covariate_penalty(gamma)
    assert found.shape == (2, 3)
    for place in np.ndindex(2, 3):
        expected = sum(rho * np.sum(g**2) for rho, g in zip(P.ridge, gamma[place], strict=True))
        np.testing.assert_allclose(found[place], expected, rtol=1e-13)
        np.testing.assert_allclose(problem.covariate_penalty(gamma[place]), expected, rtol=1e-13)


def test_a_loss_of_your_own_is_asked_for_what_it_can_do():
    X, y = np.random.default_rng(0).standard_normal((9, 3)), np.zeros((9, 1))
    squared = SquaredError()
    assert state("filter", X, y, squared, xi=1.0, lam=1.0).can_be_bounded

    class Bent(SquaredError):
        convex = False

    assert not state("filter", X, y, Bent(), xi=1.0, lam=1.0).can_be_bounded
