"""Sums of a loss's curvature, against the sums written out, at sizes that take each of its ways."""

import numpy as np
import pytest

from superfactor.losses import SquaredError, resolve_link
from superfactor.samples.curvature import curvature_gram, directional_curvature


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
    found = curvature_gram(J, H, convex).reshape(kappa, k, kappa, k)
    for c in range(kappa):
        for d in range(kappa):
            expected = J.T @ (J * H[:, c, d][:, None])
            np.testing.assert_allclose(found[c, :, d, :], expected, atol=1e-9)


def test_gram_of_no_columns():
    assert curvature_gram(np.empty((5, 0)), np.ones((5, 2, 2)), True).shape == (0, 0)


@pytest.mark.parametrize(
    ("loss", "kappa"),
    [(resolve_link("logistic", 3), 3), (resolve_link("probit", 1), 1), (SquaredError(), 2)],
)
@pytest.mark.parametrize("count", [0, 1, 4])
def test_directional_curvature_by_differences(loss, kappa, count):
    rng = np.random.default_rng(1)
    a, directions = rng.standard_normal((6, kappa)), rng.standard_normal((count, kappa))
    Y = np.eye(kappa + 1)[np.arange(6) % (kappa + 1)][:, 1:]
    found = directional_curvature(loss, a, Y, directions)
    assert found.shape == (6, count)
    h = 1e-3
    for j, b in enumerate(directions):
        steps = [loss.value(a + t * h * b, Y) for t in (-2, -1, 0, 1, 2)]
        second = np.tensordot([-1, 16, -30, 16, -1], steps, 1) / (12 * h * h)
        np.testing.assert_allclose(found[:, j], second, atol=1e-6)
