"""The dual side: Fenchel and Young, brute force, domains, balance."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses.examples import CLOGLOG, SOFTPLUS, balance, draw, dual_losses, one_hot

from superfactor.losses import SquaredError, resolve_link
from superfactor.losses.classes.inversion import solve_residual

SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=50, deadline=None)
@given(case=st.sampled_from(dual_losses()), seed=SEEDS, scale=st.floats(0.1, 5.0))
def test_fenchel_young(case, seed, scale):
    _, loss, kappa = case
    a, Y = draw(loss, kappa, 10, seed, scale)
    other, _ = draw(loss, kappa, 10, seed + 1, scale)
    G = loss.residual(a, Y)
    conjugate = loss.conjugate(G, Y)
    # Equality where g = ∇ℓ(a), inequality everywhere else.
    value = loss.value(a, Y)
    size = 1.0 + np.abs(value) + np.sum(np.abs(G * a), axis=1)
    assert np.all(np.abs(value + conjugate - np.sum(G * a, axis=1)) <= 1e-13 * size)
    size = 1.0 + np.abs(conjugate) + np.sum(np.abs(G * other), axis=1)
    assert np.all(loss.value(other, Y) + conjugate - np.sum(G * other, axis=1) >= -1e-13 * size)


def test_logistic_domain():
    loss = resolve_link("logistic", 2)
    P = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 0.5], [-1e-16, 0.5], [-1e-9, 0.5], [0.6, 0.4 + 1e-9]])
    for label in (0, 1, 2):
        Y = one_hot([label] * len(P), 2)
        conjugate = loss.conjugate(P - Y, Y)
        log2 = math.log(2.0)
        np.testing.assert_allclose(conjugate, [0, 0, -log2, -log2, math.inf, math.inf], atol=1e-14)


@pytest.mark.parametrize("link", ["probit", CLOGLOG])
def test_scalar_domain(link):
    loss = resolve_link(link, 1)
    G = np.array([[0.0], [-0.0], [-1e-3], [1e-3]])
    for label, expected in ((0.0, [True, True, False, True]), (1.0, [True, True, True, False])):
        Y = np.full_like(G, label)
        conjugate = loss.conjugate(G, Y)
        np.testing.assert_array_equal(np.isfinite(conjugate), expected)
        np.testing.assert_array_equal(conjugate[:2], 0.0)


def test_a_residual_that_no_activation_reaches():
    # With the complementary log-log link the residual of label 1 stays above −1.
    loss = resolve_link(CLOGLOG, 1)
    conjugate = loss.conjugate(np.array([[-0.999], [-1.5]]), np.ones((2, 1)))
    assert np.isfinite(conjugate[0])
    assert conjugate[1] == math.inf


@pytest.mark.parametrize("exponent", [-250, -20, 0, 3, 100])
def test_probit_conjugate_over_all_magnitudes(exponent):
    loss = resolve_link("probit", 1)
    g = 10.0**exponent * np.array([[1.0], [2.0], [5.0]])
    for label, sign in ((0.0, 1.0), (1.0, -1.0)):
        Y = np.full_like(g, label)
        a, found = solve_residual(loss, sign * g, Y)
        assert found.all()
        np.testing.assert_allclose(loss.residual(a, Y), sign * g, rtol=5e-12)
        expected = sign * g[:, 0] * a[:, 0] - loss.value(a, Y)
        np.testing.assert_allclose(loss.conjugate(sign * g, Y), expected, rtol=1e-13)
    if exponent >= 3:  # there ℓ ≈ a²/2, which is its own conjugate up to logarithms
        np.testing.assert_allclose(loss.conjugate(g, 0 * g), g[:, 0] ** 2 / 2, rtol=1e-4)


def test_saturated_residuals_keep_a_finite_conjugate():
    # A certificate sums these; one +inf from underflow would invalidate it.
    for link, kappa in (("logistic", 1), ("logistic", 3), ("probit", 1)):
        loss = resolve_link(link, kappa)
        a = np.repeat(np.array([-1e4, -745, -50, -38.2, 0, 38.2, 50, 745, 1e4])[:, None], kappa, axis=1)
        for label in range(kappa + 1):
            Y = one_hot([label] * len(a), kappa)
            G = loss.residual(a, Y)
            value, conjugate = loss.value(a, Y), loss.conjugate(G, Y)
            assert np.isfinite(conjugate).all()
            size = 1.0 + value + np.sum(np.abs(G * a), axis=1)
            assert np.all(np.abs(value + conjugate - np.sum(G * a, axis=1)) <= 1e-12 * size)


@pytest.mark.parametrize("kappa", [1, 2])
def test_without_a_conjugate_the_dual_side_raises(kappa):
    loss = resolve_link(SOFTPLUS, kappa)
    assert not loss.has_conjugate
    G = np.zeros((2, kappa))
    for call in (loss.conjugate, lambda G, Y: balance(loss, G, Y, np.ones(2))):
        with pytest.raises(TypeError, match="conjugate"):
            call(G, G)


# ------------------------------------------------------------------------------- balance


@settings(max_examples=60, deadline=None)
@given(case=st.sampled_from(dual_losses()), seed=SEEDS, n=st.integers(1, 40))
def test_balance_zeroes_the_sum_inside_the_domain(case, seed, n):
    _, loss, kappa = case
    rng = np.random.default_rng(seed)
    a, Y = draw(loss, kappa, n, seed, scale=rng.uniform(0.1, 6.0))
    weights = rng.uniform(0.0, 3.0, n) * (rng.uniform(size=n) < 0.8)
    weights[rng.integers(n)] = 1.0
    G = loss.residual(a, Y)
    balanced = balance(loss, G, Y, weights)
    size = weights.sum() * max(1.0, np.abs(G).max())
    np.testing.assert_array_less(np.abs(weights @ balanced), 1e-15 * size * math.sqrt(n) + 1e-300)
    assert np.isfinite(loss.conjugate(balanced, Y)).all()


def test_logistic_balance_stays_near():
    rng = np.random.default_rng(2)
    Y = one_hot(rng.integers(0, 3, 200), 2)
    loss, weights = resolve_link("logistic", 2), rng.uniform(0.5, 2.0, 200)
    once = balance(loss, loss.residual(rng.standard_normal((200, 2)), Y), Y, weights)
    # A balanced point does not change, except for rounding.
    np.testing.assert_allclose(balance(loss, once, Y, weights), once, atol=1e-15)
    # A surplus s_c − n_c moves no entry by more than its share t ≤ max (s_c − n_c)/n_c.
    G = once + 1e-6 * rng.uniform(size=(200, 2)) * (once > 0)
    surplus = weights @ G
    counts = weights @ np.column_stack([Y, 1.0 - Y.sum(axis=1)])
    moved = np.abs(balance(loss, G, Y, weights) - G).max()
    assert 0.0 < moved <= np.max(np.append(surplus, -surplus.sum()) / counts) * (1 + 1e-6)


def test_balance_with_an_empty_class():
    # Its probability becomes zero; the other probabilities keep their values.
    rng = np.random.default_rng(0)
    Y = one_hot(rng.integers(0, 2, 50), 2)  # class 2 is absent
    loss = resolve_link("logistic", 2)
    a = np.column_stack([rng.standard_normal(50), np.full(50, -12.0)])
    G = loss.residual(a, Y)
    shift = balance(loss, G[:, :1], Y[:, :1], np.ones(50))  # the result for two classes alone
    balanced = balance(loss, G, Y, np.ones(50))
    np.testing.assert_array_equal(balanced[:, 1], 0.0)
    np.testing.assert_allclose(balanced[:, 0], shift[:, 0], atol=1e-4)
    np.testing.assert_allclose(balanced.sum(axis=0), 0.0, atol=1e-14)


def test_balance_with_one_class_only():
    for link in ("logistic", "probit"):
        loss = resolve_link(link, 1)
        for label in (0.0, 1.0):
            Y = np.full((5, 1), label)
            G = loss.residual(np.linspace(-1, 1, 5)[:, None], Y)
            np.testing.assert_allclose(balance(loss, G, Y, np.ones(5)), 0.0, atol=1e-16)


def test_balance_moves_an_outside_point_into_the_domain():
    loss = resolve_link("logistic", 1)
    Y = np.array([[0.0], [1.0], [0.0]])
    balanced = balance(loss, np.array([[-0.2], [-1.3], [0.4]]), Y, np.ones(3))
    assert np.isfinite(loss.conjugate(balanced, Y)).all()
    np.testing.assert_allclose(balanced.sum(), 0.0, atol=1e-15)


def test_balance_with_weights_of_zero():
    for loss in (SquaredError(), resolve_link("logistic", 1), resolve_link("probit", 1)):
        Y = np.array([[0.0], [1.0]])
        G = loss.residual(np.zeros((2, 1)), Y)
        assert np.isfinite(balance(loss, G, Y, np.zeros(2))).all()
