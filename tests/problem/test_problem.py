"""Stating a problem: its numbers against the user's arrays, its other versions, and its arrays."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from tests import naive
from tests.problems import MODELS, example, lifted, objective
from tests.samples.cutting import cut

from superfactor import row_blocks
from superfactor.losses import SquaredError, resolve_link
from superfactor.options import Options
from superfactor.problem import state
from superfactor.samples import Block, Design
from superfactor.solvers import newton
from superfactor.spectrum import as_rows
from superfactor.subspace import LossOn, fit_ridge
from superfactor.theory import certify

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
    gamma = np.random.default_rng(0).standard_normal((3, problem.n_covariates, P.kappa))  # several points
    penalty = np.sum(P.ridge[:, None] * gamma**2, axis=(1, 2))
    np.testing.assert_allclose(problem.covariate_penalty(gamma), penalty, rtol=1e-13)


def test_class_numbers_are_one_hot_targets():
    X, y = np.random.default_rng(0).standard_normal((9, 4)), np.arange(9) % 3
    loss = resolve_link("logistic", 2)
    numbered = state("filter", X, y, loss, xi=1.0, lam=0.1)
    written = state("filter", X, np.eye(3)[y][:, 1:], loss, xi=1.0, lam=0.1)
    assert numbered.n_outputs == written.n_outputs == 2
    np.testing.assert_array_equal(numbered.whole.known.targets, written.whole.known.targets)
    assert numbered.null_loss == written.null_loss


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_types(dtype):
    problem, _ = example("feature", 9, 4, 2, dtype=dtype)
    assert problem.epsilon == np.finfo(dtype).eps
    assert problem.covariate_ridge.dtype == problem.zeros(2, 3).dtype == np.float64
    arrays = problem.arrays()
    assert arrays.covariate_ridge.dtype == arrays.targets.dtype == dtype


# --- units -------------------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("unit", [1e-80, 1e80])
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


@pytest.mark.parametrize(
    ("dtype", "unit"), [(np.float64, 1e-160), (np.float64, 1e140), (np.float32, 1e-18), (np.float32, 1e18)]
)
def test_units_whose_squares_overflow_raise(dtype, unit, tmp_path):
    X = (np.random.default_rng(0).standard_normal((9, 4)) * unit).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    message = rf"^X: the root of its sum of squares is .*range of {np.dtype(dtype).name}\. Rescale X$"
    for given in (X, sp.csr_array(X), as_rows(np.load(tmp_path / "X.npy", mmap_mode="r"))):
        with pytest.raises(ValueError, match=message):
            state("filter", given, np.arange(9) % 2, resolve_link("logistic", 1), xi=1.0, lam=1.0)


@pytest.mark.parametrize(
    ("target", "weights", "said"),
    [
        (1e-100, {"xi": 1.0, "lam": 1.0}, r"^y: the loss without a model is .*Rescale y, or sample_weight$"),
        (1.0, {"xi": 1e307, "lam": 1.0}, r"^xi: 1e\+307, that is .*leaves the range of floats"),
        (1.0, {"xi": 1.0, "lam": 1e-307}, r"^lam: 1e-307, that is .*leaves the range of floats"),
    ],
)
def test_losses_and_weights_that_overflow_raise(target, weights, said):
    X, y = np.random.default_rng(0).standard_normal((9, 4)), np.full((9, 1), target)
    with pytest.raises(ValueError, match=said):
        state("filter", X, y, SquaredError(), **weights)


@every_model
def test_zero_data_have_a_problem(model):
    problem = state(model, np.zeros((6, 3)), np.arange(6) % 2, resolve_link("logistic", 1), xi=1.0, lam=1.0)
    assert (problem.scale, problem.squared_norm) == (1.0, 0.0)


# --- versions of the same problem ---------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("case", ["binary", "weighted", "squared"])
def test_restated_equals_a_new_problem(model, case):
    problem, _ = example(model, 9, 6, **CASES[case])
    other, _ = example(model, 9, 6, **CASES[case], xi=2.5, lam=0.08)
    found = problem.restated(2.5, 0.08)
    np.testing.assert_allclose((found.xi, found.lam), (other.xi, other.lam), rtol=1e-14)
    np.testing.assert_allclose(found.covariate_ridge, other.covariate_ridge, rtol=1e-14)
    np.testing.assert_allclose(found.users_weights, (2.5, 0.08), rtol=1e-14)
    assert found.samples is problem.samples
    assert found.whole is problem.whole
    assert problem.users_weights == pytest.approx((0.7, 0.3))  # unchanged


@every_model
@pytest.mark.parametrize(("sparse", "weighted", "kappa"), [(False, True, 3), (True, False, 1)])
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
    # There is one decomposition for all.
    again = problem.restated(1.0, 1.0).compact
    assert again.samples is small.samples
    assert problem.compact is small


def test_tall_data_are_their_own_compact_problem():
    problem, _ = example("feature", 9, 4, 1)
    assert problem.compact is problem
    T = np.ones((3, 1))
    assert problem.expand(T) is T


def test_arrays_require_x_in_memory():
    problem, _ = example("filter", 9, 4, 1)
    with pytest.raises(ValueError, match=r"^X: an array in memory is required here; .*cluster$"):
        replace(problem, whole=None).arrays()


@every_model
@pytest.mark.parametrize("case", ["weighted", "squared", "sparse"])
def test_a_subsample_is_a_complete_problem(model, case):
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
    # Blocks and arrays agree.
    gamma = np.random.default_rng(0).standard_normal((few.n_covariates, few.n_outputs))
    value, _ = few.samples.sum(Block.evaluate, Design(None), gamma)
    arrays = few.arrays()
    a = arrays.covariates @ gamma
    np.testing.assert_allclose(value, arrays.loss_terms(a)[0], rtol=1e-12)
    np.testing.assert_allclose(few.samples.sum(Block.squared_norm), few.squared_norm, rtol=1e-12)


@every_model
@pytest.mark.parametrize("case", ["binary", "weighted", "squared", "neither"])
def test_dual_bound_is_its_formula_and_bounds(model, case):
    """At the residuals of any point with an optimal intercept, D ≤ F of every other point."""
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


def test_a_custom_loss_declares_what_it_supports():
    X, y = np.random.default_rng(0).standard_normal((9, 3)), np.zeros((9, 1))
    squared = SquaredError()
    assert state("filter", X, y, squared, xi=1.0, lam=1.0).can_be_bounded
    assert not state("filter", X, y, squared, xi=1.0, lam=0.0).can_be_bounded

    class Bent(SquaredError):
        convex = False

    assert not state("filter", X, y, Bent(), xi=1.0, lam=1.0).can_be_bounded


# --- few features -----------------------------------------------------------------------------------------


@every_model
def test_the_gram_matrix_of_few_features_changes_only_the_time(model):
    """Weights, certificate and constants are those of a problem without it."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 70)) * np.linspace(1, 4, 70) + 1, rng.integers(0, 2, 400)
    found = []
    for options in (Options(), Options(few_features=0)):
        problem = state(model, X, y, resolve_link("logistic", 1), xi="auto", lam="auto", options=options)
        certificate = certify(problem, 2, newton.solve(problem, 2))
        constants = certificate.constants, certificate.profiled
        found.append((*problem.users_weights, certificate.objective, *(c.L for c in constants)))
        assert (problem.feature_gram is None) == (options.few_features == 0)
    np.testing.assert_allclose(*found, rtol=2e-3)


