"""LPGD against the naive Algorithm 1: iterates, memory, optima, and the paper's Theorem 1."""

import itertools
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from tests import naive
from tests.problems import MODELS, example, lifted
from tests.solvers.examples import assert_same_iterates, distance, random_start

from superfactor.constraints import NonNegative
from superfactor.losses import resolve_link
from superfactor.options import Options
from superfactor.problem import state
from superfactor.solvers import lpgd, newton
from superfactor.solvers.lpgd.gram import DiagonalGram, ProductGram

# --- iterates -------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "kappa", "shape", "sparse", "weighted"),
    list(itertools.product(MODELS, (1, 3), ((12, 7), (7, 12)), (False, True), (False, True))),
)
def test_iterates_are_those_of_algorithm_1(model, kappa, shape, sparse, weighted):
    problem, P = example(model, *shape, kappa, sparse=sparse, weighted=weighted)
    tau = 0.03
    start, point = random_start(P, 2)
    path = naive.algorithm_1(P, 2, point, tau, 12)
    for compress in (True, False):
        found = assert_same_iterates(problem, P, 2, path, tau, start=start, compress=compress)
        # ‖Z_t − Z_{t+1}‖/τ in units of √w.
        root = np.sqrt(P.weight)
        units = (1.0 if model == "filter" else root, root, 1.0)
        moved = [np.sum((u * (a - b)) ** 2) for u, a, b in zip(units, *path[-2:], strict=True)]
        np.testing.assert_allclose(found.gradient_mapping, np.sqrt(np.sum(moved)) / tau, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(12, 7), (7, 12), (9, 9)])
@pytest.mark.parametrize("tau", [1e-3, 0.2, 1.0])
def test_any_step_from_pca(model, shape, tau):
    """τ up to 1.0: 2ξτ = 1.4 > 1, and far beyond 2/L for the loss."""
    problem, P = example(model, *shape, 2)
    path = naive.algorithm_1(P, 3, naive.pca_start(P, 3), tau, 5)
    for compress in (True, False):
        assert_same_iterates(problem, P, 3, path, tau, times=(1, 5), start="pca", compress=compress)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("loss", "kappa"), [("squared", 2), ("probit", 1)])
def test_other_losses(model, loss, kappa):
    problem, P = example(model, 11, 6, kappa, loss=loss, weighted=loss == "squared")
    start, point = random_start(P, 2)
    path = naive.algorithm_1(P, 2, point, 0.01, 12)
    assert_same_iterates(problem, P, 2, path, 0.01, start=start)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(30, 150), (110, 130), (130, 110)])
def test_iterates_where_the_eigenproblem_is_not_dense(model, shape):
    problem, P = example(model, *shape, 1)
    start, point = random_start(P, 2)
    path = naive.algorithm_1(P, 2, point, 0.002, 4)
    assert_same_iterates(problem, P, 2, path, 0.002, times=(1, 4), start=start)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(20, 31), (31, 20)])
