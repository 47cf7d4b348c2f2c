"""Curvature: its bounds, what is convex and what is not, and its sums over samples written out."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses.examples import CLOGLOG, SOFTPLUS, one_hot

from superfactor.losses import Curvature, CustomLink, Multinomial, Probit, SquaredError, resolve_link
from superfactor.losses.curvature import kronecker_sum


def eigenvalues(loss, a, kappa):
    """Smallest and largest eigenvalue of the Hessian over the points ``a`` and all labels."""
    values = [
        np.linalg.eigvalsh(loss.hessian(a, one_hot(np.full(len(a), label), kappa)))
        for label in range(kappa + 1)
    ]
    return np.min(values), np.max(values)


@settings(max_examples=30, deadline=None)
@given(kappa=st.integers(1, 4), radius=st.floats(0.0, 10.0), seed=st.integers(0, 2**32 - 1))
def test_logistic_bounds_hold(kappa, radius, seed):
    rng = np.random.default_rng(seed)
    # Even over the box |a_c| ≤ radius, which contains the ball; its corners are the extremes.
    inside = rng.uniform(-radius, radius, (100, kappa))
    corners = radius * rng.choice([-1.0, 1.0], (50, kappa))
    loss = resolve_link("logistic", kappa)
    low, high = eigenvalues(loss, np.vstack([inside, corners]), kappa)
    lower, upper = loss.curvature_bounds(kappa, radius)
    assert 0.0 < lower <= low + 1e-15
    assert high <= upper + 1e-15


def test_the_papers_lower_bound_lacks_a_square():
    M, kappa = 2.0, 1
    claimed = math.exp(-M) / (1 + math.exp(-M) + (kappa - 1) * math.exp(M))
    loss = resolve_link("logistic", kappa)
    true = eigenvalues(loss, np.linspace(-M, M, 401)[:, None], kappa)[0]
    assert claimed == pytest.approx(0.119, abs=5e-4)
    assert true == pytest.approx(0.105, abs=5e-4)
    assert loss.curvature_bounds(kappa, M)[0] == pytest.approx(true) and true < claimed


@pytest.mark.parametrize("radius", [0.0, 1.0, 8.0])
def test_probit_bounds_are_the_extremes(radius):
    loss = resolve_link("probit", 1)
    low, high = eigenvalues(loss, np.linspace(-radius, radius, 2001)[:, None], 1)
    lower, upper = loss.curvature_bounds(1, radius)
    assert upper == 1.0
    assert high <= 1.0
    np.testing.assert_allclose(lower, low, rtol=1e-12)


def test_bounds_without_a_radius():
    assert resolve_link("logistic", 1).curvature_bounds(1) == (0.0, 0.25)
    assert resolve_link("logistic", 3).curvature_bounds(3) == (0.0, 0.5)
    assert resolve_link("logistic", 3).curvature_bounds(3, 1e4) == (0.0, 0.5)
    assert resolve_link("probit", 1).curvature_bounds(1) == (0.0, 1.0)
    assert resolve_link(CLOGLOG, 1).curvature_bounds(1) == (0.0, math.inf)
    assert resolve_link(SOFTPLUS, 1).curvature_bounds(1) == (-math.inf, math.inf)
    assert SquaredError().curvature_bounds(2) == (2.0, 2.0)


def test_a_users_link_may_bring_its_bounds():
    own = CustomLink(
        lambda a: 2 * a,
        lambda a: 0 * a + 2,
        lambda a: 0 * a,
        convex=True,
        curvature_bounds=lambda n_outputs, radius: (0, 1),
    )
    loss = resolve_link(own, 1)
    assert loss.curvature_bounds(1) == (0.0, 1.0)
    low, high = eigenvalues(loss, np.linspace(-3, 3, 101)[:, None], 1)
    assert low >= 0.0
    assert high == pytest.approx(1.0)


@pytest.mark.parametrize("radius", [-1.0, math.nan])
@pytest.mark.parametrize("loss", [SquaredError(), *(resolve_link(k, 1) for k in ("logistic", "probit"))])
def test_a_bad_radius_is_named(loss, radius):
    with pytest.raises(ValueError, match="radius"):
        loss.curvature_bounds(1, radius)


def test_softplus_is_not_convex():
    loss = resolve_link(SOFTPLUS, 1)
    low, _ = eigenvalues(loss, np.linspace(-15, 15, 30_001)[:, None], 1)
    assert low == pytest.approx(-0.060, abs=5e-4)
    assert not loss.convex
    assert not loss.has_conjugate


def test_probit_with_three_classes_is_not_convex():
    loss = Multinomial(Probit(), 2)
    grid = np.linspace(-12, 12, 241)
    a = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    low, _ = eigenvalues(loss, a, 2)
    assert -1.0 < low < -0.92  # it tends to −1 for large activations
    assert not loss.convex


# --- sums ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "k"),
    [
        pytest.param(20, 4, id="outer products at once"),
        pytest.param(2000, 150, id="block by block, in several parts of the rows"),
    ],
)
@pytest.mark.parametrize("kappa", [1, 3])
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


def test_negative_curvature_of_a_sample_counts_as_zero():
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
