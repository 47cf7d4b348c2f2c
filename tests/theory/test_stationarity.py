"""The gradient mapping: bounded by the gradient, zero at stationary points, and with the rank."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.theory.naive import Naive, one_hot, project, random_problem
from tests.theory.test_constants import stated

from superfactor.constraints import Box, FrobeniusBall, NonNegative, Product, norm
from superfactor.theory import gradient_mapping, lifted_gradient, stationarity
from superfactor.theory.stationarity import low_rank_step

SETS = [
    None,
    FrobeniusBall(2.0),
    NonNegative(),
    Box(-0.5, 0.7),
    Product(A=FrobeniusBall(1.0), B=NonNegative(), gamma=None),
]


def triple(rng, scale=1.0):
    return tuple(scale * rng.standard_normal(shape) for shape in ((4, 2), (4, 3), (1, 2)))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), which=st.sampled_from(range(len(SETS))), log=st.floats(-4, 4))
def test_never_longer_than_the_gradient_and_falling_in_the_step(seed, which, log):
    rng = np.random.default_rng(seed)
    theta, tau = SETS[which], 10.0**log
    Z = triple(rng) if theta is None else theta.project(triple(rng))
    gradient = triple(rng, 10.0 ** rng.uniform(-3, 3))
    length = norm(gradient_mapping(Z, gradient, tau, theta))
    # The difference of nearly equal points, divided by a small τ, has rounding errors of this size.
    noise = 1e-14 * (norm(Z) / tau + norm(gradient))
    assert length <= norm(gradient) + noise
    assert norm(gradient_mapping(Z, gradient, 2 * tau, theta)) <= length + noise
    if theta is None:
        assert length == pytest.approx(norm(gradient), abs=noise)


def test_zero_exactly_at_stationary_points():
    """min ‖Z − T‖² over the ball of radius 1 is T/‖T‖; over Z ≥ 0 it is max(T, 0)."""
    rng = np.random.default_rng(0)
    for theta, nearest in (
        (FrobeniusBall(1.0), lambda T: T / np.linalg.norm(T)),
        (NonNegative(), lambda T: np.maximum(T, 0)),
    ):
        T = 3 * rng.standard_normal((3, 4))
        Z = nearest(T)
        for tau in (0.1, 1.0, 10.0):
            assert norm(gradient_mapping(Z, 2 * (Z - T), tau, theta)) <= 1e-12
            other = 0.5 * Z
            assert norm(gradient_mapping(other, 2 * (other - T), tau, theta)) > 1e-2


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_gradient_of_a_lifted_problem(model):
    """Against the plain formulas, in the units of the problem: X̃ = X/s, and Ã = s·A (filter)."""
    rng = np.random.default_rng(1)
    naive = random_problem(rng, model, 9, 5, 1, 2, 0.6, 0.3, 20.0, True)
    problem = stated(naive)
    s = problem.scale
    assert s > 1
    a, b = (s, 1 / s) if model == "filter" else (1.0, 1 / s)
    A, gamma = rng.standard_normal((naive.side, 2)), rng.standard_normal((2, 2))
    B = rng.standard_normal(naive.target.shape)
    got = lifted_gradient(problem, a * A, b * B, gamma)
    expected = naive.gradients(A, B, gamma)
    for g, e, unit in zip(got, expected, (a, b, 1.0), strict=True):
        np.testing.assert_allclose(g * unit, e, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_with_the_rank_it_vanishes_where_algorithm_1_stops(model):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((12, 6)) * [2.0, 1.5, 0.3, 0.2, 0.1, 0.1]
    Y = one_hot(rng.integers(0, 3, 12), 3)
    naive = Naive(model, X, Y, 1.0, 1.0, rng.standard_normal((12, 1)))
    rank, step = 2, 1 / (2 + np.linalg.norm(naive.J, 2) ** 2)
    theta = project(np.hstack([np.zeros((naive.side, 2)), naive.target]), rank)
    Z = (theta[:, :2], theta[:, 2:], np.zeros((1, 2)))
    first = stationarity(Z, naive.gradients(*Z), step, rank)
    assert first > 1e-2
    values = [naive.value(*Z)]
    for iterate in naive.algorithm_1(Z, rank, step, 1500):
        Z = iterate
        values.append(naive.value(*Z))
    assert stationarity(Z, naive.gradients(*Z), step, rank) < 1e-9 * first
    assert np.all(np.diff(values) <= 1e-10)
    # The full gradient is not zero: the remainder is orthogonal to the tangent space of rank-2 matrices.
    assert norm(naive.gradients(*Z)) > 1e-2
    away = (Z[0], Z[1], Z[2] + 0.1)
    assert stationarity(away, naive.gradients(*away), step, rank) > 1e-2


def test_a_step_is_projected_onto_the_set_first_and_the_rank_second():
    rng = np.random.default_rng(3)
    Z, gradient = triple(rng), triple(rng)
    A, B, gamma = low_rank_step(Z, gradient, 0.5, 1, NonNegative())
    moved = [np.maximum(z - 0.5 * g, 0) for z, g in zip(Z, gradient, strict=True)]
    np.testing.assert_allclose(np.hstack([A, B]), project(np.hstack(moved[:2]), 1), atol=1e-12)
    np.testing.assert_allclose(gamma, moved[2])


def test_a_step_size_must_be_positive():
    Z = triple(np.random.default_rng(4))
    for step in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="step_size="):
            gradient_mapping(Z, Z, step)
