"""How often shuffled outcomes are predicted as well as the true ones.

Labels, or other values of y, are shuffled within the outer folds of one repeat. Every fold keeps its values,
so that folds stay the same, and with them the coordinates of their samples, the expensive part.
If features and labels have nothing to do with each other, all such labels are equally likely given the
folds; so the p-value holds exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class PermutationTest:
    """Scores of shuffled outcomes beside that of the true ones, on the same folds.

    Attributes
    ----------
    metric : of the scores
    score : with the true labels
    scores : (N,) with shuffled ones
    """

    metric: str
    score: float
    scores: Any

    @property
    def reached(self) -> int:
        """How many of the shuffled outcomes score at least as high as the true ones."""
        return int(np.count_nonzero(self.scores >= self.score - 1e-12))

    @property
    def p_value(self) -> float:
        """(1 + reached)/(1 + N)."""
        return (1 + self.reached) / (1 + len(self.scores))

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "metric": self.metric,
            "score": self.score,
            "n": len(self.scores),
            "reached": self.reached,
            "p_value": self.p_value,
            "scores": self.scores.tolist(),
        }


def shuffled(truth: Any, groups: Any, splits: list[tuple[Any, Any]], rng: Any) -> Any:
    """The truth (n, …) of every test part shuffled among its samples.

    Parameters
    ----------
    groups : (n,) or None
        Where every group has one value, values are shuffled among the groups of a fold; otherwise within
        each group.
    """
    found = np.array(truth)
    if groups is None:
        for _, test in splits:
            found[test] = truth[test[rng.permutation(len(test))]]
    elif one_value_each(truth, groups):
        for _, test in splits:
            _, first, number = np.unique(groups[test], return_index=True, return_inverse=True)
            found[test] = truth[test][first][rng.permutation(len(first))][number]
    else:
        # Both orders list the groups one after another; inside each group the second is random.
        found[np.argsort(groups, kind="stable")] = truth[np.lexsort((rng.random(len(groups)), groups))]
    return found


def one_value_each(truth: Any, groups: Any) -> bool:
    """Return whether all samples of a group have the same value (n, …)."""
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    return np.array_equal(truth, truth[first][number], equal_nan=np.issubdtype(truth.dtype, np.floating))
