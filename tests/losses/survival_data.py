"""Survival times with ties, weights and samples without a time; and the partial likelihood as printed."""

import numpy as np

from superfactor.losses import CoxPartialLikelihood


def drawn(n=40, seed=0, weighted=True):
    """Times, many of them tied, events, and case weights from 0 to 3."""
    rng = np.random.default_rng(seed)
    times = rng.integers(1, max(n // 3, 2), n).astype(float)
    events = (rng.random(n) < 0.5).astype(float)
    events[0] = 1.0
    weights = rng.integers(0, 4, n).astype(float) if weighted else np.ones(n)
    weights[0] = 1.0
    return times, events, weights


def made(n=40, seed=0, weighted=True):
    """The loss of such samples, its targets (n, 1) and weights (n,)."""
    times, events, weights = drawn(n, seed, weighted)
    return CoxPartialLikelihood(times, events, weights), events[:, None], weights


def naive_value(a, times, events, weights):
    """Σ ω_i δ_i (log S_i − log D_i − a_i), sample by sample; a (n,)."""
    total = 0.0
    for i in range(len(a)):
        if events[i] and weights[i]:
            at_risk = [j for j in range(len(a)) if times[j] >= times[i]]
            tied = [j for j in at_risk if times[j] == times[i] and events[j]]
            logs = [np.log(weights[j]) + a[j] for j in at_risk if weights[j]]
            log_sum = np.logaddexp.reduce(logs)
            total += weights[i] * (log_sum - np.log(sum(weights[j] for j in tied)) - a[i])
    return total


def chances(a, times, events, weights):
    """P (n, n), P_ij = ω_j e^{a_j} 1{t_j ≥ t_i}/S_i; a (n,)."""
    counted = weights * np.exp(a) * (times[None, :] >= times[:, None])
    return counted / counted.sum(axis=1, keepdims=True)
