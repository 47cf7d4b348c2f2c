"""Frames and the retraction of points, against their definitions."""

import numpy as np
import pytest

from superfactor.subspace import Frame, Point
from superfactor.subspace.geometry import retracted

K, R, KAPPA, Q = 7, 3, 2, 2


def example(seed=0):
    rng = np.random.default_rng(seed)
    W = np.linalg.qr(rng.standard_normal((K, R)))[0]
    M = rng.standard_normal((K, K))
    return W, rng.standard_normal((R, KAPPA)), M @ M.T


@pytest.fixture
def frame():
    W, beta, D = example()
    return Frame.of(W, beta, D, 0.8)


def test_a_frame_is_the_same_subspace_in_diagonal_coordinates(frame):
    W, beta, D = example()
    np.testing.assert_allclose(frame.W @ frame.W.T, W @ W.T, atol=1e-13)
    np.testing.assert_allclose(frame.W @ frame.beta, W @ beta, atol=1e-13)
    whole = np.hstack([frame.W, frame.complement])
    np.testing.assert_allclose(whole.T @ whole, np.eye(K), atol=1e-13)
    theta = frame.W.T @ D @ frame.W + 0.64 * frame.beta @ frame.beta.T
    np.testing.assert_allclose(theta, np.diag(frame.ritz), atol=1e-12)
    rest = frame.complement.T @ D @ frame.complement
    np.testing.assert_allclose(rest, np.diag(frame.rest), atol=1e-12)
    for values in (frame.ritz, frame.rest):
        assert np.all(np.diff(values) <= 0)


def test_coordinates_of_the_design(frame):
    """[W⊥, W, I] turns coefficients [0; β; γ] into those of the point."""
    gamma = np.random.default_rng(2).standard_normal((Q, KAPPA))
    turn, coef = frame.turn(Q), frame.turned_coef(gamma)
    np.testing.assert_allclose(turn.T @ turn, np.eye(K + Q), atol=1e-13)
    point = Point(frame.W, frame.beta, gamma, 0.0, 0.0, 0 * gamma)
    np.testing.assert_allclose(turn @ coef, point.coef, atol=1e-13)
    np.testing.assert_array_equal(coef[: K - R], 0)


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0, 50.0])
def test_retraction_moves_the_product_exactly(frame, t):
    rng = np.random.default_rng(3)
    T, v = rng.standard_normal((K - R, R)), rng.standard_normal((R, KAPPA))
    W, beta = retracted(frame.W, frame.beta, frame.complement @ T, v, t)
    np.testing.assert_allclose(W.T @ W, np.eye(R), atol=1e-12)
    moved = frame.W + t * frame.complement @ T
    np.testing.assert_allclose(W @ beta, moved @ (frame.beta + t * v), atol=1e-10)
    # W spans the moved subspace.
    np.testing.assert_allclose(W @ (W.T @ moved), moved, atol=1e-11 * (1 + t))


# --- several points at once --------------------------------------------------------------------------------
