"""Rounding is part of the bound (docs/method.md §19): against 60 digits, and against better points."""

import warnings

import mpmath as mp
import numpy as np
import pytest

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import newton
from superfactor.theory.certificate import _residuals
from superfactor.theory.dual import Dual, Evaluated
from superfactor.theory.top_sums import spectrum_of

SHAPES = {"wide": (8, 20), "nearly square": (8, 12), "tall": (12, 6)}
SCALED = [(1e4, "column"), (1e12, "row")]


def table(c, scaled="column", n=20, p=60, seed=0):
    """Standard normal numbers and two classes; one column, or one row, times c."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, p)), rng.integers(0, 2, n)
    y[:2] = 0, 1
    if scaled == "column":
        X[:, 0] *= c
    else:
        X[0] *= c
    return X, y


def exact_bound(problem, rank, X, y, g):
    """bound(g) in 60 digits, for two classes and weights 1: Σ_i g_i counts as zero."""
    xi, lam = (mp.mpf(weight) for weight in problem.users_weights)
    n, p = X.shape
    exact, G = mp.matrix(X.tolist()), mp.matrix(g.tolist())
    c2 = 1 / (4 * xi * lam)
    if problem.model.name == "filter":  # the nonzero eigenvalues of M, as those of KKᵀ
        K = mp.matrix(n + 1, p)
        K[:n, :], image = exact, G.T * exact
        K[n, :] = image * mp.sqrt(c2)
    else:
        K = mp.matrix(p + 1, n)
        K[:p, :] = exact.T
        K[p, :] = G.T * mp.sqrt(c2)
    values = sorted(mp.eigsy(K * K.T, eigvals_only=True), reverse=True)
    squares = mp.fsum(x**2 for x in exact)
    entropy = mp.mpf(0)
    for each, label in zip(g[:, 0], y, strict=True):
        q = mp.mpf(float(each)) + int(label)
        entropy -= sum(x * mp.log(x) for x in (q, 1 - q) if x > 0)
    return entropy + xi * (squares - mp.fsum(values[:rank]))


@pytest.mark.parametrize(("c", "scaled"), SCALED)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("model", ["filter", "feature"])
def test_the_bound_is_below_its_formula_in_sixty_digits(model, shape, c, scaled):
    X, y = table(c, scaled, *SHAPES[shape], seed=3)
    problem = state(model, X, y, resolve_link("logistic", 1), xi=1e-2 / c**2, lam=1.0)
    found, small = newton.solve(problem, 2), problem.compact
    dual = Dual(small, spectrum_of(small, 2, found.basis), reach=10.0)
    points = dual._balanced(_residuals(small, found))
    bound = dual.value(points)
    with mp.workdps(60):
        exact = exact_bound(problem, 2, X, y, points.array())
        assert bound.value <= exact
        assert exact - bound.value <= 2 * bound.rounding + 1e-12 * abs(exact)


def _outside(S, Z):
    """The part of the columns of Z outside the span of those of S, by Gram-Schmidt."""
    for j in range(S.cols):
        norm = mp.norm(S[:, j])
        if norm > 0:
            q = S[:, j] / norm
            S, Z = S - q * (q.T * S), Z - q * (q.T * Z)
    return Z


@pytest.mark.parametrize(("c", "scaled"), SCALED)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("model", ["filter", "feature"])
def test_the_objective_is_that_of_the_factors_up_to_its_rounding(model, shape, c, scaled):
    X, y = table(c, scaled, *SHAPES[shape], seed=4)
    problem = state(model, X, y, resolve_link("logistic", 1), xi=1e-2 / c**2, lam=1.0)
    found, small = newton.solve(problem, 2), problem.compact
    W, H = (mp.matrix(x.tolist()) for x in (found.factors.components, found.factors.codes))
    beta, gamma = (mp.matrix(x.tolist()) for x in (found.factors.beta, found.factors.gamma))
    with mp.workdps(60):
        exact = mp.matrix(X.tolist())
        xi, lam = (mp.mpf(weight) for weight in problem.users_weights)
        a = (exact * W if model == "filter" else H) * beta
        # The best B for the subspace of W, or of H: what the objective is about.
        S, Z = (W, exact.T) if model == "filter" else (H, exact)
        squares = mp.fsum(x**2 for x in _outside(S, Z))
        ridge = mp.fsum(x**2 for x in (W * beta if model == "filter" else H * beta))
        signs = [1 - 2 * int(label) for label in y]
        loss = mp.fsum(mp.log1p(mp.exp(s * (x + gamma[0, 0]))) for s, x in zip(signs, a, strict=True))
        expected = loss + xi * squares + lam * ridge
        bound = Dual(small, spectrum_of(small, 2, found.basis)).value(_residuals(small, found))
        rounding = Evaluated.of(small, found, bound.sizes, 0.0, problem.epsilon).rounding
        assert abs(found.objective - expected) <= rounding


def competitor(X, y, xi, lam):
    """F (two classes, rank 2, filter) at the span of the large column's direction and of the ridge direction
    without it, by NumPy alone.
    """
    from scipy.optimize import minimize

    p = X.shape[1]
    large = np.argmax(np.sum(X**2, axis=0))
    other = np.delete(np.arange(p), large)
    s = 2.0 * y - 1

    def ridge(v):
        w, b = v[:-1], v[-1]
        m = s * (X[:, other] @ w + b)
        q = 1 / (1 + np.exp(m))
        gradient = np.append(-X[:, other].T @ (s * q) + 2 * lam * w, -np.sum(s * q))
        return np.sum(np.logaddexp(0, -m)) + lam * w @ w, gradient

    found = minimize(
        ridge, np.zeros(p), jac=True, method="L-BFGS-B", options={"maxiter": 10_000, "gtol": 1e-12}
    )
    w = found.x[:-1]
    rest = X[:, other] - np.outer(X[:, other] @ w, w) / (w @ w)
    return found.fun + xi * np.sum(rest**2)


@pytest.mark.parametrize(("c", "n", "p", "seed"), [(1e6, 20, 30, 0), (3e7, 20, 60, 1), (1e8, 20, 60, 2)])
def test_badly_scaled_wide_data_are_solved_and_never_falsely_proven(c, n, p, seed):
    X, y = table(c, n=n, p=p, seed=seed)
    xi = 1e-2 / c**2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = SMFClassifier(2, xi=xi, lam=1.0).fit(X, y)
    best = competitor(X, y, xi, 1.0)
    assert found.objective_ <= best * (1 + 1e-6)
    assert found.certificate_.lower_bound <= best
    if found.certificate_.is_global:
        assert found.objective_ <= best * (1 + 1e-6)


@pytest.mark.parametrize(("kind", "scaled"), [("classes", "column"), ("numbers", "row"), ("times", "column")])
def test_too_few_digits_for_a_proof_are_reported_once(kind, scaled):
    X, y = table(1e13, scaled)
    rng = np.random.default_rng(1)
    fit = {
        "classes": lambda: SMFClassifier(2, xi=1e-28, lam=1.0).fit(X, y),
        "numbers": lambda: SMFRegressor(2, xi=1e-28, lam=1.0).fit(X, rng.standard_normal(20)),
        "times": lambda: SMFSurvival(2, xi=1e-28, lam=1.0).fit(
            X, np.column_stack([y, rng.exponential(size=20)])
        ),
    }[kind]
    with pytest.warns(UserWarning) as caught:
        found = fit()
    said = [str(each.message) for each in caught if "Not proven" in str(each.message)]
    sentence = {
        "column": "Not proven: X spans too many orders of magnitude; scale its columns",
        "row": "Not proven: some samples of X are orders of magnitude larger than others; check them",
    }[scaled]
    assert said == [f"{type(found).__name__}: {found.certificate_.statement}"]
    assert found.certificate_.statement.startswith(sentence)
    assert not found.certificate_.is_global


def test_other_reasons_have_other_statements():
    X, y = table(1.0)
    with pytest.warns(UserWarning, match="reconstruction outweighs .* a smaller xi helps"):
        SMFClassifier(2, xi=1e12, lam=1.0).fit(X, y)
    with pytest.warns(UserWarning, match="lam is so small .* a larger lam helps"):
        SMFClassifier(2, xi=1e-12, lam=1e-18).fit(X, y)
    with pytest.warns(UserWarning, match="means far larger than their spread; centre them"):
        SMFClassifier(2, xi=1e-22, lam=1.0).fit(X + 1e9, y)
    X, y = table(1.0, n=50, p=20)
    single = SMFClassifier(2, xi=1.0, lam=5.0).fit(np.float32(X), y)
    assert "float32 has too few digits" in single.certificate_.statement
