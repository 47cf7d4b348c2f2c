"""The default solver against the naive Algorithm 1, brute force, and random restarts of scipy's L-BFGS."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from tests import naive
from tests.problems import MODELS, example, lifted
from tests.solvers.examples import activations
from tests.solvers.newton.searching import WAYS, lowest_angle, of_two_features, two_features, value_at_angle
from tests.solvers.restarts import Factored, best_of

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import newton
from superfactor.solvers.newton.descent import NO_MINIMUM

every_model = pytest.mark.parametrize("model", MODELS)


def check_solution(problem, found, P, rank):
    """Check that the factors have this rank, and that their naive objective is the reported one."""
    point = lifted(P.model, found.factors)
    value = naive.lifted_objective(P, *point)
    np.testing.assert_allclose(found.objective, value, rtol=1e-9, atol=1e-12)
    a = naive.activations(P, point[0], point[2]).T
    np.testing.assert_allclose(activations(problem, found), a, atol=1e-7 * (1 + np.abs(a).max()))
    assert found.factors.components.shape[1] == found.factors.codes.shape[1] <= rank
    assert found.reason
    assert np.isfinite(found.gradient_mapping)


# --- the naive optimum ---------------------------------------------------------------------------

NAIVE = {
    "binary, tall": (12, 6, 1, {}),
    "binary, wide": (6, 12, 1, {}),
    "multi-class": (10, 6, 3, {}),
    "nothing but X": (6, 9, 1, {"fit_intercept": False, "covariates": None}),
    "weights": (10, 6, 2, {"weighted": True}),
    "sparse, wide": (6, 12, 2, {"sparse": True, "weighted": True}),
    "probit": (10, 6, 1, {"loss": "probit", "weighted": True}),
    "squared error, wide": (6, 10, 1, {"loss": "squared", "weighted": True}),
}


@every_model
@pytest.mark.parametrize("case", NAIVE)
def test_reaches_the_optimum_of_algorithm_1(model, case):
    n, p, kappa, options = NAIVE[case]
    problem, P = example(model, n, p, kappa, xi=0.8, lam=4.0, **options)
    found = newton.solve(problem, 2, tol=1e-10)
    (A, B, gamma), value = naive.optimum(P, 2)
    check_solution(problem, found, P, 2)
    assert found.converged
    np.testing.assert_allclose(found.objective, value, rtol=1e-8)
    assert found.objective <= value * (1 + 1e-10)
    found_A, found_B, found_gamma = lifted(model, found.factors)
    scale = np.abs(B).max()
    np.testing.assert_allclose(found_A, A, atol=1e-3 * scale)
    np.testing.assert_allclose(found_B, B, atol=1e-3 * scale)
    np.testing.assert_allclose(found_gamma, gamma, atol=1e-3 * (1 + np.abs(gamma).max(initial=0)))


# --- the two-feature case --------------------------------------------------------------------------


@pytest.mark.parametrize("xi", [0.005, 0.05, 1.0])
def test_two_features_by_brute_force(xi):
    """From ξ where PCA is a saddle (below .007) to ξ where it is the optimum."""
    assert newton.solve(of_two_features(xi), 1).objective == pytest.approx(lowest_angle(xi), rel=1e-8)


def test_a_poor_minimum_is_left():
    """PCA uses 3u only and ignores the labels: a poor local minimum, where plain descent stays."""
    best = lowest_angle(0.05)
    assert best == pytest.approx(8.919377, abs=1e-6)
    assert value_at_angle(0.05, 0.0) == pytest.approx(14.863, abs=1e-3)
    found = newton.solve(of_two_features(0.05), 1, random_state=2)
    assert found.objective == pytest.approx(best, rel=1e-8)
    X, y = two_features()
    P = naive.state("filter", X, y[:, None], 0.05, 0.001)
    assert naive.optimum(P, 1, n_iter=100)[1] == pytest.approx(14.863, abs=1e-3)


# --- random problems ---------------------------------------------------------------------------------


def random_problem(seed):
    """Any model, loss, size, weighting; λ down to 1e-4, where there are several local minima."""
    rng = np.random.default_rng(1000 + seed)
    loss = ("logistic", "probit", "squared")[rng.integers(3)]
    n, p = int(rng.integers(5, 15)), int(rng.integers(2, 8))
    kappa = 1 if loss == "probit" else int(rng.integers(1, 3))
    options = {"xi": 10 ** rng.uniform(-2, 1), "lam": 10 ** rng.uniform(-4, 0.5)}
    if rng.random() < 0.5:
        options["covariates"] = None
    options["fit_intercept"] = bool(rng.random() < 0.7)
    weighted = bool(rng.random() < 0.4)
    model, rank = MODELS[seed % 2], int(rng.integers(1, min(n, p, 3) + 1))
    return *example(model, n, p, kappa, seed, loss=loss, weighted=weighted, **options), rank


@pytest.mark.parametrize("seed", range(8))
def test_random_restarts_find_nothing_lower(seed):
    problem, P, rank = random_problem(seed)
    found = newton.solve(problem, rank)
    check_solution(problem, found, P, rank)
    best = best_of(P, rank, 15, seed, max_iter=60)
    assert found.objective <= best + 1e-6 * abs(best)


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("seed", range(2))
def test_the_objective_never_increases(seed, options):
    """With any number of starts; the solution has the last value of the history."""
    problem, _, rank = random_problem(100 + seed)
    problem = replace(problem, options=options)
    found = newton.solve(problem, rank, search="off")
    for search in ("off", "auto"):
        each = found if search == "off" else newton.solve(problem, rank, search=search)
        history = np.array(each.history.objective)
        assert np.all(np.diff(history) <= 0)
        assert each.objective <= history[-1] * (1 + 1e-12)
        assert each.objective <= found.objective * (1 + 1e-10)
        assert len(each.history.step) == len(each.history.seconds) == each.n_iter == len(history)
        assert np.all(np.diff(each.history.seconds) >= 0)


# --- stopping ----------------------------------------------------------------------------------------


def hard_problem(model):
    return example(model, 20, 6, 1, xi=0.01, lam=1e-3)


@every_model
def test_limit_of_iterations(model):
    problem, P = hard_problem(model)
    found = newton.solve(problem, 2, max_iter=2)
    assert found.n_iter == 2
    assert not found.converged
    assert "2" in found.reason
    check_solution(problem, found, P, 2)


@every_model
def test_the_callback_is_called_after_every_iteration_and_can_stop(model):
    problem, P = hard_problem(model)
    seen = []

    def callback(iteration, objective):
        seen.append((iteration, objective))
        return iteration == 4

    found = newton.solve(problem, 2, callback=callback)
    assert [i for i, _ in seen] == [1, 2, 3, 4]
    assert [f for _, f in seen] == found.history.objective
    assert "callback" in found.reason
    assert not found.converged
    check_solution(problem, found, P, 2)


# --- degenerate data ---------------------------------------------------------------------------------


def degenerate():
    """X (n, p) and a rank, by the kind of degeneracy."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 5))
    low = X[:, :2] @ rng.standard_normal((2, 5))
    return {
        "full rank": (X, 5),
        "full rank, wide": (X.T, 5),
        "rank X < r": (low, 4),
        "rank X < r, wide": (low.T, 4),
        "zero": (0 * X, 2),
        "zero, wide": (0 * X.T, 2),
        "duplicate rows": (np.repeat(X[:3], 3, axis=0), 2),
        "constant columns": (np.hstack([X, np.ones((9, 2)), np.zeros((9, 1))]), 3),
        "equal singular values": (np.linalg.qr(X)[0], 2),
        "two by three": (np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]]), 1),
    }