@pytest.mark.parametrize("start", ["pca", "random"])
@pytest.mark.parametrize("tau", [0.01, 1 / 1.4])  # the second forgets B at once: 2ξτ = 1
def test_iterates_for_data_too_large_to_decompose(model, shape, start, tau):
    """Products with X in place of a decomposition: the same to the tolerance of eigenvectors."""
    problem, _ = example(model, *shape, 2, weighted=True)
    large, _ = example(model, *shape, 2, weighted=True, options=Options(lpgd_gram=10))
    options = {"step_size": tau, "max_iter": 8, "tol": 0, "start": start}
    exact, found = (lpgd.solve(each, 3, **options) for each in (problem, large))
    assert 0 < distance(lifted(model, found.factors), lifted(model, exact.factors)) < 1e-6
    np.testing.assert_allclose(found.history.objective, exact.history.objective, rtol=1e-9)


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("gradient", [0.1, 5.0])
def test_leading_singular_vectors_of_a_step(products, coupled, gradient):
    """Those of c·X + S·Tᵀ + g·hᵀ, also where g is orthogonal to X's leading directions and to S."""
    rng = np.random.default_rng(7)
    m, long, r, c = 120, 140, 3, 0.3
    d = np.sort(rng.random(m) ** 2)[::-1]
    X = np.sqrt(d)[:, None] * np.linalg.qr(rng.standard_normal((long, m)))[0].T
    S = np.linalg.qr(rng.standard_normal((m, r)))[0] if coupled else np.eye(m, r)
    g = rng.standard_normal((m, 1)) if coupled else np.eye(m)[:, 70:71]
    P = np.hstack([S, gradient * g])
    Q = rng.standard_normal((long, r + 1)) if coupled else np.hstack([X.T @ S, 0 * X.T @ g])
    Q[:, r:] = 0
    Q[-1, r:] = 1
    X[:, -1] = 0  # the row of the A-block on the long side
    G = X @ X.T
    M = c * X + P @ Q.T
    if products:
        gram = ProductGram(lambda F: G @ F, m, float(np.trace(G)), 1e-12)
        enter = leave = np.asarray
    else:
        gram = DiagonalGram(G)
        enter, leave = gram.enter, gram.leave
    image = X @ Q
    core = np.block([[Q.T @ Q, c * np.eye(r + 1)], [c * np.eye(r + 1), np.zeros((r + 1, r + 1))]])
    found, image = gram.leading(c, enter(np.hstack([P, image])), core, r, enter(P))
    expected = np.linalg.svd(M)[0][:, :r]
    found = leave(found)
    np.testing.assert_allclose(found.T @ found, np.eye(r), atol=1e-12)
    np.testing.assert_allclose(found @ (found.T @ expected), expected, atol=1e-8)
    np.testing.assert_allclose(leave(image), G @ found, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_a_start_may_have_more_columns_than_the_rank(model):
    problem, P = example(model, 10, 8, 1)
    start, point = random_start(P, 5)
    path = naive.algorithm_1(P, 2, point, 0.02, 3)
    assert_same_iterates(problem, P, 2, path, 0.02, times=(1, 3), start=start)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(9, 5), (5, 9)])
def test_weight_two_is_the_sample_twice(model, shape):
    n, p = shape
    weight = np.arange(n) % 3 + 1.0
    problem, P = example(model, n, p, 1, sample_weight=weight)
    repeated = naive.without_weights(P)
    values = [
        naive.lifted_objective(repeated, *point)
        for point in naive.algorithm_1(repeated, 2, naive.pca_start(repeated, 2), 0.02, 10)[1:]
    ]
    found = lpgd.solve(problem, 2, step_size=0.02, max_iter=10, tol=0)
    np.testing.assert_allclose(found.history.objective, values, rtol=1e-11)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(9, 5), (5, 9)])
@pytest.mark.parametrize("size", [1e-3, 1e4])
def test_iterates_for_data_in_any_unit(model, shape, size):
    """The solver works in units of its own; the iterates are those in the user's."""
    rng = np.random.default_rng(3)
    X, Y = size * rng.standard_normal(shape), (np.arange(shape[0]) % 2)[:, None]
    options = {"xi": 0.5 / size**2, "lam": 0.4}
    problem = state(model, X, Y, resolve_link("logistic", 1), **options)
    P = naive.state(model, X, Y, **options)
    tau = 0.1 * min(1.0, size) ** 2
    start, point = random_start(P, 2)
    assert_same_iterates(problem, P, 2, naive.algorithm_1(P, 2, point, tau, 12), tau, start=start)


# --- memory -------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(25, 20_000), (4000, 150)])
@pytest.mark.parametrize("start", ["pca", "random"])
def test_nothing_of_the_size_of_X_is_allocated(model, shape, start):
    n, p = shape
    rng = np.random.default_rng(0)
    X = sp.random_array(shape, density=0.01, rng=rng, format="csr") if n > p else None
    X = rng.standard_normal(shape) if X is None else X
    Y = (np.arange(n) % 2)[:, None]
    problem = state(model, X, Y, resolve_link("logistic", 1), xi=1.0, lam=1.0)
    tracemalloc.start()
    lpgd.solve(problem, 2, step_size=0.01, max_iter=3, tol=0, start=start)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.7 * n * p * 8


