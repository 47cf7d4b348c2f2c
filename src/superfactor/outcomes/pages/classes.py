"""What a page shows of classes: ROC curves, the colour of a sample, the way of a factor."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import auc, roc_auc_score, roc_curve

from superfactor.outcomes.pages.base import Page

# A curve of this many points cannot be told from the full one on a screen.
MOST_POINTS = 300


@dataclass(frozen=True)
class Curve:
    """One class against the rest: ROC curve from (0, 0) to (1, 1) and the area below it."""

    positive: int
    false_positive: Any  # (m,)
    true_positive: Any  # (m,)
    area: float


def roc(inside: Any, score: Any, positive: int) -> Curve:
    """The curve of a score (n,) of samples inside a class (n,) bool, or not; some are, and some are not."""
    x, y, _ = roc_curve(inside, score)
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).astype(int))
    return Curve(positive, x[kept], y[kept], float(auc(x, y)))


class ClassPage(Page):
    """Colours and shapes are classes; predictions are right or wrong, and have ROC curves."""

    folder = "classes"
    own_term = "AUC of its own"
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
    gap = math.inf  # the page says of all figures of training what they are

    def names(self, estimator: Any, outputs: Sequence[str], y: Any, target: str) -> list[str]:
        return [str(c) for c in estimator.classes_]

    def up(self, view: Any) -> int:
        return int(view.classes.index(view.outputs[0]))

    def columns(self, names: Sequence[str], up: int) -> tuple[list[str], str]:
        """Two classes have one coefficient, that of one of them; several have one each."""
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
        """Probabilities add up to one."""
        return rows / rows.sum(axis=1, keepdims=True)

    def rows_of(self, activations: Any) -> Any:
        return None

    def drawn(self, truth: Any, rows: Any, names: Sequence[str]) -> Mapping[str, Any]:
        return {"curves": self.curves(truth, rows)}

    def curves(self, truth: Any, rows: Any) -> list[Curve]:
        """One for two classes, of the second, else one for each against the rest; of classes with samples."""
        curves, classes = [], rows.shape[1]
        for positive in [1] if classes == 2 else range(classes):
            inside = truth == positive
            if inside.any() and not inside.all():
                curves.append(roc(inside, rows[:, positive], positive))
        return curves

    def direction(self, effect: Any, up: int) -> tuple[int, int] | None:
        """The classes that a factor makes more likely as it goes up and down; None without effect.

        `effect` (outputs,) is that of one standard deviation: of two classes on class `up`, else on each.
        """
        every = _on_every_class(effect, up)
        return (int(np.argmax(every)), int(np.argmin(every))) if effect.any() else None

    def towards(self, effect: Any, up: int, names: Sequence[str]) -> tuple[str, str]:
        """Two classes need the first alone."""
        ends = self.direction(effect, up)
        said = ("", "") if ends is None else (names[ends[0]], names[ends[1]])
        return said[0], "" if len(effect) == 1 else said[1]

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
