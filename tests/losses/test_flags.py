"""Several yes/no labels: against scikit-learn, the loss of two classes, and a numerical supremum."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics import log_loss
from tests.losses.examples import balance, draw

from superfactor.losses import FlagsLoss, resolve_link

LOSS = FlagsLoss()


def test_values_are_those_of_scikit_learn_label_by_label():
    a, Y = draw(LOSS, 3, 200, seed=0)
    expected = 0.0
    for activation, true in zip(a.T, Y.T, strict=True):
        known = ~np.isnan(true)
        probability = 1 / (1 + np.exp(-activation[known]))
        expected += log_loss(true[known], probability, normalize=False)
    assert LOSS.value(a, Y).sum() == pytest.approx(expected, rel=1e-12)


def test_one_label_is_the_loss_of_two_classes():
    two = resolve_link("logistic", 1)
    rng = np.random.default_rng(1)
    a, Y, weights = 4 * rng.standard_normal((50, 1)), rng.integers(0, 2, (50, 1)) * 1.0, rng.uniform(0, 2, 50)
    np.testing.assert_allclose(LOSS.value(a, Y), two.value(a, Y), rtol=1e-14)
    np.testing.assert_allclose(LOSS.residual(a, Y), two.residual(a, Y), rtol=1e-14)
    np.testing.assert_allclose(LOSS.hessian(a, Y), two.hessian(a, Y), rtol=1e-13)
    G = two.residual(a, Y)
    np.testing.assert_allclose(LOSS.conjugate(G, Y), two.conjugate(G, Y), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(balance(LOSS, G, Y, weights), balance(two, G, Y, weights), atol=1e-14)


def test_a_missing_label_does_not_contribute():
    a, Y = draw(LOSS, 4, 60, seed=2)
    gaps = np.isnan(Y)
    other = np.where(gaps, a + 100.0, a)
    np.testing.assert_array_equal(LOSS.value(a, Y), LOSS.value(other, Y))
    assert not LOSS.residual(a, Y)[gaps].any()
    assert not LOSS.curvature(a, Y).diagonal[gaps].any()
    np.testing.assert_allclose(LOSS.informative(Y)[:, 0], 1 - gaps.mean(axis=1))
    G = LOSS.residual(a, Y)
    assert np.isfinite(LOSS.conjugate(G, Y)).all()
    G[gaps] = 1e-9
    np.testing.assert_array_equal(np.isinf(LOSS.conjugate(G, Y)), gaps.any(axis=1))


@pytest.mark.parametrize("answer", [0.0, 1.0])
@pytest.mark.parametrize("share", [1e-6, 0.2, 0.5, 0.97])
def test_the_conjugate_is_the_supremum(answer, share):
    g, Y = share - answer if answer == 0 else -share, np.array([[answer]])
    best = minimize_scalar(
        lambda a: LOSS.value(np.array([[a]]), Y)[0] - g * a, bounds=(-60, 60), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    assert LOSS.conjugate(np.array([[g]]), Y)[0] == pytest.approx(-best.fun, abs=1e-9)


def test_the_domain_ends_where_probabilities_do():
    Y = np.array([[0.0], [0.0], [1.0], [1.0], [0.0]])
    G = np.array([[-1e-9], [1 + 1e-9], [1e-9], [-1 - 1e-9], [1.0]])
    np.testing.assert_array_equal(LOSS.conjugate(G, Y), [math.inf, math.inf, math.inf, math.inf, 0.0])


def test_balance_by_columns_with_a_constant_and_an_unknown_label():
    rng = np.random.default_rng(3)
    Y = np.column_stack([rng.integers(0, 2, 40), np.ones(40), np.zeros(40), np.full(40, np.nan)]) * 1.0
    a, weights = rng.standard_normal((40, 4)), rng.uniform(0.5, 2, 40)
    G = balance(LOSS, LOSS.residual(a, Y), Y, weights)
    np.testing.assert_allclose(weights @ G, 0.0, atol=1e-14)
    np.testing.assert_array_equal(G[:, 1:], 0.0)
    alone = balance(LOSS, LOSS.residual(a[:, :1], Y[:, :1]), Y[:, :1], weights)
    np.testing.assert_allclose(G[:, :1], alone, atol=1e-15)
