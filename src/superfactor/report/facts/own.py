"""How each factor goes with the classes by itself, and what the prediction loses without it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from superfactor.interpretation import FactorView
from superfactor.report.facts.gathering import Facts, class_effects


@dataclass(frozen=True)
class Alone:
    """One factor.

    Attributes
    ----------
    area : the AUC of its score, from 0 to 1
    of : the class whose AUC it is
    lost : the share of what all factors explain that is lost without it
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
        areas = [_area(truth == c, score) for c in range(len(effects))]
        c = int(np.argmax(effect if effect.any() else np.nan_to_num(areas)))
        found.append((areas[c], c))
    return found


def _area(inside: Any, score: Any) -> float:
    """AUC of a score (n,) for the samples inside a class; NaN where all are, or none."""
    return math.nan if inside.all() or not inside.any() else float(roc_auc_score(inside, score))


def _of_every_class(view: FactorView) -> Any:
    """(classes, r): what one standard deviation of each factor does to every class; the sign counts."""
    effects = class_effects(view)
    if len(effects) > 1:
        return effects
    assert view.classes is not None
    up = view.classes.index(view.outputs[0])
    return effects * np.where(np.arange(2) == up, 1.0, -1.0)[:, None]
