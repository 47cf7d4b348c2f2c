"""What factors do to the classes: their effects and directions, and how each does by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import roc_auc_score

from superfactor.interpretation import FactorView

if TYPE_CHECKING:
    from superfactor.report.facts.gathering import Facts


def class_effects(view: FactorView) -> Any:
    """What one standard deviation of each factor does to the classes.

    Two classes: (1, r), the change of the log-odds of ``view.outputs[0]``. Several: (c, r), the change of
    the log-probability of every class against the mean over all, so that no class is left out: where
    coefficients are against the first class, whose own is 0, their mean is taken off.
    """
    assert view.classes is not None
    if len(view.coef) in (1, len(view.classes)):
        return view.coef
    scores = np.vstack([np.zeros(view.coef.shape[1]), view.coef])
    return scores - scores.mean(axis=0)


def directions(view: FactorView, classes: list[str]) -> list[tuple[str, str]]:
    """For each factor the class that becomes more likely as it goes up, and as it goes down.

    Two classes need the first alone; both are empty for a factor without effect.
    """
    found = []
    for effect in _of_every_class(view).T:
        up, down = classes[int(np.argmax(effect))], classes[int(np.argmin(effect))]
        found.append((up, "" if len(effect) == 2 else down) if effect.any() else ("", ""))
    return found


def _of_every_class(view: FactorView) -> Any:
    """(classes, r): what one standard deviation of each factor does to every class; the sign counts."""
    effects = class_effects(view)
    if len(effects) > 1:
        return effects
    assert view.classes is not None
    up = view.classes.index(view.outputs[0])
    return effects * np.where(np.arange(2) == up, 1.0, -1.0)[:, None]


@dataclass(frozen=True)
class Alone:
    """One factor by itself: the AUC of its score for a class, and what the prediction loses without it.

    `lost` is a share of what all factors explain.
    """

    area: float
    of: str
    lost: float


def alone(facts: Facts) -> list[Alone]:
    """Every factor, on samples not seen where there are any, as `judged_alone` says."""
    view, held = facts.view, facts.held_out
    lost = view.contribution
    if held is None:
        areas = _areas(view, facts.samples.truth, facts.samples.scores)
    else:
        assert view.classes is not None
        areas = list(zip(held.own, map(view.classes.index, held.own_of), strict=True))
        lost = held.contribution if held.predictive.any() else lost
    return [
        Alone(float(area), facts.classes[c], float(share))
        for (area, c), share in zip(areas, lost, strict=True)
    ]


def judged_alone(facts: Facts) -> str:
    """The samples that the areas are of."""
    if facts.held_out is not None:
        return "out of fold"
    return "training" if facts.test is None else "held out"


def _areas(view: FactorView, truth: Any, scores: Any) -> list[tuple[float, int]]:
    """AUC and class number of each factor: of the class it raises most, else of that it goes with most.

    NaN where all samples are of the class, or none.
    """
    effects, found = _of_every_class(view), []
    for effect, score in zip(effects.T, scores.T, strict=True):
        inside = [truth == c for c in range(len(effects))]
        areas = [roc_auc_score(i, score) if i.any() and not i.all() else math.nan for i in inside]
        c = int(np.argmax(effect if effect.any() else np.nan_to_num(areas)))
        found.append((float(areas[c]), c))
    return found