# --- where it converges to -------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kappa", [1, 2])
@pytest.mark.parametrize("shape", [(14, 6), (6, 14)])
def test_the_limit_is_the_optimum(model, kappa, shape):
    """The naive optimum in another metric and the default solver agree with Algorithm 1's limit."""
    rng = np.random.default_rng(5)
    n, p = shape
    X, Y = rng.standard_normal((n, p)), np.eye(kappa + 1)[np.arange(n) % (kappa + 1)][:, 1:]
    options = {"xi": 1.0, "lam": 0.7}
    problem = state(model, X, Y, resolve_link("logistic", kappa), **options)
    P = naive.state(model, X, Y, **options)
    _, value = naive.optimum(P, 2)
    found = lpgd.solve(problem, 2, max_iter=20_000, tol=1e-11)
    assert found.converged
    assert found.gradient_mapping < 1e-6
    np.testing.assert_allclose(found.objective, value, rtol=1e-9)
    np.testing.assert_allclose(newton.solve(problem, 2).objective, value, rtol=1e-8)
    f = found.factors
    factored = naive.objective(model, X, Y, f.components, f.codes.T, f.beta, f.gamma, **options)
    np.testing.assert_allclose(factored, value, rtol=1e-9)


def correctly_specified(model, kappa, rng):
    """Data whose unconstrained optimum has low rank, with 2ξ, 2λ such that L/μ < 3."""
    classes = np.repeat(np.arange(kappa + 1), 5)
    Y = np.eye(kappa + 1)[classes][:, 1:]
    alpha = 0.25 if kappa == 1 else 0.5
    if model == "filter":  # rank X = r is enough: A* lies in the range of X
        X = rng.standard_normal((len(Y), 2)) @ rng.standard_normal((2, 8))
        bend = alpha * np.linalg.norm(X, 2) ** 2
    else:  # X constant in each class: then so is A*
        X = rng.standard_normal((kappa + 1, 8))[classes]
        bend = alpha
    lam, xi = 0.4 * bend, 0.7 * bend  # μ = 2λ, 2λ < 2ξ < L = 2λ + bend
    return X, Y, xi, lam, 2 * lam, 2 * lam + bend, (2 if model == "filter" else kappa + 1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kappa", [1, 2])
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_theorem_1(model, kappa, place):
    """‖Z_t − Z*‖ ≤ ρᵗ‖Z_0 − Z*‖ for every t and every τ in (1/(2μ), 3/(2L))."""
    rng = np.random.default_rng(11)
    X, Y, xi, lam, mu, L, rank = correctly_specified(model, kappa, rng)
    problem = state(model, X, Y, resolve_link("logistic", kappa), xi=xi, lam=lam, fit_intercept=False)
    P = naive.state(model, X, Y, xi, lam, fit_intercept=False)
    best = naive.algorithm_1(P, min(X.shape) + kappa, naive.pca_start(P, rank), 1 / L, 120)[-1]
    assert max(np.max(np.abs(g), initial=0.0) for g in naive.gradient(P, *best)) < 1e-9
    assert np.linalg.matrix_rank(naive.stack(P, *best[:2]), tol=1e-8) <= rank
    low, high = 1 / (2 * mu), 3 / (2 * L)
    tau = low + place * (high - low)
    rho = 2 * max(abs(1 - tau * mu), abs(1 - tau * L))
    assert rho < 1
    start, point = random_start(P, rank, seed=kappa)
    error = [np.sqrt(sum(np.sum((a - b) ** 2) for a, b in zip(point, best, strict=True)))]
    for t in range(1, 16):
        found = lpgd.solve(problem, rank, step_size=tau, start=start, max_iter=t, tol=0)
        np.testing.assert_allclose(found.history.step, tau, rtol=1e-9)
        Z = lifted(model, found.factors)
        error.append(np.sqrt(sum(np.sum((a - b) ** 2) for a, b in zip(Z, best, strict=True))))
        assert error[t] <= rho**t * error[0] * (1 + 1e-9) + 1e-9
    assert error[-1] < 0.2 * error[0]


# --- steps, stopping and edges -------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_an_automatic_step_never_increases_the_objective(model):
    problem, _ = example(model, 20, 8, 2)
    found = lpgd.solve(problem, 2, start="random", max_iter=60, tol=0)
    values = np.array(found.history.objective)
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    assert len(set(found.history.step)) == 1


def test_a_step_inside_the_theorems_window_may_end_higher():
    """L/μ < 3, but no stationary point of F has rank r, as Theorem 1 asks.

    With 2ξτ > 1 what B lacks is magnified before Π_r: singular values close to σ_r swap in and out.
    """
    rng = np.random.default_rng(0)
    X = rng.random((60, 1)) @ rng.random((1, 40)) + 0.5 * rng.standard_normal((60, 40))
    Y = (rng.random((60, 1)) < 0.5).astype(float)
    xi, lam = 2.5, 2.0
    problem = state("feature", X, Y, resolve_link("logistic", 1), xi=xi, lam=lam, fit_intercept=False)
    mu, L = 2 * lam, max(2 * xi, 2 * lam + 0.25)
    assert L / mu < 3
    inside = 1.45 / L
    assert 1 / (2 * mu) < inside < 3 / (2 * L)
    safe, large = (
        lpgd.solve(problem, 2, step_size=step, start="random", max_iter=300, tol=0)
        for step in ("auto", inside)
    )
    assert np.all(np.diff(safe.history.objective) <= 1e-9 * safe.objective)
    assert large.objective > safe.objective * (1 + 1e-4)


def test_too_large_a_step_is_called_divergent():
    problem, _ = example("filter", 12, 5, 1, loss="squared")
    found = lpgd.solve(problem, 2, step_size=50.0)
    assert "diverged" in found.reason
    assert not found.converged
    assert np.isfinite(found.objective)
    assert np.all(np.isfinite(found.factors.components))


def test_stopping():
    problem, _ = example("feature", 12, 5, 1)
    found = lpgd.solve(problem, 2, tol=1e-4)
    assert found.converged
    assert "gradient mapping" in found.reason
    assert found.n_iter < 1000
    short = lpgd.solve(problem, 2, max_iter=4)
    assert (short.n_iter, short.converged) == (4, False)
    assert short.reason == "reached the limit of 4 iterations"
    seen = []
    stopped = lpgd.solve(problem, 2, callback=lambda t, F: seen.append((t, F)) or t == 3)
    assert stopped.reason == "stopped early by a callback"
    assert [t for t, _ in seen] == [1, 2, 3]
    assert [F for _, F in seen] == stopped.history.objective
    assert stopped.history.seconds == sorted(stopped.history.seconds)


def test_random_starts_follow_the_seed():
    problem, _ = example("filter", 12, 5, 1)
    runs = [lpgd.solve(problem, 2, start="random", random_state=s, max_iter=2).objective for s in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (6, 1)])
