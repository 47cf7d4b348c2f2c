"""Conjugate gradients in a trust region, against dense solvers and the definition of what they minimise."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.samples.libraries import every_library, plain

from superfactor._arrays import device
from superfactor.subspace import conjugate_gradients

SIZE = 12


def system(seed=1, scaled=False, negative=0):
    """H (N, N) with some negative eigenvalues, and b (N,); as tame as rounding must be to stay rounding."""
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
def test_steps_end_at_the_edge_and_descend(negative, share, seed):
    """Never outside, never uphill, at least as low as the best point along the gradient (Cauchy's)."""
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
        # Half of what the best point of the region gives, at least (Yuan).
        best = minimize(
            lambda x: -decrease(H, b, x),
            found.x,
            jac=lambda x: H @ x - b,
            method="SLSQP",
            constraints={"type": "ineq", "fun": lambda x: radius**2 - x @ M @ x},
        )
        assert 0.5 * -best.fun <= found.decrease <= -best.fun * (1 + 1e-6)


def test_negative_curvature_goes_to_the_edge():
    """The first direction that bends downwards, in closed form: b itself."""
    H, b, radius = -np.diag([1.0, 2.0, 3.0]), np.array([1.0, -1.0, 0.5]), 7.0
    found = conjugate_gradients(lambda v: v @ H, b, lambda v: v, tol=1e-12, max_iter=50, radius=radius)
    np.testing.assert_allclose(found.x, radius * b / np.linalg.norm(b), rtol=1e-12)
    assert not found.solved
    assert found.decrease > 0
    # After a step inside: from there along the second direction to the edge.
    H = np.diag([1.0, -0.1])
    found = conjugate_gradients(
        lambda v: v @ H, np.array([1.0, 0.1]), lambda v: v, tol=1e-12, max_iter=50, radius=radius
    )
    np.testing.assert_allclose(found.length, radius, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found.x), radius, rtol=1e-12)
    assert not found.solved


# --- several side by side ----------------------------------------------------------------------------------


def several():
    """Systems that end in every way, each with its own tolerance and radius: (2, 4, …)."""
    systems = [system(seed, negative=negative) for seed, negative in enumerate([0, 0, 0, 3, 1, 0])]
    H, b = (np.array(parts) for parts in zip(*systems, strict=True))
    H, b = (np.concatenate([x, x[:2]]) for x in (H, b))
    b[5] = 0
    tol = np.array([1e-10, 0.1, 1e-10, 1e-10, 1e-10, 1e-10, 1e-3, 0.3])
    radius = np.array([np.inf, np.inf, 0.05, 2.0, np.inf, 1.0, 1e3, 0.4])
    parts = H, b, np.array([metric(seed) for seed in range(8)]), tol, radius
    return tuple(x.reshape(2, 4, *x.shape[1:]) for x in parts)


def batched(convert=np.asarray):
    H, b, M, tol, radius = several()
    H, inverse, b, tol, radius = (convert(x) for x in (H, np.linalg.inv(M), b, tol, radius))
    return conjugate_gradients(
        lambda v: (H @ v[..., None])[..., 0],
        b,
        lambda v: (inverse @ v[..., None])[..., 0],
        tol=tol,
        max_iter=60,
        radius=radius,
    )


def test_side_by_side_is_one_by_one():
    """Whoever has ended stays where it is while others go on."""
    H, b, M, tol, radius = several()
    found = batched()
    assert found.x.shape == (2, 4, SIZE)
    assert found.decrease.shape == found.length.shape == found.solved.shape == (2, 4)
    assert 2 < found.solved.sum() < 6
    for place in np.ndindex(2, 4):
        i = place
        alone = solved(H[i], b[i], M[i], tol=tol[i], radius=radius[i], max_iter=60)
        np.testing.assert_allclose(found.x[i], alone.x, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(found.decrease[i], alone.decrease, rtol=1e-9)
        np.testing.assert_allclose(found.length[i], alone.length, rtol=1e-9)
        assert found.solved[i] == alone.solved


@every_library
def test_other_libraries(convert):
    expected, found, like = batched(), batched(convert), convert(np.ones(1))
    for name in ("x", "decrease", "length", "solved"):
        array = getattr(found, name)
        assert type(array) is type(like), name
        assert device(array) == device(like), name
        np.testing.assert_allclose(plain(array), getattr(expected, name), rtol=1e-9, atol=1e-12)
