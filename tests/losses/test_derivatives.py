"""Residuals and curvatures against finite differences, at one point and at several at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses.examples import all_losses, draw

from superfactor.losses import Curvature


def central(function, a, step=1e-5):
    """Fourth-order central differences along each activation; a new last axis."""
    columns = []
    for direction in np.eye(a.shape[1]):
        near = function(a + step * direction) - function(a - step * direction)
        far = function(a + 2 * step * direction) - function(a - 2 * step * direction)
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, axis=-1)


@settings(max_examples=50, deadline=None)
@given(case=st.sampled_from(all_losses()), seed=st.integers(0, 2**32 - 1), scale=st.floats(1e-3, 8.0))
def test_derivatives(case, seed, scale):
    _, loss, kappa = case
    a, Y = draw(loss, kappa, 8, seed, scale)
    value, residual = loss.value_and_residual(a, Y)
    np.testing.assert_array_equal(value, loss.value(a, Y))
    np.testing.assert_array_equal(residual, loss.residual(a, Y))
    gradient = central(lambda point: loss.value(point, Y), a)
    np.testing.assert_allclose(residual, gradient, rtol=1e-7, atol=1e-8 * (1 + np.abs(value).max()))
    hessian, numeric = loss.hessian(a, Y), central(lambda point: loss.residual(point, Y), a)
    np.testing.assert_allclose(hessian, numeric, rtol=1e-7, atol=1e-8 * (1 + np.abs(residual).max()))
    v = np.random.default_rng(seed).standard_normal(a.shape)
    product = np.einsum("ncd,nd->nc", hessian, v)
    np.testing.assert_allclose(loss.hessian_action(a, Y, v), product, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kappa", [1, 2, 5])
def test_curvature_times_a_direction_and_its_matrices_written_out(kappa):
    """For any diagonal and outer product, not only those of a loss."""
    diagonal, outer, v = np.random.default_rng(8).standard_normal((3, 4, 6, kappa))
    bend = Curvature(diagonal, outer)
    matrices, times = bend.matrices(), bend.times(v)
    for place in np.ndindex(4, 6):
        expected = -np.outer(outer[place], outer[place])
        np.fill_diagonal(expected, diagonal[place])
        np.testing.assert_allclose(matrices[place], expected, atol=1e-14)
        np.testing.assert_allclose(times[place], expected @ v[place], atol=1e-13)


@pytest.mark.parametrize(
    ("loss", "kappa"), [pytest.param(loss, kappa, id=name) for name, loss, kappa in all_losses()]
)
def test_several_points_give_the_results_of_each(loss, kappa):
    """Activations (2, 3, n, κ) against their six parts, also for scores that differ by hundreds."""
    a, Y = draw(loss, kappa, 30, seed=9)
    size = np.array([0.1, 1.0, 3.0, 10.0, 30.0, 1.0]).reshape(2, 3, 1, 1)
    many = size * np.roll(a, 1, axis=0) + np.linspace(-1, 1, 6).reshape(2, 3, 1, 1)

    def asked(point):
        return (*loss.value_and_residual(point, Y), *loss.curvature(point, Y).numbers, loss.hessian(point, Y))

    together = asked(many)
    for place in np.ndindex(2, 3):
        for found, expected in zip(together, asked(many[place]), strict=True):
            np.testing.assert_allclose(found[place], expected, rtol=1e-12, atol=1e-300)
