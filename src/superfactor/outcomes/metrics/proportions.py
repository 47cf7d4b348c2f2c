"""Confidence intervals of accuracies that hold for few samples and near 0 and 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

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