DEGENERATE = degenerate()


@every_model
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data(model, name):
    X, rank = DEGENERATE[name]
    sparse = list(DEGENERATE).index(name) % 2 == 1
    n, kappa = len(X), 1 + sparse
    Y = np.eye(kappa + 1)[np.arange(n) % (kappa + 1)][:, 1:]
    data = sp.csr_array(X) if sparse else X
    problem = state(model, data, Y, resolve_link("logistic", kappa), xi=0.5, lam=0.05)
    P = naive.state(model, X, Y, 0.5, 0.05)
    found = newton.solve(problem, rank)
    f = found.factors
    assert all(np.all(np.isfinite(part)) for part in (f.components, f.codes, f.beta, f.gamma))
    check_solution(problem, found, P, rank)
    best = best_of(P, rank, 2, max_iter=100)
    assert found.objective <= best + 1e-6 * abs(best)


@every_model
@pytest.mark.parametrize("lam", [0.0, 1e-6])
def test_separable_classes_without_or_nearly_without_a_ridge(model, lam):
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], 10)[:, None]
    X = rng.standard_normal((20, 3)) + 6 * y
    problem = state(model, X, y, resolve_link("logistic", 1), xi=0.1, lam=lam)
    P = naive.state(model, X, y, 0.1, lam)
    found = newton.solve(problem, 2)
    f = found.factors
    assert all(np.all(np.isfinite(part)) for part in (f.components, f.codes, f.beta, f.gamma))
    point = lifted(model, f)
    np.testing.assert_allclose(found.objective, naive.lifted_objective(P, *point), rtol=1e-6)
    best, floor = best_of(P, 2, 4), Factored(P, 2).floor
    # The infimum may be at infinity; the remaining decrease must be negligible.
    assert found.objective <= best + 1e-4 * (1 + abs(best))
    assert found.objective >= floor - 1e-9


