"""μ and L against explicit Hessians, and measures of stationarity."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.theory.naive import Naive, distance, one_hot, project, random_problem

from superfactor._new.constants import TheoremConstants, theorem_constants
from superfactor._new.problem import state
from superfactor._new.stationarity import gradient_mapping, lifted_gradient, low_rank_step, stationarity
from superfactor.constraints import Box, FrobeniusBall, NonNegative, Product, norm
from superfactor.losses import CustomLink, SquaredError, resolve_link

MODELS = ("filter", "feature")


def stated(naive):
    """The same problem, stated with the core."""
    C = naive.C[:, :-1] if naive.intercept else naive.C
    loss, covariates = resolve_link("logistic", naive.Y.shape[1]), C if C.shape[1] else None
    options = {"xi": naive.xi, "lam": naive.lam, "covariates": covariates, "fit_intercept": naive.intercept}
    return state(naive.model, naive.X, naive.Y, loss, **options)


# --- constants ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "n, p, q, kappa, intercept", [(12, 4, 0, 3, False), (10, 3, 2, 1, True), (5, 11, 1, 3, False)]
)
@pytest.mark.parametrize("profiled", [False, True])
def test_the_curvature_lies_between_mu_and_L(model, n, p, q, kappa, intercept, profiled):
    rng = np.random.default_rng(n + p + q + kappa)
    naive = random_problem(rng, model, n, p, q, kappa, 0.4, 0.2, 3.0, intercept)
    constants = theorem_constants(stated(naive), profiled=profiled)
    shape = (naive.J.shape[1], kappa)
    for size in (0.0, 0.1, 0.1, 1.0, 1.0, 5.0):
        U = size * rng.standard_normal(shape)
        alone = naive.J.shape[1] == naive.side
        values = np.linalg.eigvalsh(naive.hessian(U) if alone or not profiled else naive.profiled_hessian(U))
        values = values if profiled else np.append(values, 2 * naive.xi)
        assert constants.mu <= values.min() + 1e-9
        assert values.max() <= constants.L * (1 + 1e-12)


def test_the_hessian_of_these_tests_is_that_of_F():
    rng = np.random.default_rng(0)
    for model in MODELS:
        naive = random_problem(rng, model, 6, 3, 2, 2, 0.4, 0.2, 1.0, True)
        U = rng.standard_normal((naive.J.shape[1], 2))
        H, g, h = naive.hessian(U), naive.gradient(U).reshape(-1), 1e-5
        for k, e in enumerate(h * np.eye(U.size).reshape(-1, *U.shape)):
            assert (naive.loss(U + e) - naive.loss(U - e)) / (2 * h) == pytest.approx(g[k], abs=1e-6)
            column = (naive.gradient(U + e) - naive.gradient(U - e)).reshape(-1) / (2 * h)
            np.testing.assert_allclose(column, H[:, k], atol=1e-7)


def test_printed_constants_in_the_users_units():
    rng, radius = np.random.default_rng(1), 1.5
    alpha = math.exp(-radius) / (1 + math.exp(-radius)) ** 2
    for scale in (1e-3, 1.0, 1e4):
        naive = random_problem(rng, "filter", 30, 5, 2, 1, 0.7, 0.3, scale)
        values = np.linalg.eigvalsh(naive.J.T @ naive.J)
        got = theorem_constants(stated(naive), radius=radius)
        assert got.mu == pytest.approx(min(1.4, 0.6 + alpha * values[0]), rel=1e-9)
        assert pytest.approx(max(1.4, 0.6 + values[-1] / 4), rel=1e-9) == got.L
        free = theorem_constants(stated(naive), profiled=True)
        assert (free.mu, free.L) == pytest.approx((0.6, 0.6 + np.linalg.norm(naive.X, 2) ** 2 / 4), rel=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(20, 4), (6, 30)])
def test_weights_count_as_repetitions(model, shape):
    rng = np.random.default_rng(3)
    X, C, y = (
        rng.standard_normal(shape),
        rng.standard_normal((shape[0], 2)),
        rng.integers(0, 2, (shape[0], 1)) * 1.0,
    )
    times, loss, common = rng.integers(1, 4, shape[0]), resolve_link("logistic", 1), {"xi": 0.5, "lam": 0.4}
    weighted = state(model, X, y, loss, covariates=C, sample_weight=times.astype(float), **common)
    again = [np.repeat(x, times, axis=0) for x in (X, y, C)]
    repeated = state(model, *again[:2], loss, covariates=again[2], **common)
    for profiled in (False, True):
        a, b = (theorem_constants(each, profiled=profiled) for each in (weighted, repeated))
        assert (a.mu, a.L) == pytest.approx((b.mu, b.L))


def test_profiled_lower_end_with_penalised_covariates_is_the_schur_complement():
    rng = np.random.default_rng(6)
    X, C = rng.standard_normal((25, 3)), rng.standard_normal((25, 2))
    problem = state("filter", X, X[:, :1], SquaredError(), xi=1.0, lam=2.0, covariates=C, fit_intercept=False)
    J = np.hstack([X, C])
    H = 2 * J.T @ J + 4 * np.eye(5)
    schur = H[:3, :3] - H[:3, 3:] @ np.linalg.solve(H[3:, 3:], H[3:, :3])
    assert theorem_constants(problem, profiled=True).mu == pytest.approx(np.linalg.eigvalsh(schur)[0])


@pytest.mark.parametrize("shape", [(900, 300), (1300, 1400), (2000, 1800)])
def test_the_upper_bound_for_large_data_is_valid_and_tight(shape):
    rng = np.random.default_rng(7)
    X = sp.random_array(shape, density=0.01, rng=rng, format="csr") * 40.0
    C, y = rng.standard_normal((shape[0], 3)), rng.integers(0, 2, (shape[0], 1)) * 1.0
    problem = state("filter", X, y, resolve_link("logistic", 1), xi=1, lam=1, covariates=C)
    J = sp.hstack([X, sp.csr_array(np.hstack([C, np.ones((shape[0], 1))]))]).tocsr()
    for profiled, matrix in ((False, J), (True, X)):
        true = sp.linalg.svds(matrix, k=1, return_singular_vectors=False)[0] ** 2
        L = theorem_constants(problem, profiled=profiled).L
        assert 2 + true / 4 <= L * (1 + 1e-12) <= (2 + true / 4) * 1.05


def test_a_loss_without_bounds_has_no_constants():
    link = CustomLink(lambda a: a, lambda a: a * 0 + 1, lambda a: a * 0)
    X = np.random.default_rng(9).standard_normal((20, 3))
    for model in MODELS:
        problem = state(model, X, (X[:, :1] > 0) * 1.0, resolve_link(link, 1), xi=1.0, lam=1.0)
        for profiled in (False, True):
            got = theorem_constants(problem, profiled=profiled)
            assert math.inf == got.L
            assert got.mu <= 0
            assert (got.condition_number, got.step_window, got.best_rate) == (math.inf, None, 2.0)


def test_degenerate_data():
    y = np.array([[0.0], [1.0], [1.0]])
    for X in (np.zeros((3, 2)), np.ones((3, 1)), np.full((3, 5), 1e60), np.full((3, 5), 1e-60)):
        for model in MODELS:
            problem = state(model, X, y, resolve_link("logistic", 1), xi=1.0, lam=1.0)
            got = theorem_constants(problem, profiled=True)
            expected = np.linalg.norm(X, 2) ** 2 if model == "filter" else 1.0
            assert (got.mu, got.L) == pytest.approx((2.0, 2.0 + expected / 4))


def test_window_rate_and_iterations():
    for mu, L in ((1.0, 1.0), (1.0, 2.0), (0.3, 0.89)):
        constants = TheoremConstants(mu, L)
        low, high = constants.step_window
        steps = np.linspace(0.01, 6.0, 2000)
        assert np.array_equal((steps > low) & (steps < high), [constants.rate(t) < 1 for t in steps])
        assert constants.best_rate <= min(constants.rate(t) for t in steps) + 1e-12
    constants = TheoremConstants(1.0, 2.0)
    for accuracy in (0.9, 0.1, 1e-7):
        t, rho = constants.iterations(accuracy, 3.0), constants.best_rate
        assert rho**t * 3.0 <= accuracy * (1 + 1e-9) < rho ** (t - 1) * 3.0
    assert (constants.iterations(1.0, 0.5), TheoremConstants(1.0, 1.0).iterations(1e-9, 1.0)) == (0, 1)
    for mu, L in ((1.0, 3.0), (0.0, 1.0), (-1.0, 1.0), (0.0, 0.0)):
        none = TheoremConstants(mu, L)
        assert none.step_window is None
        assert none.iterations(0.1, 1.0) == math.inf
    for call in (lambda: constants.rate(0.0), lambda: constants.iterations(0.0, 1.0)):
        with pytest.raises(ValueError, match=r"(step_size|accuracy)=.* number is required"):
            call()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(2))
def test_the_printed_algorithm_obeys_its_rate(model, seed):
    """Correctly specified: the unconstrained minimiser has rank ≤ r, so it is Z*."""
    rng = np.random.default_rng(seed)
    naive = random_problem(rng, model, 15, 8, 2, 1 + seed % 2, 15.0, 15.0, 0.5, data_rank=3)
    constants, kappa = theorem_constants(stated(naive)), naive.Y.shape[1]
    rank, U = 3 if model == "filter" else 3 + kappa, naive.minimise()
    best = (U[: naive.side], naive.target, U[naive.side :])
    theta = project(rng.standard_normal((naive.side, kappa + naive.target.shape[1])), rank)
    start = (theta[:, :kappa], theta[:, kappa:], rng.standard_normal((2, kappa)))
    first, (low, high) = distance(start, best), constants.step_window
    for step in (constants.best_step, 0.9 * low + 0.1 * high, 0.1 * low + 0.9 * high):
        rho = constants.rate(step)
        assert rho < 1
        for t, Z in enumerate(naive.algorithm_1(start, rank, step, 25), 1):
            assert distance(Z, best) <= rho**t * first + 1e-9 * first


# --- stationarity ---------------------------------------------------------------------------------------

SETS = [
    None,
    FrobeniusBall(2.0),
    NonNegative(),
    Box(-0.5, 0.7),
    Product(A=FrobeniusBall(1.0), B=NonNegative(), gamma=None),
]


def triple(rng, scale=1.0):
    return tuple(scale * rng.standard_normal(shape) for shape in ((4, 2), (4, 3), (1, 2)))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), which=st.sampled_from(range(len(SETS))), log=st.floats(-4, 4))
def test_never_longer_than_the_gradient_and_falling_in_the_step(seed, which, log):
    rng, theta, tau = np.random.default_rng(seed), SETS[which], 10.0**log
    Z = triple(rng) if theta is None else theta.project(triple(rng))
    gradient = triple(rng, 10.0 ** rng.uniform(-3, 3))
    length = norm(gradient_mapping(Z, gradient, tau, theta))
    noise = 1e-14 * (
        norm(Z) / tau + norm(gradient)
    )  # a difference of nearly equal points, divided by a small τ
    assert length <= norm(gradient) + noise
    assert norm(gradient_mapping(Z, gradient, 2 * tau, theta)) <= length + noise
    if theta is None:
        assert length == pytest.approx(norm(gradient), abs=noise)


@pytest.mark.parametrize("model", MODELS)
def test_gradient_of_a_lifted_problem(model):
    """Against the plain formulas, in the units of the problem: X̃ = X/s, and Ã = s·A (filter)."""
    rng = np.random.default_rng(1)
    naive = random_problem(rng, model, 9, 5, 1, 2, 0.6, 0.3, 20.0, True)
    problem = stated(naive)
    s = problem.rows.scale
    a, b = (s, 1 / s) if model == "filter" else (1.0, 1 / s)
    A, gamma = rng.standard_normal((naive.side, 2)), rng.standard_normal((2, 2))
    B = rng.standard_normal(naive.target.shape)
    got, expected = lifted_gradient(problem, a * A, b * B, gamma), naive.gradients(A, B, gamma)
    for g, e, unit in zip(got, expected, (a, b, 1.0), strict=True):
        np.testing.assert_allclose(g * unit, e, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("model", MODELS)
def test_with_the_rank_it_vanishes_where_algorithm_1_stops(model):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((12, 6)) * [2.0, 1.5, 0.3, 0.2, 0.1, 0.1]
    naive = Naive(model, X, one_hot(rng.integers(0, 3, 12), 3), 1.0, 1.0, rng.standard_normal((12, 1)))
    rank, step = 2, 1 / (2 + np.linalg.norm(naive.J, 2) ** 2)
    theta = project(np.hstack([np.zeros((naive.side, 2)), naive.target]), rank)
    Z = (theta[:, :2], theta[:, 2:], np.zeros((1, 2)))
    first = stationarity(Z, naive.gradients(*Z), step, rank)
    for Z in naive.algorithm_1(Z, rank, step, 1500):  # noqa: B020, B007
        pass
    assert stationarity(Z, naive.gradients(*Z), step, rank) < 1e-9 * first
    assert norm(naive.gradients(*Z)) > 1e-2  # orthogonal to the tangent space of rank-2 matrices
    away = (Z[0], Z[1], Z[2] + 0.1)
    assert stationarity(away, naive.gradients(*away), step, rank) > 1e-2


def test_a_step_is_projected_onto_the_set_first_and_the_rank_second():
    rng = np.random.default_rng(3)
    Z, gradient = triple(rng), triple(rng)
    A, B, gamma = low_rank_step(Z, gradient, 0.5, 1, NonNegative())
    moved = [np.maximum(z - 0.5 * g, 0) for z, g in zip(Z, gradient, strict=True)]
    np.testing.assert_allclose(np.hstack([A, B]), project(np.hstack(moved[:2]), 1), atol=1e-12)
    np.testing.assert_allclose(gamma, moved[2])
    with pytest.raises(ValueError, match="step_size="):
        gradient_mapping(Z, Z, 0.0)
