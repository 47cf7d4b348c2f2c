"""Curves: clocks, common grids, fitted exponentials."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from reproduction.convergence.curves import Curve, fit_decay, follow, objective_at, on_clock, optimum, rises
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


def test_common_clock():
    one = curve([4.0, 2.0, 1.0], seconds=[0.0, 1.0, 2.0])
    two = curve([8.0, 0.0], seconds=[0.5, 1.5])
    times, values = on_clock([one, two], points=3)
    np.testing.assert_allclose(times, [0.5, 1.0, 1.5])
    np.testing.assert_allclose(values, [[3.0, 2.0, 1.5], [8.0, 4.0, 0.0]])


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


def test_only_the_longest_falling_stretch_counts():
    falling = 10 * 0.5 ** np.arange(8)
    values = np.concatenate([[3.0, 2.5, 2.0], [20.0], falling, [30.0, 29.0]])
    found = fit_decay(curve(values), 0.0)
    assert (found.first, found.last) == (3, 11)
    assert found.per_iteration == pytest.approx(math.log(2))
    assert rises(values) == 2


def test_what_is_at_the_optimum_but_for_rounding_does_not_count():
    values = 1e6 + 3 * 10.0 ** -np.arange(12)
    found = fit_decay(curve(values), 1e6)
    assert found.last == 3  # a billionth of F is 1e-3
    assert found.per_iteration == pytest.approx(math.log(10), rel=1e-6)


@pytest.mark.parametrize(
    "values", [[5.0, 6.0, 7.0, 8.0, 9.0], [4.0, 3.0, 2.0], [1.0] * 6], ids=["up", "short", "flat"]
)
def test_nothing_to_fit(values):
    assert fit_decay(curve(values), 0.5) is None


def test_a_curved_decay_has_a_smaller_r2():
    t = np.arange(30)
    two_speeds = np.exp(-2.0 * t) + 1e-4 * np.exp(-0.05 * t)
    assert fit_decay(curve(two_speeds), 0.0).r2 < 0.6


def test_rounding_is_no_rise():
    assert rises(np.array([1e6, 1e6 + 1e-6, 1e6])) == 0
    assert rises(np.array([1e6, 1e6 + 1e-3, 1e6])) == 1


def test_when_a_value_is_reached():
    run = curve([9.0, 5.0, 5.0 - 1e-12, 2.0])
    assert run.reaches(5.0) == pytest.approx(0.1)
    assert run.reaches(5.0 - 2e-12) == pytest.approx(0.1)  # rounding
    assert run.reaches(2.0) == pytest.approx(0.3)
    assert run.reaches(1.0) == math.inf


def test_the_end_of_a_run_that_swings_is_its_mean_there():
    falling = np.linspace(9, 1, 100)
    assert curve(falling).end == 1
    swinging = np.concatenate([falling, np.tile([2.0, 4.0], 10)])
    assert curve(swinging).end == 3
    assert curve([7.0]).end == 7
    seldom = np.array([1.0, 10.0, 100.0, 950.0, 1000.0])  # looked at: a tenth of the time is two of these
    assert curve([90.0, 50.0, 10.0, 3.0, 4.0], seldom).end == 3.5
