"""Conjugate gradients in a trust region, against dense solvers and the definition of what they minimise."""

import numpy as np
import pytest
from scipy.optimize import minimize

from superfactor.subspace import conjugate_gradients

SIZE = 12


def system(seed=1, scaled=False, negative=0):
    """H (N, N) with some negative eigenvalues, and b (N,); well-conditioned, so that rounding stays small."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((SIZE, SIZE)))[0]
    values = np.geomspace(1, 10, SIZE)
    values[:negative] *= -1
    size = 10.0 ** rng.uniform(-3, 3, SIZE) if scaled else np.ones(SIZE)
    return size[:, None] * ((Q * values) @ Q.T) * size, rng.standard_normal(SIZE)


def metric(seed=2):
    """M (N, N), positive."""
    A = np.random.default_rng(seed).standard_normal((SIZE, SIZE))
    return A @ A.T / (4 * SIZE) + np.eye(SIZE)


def solved(H, b, M, **how):
    how = {"tol": 1e-12, "max_iter": 200} | how
    return conjugate_gradients(lambda v: v @ H, b, lambda v: v @ np.linalg.inv(M), **how)


def decrease(H, b, x):
    return b @ x - 0.5 * x @ H @ x


def length(M, x):
    return np.sqrt(x @ M @ x)


@pytest.mark.parametrize("scaled", [False, True])
def test_a_positive_system_is_solved(scaled):
    H, b = system(scaled=scaled)
    M, products = np.diag(np.diag(H)), []

    def apply(v):
        products.append(v)
        return H @ v

    found = conjugate_gradients(apply, b, lambda v: v / np.diag(H), tol=1e-12, max_iter=200)
    exact = np.linalg.solve(H, b)
    np.testing.assert_allclose(found.x, exact, atol=1e-6 * np.abs(exact).max())
    np.testing.assert_allclose(found.decrease, 0.5 * b @ exact, rtol=1e-9)
    np.testing.assert_allclose(found.length, length(M, exact), rtol=1e-6)
    assert found.solved
    assert len(products) < 40


# --- the trust region --------------------------------------------------------------------------------------


@pytest.mark.parametrize("negative", [0, 1, 4])
@pytest.mark.parametrize(("share", "seed"), [(0.01, 0), (0.3, 1), (0.9, 2)])
def test_steps_end_at_the_boundary_and_descend(negative, share, seed):
    """Inside the region, never uphill, at least as low as the Cauchy point."""
    H, b = system(seed, negative=negative)
    M = metric(seed)
    g = np.linalg.solve(M, b)
    radius = share * length(M, np.linalg.solve(H, b))
    found = solved(H, b, M, radius=radius)
    np.testing.assert_allclose(found.decrease, decrease(H, b, found.x), rtol=1e-9)
    np.testing.assert_allclose(found.length, length(M, found.x), rtol=1e-9)
    assert found.length <= radius * (1 + 1e-9)
    bent, most = g @ H @ g, radius / length(M, g)
    t = most if bent <= 0 else min(most, b @ g / bent)
    assert found.decrease >= decrease(H, b, t * g) * (1 - 1e-12)
    if negative == 0:  # the solution is outside
        np.testing.assert_allclose(found.length, radius, rtol=1e-9)
        assert not found.solved
        # At least half of the decrease at the best point of the region (Yuan).
        best = minimize(
            lambda x: -decrease(H, b, x),
            found.x,
            jac=lambda x: H @ x - b,
            method="SLSQP",
            constraints={"type": "ineq", "fun": lambda x: radius**2 - x @ M @ x},
        )
        assert 0.5 * -best.fun <= found.decrease <= -best.fun * (1 + 1e-6)


def test_negative_curvature_goes_to_the_boundary():
    """If the first direction b has negative curvature, in closed form."""
    H, b, radius = -np.diag([1.0, 2.0, 3.0]), np.array([1.0, -1.0, 0.5]), 7.0
    found = conjugate_gradients(lambda v: v @ H, b, lambda v: v, tol=1e-12, max_iter=50, radius=radius)
    np.testing.assert_allclose(found.x, radius * b / np.linalg.norm(b), rtol=1e-12)
    assert not found.solved
    assert found.decrease > 0
    # After an inner step: along the second direction to the boundary.
    H = np.diag([1.0, -0.1])
    found = conjugate_gradients(
        lambda v: v @ H, np.array([1.0, 0.1]), lambda v: v, tol=1e-12, max_iter=50, radius=radius
    )
    np.testing.assert_allclose(found.length, radius, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found.x), radius, rtol=1e-12)
    assert not found.solved


# --- several systems at once -------------------------------------------------------------------------------
