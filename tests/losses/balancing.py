"""Dual points put in balance where all samples are at hand."""

from superfactor.losses.base import BALANCING_STEPS


def balance(loss, G, Y, weights):
    """A point near G inside the conjugate's domain with Σ_i weights_i g_i = 0, by all the steps."""
    steps = []
    for _ in range(BALANCING_STEPS):
        steps.append(loss.imbalance(loss.rebalanced(G, Y, steps), Y, weights))
    return loss.rebalanced(G, Y, steps)
