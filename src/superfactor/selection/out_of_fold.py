"""Probabilities of all methods for samples they had not seen, and the figures made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.selection.measures import METRICS, calibration, measures
from superfactor.selection.outer import MODEL, Split
from superfactor.selection.rivals import FREQUENT


class OutOfFold:
    """Probabilities of all methods in all outer folds.

    Parameters
    ----------
    codes : class numbers (n,)
    splits : of every repeat, a list of (train, test)
    found : of every outer fold, repeat by repeat, a dict from method to probabilities (n_test, c)
    """

    def __init__(self, codes: Any, n_classes: int, splits: list[list[Split]], found: list[Any]):
        self.codes, self.n_classes, self.splits = codes, n_classes, splits
        self.methods = list(found[0])
        # The class that is most frequent in all of them, also where a fold's training part has another.
        self.frequent = int(np.bincount(codes).argmax())
        size = (len(splits), len(codes), n_classes)
        self.probabilities = {method: np.zeros(size) for method in self.methods}
        each = iter(found)
        for r, repeat in enumerate(splits):
            for _, test in repeat:
                for method, values in next(each).items():
                    self.probabilities[method][r, test] = values

    @property
    def ratio(self) -> float:
        """Test samples for each training sample."""
        return 1 / (len(self.splits[0]) - 1)

    def fold_scores(self, method: str) -> dict[str, Any]:
        """Figures of each fold: metric → (repeats, folds)."""
        found = [
            [self._scored(method, r, test) for _, test in repeat] for r, repeat in enumerate(self.splits)
        ]
        return {name: np.array([[f[name] for f in row] for row in found]) for name in METRICS}

    def _scored(self, method: str, r: int, test: Any) -> dict[str, float]:
        always = np.full(len(test), self.frequent) if method == FREQUENT else None
        return measures(self.codes[test], self.probabilities[method][r, test], always)

    def calibrations(self, method: str) -> list[dict[str, float]]:
        """Of all samples of each repeat, for two classes."""
        return [calibration(self.codes == 1, P[:, 1]) for P in self.probabilities[method]]

    def votes(self, groups: Any) -> tuple[Any, Any, str]:
        """True and predicted class numbers of who counts as one in a test against chance, and what that is.

        A sample, or a group where all samples of each group have one label: repeated measures of a patient
        are right or wrong together. Predicted is the class with the largest mean probability.
        """
        mean = self.probabilities[MODEL].mean(axis=0)
        if groups is None:
            return self.codes, mean.argmax(axis=1), "samples"
        members = [np.flatnonzero(groups == g) for g in np.unique(groups)]
        if any(len(np.unique(self.codes[m])) > 1 for m in members):
            return self.codes, mean.argmax(axis=1), "samples"
        votes = [int(mean[m].mean(axis=0).argmax()) for m in members]
        return np.array([self.codes[m[0]] for m in members]), np.array(votes), "groups"
