"""How good the predictions are: the figures, with their uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import auc, confusion_matrix, log_loss, roc_curve

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
    samples have no curve and take no part in balanced accuracy and mean area.
    """

    n: int
    accuracy: float
    interval: tuple[float, float]
    balanced_accuracy: float
    balanced_interval: tuple[float, float]
    log_loss: float
    confusion: Any
    curves: tuple[Curve, ...]

    @property
    def area(self) -> float:
        """Area below the ROC curve, the mean over classes where there are several; NaN if none."""
        return float(np.mean([c.area for c in self.curves])) if self.curves else math.nan

    def recall(self) -> Any:
        """(classes,) share of each class that was recognised; NaN without samples."""
        return _ratio(np.diag(self.confusion), self.confusion.sum(axis=1))

    def precision(self) -> Any:
        """(classes,) share of the predictions of each class that were right; NaN without any."""
        return _ratio(np.diag(self.confusion), self.confusion.sum(axis=0))


def evaluate(truth: Any, probabilities: Any) -> Evaluation:
    """Figures for class numbers `truth` (n,) and `probabilities` (n, classes)."""
    n, classes = probabilities.shape
    predicted = np.argmax(probabilities, axis=1)
    confusion = confusion_matrix(truth, predicted, labels=np.arange(classes))
    right = int(np.trace(confusion))
    recall = _ratio(np.diag(confusion), confusion.sum(axis=1))
    return Evaluation(
        n=n,
        accuracy=right / n,
        interval=wilson(right, n),
        balanced_accuracy=float(np.nanmean(recall)),
        balanced_interval=balanced_interval(confusion),
        log_loss=float(log_loss(truth, probabilities, labels=np.arange(classes))),
        confusion=confusion,
        curves=tuple(_curves(truth, probabilities)),
    )


def _curves(truth: Any, probabilities: Any) -> list[Curve]:
    """One curve for two classes (the second is the positive one), else one against the rest each."""
    classes = probabilities.shape[1]
    curves = []
    for positive in [1] if classes == 2 else range(classes):
        is_positive = truth == positive
        if is_positive.any() and not is_positive.all():
            x, y, _ = roc_curve(is_positive, probabilities[:, positive])
            kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).astype(int))
            curves.append(Curve(positive, x[kept], y[kept], float(auc(x, y))))
    return curves


def _ratio(part: Any, whole: Any) -> Any:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
