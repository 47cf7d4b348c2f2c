"""Folds with equal shares of several labels at once, by going from the rarest answer to the most frequent.

This is iterative stratification (Sechidis, Tsoumakas and Vlahavas, 2011), for answers that may be unknown and
for samples that have to stay together.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _answers(truth: Any) -> Any:
    """Indicators (n, 2κ) of a 0, and then of a 1, in each label; truth (n, κ) of 0, 1 and NaN."""
    return np.hstack([truth == 0, truth == 1]).astype(float)


def rarest_answers(truth: Any) -> Any:
    """Integers (n,): which of its answers is the rarest of all, for each sample of truth (n, κ)."""
    answers = _answers(truth)
    counts = np.where(answers > 0, answers.sum(axis=0), np.inf)
    codes = counts.argmin(axis=1)
    # A stratum smaller than the usual number of folds is none.
    sizes = np.bincount(codes, minlength=answers.shape[1])
    largest = int(sizes.argmax())
    return np.unique(np.where(sizes[codes] < 5, largest, codes), return_inverse=True)[1]


def even_folds(truth: Any, groups: Any, n_splits: int, rng: Any) -> list[tuple[Any, Any]]:
    """Pairs of training and test positions, groups (n,) on one side of each where there are any."""
    n = len(truth)
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    answers = np.zeros((units.max() + 1, 2 * truth.shape[1]))
    np.add.at(answers, units, _answers(truth))
    fold = _assigned(answers, np.bincount(units).astype(float), n_splits, rng)[units]
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_splits)]


def _assigned(answers: Any, sizes: Any, n_splits: int, rng: Any) -> Any:
    """The fold of every unit, given how often it has each answer (u, 2κ), and its size (u,)."""
    fold = np.full(len(answers), -1)
    wanted = np.tile(answers.sum(axis=0) / n_splits, (n_splits, 1))
    room = np.full(n_splits, sizes.sum() / n_splits)
    order = rng.permutation(len(answers))
    while (free := fold < 0).any():
        left = answers[free].sum(axis=0)
        rarest = int(np.argmin(np.where(left > 0, left, np.inf)))
        for u in order[free[order] & (answers[order, rarest] > 0 if left.any() else True)]:
            # The fold that lacks most of it; of equals the one with most room.
            k = max(rng.permutation(n_splits), key=lambda k: (wanted[k, rarest], room[k]))
            fold[u] = k
            wanted[k] -= answers[u]
            room[k] -= sizes[u]
    return fold
