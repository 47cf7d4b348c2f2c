"""Admissible weights against the definition L/μ < 3 on a grid."""

import math

import numpy as np
import pytest
from tests.theory.naive import random_problem
from tests.theory.test_constants import stated

from superfactor.losses import SquaredError
from superfactor.problem import state
from superfactor.theory import (
    Interval,
    TheoremConstants,
    admissible_lambda,
    admissible_xi,
    is_admissible,
    problem_lambda,
    profiled_lambda,
    theorem_constants,
)
from superfactor.theory.regions import admissible_pieces, loss_curvature

ENDS = [(1.0, 2.5), (1.0, 2.99), (1.0, 3.0), (1.0, 10.0), (0.0, 1.0), (0.3, 0.3)]
# Away from the borders, where < and ≤ would differ by rounding.
XI = np.linspace(0.0, 12.0, 31)[1:] + 0.00713
LAM = np.append(0.0, np.linspace(0.0, 25.0, 61)[1:] + 0.00391)


def brute_force(xi, lam, low, high):
    return max(2 * xi, 2 * lam + high) < 3 * min(2 * xi, 2 * lam + low)


@pytest.mark.parametrize("low, high", ENDS)
def test_every_description_agrees_with_the_definition(low, high):
    pieces = admissible_pieces(low, high)
    seen = set()
    for xi in XI:
        over_lam = admissible_lambda(xi, low, high)
        for lam in LAM:
            truth = brute_force(xi, lam, low, high)
            seen.add(truth)
            assert is_admissible(xi, lam, low, high) == truth
            assert (over_lam is not None and lam in over_lam) == truth
            over_xi = admissible_xi(lam, low, high)
            assert (over_xi is not None and xi in over_xi) == truth
            inside = [xi in piece.xi and lam in piece.lam(xi) for piece in pieces]
            assert any(inside) == truth
            constants = TheoremConstants(min(2 * xi, 2 * lam + low), max(2 * xi, 2 * lam + high))
            assert (constants.step_window is not None) == truth
    assert seen == {True, False}


def test_without_ridge_the_main_texts_window():
    """0 < L*/μ* < 3 and L*/6 < ξ/n < 3μ*/2."""
    assert admissible_xi(0.0, 1.0, 2.4) == Interval(pytest.approx(0.4), 1.5)
    assert admissible_xi(0.0, 1.0, 3.0) is None
    # The feature model has low = 0: without ridge nothing is admissible.
    assert admissible_xi(0.0, *loss_curvature("feature", 0.25)) is None


def test_feature_condition_with_covariates():
    low, high = loss_curvature("feature", 0.25, covariate_factor=99.0)
    assert (low, high) == (0.0, 25.0)
    interval = admissible_lambda(10.0, low, high)
    assert (interval.lower, interval.upper) == pytest.approx((6.25, 17.5))
    # Without the factor, as in the paper, λ = 5 would seem admissible.
    assert not is_admissible(10.0, 5.0, low, high)
    assert is_admissible(10.0, 5.0, *loss_curvature("feature", 0.25))


@pytest.mark.parametrize("low, high", ENDS)
def test_profiled_only_lambda_matters(low, high):
    interval = profiled_lambda(low, high)
    for lam in LAM:
        assert (lam in interval) == (2 * lam + high < 3 * (2 * lam + low))


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("profiled", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_problem_lambda_is_where_the_constants_apply(model, profiled, intercept):
    for seed in range(2):
        values = []
        for lam in (0.01, 0.3, 1.0, 3.0, 10.0, 60.0, 500.0):
            rng = np.random.default_rng(seed)
            naive = random_problem(rng, model, 12, 3, 1, 1, 8.0, lam, 1.0, intercept)
            problem = stated(naive)
            interval = problem_lambda(problem, profiled=profiled)
            applies = theorem_constants(problem, profiled=profiled).applies
            assert (interval is not None and lam in interval) == applies
            values.append(applies)
        assert any(values) != (intercept and not profiled)


def test_a_loss_with_curvature_of_its_own_can_carry_the_intercept():
    """The squared error has positive curvature: orthogonal data and an intercept are admissible at λ = 0."""
    X = np.linalg.qr(np.hstack([np.ones((8, 1)), np.eye(8)[:, :3]]))[0][:, 1:] * math.sqrt(8)
    y = np.arange(8.0)[:, None]
    for xi, fine in ((7.0, True), (0.5, False)):
        problem = state("filter", X, y, SquaredError(), xi=xi, lam=0.0)
        assert theorem_constants(problem).applies == fine
        interval = problem_lambda(problem)
        assert (interval is not None and 0.0 in interval) == fine


@pytest.mark.parametrize(
    "call",
    [
        lambda: admissible_lambda(0.0, 0.0, 1.0),
        lambda: admissible_xi(-1.0, 0.0, 1.0),
        lambda: is_admissible(1.0, 1.0, 2.0, 1.0),
        lambda: profiled_lambda(0.0, math.inf),
        lambda: loss_curvature("other", 0.25),
    ],
)
def test_bad_arguments_raise(call):
    with pytest.raises(ValueError, match=r"(xi|lam|low|model)=.*(required|allowed)"):
        call()


def test_intervals():
    assert 1.0 not in Interval(1.0, 2.0)
    assert 1.0 in Interval(1.0, 2.0, closed=True)
    assert 2.0 not in Interval(1.0, 2.0, closed=True)
    assert 1.0 not in Interval(1.0, 1.0, closed=True)
