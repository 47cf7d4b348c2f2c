"""Ridge regression with any loss against SciPy, and its linear systems against NumPy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.problems import example
from tests.subspace.designs import CASES, World

from superfactor.losses import resolve_link
from superfactor.options import Options
from superfactor.problem import state
from superfactor.samples import Block, Design
from superfactor.subspace import LossOn, fit_ridge
from superfactor.subspace.ridge import solve_linear

WAYS = {"dense": {}, "conjugate gradients": {"largest_system": 0}}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("model", "kind"), [("filter", "basis"), ("feature", "offset")])
@pytest.mark.parametrize("way", WAYS)
def test_both_ways_reach_the_minimum(model, case, kind, way):
    """Its gradient vanishes, and SciPy finds nothing lower."""
    w = World(model, case, kind, options=Options(**WAYS[way]))
    assert w.loss.dense_pays == (way == "dense")
    ridge = np.linspace(0.1, 1.0, w.coef.shape[0])
    column = ridge[:, None]

    def objective(x):
        c = x.reshape(w.coef.shape)
        value, gradient = w.evaluate(c)
        return value + np.sum(column * c**2), (gradient + 2 * column * c).ravel()

    best = minimize(objective, 0 * w.coef.ravel(), jac=True, options={"gtol": 1e-9})
    found, value, pulled = fit_ridge(w.loss, ridge, 0 * w.coef)
    np.testing.assert_allclose(value, best.fun, rtol=1e-9)
    np.testing.assert_allclose(found.ravel(), best.x, atol=1e-4)
    assert value == pytest.approx(objective(found.ravel())[0], rel=1e-12)
    # All at the coefficients that are returned.
    np.testing.assert_allclose(pulled, w.evaluate(found)[1], atol=1e-10)
    assert np.abs(objective(found.ravel())[1]).max() < 1e-5 * w.problem.null_loss


@pytest.mark.parametrize("way", WAYS)
def test_separable_classes_without_a_ridge_end(way):
    """No minimum, only an infimum of zero: steps stay finite, and the value falls."""
    X = np.linspace(-1, 1, 20)[:, None]
    problem = state(
        "filter",
        X,
        (X[:, 0] > 0).astype(int),
        resolve_link("logistic", 1),
        xi=1.0,
        lam=0.0,
        options=Options(**WAYS[way]),
    )
    kept = problem.samples.keep(Block.given, X)
    loss = LossOn(problem, Design(kept.place), 2)
    found, value, _ = fit_ridge(loss, np.zeros(2), np.zeros((2, 1)), max_iter=100)
    assert np.all(np.isfinite(found))
    assert 0 <= value < 1e-3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("far", [-38.0, 60.0])
def test_a_start_where_the_loss_is_nearly_linear(way, far):
    """A large intercept, as for a class that a subsample lacks, returns to its optimum."""
    problem, P = example("filter", 60, 4, 2, covariates=None, options=Options(**WAYS[way]))
    loss = LossOn(problem, Design(None), 1)
    found, value, _ = fit_ridge(loss, np.zeros(1), np.array([[0.0, far]]))
    counts = P.Y.sum(axis=1)
    best = np.log(counts / (60 - counts.sum()))  # the classes' frequencies, in closed form
    np.testing.assert_allclose(found[0], best, atol=1e-6)
    shares = np.array([60 - counts.sum(), *counts]) / 60
    np.testing.assert_allclose(value, -60 * np.sum(shares * np.log(shares)), rtol=1e-10)


def test_zero_coefficients():
    problem, _ = example("filter", 9, 4, 1, covariates=None, fit_intercept=False)
    loss = LossOn(problem, Design(None), 0)
    found, value, pulled = fit_ridge(loss, np.zeros(0), np.zeros((0, 1)))
    assert found.shape == pulled.shape == (0, 1)
    np.testing.assert_allclose(value, problem.null_loss, rtol=1e-14)


def test_linear_systems():
    rng = np.random.default_rng(0)
    M, x = rng.standard_normal((5, 5)), rng.standard_normal(5)
    np.testing.assert_allclose(solve_linear(M, M @ x), x, rtol=1e-10)
    assert solve_linear(np.zeros((3, 3)), np.ones(3)) is None
    assert solve_linear(np.full((2, 2), np.nan), np.ones(2)) is None
