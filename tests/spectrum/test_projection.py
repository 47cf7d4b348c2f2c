"""Π_r: what holds of it, and what does not."""

import numpy as np
import pytest

from superfactor.spectrum import project_rank, truncated_svd


@pytest.mark.parametrize("shape", [(6, 9), (9, 6), (5, 5), (1, 4)])
@pytest.mark.parametrize("rank", [1, 3])
def test_nearest_matrix_of_the_rank(shape, rank):
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(shape)
    found = project_rank(theta, rank)
    assert np.linalg.matrix_rank(found) <= rank
    # Eckart–Young: the distance is the tail of the spectrum ...
    tail = np.linalg.svd(theta, compute_uv=False)[rank:]
    np.testing.assert_allclose(np.linalg.norm(theta - found), np.linalg.norm(tail), atol=1e-12)
    # ... and nothing of this rank is nearer, also not after alternating least squares.
    for _ in range(20):
        left = rng.standard_normal((shape[0], rank))
        for _ in range(30):
            right = np.linalg.lstsq(left, theta, rcond=None)[0]
            left = np.linalg.lstsq(right.T, theta.T, rcond=None)[0].T
        distance = np.linalg.norm(theta - left @ right)
        assert distance >= np.linalg.norm(theta - found) - 1e-12


def test_idempotent_and_never_longer():
    rng = np.random.default_rng(1)
    for _ in range(20):
        theta = rng.standard_normal((7, 5))
        once = project_rank(theta, 2)
        np.testing.assert_allclose(project_rank(once, 2), once, atol=1e-13)
        assert np.linalg.norm(once) <= np.linalg.norm(theta)
        # The error is orthogonal to the projection.
        assert abs(np.sum(once * (theta - once))) < 1e-12


def test_twice_as_far_at_most_from_any_matrix_of_the_rank():
    """The theorem's ρ has a factor 2 because of this: ‖Π_r(θ) − θ*‖ ≤ 2‖θ − θ*‖ where rank θ* ≤ r."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        star = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 8))
        theta = star + rng.standard_normal((6, 8)) * 10 ** rng.uniform(-3, 1)
        moved = np.linalg.norm(project_rank(theta, 2) - star)
        assert moved <= 2 * np.linalg.norm(theta - star)


def test_not_non_expansive():
    """Two matrices next to each other, projections far apart: the set is not convex."""
    a, b = np.diag([1.0, 0.99]), np.diag([0.99, 1.0])
    apart = np.linalg.norm(project_rank(a, 1) - project_rank(b, 1))
    assert apart > 90 * np.linalg.norm(a - b)


def test_parts_and_full_rank():
    theta = np.random.default_rng(3).standard_normal((4, 6))
    U, s, Vt = truncated_svd(theta, 3)
    assert (U.shape, s.shape, Vt.shape) == ((4, 3), (3,), (3, 6))
    np.testing.assert_allclose(s, np.linalg.svd(theta, compute_uv=False)[:3])
    np.testing.assert_allclose(project_rank(theta, 4), theta, atol=1e-13)
    np.testing.assert_allclose(project_rank(np.zeros((3, 2)), 1), 0)
