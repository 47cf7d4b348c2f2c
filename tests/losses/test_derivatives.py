"""Residuals and Hessians against finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses.examples import all_losses, draw

CASES = [pytest.param(loss, kappa, id=name) for name, loss, kappa in all_losses()]


def central(function, a, step=1e-5):
    """Fourth-order central differences along each activation; a new last axis."""
    columns = []
    for direction in np.eye(a.shape[1]):
        near = function(a + step * direction) - function(a - step * direction)
        far = function(a + 2 * step * direction) - function(a - 2 * step * direction)
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize(("loss", "kappa"), CASES)
def test_residual_is_the_gradient(loss, kappa):
    a, Y = draw(loss, kappa, 200, seed=1)
    numeric = central(lambda point: loss.value(point, Y), a)
    np.testing.assert_allclose(loss.residual(a, Y), numeric, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("loss", "kappa"), CASES)
def test_hessian_is_the_derivative_of_the_residual(loss, kappa):
    a, Y = draw(loss, kappa, 200, seed=2)
    hessian = loss.hessian(a, Y)
    assert hessian.shape == (200, kappa, kappa)
    numeric = central(lambda point: loss.residual(point, Y), a)
    np.testing.assert_allclose(hessian, numeric, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(hessian, np.swapaxes(hessian, 1, 2))


@pytest.mark.parametrize(("loss", "kappa"), CASES)
def test_hessian_action_is_a_product_with_the_hessian(loss, kappa):
    a, Y = draw(loss, kappa, 200, seed=3, scale=4.0)
    v = np.random.default_rng(4).standard_normal(a.shape)
    expected = np.einsum("ncd,nd->nc", loss.hessian(a, Y), v)
    np.testing.assert_allclose(loss.hessian_action(a, Y, v), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("loss", "kappa"), CASES)
def test_one_pass_gives_what_two_give(loss, kappa):
    a, Y = draw(loss, kappa, 50, seed=5)
    value, residual = loss.value_and_residual(a, Y)
    assert value.shape == (50,)
    np.testing.assert_array_equal(value, loss.value(a, Y))
    np.testing.assert_array_equal(residual, loss.residual(a, Y))


@settings(max_examples=60, deadline=None)
@given(
    case=st.sampled_from(all_losses()),
    seed=st.integers(0, 2**32 - 1),
    scale=st.floats(1e-3, 8.0),
)
def test_derivatives_anywhere(case, seed, scale):
    _, loss, kappa = case
    a, Y = draw(loss, kappa, 8, seed, scale)
    size = 1.0 + np.abs(loss.value(a, Y)).max()
    gradient = central(lambda point: loss.value(point, Y), a)
    np.testing.assert_allclose(loss.residual(a, Y), gradient, rtol=1e-7, atol=1e-8 * size)
    hessian = central(lambda point: loss.residual(point, Y), a)
    size = 1.0 + np.abs(loss.residual(a, Y)).max()
    np.testing.assert_allclose(loss.hessian(a, Y), hessian, rtol=1e-7, atol=1e-8 * size)
