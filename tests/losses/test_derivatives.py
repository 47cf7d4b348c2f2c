"""Residuals and Hessians against finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses.examples import all_losses, draw

from superfactor.losses import Curvature

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
def test_curvature_is_a_diagonal_and_an_outer_product(loss, kappa):
    """2κ numbers a sample say all of the κ × κ derivatives of the residual."""
    a, Y = draw(loss, kappa, 200, seed=7)
    bend = loss.curvature(a, Y)
    assert bend.diagonal.shape == bend.outer.shape == a.shape
    numeric = central(lambda point: loss.residual(point, Y), a)
    for c in range(kappa):
        np.testing.assert_allclose(bend.diagonal[:, c], numeric[:, c, c], rtol=1e-8, atol=1e-8)
        for d in range(kappa):
            if c != d:
                off = -bend.outer[:, c] * bend.outer[:, d]
                np.testing.assert_allclose(off, numeric[:, c, d], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kappa", [1, 2, 5])
def test_curvature_times_a_direction_and_its_matrices_written_out(kappa):
    """For any diagonal and outer product, not just those of a loss."""
    rng = np.random.default_rng(8)
    diagonal, outer, v = rng.standard_normal((3, 4, 6, kappa))
    bend = Curvature(diagonal, outer)
    matrices, times = bend.matrices(), bend.times(v)
    assert matrices.shape == (4, 6, kappa, kappa)
    for place in np.ndindex(4, 6):
        expected = -np.outer(outer[place], outer[place])
        np.fill_diagonal(expected, diagonal[place])
        np.testing.assert_allclose(matrices[place], expected, atol=1e-14)
        np.testing.assert_allclose(times[place], expected @ v[place], atol=1e-13)


@pytest.mark.parametrize(("loss", "kappa"), CASES)
def test_points_side_by_side_are_points_one_by_one(loss, kappa):
    """Activations (2, 3, n, κ) against their six parts, also where scores differ by hundreds."""
    a, Y = draw(loss, kappa, 30, seed=9)
    size = np.array([0.1, 1.0, 3.0, 10.0, 30.0, 1.0]).reshape(2, 3, 1, 1)
    many = size * np.roll(a, 1, axis=0) + np.linspace(-1, 1, 6).reshape(2, 3, 1, 1)
    v = np.random.default_rng(10).standard_normal(many.shape)
    value, residual = loss.value_and_residual(many, Y)
    bend = loss.curvature(many, Y)
    found = {
        "value": (value, (2, 3, 30)),
        "residual": (residual, many.shape),
        "value alone": (loss.value(many, Y), (2, 3, 30)),
        "residual alone": (loss.residual(many, Y), many.shape),
        "diagonal": (bend.diagonal, many.shape),
        "outer": (bend.outer, many.shape),
        "hessian": (loss.hessian(many, Y), (*many.shape, kappa)),
        "hessian_action": (loss.hessian_action(many, Y, v), many.shape),
    }
    for name, (array, shape) in found.items():
        assert array.shape == shape, name
    for place in np.ndindex(2, 3):
        one = many[place]
        alone = loss.curvature(one, Y)
        expected = {
            "value": loss.value(one, Y),
            "residual": loss.residual(one, Y),
            "value alone": loss.value(one, Y),
            "residual alone": loss.residual(one, Y),
            "diagonal": alone.diagonal,
            "outer": alone.outer,
            "hessian": loss.hessian(one, Y),
            "hessian_action": loss.hessian_action(one, Y, v[place]),
        }
        for name, array in expected.items():
            np.testing.assert_allclose(found[name][0][place], array, rtol=1e-12, atol=1e-300, err_msg=name)


@pytest.mark.parametrize(("loss", "kappa"), CASES)
def test_one_pass_gives_what_two_give(loss, kappa):
    a, Y = draw(loss, kappa, 50, seed=5)
    value, residual = loss.value_and_residual(a, Y)
    assert value.shape == (50,)
    np.testing.assert_array_equal(value, loss.value(a, Y))
    np.testing.assert_array_equal(residual, loss.residual(a, Y))


@settings(max_examples=60, deadline=None)
@given(case=st.sampled_from(all_losses()), seed=st.integers(0, 2**32 - 1), scale=st.floats(1e-3, 8.0))
def test_derivatives_anywhere(case, seed, scale):
    _, loss, kappa = case
    a, Y = draw(loss, kappa, 8, seed, scale)
    size = 1.0 + np.abs(loss.value(a, Y)).max()
    gradient = central(lambda point: loss.value(point, Y), a)
    np.testing.assert_allclose(loss.residual(a, Y), gradient, rtol=1e-7, atol=1e-8 * size)
    hessian = central(lambda point: loss.residual(point, Y), a)
    size = 1.0 + np.abs(loss.residual(a, Y)).max()
    np.testing.assert_allclose(loss.hessian(a, Y), hessian, rtol=1e-7, atol=1e-8 * size)
