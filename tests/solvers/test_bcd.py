"""Block coordinate descent against the naive objective and optimum, and scikit-learn's NMF."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import NMF
from tests import naive
from tests.problems import MODELS, example
from tests.solvers.examples import activations

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import bcd, newton


def factored_objective(P, f):
    """F of the reference at factors."""
    A = f.components @ f.beta if P.model == "filter" else (f.codes @ f.beta).T
    return naive.lifted_objective(P, A, f.components @ f.codes.T, f.gamma)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize(
    ("model", "kappa", "shape", "sparse", "weighted", "start"),
    [
        ("filter", 1, (20, 9), False, True, "pca"),
        ("filter", 3, (9, 20), True, False, "random"),
        ("feature", 1, (9, 20), False, False, "pca"),
        ("feature", 2, (20, 9), True, True, "random"),
    ],
)
def test_the_objective_is_F_and_never_increases(model, kappa, shape, sparse, weighted, start, nonnegative):
    problem, P = example(model, *shape, kappa, sparse=sparse, weighted=weighted)
    found = bcd.solve(problem, 2, max_iter=12, tol=0, start=start, nonnegative=nonnegative)
    assert found.n_iter == 12
    assert np.all(np.diff(found.history.objective) <= 0)
    assert found.history.objective[-1] < found.history.objective[0]
    f = found.factors
    np.testing.assert_allclose(found.objective, factored_objective(P, f), rtol=1e-9)
    A = f.components @ f.beta if model == "filter" else (f.codes @ f.beta).T
    a = naive.activations(P, A, f.gamma).T
    np.testing.assert_allclose(activations(problem, found), a, atol=1e-7)
    if nonnegative:
        assert f.components.min() >= 0
        assert f.codes.min() >= 0
        norms = np.linalg.norm(f.components, axis=0)
        np.testing.assert_allclose(norms[norms > 0], 1.0)


@pytest.mark.parametrize("loss", ["squared", "probit"])
@pytest.mark.parametrize("model", MODELS)
def test_other_losses(model, loss):
    problem, P = example(model, 15, 8, 1, loss=loss)
    found = bcd.solve(problem, 2, max_iter=300, tol=1e-10)
    assert np.all(np.diff(found.history.objective) <= 0)
    np.testing.assert_allclose(found.objective, factored_objective(P, found.factors), rtol=1e-9)
    np.testing.assert_allclose(found.objective, newton.solve(problem, 2).objective, rtol=1e-5)


@pytest.mark.parametrize(("model", "kappa", "shape"), [("filter", 2, (14, 6)), ("feature", 1, (6, 14))])
def test_an_easy_problem_ends_at_the_optimum(model, kappa, shape):
    rng = np.random.default_rng(5)
    n, p = shape
    X, Y = rng.standard_normal((n, p)), np.eye(kappa + 1)[np.arange(n) % (kappa + 1)][:, 1:]
    options = {"xi": 1.0, "lam": 0.7}
    problem = state(model, X, Y, resolve_link("logistic", kappa), **options)
    _, value = naive.optimum(naive.state(model, X, Y, **options), 2)
    found = bcd.solve(problem, 2, tol=1e-12, max_iter=2000)
    assert found.converged
    assert found.gradient_mapping < 1e-3
    np.testing.assert_allclose(found.objective, value, rtol=1e-8)


# --- with signs -------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_without_supervision_the_result_is_nmf(model):
    """With a tiny weight on the loss the reconstruction is as good as scikit-learn's NMF."""
    rng = np.random.default_rng(4)
    X = rng.random((30, 3)) @ rng.random((3, 12)) + 0.05 * rng.random((30, 12))
    Y = (np.arange(30) % 2)[:, None]
    problem = state(model, X, Y, resolve_link("logistic", 1), xi=1e6, lam=1.0)
    f = bcd.solve(problem, 3, nonnegative=True, max_iter=800, tol=1e-12).factors
    reference = NMF(3, init="nndsvda", max_iter=5000, tol=1e-9).fit(X)
    error = np.linalg.norm(X - f.codes @ f.components.T)
    assert error <= 1.01 * reference.reconstruction_err_


@pytest.mark.parametrize(("model", "weighted"), [("filter", True), ("feature", False)])
def test_no_feasible_direction_descends_at_the_end(model, weighted):
    """The first-order conditions of a constrained minimum, with the reference's gradient."""
    problem, P = example(model, 14, 6, 2, weighted=weighted)
    found = bcd.solve(problem, 2, nonnegative=True, max_iter=2000, tol=1e-13)
    f = found.factors
    A = f.components @ f.beta if model == "filter" else (f.codes @ f.beta).T
    gA, gB, gamma = naive.gradient(P, A, f.components @ f.codes.T, f.gamma)
    slopes = {
        "components": gB @ f.codes + (gA @ f.beta.T if model == "filter" else 0),
        "codes": gB.T @ f.components + (gA.T @ f.beta.T if model == "feature" else 0),
    }
    assert np.max(np.abs(gamma)) < 1e-3
    start = np.linalg.norm(P.X) ** 2
    for name, slope in slopes.items():
        x = getattr(f, name)
        assert np.min(slope) > -1e-4 * start, name  # F does not fall if the entry leaves zero
        assert np.max(np.abs(slope[x > 1e-8])) < 1e-4 * start, name


# --- steps, stopping and edges -------------------------------------------------------------


def test_stopping():
    problem, _ = example("filter", 12, 5, 1)
    found = bcd.solve(problem, 2)
    assert found.converged
    assert "three iterations" in found.reason
    short = bcd.solve(problem, 2, max_iter=1, tol=1e-15)
    assert (short.n_iter, short.converged) == (1, False)
    stopped = bcd.solve(problem, 2, callback=lambda t, F: t == 2)
    assert stopped.reason == "stopped early by a callback"
    with pytest.raises(ValueError, match="start"):
        bcd.solve(problem, 2, start="zero")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("nonnegative", "kind"), [(False, "rank one"), (True, "full"), (True, "zero")])
def test_more_components_than_the_data_have(model, nonnegative, kind):
    rng = np.random.default_rng(2)
    X = rng.random((7, 4))
    if kind == "rank one":
        X = np.outer(X[:, 0], X[0])
    elif kind == "zero":
        X = np.zeros((7, 4))
    Y = (np.arange(7) % 2)[:, None]
    problem = state(model, X, Y, resolve_link("logistic", 1), xi=0.5, lam=0.4)
    found = bcd.solve(problem, 6, nonnegative=nonnegative, max_iter=20)
    assert found.factors.components.shape == (4, 6)
    assert np.all(np.diff(found.history.objective) <= 0)
    best = newton.solve(problem, 4).objective
    assert best * (1 - 1e-6) <= found.objective <= best * 1.2 + 0.5


@pytest.mark.parametrize(("model", "nonnegative"), [("filter", False), ("feature", True)])
def test_sparse_data_stay_sparse(model, nonnegative):
    n, p = 4000, 600
    X = sp.random_array((n, p), density=0.01, rng=np.random.default_rng(0), format="csr")
    Y = (np.arange(n) % 2)[:, None]
    problem = state(model, X, Y, resolve_link("logistic", 1), xi=1.0, lam=1.0)
    tracemalloc.start()
    bcd.solve(problem, 2, max_iter=2, nonnegative=nonnegative)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * n * p * 8
