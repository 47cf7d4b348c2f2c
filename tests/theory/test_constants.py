"""μ and L against explicit Hessians; window, rate and iteration count against their definitions."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from tests.theory.naive import distance, project, random_problem

from superfactor.losses import CustomLink, SquaredError, resolve_link
from superfactor.problem import state
from superfactor.theory import TheoremConstants, theorem_constants


def stated(naive, **extra):
    """The same problem, stated with the package."""
    C = naive.C[:, :-1] if naive.intercept else naive.C
    return state(
        naive.model,
        naive.X,
        naive.Y,
        resolve_link("logistic", naive.Y.shape[1]),
        xi=naive.xi,
        lam=naive.lam,
        covariates=C if C.shape[1] else None,
        fit_intercept=naive.intercept,
        **extra,
    )


def points(rng, naive, count):
    shape = (naive.J.shape[1], naive.Y.shape[1])
    yield np.zeros(shape)  # where the logistic curvature is largest
    for _ in range(count):
        yield rng.standard_normal(shape) * rng.choice([0.1, 1.0, 5.0])


CASES = [
    (model, n, p, q, kappa, intercept)
    for model in ("filter", "feature")
    for n, p, q, kappa, intercept in ((12, 4, 0, 3, False), (10, 3, 2, 1, True), (5, 11, 1, 3, False))
]


@pytest.mark.parametrize("model, n, p, q, kappa, intercept", CASES)
@pytest.mark.parametrize("profiled", [False, True])
def test_the_curvature_lies_between_mu_and_L(model, n, p, q, kappa, intercept, profiled):
    rng = np.random.default_rng(n + p + q + kappa)
    naive = random_problem(rng, model, n, p, q, kappa, 0.4, 0.2, 3.0, intercept)
    constants = theorem_constants(stated(naive), profiled=profiled)
    for U in points(rng, naive, 10):
        alone = naive.J.shape[1] == naive.side
        H = naive.hessian(U) if alone or not profiled else naive.profiled_hessian(U)
        values = np.linalg.eigvalsh(H)
        if not profiled:
            values = np.append(values, 2 * naive.xi)
        assert constants.mu <= values.min() + 1e-9
        assert values.max() <= constants.L * (1 + 1e-12)


def test_the_hessian_of_these_tests_is_that_of_F():
    rng = np.random.default_rng(0)
    for model in ("filter", "feature"):
        naive = random_problem(rng, model, 6, 3, 2, 2, 0.4, 0.2, 1.0, True)
        U = rng.standard_normal((naive.J.shape[1], 2))
        H, h = naive.hessian(U), 1e-5
        g = naive.gradient(U).reshape(-1)
        for k in range(U.size):
            e = np.zeros(U.size)
            e[k] = h
            e = e.reshape(U.shape)
            assert (naive.loss(U + e) - naive.loss(U - e)) / (2 * h) == pytest.approx(g[k], abs=1e-6)
            column = (naive.gradient(U + e) - naive.gradient(U - e)).reshape(-1) / (2 * h)
            np.testing.assert_allclose(column, H[:, k], atol=1e-7)


def test_printed_constants_in_the_users_units():
    rng = np.random.default_rng(1)
    for scale in (1e-3, 1.0, 1e4):
        naive = random_problem(rng, "filter", 30, 5, 2, 1, 0.7, 0.3, scale)
        values = np.linalg.eigvalsh(naive.J.T @ naive.J)
        radius = 1.5
        alpha = math.exp(-radius) / (1 + math.exp(-radius)) ** 2
        got = theorem_constants(stated(naive), radius=radius)
        assert got.mu == pytest.approx(min(1.4, 0.6 + alpha * values[0]), rel=1e-9)
        assert pytest.approx(max(1.4, 0.6 + values[-1] / 4), rel=1e-9) == got.L
        free = theorem_constants(stated(naive), profiled=True)
        assert free.mu == pytest.approx(0.6)
        assert pytest.approx(0.6 + np.linalg.norm(naive.X, 2) ** 2 / 4, rel=1e-9) == free.L


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_weights_count_as_repetitions(model):
    """Twice a sample or weight two: the same F, so the same constants (samples in units of √w)."""
    rng = np.random.default_rng(3)
    X, C = rng.standard_normal((20, 4)), rng.standard_normal((20, 2))
    y = rng.integers(0, 2, (20, 1)).astype(float)
    times = rng.integers(1, 4, 20)
    loss = resolve_link("logistic", 1)
    common = {"xi": 0.5, "lam": 0.4}
    weighted = state(model, X, y, loss, covariates=C, sample_weight=times.astype(float), **common)
    again = [np.repeat(x, times, axis=0) for x in (X, y, C)]
    repeated = state(model, *again[:2], loss, covariates=again[2], **common)
    for profiled in (False, True):
        a = theorem_constants(weighted, profiled=profiled)
        b = theorem_constants(repeated, profiled=profiled)
        assert (a.mu, a.L) == pytest.approx((b.mu, b.L))


def test_profiled_lower_end_with_penalised_covariates_is_the_schur_complement():
    rng = np.random.default_rng(6)
    X, C = rng.standard_normal((25, 3)), rng.standard_normal((25, 2))
    problem = state("filter", X, X[:, :1], SquaredError(), xi=1.0, lam=2.0, covariates=C, fit_intercept=False)
    J = np.hstack([X, C])
    H = 2 * J.T @ J + 4 * np.eye(5)
    schur = H[:3, :3] - H[:3, 3:] @ np.linalg.solve(H[3:, 3:], H[3:, :3])
    got = theorem_constants(problem, profiled=True)
    assert got.mu == pytest.approx(np.linalg.eigvalsh(schur)[0])


@pytest.mark.parametrize("shape", [(900, 300), (1300, 1400)])
def test_the_upper_bound_for_large_data_is_valid_and_tight(shape):
    rng = np.random.default_rng(7)
    X = sp.random_array(shape, density=0.01, rng=rng, format="csr") * 40.0
    C = rng.standard_normal((shape[0], 3))
    y = rng.integers(0, 2, (shape[0], 1)).astype(float)
    problem = state("filter", X, y, resolve_link("logistic", 1), xi=1, lam=1, covariates=C)
    J = sp.hstack([X, sp.csr_array(np.hstack([C, np.ones((shape[0], 1))]))]).tocsr()
    for profiled, matrix in ((False, J), (True, X)):
        true = sp.linalg.svds(matrix, k=1, return_singular_vectors=False)[0] ** 2
        L = theorem_constants(problem, profiled=profiled).L
        assert 2 + true / 4 <= L * (1 + 1e-12)
        assert (2 + true / 4) * 1.05 >= L


def test_a_loss_without_bounds_has_no_constants():
    link = CustomLink(lambda a: a, lambda a: a * 0 + 1, lambda a: a * 0)
    X = np.random.default_rng(9).standard_normal((20, 3))
    y = (X[:, :1] > 0).astype(float)
    for model in ("filter", "feature"):
        problem = state(model, X, y, resolve_link(link, 1), xi=1.0, lam=1.0)
        for profiled in (False, True):
            got = theorem_constants(problem, profiled=profiled)
            assert math.inf == got.L
            assert got.mu <= 0
            assert got.condition_number == math.inf
            assert got.step_window is None
            assert got.best_rate == 2.0
            assert got.iterations(1e-3, 1.0) == math.inf


def test_degenerate_data():
    y = np.array([[0.0], [1.0], [1.0]])
    for X in (np.zeros((3, 2)), np.ones((3, 1)), np.full((3, 5), 1e60), np.full((3, 5), 1e-60)):
        for model in ("filter", "feature"):
            problem = state(model, X, y, resolve_link("logistic", 1), xi=1.0, lam=1.0)
            got = theorem_constants(problem, profiled=True)
            expected = np.linalg.norm(X, 2) ** 2 if model == "filter" else 1.0
            assert got.mu == pytest.approx(2.0)
            assert pytest.approx(2.0 + expected / 4) == got.L


# --- the dataclass --------------------------------------------------------------------------------


def test_window_is_where_the_rate_is_below_one():
    for mu, L in ((1.0, 1.0), (1.0, 2.0), (0.3, 0.89)):
        constants = TheoremConstants(mu, L)
        low, high = constants.step_window
        steps = np.linspace(0.01, 6.0, 2000)
        inside = (steps > low) & (steps < high)
        assert np.array_equal(inside, [constants.rate(t) < 1 for t in steps])
        assert constants.best_rate <= min(constants.rate(t) for t in steps) + 1e-12
        assert constants.rate(constants.best_step) == pytest.approx(constants.best_rate, abs=1e-12)


@pytest.mark.parametrize("mu, L", [(1.0, 3.0), (1.0, 7.0), (0.0, 1.0), (-1.0, 1.0), (0.0, 0.0)])
def test_no_window_from_a_condition_number_of_three(mu, L):
    constants = TheoremConstants(mu, L)
    assert constants.step_window is None
    assert not constants.applies
    assert constants.best_rate >= 1
    assert constants.condition_number >= 3
    assert constants.iterations(0.1, 1.0) == math.inf


def test_iterations_is_the_first_that_suffices():
    constants = TheoremConstants(1.0, 2.0)
    rho = constants.best_rate
    for accuracy in (0.9, 0.1, 1e-7):
        t = constants.iterations(accuracy, 3.0)
        assert rho**t * 3.0 <= accuracy * (1 + 1e-9) < rho ** (t - 1) * 3.0
    assert constants.iterations(1.0, 0.5) == 0
    assert TheoremConstants(1.0, 1.0).iterations(1e-9, 1.0) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.rate(0.0),
        lambda c: c.rate(math.nan),
        lambda c: c.iterations(0.0, 1.0),
        lambda c: c.iterations(1.0, -1.0),
    ],
)
def test_bad_arguments_raise(call):
    with pytest.raises(ValueError, match=r"(step_size|accuracy|distance)=.* number is required"):
        call(TheoremConstants(1.0, 2.0))


# --- the theorem ---------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("seed", range(2))
def test_the_printed_algorithm_obeys_its_rate(model, seed):
    """Correctly specified: the unconstrained minimiser has rank ≤ r, so it is Z*."""
    rng = np.random.default_rng(seed)
    weight = 15.0  # enough for L/μ < 3
    naive = random_problem(rng, model, 15, 8, 2, 1 + seed % 2, weight, weight, 0.5, data_rank=3)
    constants = theorem_constants(stated(naive))
    assert constants.applies
    kappa = naive.Y.shape[1]
    rank = 3 if model == "filter" else 3 + kappa
    U = naive.minimise()
    best = (U[: naive.side], naive.target, U[naive.side :])
    theta = project(rng.standard_normal((naive.side, kappa + naive.target.shape[1])), rank)
    start = (theta[:, :kappa], theta[:, kappa:], rng.standard_normal((2, kappa)))
    first = distance(start, best)
    low, high = constants.step_window
    for step in (constants.best_step, 0.9 * low + 0.1 * high, 0.1 * low + 0.9 * high):
        rho = constants.rate(step)
        assert rho < 1
        for t, Z in enumerate(naive.algorithm_1(start, rank, step, 25), 1):
            assert distance(Z, best) <= rho**t * first + 1e-9 * first
