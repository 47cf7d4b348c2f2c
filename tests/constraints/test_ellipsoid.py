"""The secular equation of a rescaled ball against a general optimiser and its own conditions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from superfactor.constraints import FrobeniusBall, project_onto_ellipsoid

positive = st.floats(1e-6, 1e6)


@settings(max_examples=200, deadline=None)
@given(blocks=st.lists(st.tuples(positive, positive), min_size=1, max_size=4), radius=positive)
def test_factors_satisfy_the_optimality_conditions(blocks, radius):
    norms2 = np.array([block[0] for block in blocks])
    scales = np.array([block[1] for block in blocks])
    factors = np.array(project_onto_ellipsoid(norms2, scales, radius))
    if np.sum(norms2 / scales**2) <= radius**2:
        np.testing.assert_array_equal(factors, 1.0)
        return
    # On the surface (checked in the design notes to 2e-13) ...
    surface = math.sqrt(np.sum(factors**2 * norms2 / scales**2)) / radius
    assert surface == pytest.approx(1.0, abs=2e-13)
    # ... and y − z = ν z/s² with one ν ≥ 0 for all blocks. (1 − m loses digits where m is near 1.)
    assert np.all((factors > 0) & (factors <= 1))
    nu = (1.0 / factors - 1.0) * scales**2
    best = np.argmin(scales)
    slack = 1e-12 * nu[best] + 4e-16 * scales**2 / factors
    assert np.all(np.abs(nu - nu[best]) <= slack + 4e-16 * scales[best] ** 2 / factors[best])


def test_against_a_general_optimiser():
    y = np.array([2.0, -1.0, 3.0, 0.5, 1.0])
    block = np.array([0, 0, 1, 1, 2])
    scales = np.array([0.5, 2.0, 5.0])
    norms2 = [float(np.sum(y[block == j] ** 2)) for j in range(3)]
    factors = np.array(project_onto_ellipsoid(norms2, scales, 0.8))
    found = minimize(
        lambda z: np.sum((z - y) ** 2),
        np.zeros(5),
        jac=lambda z: 2 * (z - y),
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": lambda z: 0.64 - np.sum((z / scales[block]) ** 2)}],
        options={"ftol": 1e-15, "maxiter": 500},
    )
    np.testing.assert_allclose(factors[block] * y, found.x, atol=1e-6)


def test_equal_scales_are_the_ball():
    factors = project_onto_ellipsoid([9.0, 16.0], [2.0, 2.0], 1.0)
    np.testing.assert_allclose(factors, 2.0 / 5.0, rtol=1e-15)


def test_the_ball_projects_rescaled_blocks():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((4, 2)), rng.standard_normal((4, 5))
    ball = FrobeniusBall(1.0)
    scale = 0.3
    sA, B_new = ball.project_ellipsoid((scale * A, B), (scale, 1.0))
    assert ball.contains((sA / scale, B_new))
    assert math.hypot(np.linalg.norm(sA / scale), np.linalg.norm(B_new)) == pytest.approx(1.0)
    # With every scale 1 it is the plain projection.
    for found, expected in zip(
        ball.project_ellipsoid((A, B), (1.0, 1.0)), ball.project((A, B)), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_nothing_to_project():
    assert project_onto_ellipsoid([0.0, 0.0], [1.0, 2.0], 1.0) == (1.0, 1.0)
    assert project_onto_ellipsoid([], [], 1.0) == ()
    assert project_onto_ellipsoid([5.0], [1.0], math.inf) == (1.0,)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (([1.0], [0.0], 1.0), "scales"),
        (([1.0], [1.0, 2.0], 1.0), "scales"),
        (([-1.0], [1.0], 1.0), "norms2"),
        (([math.nan], [1.0], 1.0), "norms2"),
        (([1.0], [1.0], 0.0), "radius"),
        (([1.0], [1.0], math.nan), "radius"),
    ],
)
def test_bad_arguments_are_named(arguments, name):
    with pytest.raises(ValueError, match=name):
        project_onto_ellipsoid(*arguments)