@pytest.mark.parametrize("kind", ["full", "rank one", "zero"])
def test_more_components_than_the_data_have(model, shape, kind):
    n, p = shape
    rng = np.random.default_rng(2)
    X = rng.standard_normal(shape)
    if kind == "rank one":
        X = np.outer(X[:, 0], X[0])
    elif kind == "zero":
        X = np.zeros(shape)
    Y, rank = (np.arange(n) % 2)[:, None], 9
    options = {"xi": 0.5, "lam": 0.4}
    problem = state(model, X, Y, resolve_link("logistic", 1), **options)
    P = naive.state(model, X, Y, **options)
    path = naive.algorithm_1(P, rank, naive.pca_start(P, rank), 0.05, 8)
    found = lpgd.solve(problem, rank, step_size=0.05, max_iter=8, tol=0)
    f = found.factors
    assert (f.components.shape, f.codes.shape, f.beta.shape) == ((p, 9), (n, 9), (9, 1))
    assert distance(lifted(model, f), path[-1]) < 1e-8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step_size": -1.0}, "step_size"),
        ({"start": "zero"}, "start"),
        ({"constraint": NonNegative(), "compress": True}, "compress"),
    ],
)
def test_bad_arguments(options, message):
    problem, _ = example("filter", 8, 4, 1)
    with pytest.raises(ValueError, match=message):
        lpgd.solve(problem, 2, **options)
