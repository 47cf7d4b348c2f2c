"""Links and random samples that the tests of losses share."""

from __future__ import annotations

import math

import numpy as np
from array_api_compat import array_namespace

from superfactor.losses import (
    CustomLink,
    FlagsLoss,
    Loss,
    Multinomial,
    PoissonLoss,
    Probit,
    SquaredError,
    resolve_link,
)
from superfactor.losses.base import BALANCING_STEPS


def _softplus(a):
    xp = array_namespace(a)
    size = xp.abs(a)
    return 0.5 * (a + size) + xp.log1p(xp.exp(-size))


def _softplus_log_h(a):
    return array_namespace(a).log(_softplus(a) / math.log(2.0))


def _softplus_slope(a):
    return array_namespace(a).exp(-_softplus(-a)) / _softplus(a)


def _softplus_bend(a):
    xp = array_namespace(a)
    return _softplus_slope(a) * (xp.exp(-_softplus(a)) - _softplus_slope(a))


#: h(a) = log(1 + e^a)/log 2: increasing, h(0) = 1, but its loss is not convex.
SOFTPLUS = CustomLink(_softplus_log_h, _softplus_slope, _softplus_bend)


def _rate(a):
    xp = array_namespace(a)
    return math.log(2.0) * xp.exp(xp.clip(a, max=300.0))


def _cloglog_log_h(a):
    xp = array_namespace(a)
    s = _rate(a)
    small = s < 1e-9
    log_survival = xp.log(-xp.expm1(-xp.where(small, xp.ones_like(s), s)))
    return xp.where(small, a + math.log(math.log(2.0)) + 0.5 * s, s + log_survival)


def _cloglog_slope(a):
    xp = array_namespace(a)
    s = _rate(a)
    small = s < 1e-9
    safe = xp.where(small, xp.ones_like(s), s)
    return xp.where(small, 1.0 + 0.5 * s, safe / -xp.expm1(-safe))


def _cloglog_bend(a):
    xp = array_namespace(a)
    s = _rate(a)
    small = s < 1e-4
    safe = xp.where(small, xp.ones_like(s), s)
    event = -xp.expm1(-safe)
    exact = safe * ((event - safe * xp.exp(-safe)) / event) / event
    return xp.where(small, s * (0.5 + s / 6.0), exact)


#: P(y=1) = 1 − 2^{−e^a}, the complementary log-log link: convex with two classes.
CLOGLOG = CustomLink(_cloglog_log_h, _cloglog_slope, _cloglog_bend, convex=True)


def all_losses() -> list[tuple[str, Loss, int]]:
    """``(name, loss, κ)`` for every loss, with one output and with several."""
    cases: list[tuple[str, Loss, int]] = []
    for kappa in (1, 2, 4):
        cases.append((f"logistic-{kappa}", resolve_link("logistic", kappa), kappa))
        cases.append((f"softplus-{kappa}", resolve_link(SOFTPLUS, kappa), kappa))
        # Users may choose probit for two classes only; its formulas are general.
        cases.append((f"probit-{kappa}", Multinomial(Probit(), kappa), kappa))
        cases.append((f"squared-{kappa}", SquaredError(), kappa))
        cases.append((f"flags-{kappa}", FlagsLoss(), kappa))
        cases.append((f"poisson-{kappa}", PoissonLoss(), kappa))
    cases.append(("cloglog-1", resolve_link(CLOGLOG, 1), 1))
    return cases


def dual_losses() -> list[tuple[str, Loss, int]]:
    """The losses that have a conjugate."""
    return [case for case in all_losses() if case[1].has_conjugate]


def one_hot(labels, kappa):
    """Labels ``0..κ`` as rows without the column of class 0."""
    return np.eye(kappa + 1)[np.asarray(labels)][:, 1:]


def draw(loss, kappa, n, seed, scale=2.0):
    """Random activations and matching targets, both ``(n, κ)``."""
    rng = np.random.default_rng(seed)
    a = scale * rng.standard_normal((n, kappa))
    if isinstance(loss, SquaredError):
        return a, rng.standard_normal((n, kappa))
    if isinstance(loss, FlagsLoss):
        return a, rng.choice([0.0, 1.0, np.nan], (n, kappa), p=[0.4, 0.4, 0.2])
    if isinstance(loss, PoissonLoss):
        return a, rng.poisson(np.exp(rng.standard_normal((n, kappa)))).astype(float)
    return a, one_hot(rng.integers(0, kappa + 1, n), kappa)


def balance(loss, G, Y, weights):
    """A point near G inside the conjugate's domain with Σ_i weights_i g_i = 0, after all steps."""
    steps = []
    for _ in range(BALANCING_STEPS):
        steps.append(loss.imbalance(loss.rebalanced(G, Y, steps), Y, weights))
    return loss.rebalanced(G, Y, steps)
