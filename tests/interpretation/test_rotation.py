"""Varimax against the textbook's iteration, and against what defines it."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from superfactor.interpretation.rotation import varimax


def criterion(weights):
    """Kaiser's: the variance of the squared weights of each factor, summed."""
    return np.var(weights**2, axis=1).sum()


def textbook(weights, iterations=2000):
    """The usual fixed point: R from the SVD of Λᵀ(L³ − L·diag(mean L²)), Λ the loadings (p, r)."""
    loadings = weights.T
    R = np.eye(loadings.shape[1])
    for _ in range(iterations):
        L = loadings @ R
        U, _, Vt = np.linalg.svd(loadings.T @ (L**3 - L * np.mean(L**2, axis=0)))
        R = U @ Vt
    return R


def simple(r, p, rng):
    """Factors of disjoint features: as simple as can be."""
    weights = np.zeros((r, p))
    for j in range(r):
        weights[j, j::r] = rng.uniform(1, 2, len(range(j, p, r))) * rng.choice([-1, 1])
    return weights


@pytest.mark.parametrize("r", [2, 3, 6])
def test_simple_factors_are_recovered(r):
    rng = np.random.default_rng(r)
    weights = simple(r, 40, rng)
    mixed = ortho_group.rvs(r, random_state=r) @ weights
    found = varimax(mixed).T @ mixed
    cosine = found @ weights.T / np.outer(*(np.linalg.norm(w, axis=1) for w in (found, weights)))
    np.testing.assert_allclose(np.sort(np.abs(cosine).max(axis=0)), 1, atol=1e-9)


@pytest.mark.parametrize("r", [2, 4, 7])
@pytest.mark.parametrize("orthonormal", [True, False], ids=["orthonormal", "unequal"])
def test_criterion_equals_that_of_the_textbook_iteration(r, orthonormal):
    rng = np.random.default_rng(r)
    weights = simple(r, 50, rng) + 0.4 * rng.standard_normal((r, 50))
    weights = np.linalg.qr(weights.T)[0].T if orthonormal else weights * rng.uniform(1, 3, (r, 1))
    R = varimax(weights)
    np.testing.assert_allclose(R @ R.T, np.eye(r), atol=1e-12)
    np.testing.assert_allclose(criterion(R.T @ weights), criterion(textbook(weights).T @ weights), rtol=1e-9)


@pytest.mark.parametrize(
    "weights",
    [np.ones((1, 5)), np.zeros((3, 5)), np.ones((2, 1)), np.eye(3)],
    ids=["one-factor", "zero", "one-feature", "identity"],
)
def test_nothing_to_rotate(weights):
    R = varimax(weights)
    np.testing.assert_allclose(R @ R.T, np.eye(len(weights)), atol=1e-12)
    assert criterion(R.T @ weights) >= criterion(weights)


def test_zero_factors_stay_apart():
    rng = np.random.default_rng(2)
    weights = rng.standard_normal((4, 30))
    weights[1] = 0
    R = varimax(weights)
    np.testing.assert_array_equal(R[1], np.eye(4)[1])
    np.testing.assert_array_equal(R[:, 1], np.eye(4)[1])
