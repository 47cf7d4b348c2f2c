"""The page for classes: ROC curves, colours of samples, directions of factors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import auc, roc_auc_score, roc_curve

from superfactor.outcomes.pages.base import Page

# A curve of this many points looks like the full one on a screen.
MOST_POINTS = 300


@dataclass(frozen=True)
class Curve:
    """One class against the rest: ROC curve from (0, 0) to (1, 1) and the area below it."""

    positive: int
    false_positive: Any  # (m,)
    true_positive: Any  # (m,)
    area: float


def roc(inside: Any, score: Any, positive: int) -> Curve:
    """Return the ROC curve of a score (n,), given class membership (n,) bool with both values present."""
    x, y, _ = roc_curve(inside, score)
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).astype(int))
    return Curve(positive, x[kept], y[kept], float(auc(x, y)))


class ClassPage(Page):
    """Colours and shapes are classes; predictions are right or wrong, and have ROC curves."""

    folder = "classes"
    own_term = "own AUC"
    scorer = "log-likelihood"
    target = "the class"
    predictor = "classifier"
    lacking = "a label"
    influence = "the class labels influence"
    prediction_heading = "How good the predictions are, class by class"
    features_heading = "Which features go with classes and factors"
    effect_column = ("auc", 0.5)
    right_or_wrong = True
    outlined = True
    gap = math.inf  # the page labels all training metrics, so it needs no warning

    def names(self, estimator: Any, outputs: Sequence[str], y: Any, target: str) -> list[str]:
        return [str(c) for c in estimator.classes_]

    def up(self, view: Any) -> int:
        return int(view.classes.index(view.outputs[0]))

    def columns(self, names: Sequence[str], up: int) -> tuple[list[str], str]:
        """Two classes have one coefficient, which refers to one of them; several have one each."""
        return ([names[up]], names[1 - up]) if len(names) == 2 else (list(names), "")

    def groups(self, names: Sequence[str]) -> list[str]:
        return list(names)

    def sorts(self, truth: Any) -> Any:
        return truth

    def parts(self, truth: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
        return [(name, truth == c) for c, name in enumerate(names)]

    def summary(self, truth: Any, names: Sequence[str]) -> list[tuple[str, float]]:
        return list(zip(names, np.bincount(truth, minlength=len(names)).tolist(), strict=True))

    def cleaned(self, rows: Any) -> Any:
        """Return probabilities that add up to one."""
        return rows / rows.sum(axis=1, keepdims=True)

    def rows_of(self, activations: Any) -> Any:
        return None

    def drawn(self, truth: Any, rows: Any, names: Sequence[str]) -> Mapping[str, Any]:
        return {"curves": self.curves(truth, rows)}

    def curves(self, truth: Any, rows: Any) -> list[Curve]:
        """Return the ROC curves: of the second of two classes, or of each class against the rest.

        Classes without samples have none.
        """
        curves, classes = [], rows.shape[1]
        for positive in [1] if classes == 2 else range(classes):
            inside = truth == positive
            if inside.any() and not inside.all():
                curves.append(roc(inside, rows[:, positive], positive))
        return curves

    def direction(self, effect: Any, up: int) -> tuple[int, int] | None:
        """Return the classes that a high and a low value of a factor make more likely; None without effect.

        `effect` (outputs,) is the effect of one standard deviation: on class `up` of two, or on each class.
        """
        every = _on_every_class(effect, up)
        return (int(np.argmax(every)), int(np.argmin(every))) if effect.any() else None

    def towards(self, effect: Any, up: int, names: Sequence[str]) -> tuple[str, str]:
        """Describe the classes at both ends of a factor; for two classes, the first end is enough."""
        ends = self.direction(effect, up)
        said = ("", "") if ends is None else (names[ends[0]], names[ends[1]])
        return said[0], "" if len(effect) == 1 else said[1]

    def alone(self, effect: Any, up: int, truth: Any, score: Any) -> tuple[float, int]:
        """Return the AUC of a factor's score (n,), and the class it refers to.

        The class is the one on which the factor has the largest effect, or, without effect, the one with the
        largest AUC. The AUC is NaN if all samples are of the class, or none.
        """
        every = _on_every_class(effect, up)
        inside = [truth == c for c in range(len(every))]
        areas = [roc_auc_score(own, score) if own.any() and not own.all() else math.nan for own in inside]
        c = int(np.argmax(every if effect.any() else np.nan_to_num(areas)))
        return float(areas[c]), c


def _on_every_class(effect: Any, up: int) -> Any:
    """Return effects (outputs,) on each class; of two classes, they have opposite signs."""
    return np.where(np.arange(2) == up, effect[0], -effect[0]) if len(effect) == 1 else effect
