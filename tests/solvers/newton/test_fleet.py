"""Points that descend side by side: each as if it were alone, none of them uphill."""

import math

import numpy as np
import pytest
from tests import naive
from tests.problems import example
from tests.subspace.points import CASES, one_model_each, random_point, subspace

from superfactor.solvers.newton.descent import trusted
from superfactor.solvers.newton.fleet import Fleet
from superfactor.subspace.newton_model import truncated_step


def fleet_of(inside, points):
    return Fleet.at(
        inside,
        np.stack([p.W for p in points]),
        np.stack([p.beta for p in points]),
        np.stack([p.gamma for p in points]),
    )


def fleet_at_random(inside, size=4, scale=1.0):
    return fleet_of(inside, [random_point(inside, seed, scale) for seed in range(size)])


def assert_same_point(one, other, rtol=1e-8):
    np.testing.assert_allclose(one.W @ one.W.T, other.W @ other.W.T, atol=rtol)
    A, B = one.W @ one.beta, other.W @ other.beta
    np.testing.assert_allclose(A, B, atol=rtol * (1 + np.abs(B).max()))
    size = 1 + np.abs(other.gamma).max(initial=0)
    np.testing.assert_allclose(one.gamma, other.gamma, atol=rtol * size)
    assert pytest.approx(float(other.F), rel=rtol) == float(one.F)


@one_model_each
def test_a_step_side_by_side_is_the_step_alone(model, case):
    """Three steps in a row: points, radii, promises; of a fleet, of fleets of one, of points alone."""
    problem, _ = example(model, 14, 8, xi=0.3, lam=0.05, **CASES[case])
    inside = subspace(problem, 2)
    points = [random_point(inside, seed) for seed in range(4)]
    fleet, alone = fleet_of(inside, points), [fleet_of(inside, [p]) for p in points]
    for _ in range(3):
        for i in range(fleet.size):
            point = fleet.points[i]
            step = truncated_step(inside, point, float(fleet.radius[i]))
            new = step.apply(inside, point, 1.0)
            expected = new if new.F <= point.F else point
            after = fleet.stepped(inside)
            assert_same_point(after.points[i], expected)
            assert after.left[i] == pytest.approx(float(step.decrease), rel=1e-6)
            assert after.solved[i] == (not step.saddle)
        fleet, alone = fleet.stepped(inside), [one.stepped(inside) for one in alone]
        for i, one in enumerate(alone):
            assert_same_point(fleet.points[i], one.points[0])
            np.testing.assert_allclose(fleet.radius[i], one.radius[0], rtol=1e-6)


@one_model_each
def test_a_fleet_reaches_the_optimum_of_algorithm_1(model, case):
    """One valley: whoever starts wherever ends at the naive optimum, and knows that nothing is left."""
    problem, P = example(model, 12, 6, xi=0.8, lam=4.0, **CASES[case])
    inside = subspace(problem, 2)
    fleet, ends, value = fleet_at_random(inside, 3), [], naive.optimum(P, 2)[1]
    for _ in range(40):
        fleet = fleet.stepped(inside)
        settled = fleet.solved & (fleet.left <= 1e-9 * value)
        ends.extend(fleet.F[settled])
        fleet = fleet.taken(np.flatnonzero(~settled))
        if fleet.size == 0:
            break
    np.testing.assert_allclose(ends, [value] * 3, rtol=1e-8)


def test_radii_follow_how_well_models_predict():
    """As in every textbook: a quarter of a step that failed, wider where a good model met the edge."""
    given = {
        "before the first step": (math.inf, 3.0, 1.0, 0.5, 3.0),
        "good, at the edge": (2.0, 2.0, 1.0, 0.9, 5.0),
        "good, inside": (2.0, 1.0, 1.0, 0.9, 2.0),
        "so-so": (2.0, 2.0, 1.0, 0.5, 2.0),
        "poor": (2.0, 2.0, 1.0, 0.1, 0.5),
        "uphill": (2.0, 2.0, 1.0, -math.inf, 0.5),
    }
    radius, length, promised, fallen, expected = np.array(list(given.values())).T
    np.testing.assert_array_equal(trusted(radius, length, promised, fallen), expected)
    for *one, value in given.values():
        assert float(trusted(*one)) == value
