"""Curves: clocks, common grids, fitted exponentials."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from reproduction.convergence.curves import Curve, fit_decay, follow, objective_at, optimum
from reproduction.convergence.released import random_start
from reproduction.fits import solve, state


def curve(objective, seconds=None):
    objective = np.asarray(objective, dtype=float)
    seconds = np.arange(len(objective)) / 10 if seconds is None else np.asarray(seconds)
    return Curve(seconds, objective, len(objective) - 1)


def data(q=0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8))
    y = (X[:, 0] + rng.standard_normal(30) > 0).astype(float)
    return X, y, rng.standard_normal((30, q)) if q else None


def problem(model, X, y, Z=None, xi=0.8, lam=1.0):
    return state(model, X, y[:, None], xi=xi, lam=lam, covariates=Z)


def naive(model, X, y, Z, factors, xi=0.8, lam=1.0):
    W, H, beta, gamma = factors.components, factors.codes, factors.beta, factors.gamma
    A = W @ beta if model == "filter" else H @ beta
    a = ((X @ A if model == "filter" else A) + Z @ gamma)[:, 0]
    loss = np.sum(np.log(1 + np.exp(a))) - y @ a
    return loss + xi * np.sum((X - H @ W.T) ** 2) + lam * (np.sum(A**2) + np.sum(gamma**2))


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("model", ["filter", "feature"])
def test_objective_at_factors_is_the_papers(model, stored):
    X, y, Z = data(q=3)
    factors = random_start(30, 8, 2, 3, seed=1)
    expected = naive(model, X, y, Z, factors)
    found = objective_at(model, stored(X), y, Z, factors, xi=0.8, lam=1.0)
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_run_begins_at_its_start_and_its_clock_at_the_data():
    X, y, _ = data()
    start, stated = random_start(30, 8, 2, seed=1), []

    def begin():
        stated.append(problem("filter", X, y))
        return stated[-1]

    def descend(given):
        assert given is stated[-1]
        return solve(given, 2, "lpgd", start=start, step_size=0.01, max_iter=5, tol=0)

    run = follow(begin, descend, 7.0)
    assert len(stated) == 1
    assert run.iterations == 5
    assert run.objective.shape == run.seconds.shape == (6,)
    assert run.objective[0] == 7.0
    assert run.seconds[0] == 0
    assert np.all(np.diff(run.seconds) > 0)
    own_start = follow(begin, lambda given: solve(given, 2, "bcd", max_iter=3, tol=0))
    assert own_start.objective.shape == (3,)
    assert own_start.seconds[0] > 0


def test_optimum_is_below_what_other_solvers_find_and_proven():
    X, y, _ = data()
    stated = problem("feature", X, y)
    best = optimum(stated, 2)
    assert best.is_global
    assert best.gap < 1e-6 * best.value
    for seed in range(5):
        start = random_start(30, 8, 2, seed=seed)
        assert solve(stated, 2, "bcd", start=start).objective >= best.value - best.gap


@pytest.mark.parametrize("rate", [0.01, 0.7])
def test_an_exponential_is_found(rate):
    best, t = 50.0, np.arange(20)
    seconds = 0.2 * t + 3
    found = fit_decay(curve(best + 9 * np.exp(-rate * t), seconds), best)
    assert found.per_iteration == pytest.approx(rate)
    assert found.per_second == pytest.approx(rate / 0.2)
    assert found.r2 == pytest.approx(1)
    assert (found.first, found.last) == (0, 19)
    assert found.contraction == pytest.approx(math.exp(-rate / 2))
