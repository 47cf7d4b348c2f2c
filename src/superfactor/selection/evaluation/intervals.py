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


def jackknife(value: float, without: Any, level: float = 0.95) -> dict[str, float]:
    """A figure of samples, and its interval by the figures without each of J parts of the samples.

    The variance is (J−1)/J·Σd², with the differences d from their mean. Student's degrees of freedom match
    the variance of this estimate, which is large if few samples decide: 2J/(κ − 1), with the kurtosis κ of d.

    Parameters
    ----------
    value : of all samples
    without : (J,), NaN where the figure is not defined
    """
    without = without[~np.isnan(without)]
    count = len(without)
    d = without - without.mean() if count else without
    # Samples that all say the same do not tell how others would be.
    if count < 2 or not np.ptp(without) > 0:
        return {"mean": value, "low": float("nan"), "high": float("nan")}
    square = float(np.mean(d**2))
    excess = float(np.mean(d**4)) / square**2 - 1
    free = min(count - 1, 2 * count / excess) if excess > 0 else count - 1
    half = float(student.ppf((1 + level) / 2, max(free, 1.0))) * np.sqrt((count - 1) * square)
    return {"mean": value, "low": value - half, "high": value + half}


def widened(found: dict[str, Any], ends: tuple[float, float]) -> dict[str, Any]:
    """An interval that holds another one too; it may have had no ends of its own."""
    low, high = ends
    return {**found, "low": float(np.fmin(found["low"], low)), "high": float(np.fmax(found["high"], high))}


def inside(metric: Metric, found: dict[str, float]) -> dict[str, float]:
    """The interval mean ± half in a form that ends within what the metric can be, and is not cut there.

    The variance near an end of the range is smaller than at the mean. With two ends it is taken as
    proportional to (θ − low)(high − θ) at the true value θ, as for Wilson's interval: the interval consists
    of the θ with (mean − θ)² ≤ half²·(θ − low)(high − θ)/((mean − low)(high − mean)). With one end it is
    symmetric in the logarithm of the distance to this end. A mean at an end has no interval.
    """
    mean, half = found["mean"], (found["high"] - found["low"]) / 2
    down, up = mean - metric.low, metric.high - mean
    if not half > 0 or not min(down, up) > 0:
        return {"mean": mean, "low": float("nan"), "high": float("nan")}
    if np.isinf(down) and np.isinf(up):
        return found
    if np.isinf(up):
        return {
            "mean": mean,
            "low": metric.low + down * _exp(-half / down),
            "high": metric.low + down * _exp(half / down),
        }
    if np.isinf(down):
        return {
            "mean": mean,
            "low": metric.high - up * _exp(half / up),
            "high": metric.high - up * _exp(-half / up),
        }
    size = down + up
    p, k = down / size, half**2 / (down * up)
    centre = (p + k / 2) / (1 + k)
    reach = np.sqrt(k * p * (1 - p) + k**2 / 4) / (1 + k)
    return {
        "mean": mean,
        "low": float(metric.low + size * (centre - reach)),
        "high": float(metric.low + size * (centre + reach)),
    }


def _exp(x: float) -> float:
    """exp(x), at most the largest float."""
    return float(np.exp(min(x, 700.0)))


def without_interval(found: dict[str, float]) -> dict[str, float]:
    """The mean alone."""
    return {"mean": found["mean"], "low": float("nan"), "high": float("nan")}


def around(mean: float, error: float) -> dict[str, float]:
    """A 95 % interval by a standard error."""
    half = NORMAL_975 * error
    return {"mean": mean, "low": mean - half, "high": mean + half}
