"""Folds with equal shares of several labels at once: iterative stratification.

The method assigns samples from the rarest value to the most frequent one (Sechidis, Tsoumakas and Vlahavas,
2011). Entries may be missing, and samples of a group stay together.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _indicators(truth: Any) -> Any:
    """Return indicators (n, 2κ) of a 0, then of a 1, in each label; truth (n, κ) is 0, 1 or NaN."""
    return np.hstack([truth == 0, truth == 1]).astype(float)


def rarest_answers(truth: Any) -> Any:
    """Return for each sample of truth (n, κ) which of its values is the rarest, as integers (n,)."""
    indicators = _indicators(truth)
    counts = np.where(indicators > 0, indicators.sum(axis=0), np.inf)
    codes = counts.argmin(axis=1)
    # A stratum smaller than the usual number of folds joins the largest one.
    sizes = np.bincount(codes, minlength=indicators.shape[1])
    largest = int(sizes.argmax())
    return np.unique(np.where(sizes[codes] < 5, largest, codes), return_inverse=True)[1]


def even_folds(truth: Any, groups: Any, n_splits: int, rng: Any) -> list[tuple[Any, Any]]:
    """Return pairs of training and test positions; no fold divides one of the groups (n,), if given."""
    n = len(truth)
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    counts = np.zeros((units.max() + 1, 2 * truth.shape[1]))
    np.add.at(counts, units, _indicators(truth))
    fold = _assigned(counts, np.bincount(units).astype(float), n_splits, rng)[units]
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_splits)]


def _assigned(counts: Any, sizes: Any, n_splits: int, rng: Any) -> Any:
    """Return the fold (u,) of every unit, given its counts of each value (u, 2κ) and its size (u,)."""
    fold = np.full(len(counts), -1)
    needed = np.tile(counts.sum(axis=0) / n_splits, (n_splits, 1))
    space = np.full(n_splits, sizes.sum() / n_splits)
    order = rng.permutation(len(counts))
    while (free := fold < 0).any():
        left = counts[free].sum(axis=0)
        rarest = int(np.argmin(np.where(left > 0, left, np.inf)))
        for u in order[free[order] & (counts[order, rarest] > 0 if left.any() else True)]:
            # The fold that needs this value most; if several do, the one with most space.
            k = max(rng.permutation(n_splits), key=lambda k: (needed[k, rarest], space[k]))
            fold[u] = k
            needed[k] -= counts[u]
            space[k] -= sizes[u]
    return fold
