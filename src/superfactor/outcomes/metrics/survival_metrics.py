"""Metrics of predicted risks and survival curves.

The truth (n, 2 or 3) holds events, times and optionally strata. Risks are (n,), curves (n, m) at m times.
Censored samples would bias a plain mean, so samples are weighted by the inverse probability of censoring
(IPCW): a sample has weight 1/G(t), where G(t) is the Kaplan–Meier estimate of the probability of no censoring
up to t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from superfactor.estimators.targets.times import concordant_pairs
from superfactor.losses import CoxPartialLikelihood
from superfactor.outcomes.metrics.kaplan_meier import SurvivalCurve, Z

#: Number of times at which curves are evaluated.
CURVE_TIMES = 15
# Share of the events before the first and after the last of these times; there too few samples are at risk.
_OUTSIDE = 0.1
# Most Newton steps for a calibration slope.
_MOST_STEPS = 50
# Largest log hazard ratio; beyond, the ratio is not defined.
_LARGEST = 15.0


def curve_times(truth: Any) -> Any:
    """Return the times (m,) at which curves are evaluated: quantiles of event times, including the median."""
    levels = np.linspace(_OUTSIDE, 1 - _OUTSIDE, CURVE_TIMES)
    happened = truth[truth[:, 0] > 0, 1]
    return np.unique(np.quantile(happened, levels, method="lower")) if len(happened) else np.zeros(0)


def uno_concordance(truth: Any, risk: Any, censoring: SurvivalCurve, until: float) -> float:
    """Return Uno's concordance: Harrell's for events before `until`, each pair weighted by 1/G².

    It does not depend on the distribution of censoring. NaN if there is no pair.
    """
    event, time = truth[:, 0] > 0, truth[:, 1]
    strata = truth[:, 2] if truth.shape[1] > 2 else None
    kept = censoring.at(time)
    first = np.flatnonzero(event & (time < until) & (kept > 0))
    one = np.ones(len(time))
    right, total = concordant_pairs(event, time, risk, first, 1 / kept[first] ** 2, one, strata)
    return right / total if total > 0 else float("nan")


def brier_scores(truth: Any, curves: Any, times: Any, censoring: SurvivalCurve) -> Any:
    """Return the Brier score (m,) of survival probabilities (n, m) at m times; NaN where G is 0."""
    event, time = truth[:, :1] > 0, truth[:, 1:2]
    kept, kept_then = censoring.at(time), censoring.at(times)
    died = event & (time <= times)
    there = (time > times) & (kept_then > 0)
    error = np.where(died & (kept > 0), curves**2 / np.where(kept > 0, kept, 1.0), 0.0)
    error = error + np.where(there, (1 - curves) ** 2 / np.where(kept_then > 0, kept_then, 1.0), 0.0)
    return np.where(kept_then > 0, error.mean(axis=0), np.nan)


def integrated_brier(truth: Any, curves: Any, times: Any, censoring: SurvivalCurve) -> float:
    """Return the Brier score averaged over time, from the first of the times to the last."""
    if not len(times):
        return float("nan")
    scores = brier_scores(truth, curves, times, censoring)
    if len(times) == 1:
        return float(scores[0])
    return float(np.trapezoid(scores, times) / (times[-1] - times[0]))


def calibration_slope(truth: Any, risk: Any, strata: Any = None) -> tuple[float, float]:
    """Return the coefficient of Cox regression on the risks alone, and its standard error.

    It is 1 if risks have the right size and below 1 if they are too extreme; NaN if all risks are equal.
    """
    loss = CoxPartialLikelihood(truth[:, 1], truth[:, 0], strata=strata)
    Y, x, slope = truth[:, :1], (risk - risk.mean())[:, None], 0.0
    size = float(x.std())
    if not size > 0:
        return float("nan"), float("nan")
    x = x / size
    for _ in range(_MOST_STEPS):
        gradient = float(x[:, 0] @ loss.residual(slope * x, Y)[:, 0])
        bend = float(loss.curvature(slope * x, Y).gram(x, True)[0, 0])
        if not bend > 0:
            return float("nan"), float("nan")
        step = float(np.clip(gradient / bend, -1.0, 1.0))
        slope -= step
        if abs(step) < 1e-9:
            break
    return slope / size, 1 / np.sqrt(bend) / size


@dataclass(frozen=True)
class Ratio:
    """A hazard ratio per standard deviation, its 95 % interval, and the p-value of Wald's test."""

    estimate: float
    low: float
    high: float
    p: float


def hazard_ratio(truth: Any, x: Any) -> Ratio:
    """Return the hazard ratio of one column x (n,), by Cox regression with Breslow's ties, or NaN."""
    spread = float(np.std(x))
    b, error = math.nan, math.nan
    if spread > 0 and np.any(truth[:, 0] > 0):
        b, error = calibration_slope(truth, x / spread, truth[:, 2] if truth.shape[1] > 2 else None)
    if not abs(b) <= _LARGEST:
        return Ratio(*[math.nan] * 4)
    estimate, low, high = (math.exp(b + sign * Z * error) for sign in (0, -1, 1))
    return Ratio(estimate, low, high, 2 * float(norm.sf(abs(b) / error)))
