"""LPGD against the naive Algorithm 1: iterates, memory, optima, and the paper's Theorem 1."""

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
from superfactor.solvers import lpgd

# --- iterates -------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("kappa", "shape", "options"),
    [
        (1, (12, 7), {"weighted": True}),
        (3, (7, 12), {"weighted": True}),
        (3, (12, 7), {"sparse": True}),
        (1, (7, 12), {"loss": "probit"}),
        (2, (11, 6), {"loss": "squared", "weighted": True}),
    ],
)
def test_iterates_are_those_of_algorithm_1(model, kappa, shape, options):
    problem, P = example(model, *shape, kappa, **options)
    tau = 0.03 if P.loss == "logistic" else 0.01
    start, point = random_start(P, 5)  # of more columns than the rank
    path = naive.algorithm_1(P, 2, point, tau, 12)
    for compress in (True, False):
        found = assert_same_iterates(problem, P, 2, path, tau, start=start, compress=compress)
        # ‖Z_t − Z_{t+1}‖/τ in units of √w.
        root = np.sqrt(P.weight)
        units = (1.0 if model == "filter" else root, root, 1.0)
        moved = [np.sum((u * (a - b)) ** 2) for u, a, b in zip(units, *path[-2:], strict=True)]
        np.testing.assert_allclose(found.gradient_mapping, np.sqrt(np.sum(moved)) / tau, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("shape", "tau"), [((12, 7), 1e-3), ((7, 12), 1.0), ((9, 9), 0.2)])
def test_any_step_from_pca(model, shape, tau):
    """τ up to 1.0: 2ξτ = 1.4 > 1, and far beyond 2/L for the loss."""
    problem, P = example(model, *shape, 2)
    path = naive.algorithm_1(P, 3, naive.pca_start(P, 3), tau, 5)
    for compress in (True, False):
        assert_same_iterates(problem, P, 3, path, tau, times=(1, 5), start="pca", compress=compress)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(110, 130), (130, 110)])
def test_iterates_where_the_eigenproblem_is_not_dense(model, shape):
    problem, P = example(model, *shape, 1)
    start, point = random_start(P, 2)
    path = naive.algorithm_1(P, 2, point, 0.002, 4)
    assert_same_iterates(problem, P, 2, path, 0.002, times=(1, 4), start=start)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("shape", "start", "tau"),
    [((20, 31), "pca", 0.01), ((31, 20), "random", 1 / 1.4)],  # the second resets B at once: 2ξτ = 1
)
def test_iterates_for_data_too_large_to_decompose(model, shape, start, tau):
    """With products with X instead of a decomposition: the same up to the tolerance of eigenvectors."""
    problem, _ = example(model, *shape, 2, weighted=True)
    large, _ = example(model, *shape, 2, weighted=True, options=Options(lpgd_gram=10))
    options = {"step_size": tau, "max_iter": 8, "tol": 0, "start": start}
    exact, found = (lpgd.solve(each, 3, **options) for each in (problem, large))
    assert 0 < distance(lifted(model, found.factors), lifted(model, exact.factors)) < 1e-6
    np.testing.assert_allclose(found.history.objective, exact.history.objective, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("shape", "size"), [((9, 5), 1e-3), ((5, 9), 1e4)])
def test_iterates_for_data_in_any_unit(model, shape, size):
    """The solver has its own units; the iterates are those in the user's units."""
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
@pytest.mark.parametrize(("shape", "start"), [((25, 20_000), "pca"), ((4000, 150), "random")])
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


# --- limits ----------------------------------------------------------------------------


# --- steps, stopping and edges -------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_an_automatic_step_never_increases_the_objective(model):
    problem, _ = example(model, 20, 8, 2)
    found = lpgd.solve(problem, 2, start="random", max_iter=60, tol=0)
    values = np.array(found.history.objective)
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    assert len(set(found.history.step)) == 1


def test_a_step_inside_the_theorems_window_may_end_higher():
    """L/μ < 3, but no stationary point of F has rank r, as Theorem 1 requires.

    With 2ξτ > 1 the error of B is amplified before Π_r: singular values close to σ_r alternate.
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


def test_too_large_a_step_is_reported_as_divergent():
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


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("shape", "kind"), [((7, 4), "rank one"), ((4, 7), "full"), ((6, 1), "zero")])
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
