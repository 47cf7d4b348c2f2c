"""A clustered heat map: the top features of the factors against the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list

from superfactor.plotting.heatmap import clustered

# Values are limited to this many standard deviations.
FARTHEST = 3.0


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Rows are features, columns are samples, both in the order of their trees.

    A tree has one row per join: position and height of both parts, and the height of the join. Positions
    count leaves from 0, heights are from 0 to 1.
    """

    values: Any  # (k, m), in standard deviations of each feature over these samples
    rows: Any  # (k,) positions in the input
    columns: Any  # (m,)
    row_tree: Any  # (k − 1, 5)
    column_tree: Any  # (m − 1, 5)


def heat_map(X: Any) -> HeatMap:
    """Cluster features and samples of X (m, k), m, k ≥ 1, as `superfactor.plotting.HeatmapDisplay`."""
    spread = X.std(axis=0)
    Z = ((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)).T
    rows, row_tree = _clustered(Z)
    columns, column_tree = _clustered(Z.T)
    return HeatMap(Z[rows][:, columns], rows, columns, row_tree, column_tree)


def _clustered(points: Any) -> tuple[Any, Any]:
    """Return order and tree of the rows of `points`."""
    n = len(points)
    if n < 2:
        return np.arange(n), np.empty((0, 5))
    joins = clustered(points)
    order = leaves_list(joins)
    place, height = np.empty(2 * n - 1), np.zeros(2 * n - 1)
    place[order] = np.arange(n)
    highest = joins[-1, 2] or 1.0
    tree = np.empty((n - 1, 5))
    for k, (a, b, distance, _) in enumerate(joins):
        a, b = int(a), int(b)
        place[n + k], height[n + k] = (place[a] + place[b]) / 2, distance / highest
        tree[k] = place[a], height[a], place[b], height[b], height[n + k]
    return order, tree
