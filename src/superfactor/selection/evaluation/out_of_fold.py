"""What all methods predict of samples they had not seen, and the figures made of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.selection.evaluation.outer import MODEL, OuterFold, Split


class OutOfFold:
    """Rows of all methods in all outer folds.

    Parameters
    ----------
    work : outcome and truth (n, …)
    splits : of every repeat, a list of (train, test)
    found : of every outer fold, repeat by repeat, a dict from method to rows (n_test, k)
    """

    def __init__(self, work: OuterFold, splits: list[list[Split]], found: list[Any]):
        self.outcome, self.truth, self.splits = work.outcome, work.truth, splits
        self.methods = list(found[0])
        size = (len(splits), len(self.truth), len(work.target.names))
        self.rows = {method: np.zeros(size) for method in self.methods}
        each = iter(found)
        for r, repeat in enumerate(splits):
            for _, test in repeat:
                for method, values in next(each).items():
                    self.rows[method][r, test] = values

    @property
    def ratio(self) -> float:
        """Test samples for each training sample."""
        return 1 / (len(self.splits[0]) - 1)

    def together(self, method: str = MODEL) -> Any:
        """Rows (repeats, n, k) that can be compared across the folds of a repeat."""
        found = []
        for rows, repeat in zip(self.rows[method], self.splits, strict=True):
            folds = np.zeros(len(rows), dtype=int)
            for k, (_, test) in enumerate(repeat):
                folds[test] = k
            found.append(self.outcome.within_folds(rows, folds))
        return np.array(found)

    def mean(self, method: str = MODEL) -> Any:
        """Rows (n, k), the mean over all repeats."""
        return self.together(method).mean(axis=0)

    def fold_scores(self, method: str) -> dict[str, Any]:
        """Figures of each fold: metric → (repeats, folds)."""
        found = [
            [self._figures(method, r, test) for _, test in repeat] for r, repeat in enumerate(self.splits)
        ]
        return {
            metric.name: np.array([[figures[metric.name] for figures in row] for row in found])
            for metric in self.outcome.metrics
        }

    def _figures(self, method: str, r: int, test: Any) -> dict[str, float]:
        truth, rows = self.truth[test], self.rows[method][r, test]
        if method == self.outcome.guess_name:
            return self.outcome.guess_metric_values(truth, rows, self.truth)
        return self.outcome.metric_values(truth, rows)
