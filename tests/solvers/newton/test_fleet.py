"""Points that descend side by side: each as if it were alone, none of them uphill."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests import naive
from tests.problems import MODELS, example
from tests.solvers.newton.searching import inside_of, random_point
from tests.subspace.points import paper_value

from superfactor.solvers.newton.descent import trusted
from superfactor.solvers.newton.fleet import Fleet
from superfactor.subspace.newton_model import truncated_step

every_model = pytest.mark.parametrize("model", MODELS)
CASES = {
    "binary": {"kappa": 1},
    "three classes": {"kappa": 2, "weighted": True},
    "squared": {"kappa": 2, "loss": "squared"},
    "probit": {"kappa": 1, "loss": "probit"},
    "nothing but X": {"kappa": 1, "covariates": None, "fit_intercept": False},
}
every_case = pytest.mark.parametrize("case", CASES)


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


@every_model
@every_case
def test_a_step_side_by_side_is_the_step_alone(model, case):
    """Three steps in a row: points, radii, promises; of a fleet, of fleets of one, of points alone."""
    problem, _ = example(model, 14, 8, xi=0.3, lam=0.05, **CASES[case])
    inside = inside_of(problem, 2)
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


@every_model
@every_case
def test_nobody_goes_uphill(model, case):
    """From points of no merit, at a ridge so weak that the landscape is not benign."""
    problem, _ = example(model, 12, 7, xi=0.05, lam=1e-3, **CASES[case])
    inside = inside_of(problem, 2)
    fleet = fleet_at_random(inside, 6, scale=5.0)
    first = fleet.F
    for _ in range(25):
        before, fleet = fleet, fleet.stepped(inside)
        assert np.all(fleet.F <= before.F)
        assert np.all(fleet.radius > 0)
        again = inside.at(fleet.points.W, fleet.points.beta, fleet.points.gamma)
        np.testing.assert_allclose(fleet.F, again.F, rtol=1e-12)  # the value is the point's
    assert np.all(first > fleet.F)


@every_model
def test_a_step_that_rises_is_not_taken_and_the_radius_falls(model, monkeypatch):
    problem, _ = example(model, 12, 7, 1, lam=5.0)
    inside = inside_of(problem, 2)
    fleet = fleet_at_random(inside, 3, 0.01)
    while np.any(fleet.stepped(inside).F == fleet.F):  # until all of them can trust a whole step
        fleet = fleet.stepped(inside)
    as_it_is = fleet.stepped(inside)
    assert as_it_is.F[1] < fleet.F[1]

    def too_far(inside, points, radius):
        step = truncated_step(inside, points, radius)
        long = np.array([1.0, 1e4, 1.0])[:, None, None]
        return replace(step, T=long * step.T, v=long * step.v, g=long * step.g)

    monkeypatch.setattr("superfactor.solvers.newton.fleet.truncated_step", too_far)
    after = fleet.stepped(inside)
    assert after.F[1] == fleet.F[1]
    assert np.array_equal(after.points.beta[1], fleet.points.beta[1])
    np.testing.assert_array_equal(after.F[[0, 2]], as_it_is.F[[0, 2]])
    length = float(truncated_step(inside, fleet.points[1], float(fleet.radius[1])).length)
    assert after.radius[1] == pytest.approx(0.25 * length, rel=1e-6)


@every_model
@every_case
def test_a_fleet_reaches_the_optimum_of_algorithm_1(model, case):
    """One valley: whoever starts wherever ends at the naive optimum, and knows that nothing is left."""
    problem, P = example(model, 12, 6, xi=0.8, lam=4.0, **CASES[case])
    inside = inside_of(problem, 2)
    fleet, ends, value = fleet_at_random(inside, 3), [], naive.optimum(P, 2)[1]
    for _ in range(40):
        fleet = fleet.stepped(inside)
        settled = fleet.solved & (fleet.left <= 1e-9 * value)
        ends.extend(fleet.F[settled])
        fleet = fleet.taken(np.flatnonzero(~settled))
        if fleet.size == 0:
            break
    np.testing.assert_allclose(ends, [value] * 3, rtol=1e-8)


@every_model
def test_moved_to_other_weights_only_values_change(model):
    """The values there are those of the naive objective stated with these weights."""
    given = {"n": 12, "p": 7, "kappa": 2, "weighted": True}
    problem, _ = example(model, **given, xi=0.5, lam=0.2)
    inside = inside_of(problem, 2)
    fleet = fleet_at_random(inside, 3).stepped(inside)
    factors = np.array([(1e-2, 1.0), (10.0, 100.0), (1.0, 1.0)])
    there = fleet.moved_to(inside.with_factors(factors))
    for name in ("W", "beta", "gamma"):
        assert np.array_equal(getattr(there.points, name), getattr(fleet.points, name))
    for i, (xi, lam) in enumerate(factors):
        Q = example(model, **given, xi=0.5 * xi, lam=0.2 * lam)[1]
        point = fleet.points[i]
        value = paper_value(inside, Q, point.W, point.beta, point.gamma)
        assert there.F[i] == pytest.approx(value, rel=1e-9)
    assert np.all(np.isinf(there.radius)) and np.all(np.isinf(there.left))  # other models
    assert not there.solved.any()
    np.testing.assert_allclose(there.moved_to(inside).F, fleet.F, rtol=1e-12)


@every_model
def test_some_are_taken_with_all_that_is_theirs(model):
    problem, _ = example(model, 12, 7, 2, xi=0.1, lam=1e-2)
    inside = inside_of(problem, 2)
    fleet = fleet_at_random(inside, 5).stepped(inside).stepped(inside)
    chosen = np.array([4, 1, 2])
    some = fleet.taken(chosen)
    assert some.size == 3
    for name in ("W", "beta", "gamma", "F", "loss", "pulled"):
        expected = getattr(fleet.points, name)[chosen]
        assert np.array_equal(getattr(some.points, name), expected)
    for name in ("radius", "left", "solved"):
        assert np.array_equal(getattr(some, name), getattr(fleet, name)[chosen])
    assert fleet.taken(np.array([], dtype=int)).size == 0
    # Whoever is left goes on as if nobody had gone.
    np.testing.assert_allclose(some.stepped(inside).F, fleet.stepped(inside).F[chosen], rtol=1e-9)


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
