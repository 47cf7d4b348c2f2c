"""Intervals of figures that come from folds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import t as student

from superfactor.outcomes import Metric
from superfactor.outcomes.metrics.proportions import NORMAL_975


def corrected_interval(values: Any, ratio: float, level: float = 0.95) -> dict[str, float]:
    """Mean of figures of J folds, and Nadeau's and Bengio's interval of it.

    Folds share most of their training samples, so that the variance of the mean is taken as
    s²·(1/J + n_test/n_train) in place of s²/J, and the quantile is Student's with J - 1 degrees.

    Parameters
    ----------
    values : (J,), NaN for folds without a figure
    ratio : n_test/n_train
    """
    values = np.asarray(values, dtype=float)
    values = values[~np.isnan(values)]
    if not len(values):
        return dict.fromkeys(("mean", "low", "high"), float("nan"))
    mean = float(values.mean())
    # One fold, or folds that all say the same, do not tell how far others would lie.
    if len(values) == 1 or np.ptp(values) == 0:
        return {"mean": mean, "low": float("nan"), "high": float("nan")}
    spread = float(values.std(ddof=1)) * np.sqrt(1 / len(values) + ratio)
    half = float(student.ppf((1 + level) / 2, len(values) - 1)) * spread
    return {"mean": mean, "low": mean - half, "high": mean + half}


def widened(found: dict[str, Any], ends: tuple[float, float]) -> dict[str, Any]:
    """An interval that holds another one too; it may have had no ends of its own."""
    low, high = ends
    return {**found, "low": float(np.fmin(found["low"], low)), "high": float(np.fmax(found["high"], high))}


def bounded(metric: Metric, found: dict[str, float]) -> dict[str, float]:
    """An interval inside what a figure can be."""
    return {name: float(np.clip(value, metric.low, metric.high)) for name, value in found.items()}


def around(mean: float, error: float) -> dict[str, float]:
    """A 95 % interval by a standard error."""
    half = NORMAL_975 * error
    return {"mean": mean, "low": mean - half, "high": mean + half}
