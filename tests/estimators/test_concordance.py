"""Harrell's concordance against scikit-survival's and against pairs counted one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfactor.estimators.targets import concordance


def drawn(seed, n=30):
    """Events, times and risks, many of them tied."""
    rng = np.random.default_rng(seed)
    event, time = (rng.random(n) < 0.5).astype(float), rng.integers(1, 12, n).astype(float)
    event[0], time[0], time[1] = 1, 1, 12
    return event, time, rng.integers(-3, 4, n) / 2.0


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_scikit_survival_agrees(seed):
    metrics = pytest.importorskip("sksurv.metrics", reason="scikit-survival is GPL, and optional")
    event, time, risk = drawn(seed)
    expected = metrics.concordance_index_censored(event == 1, time, risk)[0]
    assert concordance(event, time, risk) == pytest.approx(expected, abs=1e-14)


def test_weights_are_so_many_samples():
    event, time, risk = drawn(1)
    weight = np.random.default_rng(2).integers(0, 4, len(time))
    pairs = right = 0.0
    for i in range(len(time)):
        for j in range(len(time)):
            outlived = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if event[i] and outlived:
                pairs += weight[i] * weight[j]
                right += weight[i] * weight[j] * (0.5 * (risk[i] == risk[j]) + (risk[i] > risk[j]))
    assert concordance(event, time, risk, weight) == pytest.approx(right / pairs, abs=1e-14)


def test_order_alone_counts():
    event, time, risk = drawn(3)
    assert concordance(event, time, np.exp(risk)) == concordance(event, time, risk)
    assert concordance(event, time, -risk) == pytest.approx(1 - concordance(event, time, risk))
    assert concordance(np.ones(4), np.arange(4.0), -np.arange(4.0)) == 1.0


def test_nobody_to_compare():
    with pytest.raises(ValueError, match="no two samples can be compared"):
        concordance(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.zeros(2))
