"""Sums of several losses, and a loss that ignores constants with an intercept: sums, differences, bounds."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.losses.examples import balance

from superfactor.losses import Anchored, CoxPartialLikelihood, Part, SideBySide, SquaredError, resolve_link

N = 14


def mixed(seed=0, gaps=True):
    """Three classes, a number and times; weights, targets with missing values, activations."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2.0, N)
    Y = np.column_stack(
        [np.eye(3)[rng.integers(0, 3, N)][:, 1:], rng.standard_normal(N), rng.integers(0, 2, N)]
    )
    Y[:3, 3] = 1.0
    time = rng.integers(1, 8, N).astype(float)
    time[0] = 0.5
    if gaps:
        for columns in (slice(0, 2), slice(2, 3), slice(3, 4)):
            Y[rng.choice(np.arange(3, N), 3, replace=False), columns] = np.nan
    known = ~np.isnan(Y[:, 3])
    cox = CoxPartialLikelihood(time, np.nan_to_num(Y[:, 3]), weights * known)
    parts = [
        Part(resolve_link("logistic", 2), 0, 2, 0.7),
        Part(SquaredError(), 2, 3, 1.9),
        Part(Anchored(cox, weights * known), 3, 4, 0.4),
    ]
    return SideBySide(parts), weights, Y, rng.standard_normal((N, 4))


def total(loss, weights, Y, a):
    return float(weights @ loss.value(a, Y))


def test_the_value_is_the_weighted_sum_over_what_is_known():
    loss, weights, Y, a = mixed()
    expected = 0.0
    logits = np.column_stack([np.zeros(N), a[:, :2]])
    for i in range(N):
        if not np.isnan(Y[i, 0]):
            own = np.append(1 - Y[i, :2].sum(), Y[i, :2]) @ logits[i]
            expected += 0.7 * weights[i] * (np.log(np.exp(logits[i]).sum()) - own)
        if not np.isnan(Y[i, 2]):
            expected += 1.9 * weights[i] * (Y[i, 2] - a[i, 2]) ** 2
    known = ~np.isnan(Y[:, 3])
    w, risk = (weights * known), a[:, 3]
    cox = loss.parts[2].loss.loss
    for i in np.flatnonzero(known & (Y[:, 3] == 1)):
        at_risk = cox.times >= cox.times[i]
        tied = np.sum(w * (cox.times == cox.times[i]) * np.nan_to_num(Y[:, 3]))
        expected += 0.4 * w[i] * (np.log(np.sum((w * np.exp(risk))[at_risk]) / tied) - risk[i])
    mean = w @ risk / w.sum()
    assert total(loss, weights, Y, a) == pytest.approx(expected + 0.4 * w.sum() * mean**2, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_derivatives_by_differences(seed):
    loss, weights, Y, a = mixed(seed)
    residual = weights[:, None] * loss.residual(a, Y)
    rng, h = np.random.default_rng(seed), 1e-5
    bend = loss.curvature(a, Y).weighted(weights[:, None])
    again = loss.curvature_of(bend.numbers)
    for _ in range(5):
        v = rng.standard_normal(a.shape)
        slope = (total(loss, weights, Y, a + h * v) - total(loss, weights, Y, a - h * v)) / (2 * h)
        assert np.sum(residual * v) == pytest.approx(slope, rel=1e-6, abs=1e-7)
        change = (loss.residual(a + h * v, Y) - loss.residual(a - h * v, Y)) / (2 * h)
        np.testing.assert_allclose(bend.times(v), weights[:, None] * change, atol=1e-6)
        np.testing.assert_allclose(again.times(v), bend.times(v), rtol=1e-12)


def test_sums_of_the_curvature():
    loss, weights, Y, a = mixed()
    bend = loss.curvature(a, Y).weighted(weights[:, None])
    rng = np.random.default_rng(1)
    J, B = rng.standard_normal((N, 3)), rng.standard_normal((2, 4))
    # By its products with all columns of J, class-major.
    dense = np.zeros((12, 12))
    for c in range(4):
        for k in range(3):
            v = np.zeros((N, 4))
            v[:, c] = J[:, k]
            dense[:, 3 * c + k] = (J.T @ bend.times(v)).T.reshape(-1)
    np.testing.assert_allclose(bend.gram(J, True), dense, atol=1e-10)
    forms = [[np.sum(np.outer(j, b) * bend.times(np.outer(j, b))) for b in B] for j in J.T]
    np.testing.assert_allclose(bend.forms(J, B), forms, atol=1e-10)
    along = [bend.times(np.outer(z, b)) @ b for z, b in zip(J[:, :2].T, B, strict=True)]
    np.testing.assert_allclose(bend.along(J[:, :2], B), np.array(along).T, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_fenchel_young(seed):
    """−ℓ*(g) ≤ ℓ(a) − ⟨g, a⟩ everywhere, with equality at the gradient if intercepts are optimal."""
    loss, weights, Y, a = mixed(seed)
    w = weights[:, None]
    best = minimize(lambda c: total(loss, weights, Y, a + c), np.zeros(4), tol=1e-12).x
    a = a + best
    G = balance(loss, loss.residual(a, Y), Y, weights)
    np.testing.assert_allclose((w * G).sum(axis=0), 0.0, atol=1e-12)
    bound = -float(weights @ loss.conjugate(G, Y))
    assert np.isfinite(bound)
    assert bound == pytest.approx(total(loss, weights, Y, a) - np.sum(w * G * a), rel=1e-6)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        other = 2 * rng.standard_normal(a.shape)
        assert bound <= total(loss, weights, Y, other) - np.sum(w * G * other) + 1e-9


def test_dual_points_of_missing_targets_are_zero():
    loss, weights, Y, a = mixed()
    G = balance(loss, loss.residual(a, Y), Y, weights)
    assert np.all(G[np.isnan(Y)] == 0)
    G[np.flatnonzero(np.isnan(Y[:, 2]))[0], 2] = 0.1
    assert np.isinf(loss.conjugate(G, Y)).any()


def test_the_anchor_changes_neither_the_minimum_nor_differences():
    loss, _, Y, a = mixed(gaps=False)
    anchored = loss.parts[2].loss
    events, w, risk = Y[:, 3:], anchored.weights, a[:, 3:]
    mean = w @ risk[:, 0] / w.sum()
    plain = w @ anchored.loss.value(risk, events)
    assert w @ anchored.value(risk - mean, events) == pytest.approx(plain, rel=1e-12)
    assert w @ anchored.value(risk, events) > plain
