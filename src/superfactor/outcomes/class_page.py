"""What a page shows of classes: how good the predictions are, the colour of a sample, the way of a factor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import auc, confusion_matrix, log_loss, roc_auc_score, roc_curve

from superfactor.outcomes.proportions import balanced_interval, wilson

# A curve of this many points cannot be told from the full one on a screen.
MOST_POINTS = 300


@dataclass(frozen=True)
class Curve:
    """One class against the rest: ROC curve from (0, 0) to (1, 1) and the area below it."""

    positive: int
    false_positive: Any  # (m,)
    true_positive: Any  # (m,)
    area: float


@dataclass(frozen=True)
class Evaluation:
    """Figures of one set of samples.

    confusion is (classes, classes): row the true class, column the predicted one. Classes without
    samples have no curve and take no part in balanced accuracy and mean area; their recall (classes,), the
    share that was recognised, and their precision, the share of predictions that were right, are NaN.
    """

    n: int
    accuracy: float
    interval: tuple[float, float]
    balanced_accuracy: float
    balanced_interval: tuple[float, float]
    log_loss: float
    confusion: Any
    recall: Any
    precision: Any
    curves: tuple[Curve, ...]

    @property
    def area(self) -> float:
        """Area below the ROC curve, the mean over classes where there are several; NaN if none."""
        return float(np.mean([c.area for c in self.curves])) if self.curves else math.nan


class ClassPage:
    """The page's questions to the kind of y."""

    def evaluate(self, truth: Any, rows: Any) -> Evaluation:
        """Figures for class numbers `truth` (n,) and probabilities `rows` (n, classes)."""
        n, classes = rows.shape
        confusion = confusion_matrix(truth, np.argmax(rows, axis=1), labels=np.arange(classes))
        right = np.diag(confusion)
        recall, precision = (
            np.divide(right, whole, out=np.full(classes, np.nan), where=whole > 0)
            for whole in (confusion.sum(axis=1), confusion.sum(axis=0))
        )
        return Evaluation(
            n=n,
            accuracy=int(right.sum()) / n,
            interval=wilson(int(right.sum()), n),
            balanced_accuracy=float(np.nanmean(recall)),
            balanced_interval=balanced_interval(confusion),
            log_loss=float(log_loss(truth, rows, labels=np.arange(classes))),
            confusion=confusion,
            recall=recall,
            precision=precision,
            curves=tuple(_curves(truth, rows)),
        )

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


def _curves(truth: Any, rows: Any) -> list[Curve]:
    """One curve for two classes (the second is the positive one), else one against the rest each."""
    curves, classes = [], rows.shape[1]
    for positive in [1] if classes == 2 else range(classes):
        inside = truth == positive
        if inside.any() and not inside.all():
            x, y, _ = roc_curve(inside, rows[:, positive])
            kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).astype(int))
            curves.append(Curve(positive, x[kept], y[kept], float(auc(x, y))))
    return curves