@every_model
def test_not_separable_without_a_ridge(model):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((30, 4)), (rng.random((30, 1)) < 0.5).astype(float)
    options = {"xi": 0.5, "lam": 0.0}
    problem = state(model, X, y, resolve_link("logistic", 1), **options)
    P = naive.state(model, X, y, **options)
    found = newton.solve(problem, 1)
    assert np.isfinite(found.objective)
    best = best_of(P, 1, 4, max_iter=50)
    if model == "filter":
        assert found.converged
        assert found.objective <= best * (1 + 1e-6)
    else:
        # The feature model can fit its training samples exactly: there is no minimum. The infimum is the cost
        # of reconstruction; PCA without labels is above it.
        assert not found.converged
        assert found.reason == NO_MINIMUM
        assert found.n_iter < 100
        nothing_said = Factored(P, 1).floor + 30 * np.log(2)
        assert Factored(P, 1).floor - 1e-9 <= found.objective <= 0.9 * nothing_said


@every_model
@pytest.mark.parametrize("unit", [1e-100, 1e50])
def test_units_of_the_data_do_not_matter(model, unit):
    """X·u with ξ/u² (filter: and λ·u²) is the same problem with the same activations."""
    rng = np.random.default_rng(2)
    X, Y = rng.standard_normal((12, 6)), np.eye(3)[np.arange(12) % 3][:, 1:]

    def solved(u):
        lam = 0.1 * u**2 if model == "filter" else 0.1
        loss = resolve_link("logistic", 2)
        problem = state(model, X * u, Y, loss, xi=0.5 / u**2, lam=lam)
        found = newton.solve(problem, 2)
        return found, activations(problem, found)

    (plain, a), (scaled, b) = solved(1.0), solved(unit)
    np.testing.assert_allclose(scaled.objective, plain.objective, rtol=1e-9)
    np.testing.assert_allclose(b, a, atol=1e-4)
    for found, u in ((plain, 1.0), (scaled, unit)):
        W, H = found.factors.components, found.factors.codes
        size = np.linalg.norm(X - H @ (W.T / u))
        assert size == pytest.approx(
            np.linalg.norm(X - plain.factors.codes @ plain.factors.components.T), rel=1e-4
        )