@every_model
def test_the_gram_matrix_of_other_libraries_is_numpys(model):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 70)), rng.integers(0, 2, 300)
    found = []
    for given in (X, torch.asarray(X)):
        problem = state(model, given, y, resolve_link("logistic", 1), xi="auto", lam="auto")
        assert type(problem.feature_gram) is np.ndarray
        certificate = certify(problem, 2, newton.solve(problem, 2))
        found.append((certificate.objective, certificate.lower_bound, certificate.constants.L))
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_when_the_gram_matrix_is_computed():
    rng = np.random.default_rng(0)
    link, y = resolve_link("logistic", 1), np.arange(30) % 2
    wide = rng.standard_normal((30, 40))
    assert state("filter", wide, y, link, xi=1.0, lam=1.0).feature_gram is None
    X = rng.standard_normal((30, 4)) * 5
    for given in (X, sp.csr_array(X)):
        problem = state("filter", given, y, link, xi=1.0, lam=1.0)
        np.testing.assert_allclose(problem.feature_gram, X.T @ X / problem.scale**2)
    problem = state("filter", row_blocks(X), y, link, xi=1.0, lam=1.0)
    assert problem.feature_gram is None  # no pass over a file for it alone
    problem.samples.gram()
    np.testing.assert_allclose(problem.feature_gram, X.T @ X / problem.scale**2)
