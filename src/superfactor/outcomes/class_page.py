"""What a page shows of classes: ROC curves, the colour of a sample, the way of a factor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import auc, roc_auc_score, roc_curve

# A curve of this many points cannot be told from the full one on a screen.
MOST_POINTS = 300


@dataclass(frozen=True)
class Curve:
    """One class against the rest: ROC curve from (0, 0) to (1, 1) and the area below it."""

    positive: int
    false_positive: Any  # (m,)
    true_positive: Any  # (m,)
    area: float


class ClassPage:
    """The page's questions to the kind of y."""

    def curves(self, truth: Any, rows: Any) -> list[Curve]:
        """One for two classes, of the second, else one for each against the rest; of classes with samples."""
        curves, classes = [], rows.shape[1]
        for positive in [1] if classes == 2 else range(classes):
            inside = truth == positive
            if inside.any() and not inside.all():
                x, y, _ = roc_curve(inside, rows[:, positive])
                kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).astype(int))
                curves.append(Curve(positive, x[kept], y[kept], float(auc(x, y))))
        return curves

    def colours(self, truth: Any) -> list[int]:
        """Which of the page's colours each sample has: that of its class."""
        return [int(c) for c in truth]

    def direction(self, effect: Any, up: int) -> tuple[int, int] | None:
        """The classes that a factor makes more likely as it goes up and down; None without effect.

        `effect` (outputs,) is that of one standard deviation: of two classes on class `up`, else on each.
        """
        every = _on_every_class(effect, up)
        return (int(np.argmax(every)), int(np.argmin(every))) if effect.any() else None

    def alone(self, effect: Any, up: int, truth: Any, score: Any) -> tuple[float, int]:
        """The AUC of the score (n,) of a factor, and for which class it is.

        That is the one it raises most, without effect the one it goes with most; NaN where all samples are of
        the class, or none.
        """
        every = _on_every_class(effect, up)
        inside = [truth == c for c in range(len(every))]
        areas = [roc_auc_score(own, score) if own.any() and not own.all() else math.nan for own in inside]
        c = int(np.argmax(every if effect.any() else np.nan_to_num(areas)))
        return float(areas[c]), c


def _on_every_class(effect: Any, up: int) -> Any:
    """Effects (outputs,) on the classes: of two, what is added to one is taken from the other."""
    return np.where(np.arange(2) == up, effect[0], -effect[0]) if len(effect) == 1 else effect
