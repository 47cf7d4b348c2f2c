"""Sums of a loss's curvature, against the sums written out, at sizes that take each of its ways."""

import numpy as np
import pytest

from superfactor.losses import Curvature, SquaredError, resolve_link
from superfactor.losses.curvature import kronecker_sum


@pytest.mark.parametrize(
    ("n", "k"),
    [
        pytest.param(20, 4, id="outer products at once"),
        pytest.param(700, 45, id="block by block"),
        pytest.param(2000, 150, id="and in several stretches of rows"),
    ],
)
@pytest.mark.parametrize("kappa", [1, 2, 3])
@pytest.mark.parametrize("convex", [False, True])
def test_gram_is_the_sum_of_kronecker_products(n, k, kappa, convex):
    rng = np.random.default_rng(0)
    J, H = rng.standard_normal((n, k)), rng.standard_normal((n, kappa, kappa))
    H = H @ np.swapaxes(H, 1, 2) if convex else H + np.swapaxes(H, 1, 2)
    found = kronecker_sum(J, H, convex).reshape(kappa, k, kappa, k)
    for c in range(kappa):
        for d in range(kappa):
            expected = J.T @ (J * H[:, c, d][:, None])
            np.testing.assert_allclose(found[c, :, d, :], expected, atol=1e-9)


def test_gram_of_no_columns():
    assert kronecker_sum(np.empty((5, 0)), np.ones((5, 2, 2)), True).shape == (0, 0)


@pytest.mark.parametrize(
    ("loss", "kappa"), [(resolve_link("logistic", 3), 3), (resolve_link("probit", 1), 1), (SquaredError(), 2)]
)
@pytest.mark.parametrize("count", [0, 1, 4])
def test_curvature_along_directions_by_differences(loss, kappa, count):
    rng = np.random.default_rng(1)
    a, directions = rng.standard_normal((6, kappa)), rng.standard_normal((count, kappa))
    Y = np.eye(kappa + 1)[np.arange(6) % (kappa + 1)][:, 1:]
    bend = loss.curvature(a, Y)
    found, J = bend.along(np.ones((6, count)), directions), rng.standard_normal((6, 3))
    assert found.shape == (6, count)
    np.testing.assert_allclose(bend.forms(J, directions), (J**2).T @ found, atol=1e-12)
    h = 1e-3
    for j, b in enumerate(directions):
        steps = [loss.value(a + t * h * b, Y) for t in (-2, -1, 0, 1, 2)]
        second = np.tensordot([-1, 16, -30, 16, -1], steps, 1) / (12 * h * h)
        np.testing.assert_allclose(found[:, j], second, atol=1e-6)


def test_where_a_sample_bends_downwards_it_counts_as_straight():
    bend = Curvature(np.array([[-1.0], [2.0]]), np.zeros((2, 1)))
    found = bend.along(np.array([[3.0], [3.0]]), np.array([[2.0]]))
    np.testing.assert_array_equal(found, [[0.0], [24.0]])


@pytest.mark.parametrize("kappa", [1, 3])
def test_weights_multiply_every_matrix(kappa):
    rng = np.random.default_rng(2)
    diagonal, outer, v = rng.standard_normal((3, 7, kappa))
    weights = rng.random((7, 1)) * (np.arange(7) > 0)[:, None]
    bend = Curvature(diagonal, outer)
    weighted = bend.weighted(weights)
    expected = bend.matrices() * weights[:, :, None]
    np.testing.assert_allclose(weighted.matrices(), expected, atol=1e-14)
    np.testing.assert_allclose(weighted.times(v), bend.times(v) * weights, atol=1e-14)
    np.testing.assert_allclose(weighted.total(), expected.sum(axis=0), atol=1e-13)
