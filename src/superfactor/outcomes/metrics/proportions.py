"""Confidence intervals of accuracies and ROC areas that hold for few samples and near 0 and 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq

NORMAL_975 = 1.959963984540054


def wilson(right: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of the proportion `right`/n."""
    z2, p = NORMAL_975**2, right / n
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = NORMAL_975 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    # Rounding must not exclude the proportion itself at 0 and 1.
    return max(min(centre - half, p), 0.0), min(max(centre + half, p), 1.0)


def balanced_interval(confusion: Any) -> tuple[float, float]:
    """Return an approximate 95 % interval of the balanced accuracy of a confusion matrix (c, c).

    The mean of the recalls r_k with their Wilson intervals (l_k, u_k) has the interval from
    mean − √Σ(r_k − l_k)²/c to mean + √Σ(u_k − r_k)²/c (Zou and Donner's MOVER).
    """
    counts = [(int(row[k]), int(row.sum())) for k, row in enumerate(confusion) if row.sum()]
    recall = np.array([right / n for right, n in counts])
    low, high = np.array([wilson(right, n) for right, n in counts]).T
    mean, c = float(recall.mean()), len(counts)
    down, up = (float(np.linalg.norm(recall - end)) / c for end in (low, high))
    return max(mean - down, 0.0), min(mean + up, 1.0)


def area_interval(area: float, yes: int, no: int) -> tuple[float, float]:
    """Return a 95 % interval of a ROC area of `yes` samples with the label and `no` without.

    It consists of the areas θ with (area − θ)² ≤ z²·V(θ), with the variance of Hanley and McNeil (1982) at θ
    for groups of equal size (Newcombe 2006, method 5). As Wilson's interval, it ends within 0 and 1.
    """
    if not (yes and no) or math.isnan(area):
        return math.nan, math.nan
    size = (yes + no) / 2 - 1

    def outside(t: float) -> float:
        """Positive where t is not in the interval."""
        variance = t * (1 - t) * (1 + size * ((1 - t) / (2 - t) + t / (1 + t))) / (yes * no)
        return (area - t) ** 2 - NORMAL_975**2 * variance

    # At 0 and 1 the variance is 0, which is no end of the interval.
    low = 0.0 if area <= 0 else float(brentq(outside, 0.0, min(area, 1 - 1e-9)))
    high = 1.0 if area >= 1 else float(brentq(outside, max(area, 1e-9), 1.0))
    return low, high
