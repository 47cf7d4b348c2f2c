"""Frames and moves of points, against their definitions."""

import numpy as np
import pytest

from superfactor.subspace import Frame, Point

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


def test_a_whole_subspace_has_no_complement():
    rng = np.random.default_rng(1)
    frame = Frame.of(np.eye(3), rng.standard_normal((3, 1)), np.diag([3.0, 2.0, 1.0]), 1.0)
    assert frame.complement.shape == (3, 0)
    assert frame.rest.shape == (0,)


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
    W, beta = frame.retracted(T, v, t)
    np.testing.assert_allclose(W.T @ W, np.eye(R), atol=1e-12)
    moved = frame.W + t * frame.complement @ T
    np.testing.assert_allclose(W @ beta, moved @ (frame.beta + t * v), atol=1e-10)
    # And W spans what has moved.
    np.testing.assert_allclose(W @ (W.T @ moved), moved, atol=1e-11 * (1 + t))


def test_rotation_of_one_direction(frame):
    W = frame.rotated(1, 2, 0.4)
    np.testing.assert_allclose(W.T @ W, np.eye(R), atol=1e-13)
    np.testing.assert_array_equal(W[:, [0, 2]], frame.W[:, [0, 2]])
    assert frame.W[:, 1] @ W[:, 1] == pytest.approx(np.cos(0.4))
    assert frame.complement[:, 2] @ W[:, 1] == pytest.approx(np.sin(0.4))


# --- several points side by side ---------------------------------------------------------------------------


def several():
    """Points (3, …) and their frames, each with its own √(λ/ξ)."""
    parts = [example(seed) for seed in range(3)]
    W, beta, D = np.array([p[0] for p in parts]), np.array([p[1] for p in parts]), parts[0][2]
    return W, beta, D, np.array([0.8, 0.1, 3.0]).reshape(3, 1, 1)


def test_frames_side_by_side():
    W, beta, D, ratio = several()
    frames = Frame.of(W, beta, D, ratio)
    turns = frames.turn(Q)
    assert turns.shape == (3, K + Q, K + Q)
    for i in range(3):
        alone = Frame.of(W[i], beta[i], D, float(ratio[i, 0, 0]))
        np.testing.assert_allclose(frames.ritz[i], alone.ritz, rtol=1e-12)
        np.testing.assert_allclose(frames.rest[i], alone.rest, rtol=1e-12)
        # Eigenvectors up to their signs, so what they span, one by one, and what is made of them.
        for name in ("W", "complement"):
            one, other = getattr(frames, name)[i], getattr(alone, name)
            np.testing.assert_allclose(np.abs(one.T @ other), np.eye(one.shape[1]), atol=1e-9)
        np.testing.assert_allclose(frames.W[i] @ frames.beta[i], W[i] @ beta[i], atol=1e-13)
        np.testing.assert_array_equal(turns[i][:K, : K - R], frames.complement[i])
        np.testing.assert_array_equal(turns[i][:K, K - R : K], frames.W[i])
        np.testing.assert_array_equal(turns[i][K:], np.eye(K + Q)[K:])


@pytest.mark.parametrize("t", [0.7, np.array([0.0, 0.5, 20.0])], ids=["one", "each its own"])
def test_retractions_side_by_side(t):
    W, beta, D, ratio = several()
    frames, rng = Frame.of(W, beta, D, ratio), np.random.default_rng(3)
    T, v = rng.standard_normal((3, K - R, R)), rng.standard_normal((3, R, KAPPA))
    moved, turned = frames.retracted(T, v, t)
    for i, length in enumerate(np.broadcast_to(t, 3)):
        np.testing.assert_allclose(moved[i].T @ moved[i], np.eye(R), atol=1e-12)
        A = (frames.W[i] + length * frames.complement[i] @ T[i]) @ (frames.beta[i] + length * v[i])
        np.testing.assert_allclose(moved[i] @ turned[i], A, atol=1e-10)


@pytest.fixture
def points():
    rng = np.random.default_rng(5)
    W, beta, _, _ = several()
    gamma, pulled = rng.standard_normal((3, Q, KAPPA)), rng.standard_normal((3, K + Q, KAPPA))
    return Point(W, beta, gamma, rng.standard_normal(3), rng.standard_normal(3), pulled)


NAMES = ("W", "beta", "gamma", "F", "loss", "pulled")


def test_one_of_several(points):
    for i in range(3):
        one = points[i]
        assert isinstance(one.F, float)
        assert isinstance(one.loss, float)
        for name in NAMES:
            np.testing.assert_array_equal(getattr(one, name), getattr(points, name)[i])
        np.testing.assert_array_equal(one.coef[:K], one.W @ one.beta)
        np.testing.assert_allclose(points.coef[i], one.coef, atol=1e-14)


def test_some_of_several(points):
    some = points.taken(np.array([2, 0, 2]))
    for name in NAMES:
        np.testing.assert_array_equal(getattr(some, name), getattr(points, name)[[2, 0, 2]])


def test_these_or_others(points):
    others, condition = points.taken(np.array([1, 2, 0])), np.array([True, False, True])
    found = points.where(condition, others)
    for name in NAMES:
        mine, theirs = getattr(points, name), getattr(others, name)
        expected = np.stack([m if c else t for c, m, t in zip(condition, mine, theirs, strict=True)])
        np.testing.assert_array_equal(getattr(found, name), expected)
