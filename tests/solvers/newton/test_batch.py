"""Points that descend together: each as if it were alone, none of them uphill."""

import math

import numpy as np
import pytest
from tests import naive
from tests.problems import example
from tests.subspace.points import CASES, one_model_each, random_point, subspace

from superfactor.solvers.newton.batch import Batch
from superfactor.solvers.newton.descent import trusted
from superfactor.subspace.truncated import truncated_step


def batch_of(inside, points):
    return Batch.at(
        inside,
        np.stack([p.W for p in points]),
        np.stack([p.beta for p in points]),
        np.stack([p.gamma for p in points]),
    )


def random_batch(inside, size=4, scale=1.0):
    return batch_of(inside, [random_point(inside, seed, scale) for seed in range(size)])


def assert_same_point(one, other, rtol=1e-8):
    np.testing.assert_allclose(one.W @ one.W.T, other.W @ other.W.T, atol=rtol)
    A, B = one.W @ one.beta, other.W @ other.beta
    np.testing.assert_allclose(A, B, atol=rtol * (1 + np.abs(B).max()))
    size = 1 + np.abs(other.gamma).max(initial=0)
    np.testing.assert_allclose(one.gamma, other.gamma, atol=rtol * size)
    assert pytest.approx(float(other.F), rel=rtol) == float(one.F)


@one_model_each
def test_a_step_of_a_batch_is_the_step_of_each_point(model, case):
    """Three steps: points, radii and predicted decreases of a batch, of batches of one, of single points."""
    problem, _ = example(model, 14, 8, xi=0.3, lam=0.05, **CASES[case])
    inside = subspace(problem, 2)
    points = [random_point(inside, seed) for seed in range(4)]
    batch, alone = batch_of(inside, points), [batch_of(inside, [p]) for p in points]
    for _ in range(3):
        for i in range(batch.size):
            point = batch.points[i]
            step = truncated_step(inside, point, float(batch.radius[i]))
            shortened = (step.apply(inside, point, t) for t in (1, 1 / 4, 1 / 16))
            expected = next((new for new in shortened if new.F <= point.F), point)
            after = batch.stepped(inside)
            assert_same_point(after.points[i], expected)
            assert after.left[i] == pytest.approx(float(step.decrease), rel=1e-6)
            assert after.solved[i] == (not step.saddle)
        batch, alone = batch.stepped(inside), [one.stepped(inside) for one in alone]
        for i, one in enumerate(alone):
            assert_same_point(batch.points[i], one.points[0])
            np.testing.assert_allclose(batch.radius[i], one.radius[0], rtol=1e-6)


@one_model_each
def test_a_batch_reaches_the_optimum_of_algorithm_1(model, case):
    """One minimum: every start ends at the naive optimum and reports that nothing is left."""
    problem, P = example(model, 12, 6, xi=0.8, lam=4.0, **CASES[case])
    inside = subspace(problem, 2)
    batch, ends, value = random_batch(inside, 3), [], naive.optimum(P, 2)[1]
    for _ in range(40):
        batch = batch.stepped(inside)
        converged = batch.solved & (batch.left <= 1e-9 * value)
        ends.extend(batch.F[converged])
        batch = batch.taken(np.flatnonzero(~converged))
        if batch.size == 0:
            break
    np.testing.assert_allclose(ends, [value] * 3, rtol=1e-8)


def test_radii_follow_how_well_models_predict():
    """The usual rule: a quarter of a step that failed, larger where a good model reached the boundary."""
    given = {
        "before the first step": (math.inf, 3.0, 1.0, 0.5, 3.0),
        "good, at the edge": (2.0, 2.0, 1.0, 0.9, 8.0),
        "good, inside": (2.0, 1.0, 1.0, 0.9, 2.0),
        "so-so": (2.0, 2.0, 1.0, 0.5, 2.0),
        "poor": (2.0, 2.0, 1.0, 0.1, 0.5),
        "uphill": (2.0, 2.0, 1.0, -math.inf, 0.5),
    }
    radius, length, promised, fallen, expected = np.array(list(given.values())).T
    np.testing.assert_array_equal(trusted(radius, length, promised, fallen), expected)
    for *one, value in given.values():
        assert float(trusted(*one)) == value
