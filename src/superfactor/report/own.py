"""How each factor goes with the classes by itself, and what the prediction loses without it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from superfactor.interpretation import FactorView
from superfactor.report.facts import Facts, class_effects


@dataclass(frozen=True)
class Alone:
    """One factor.

    Attributes
    ----------
    area : the AUC of its score, from 0 to 1
    word : "for", or "against" where high scores speak against the class
    of : the class whose AUC it is
    lost : the share of what all factors explain that is lost without it
    """

    area: float
    word: str
    of: str
    lost: float


def alone(facts: Facts) -> list[Alone]:
    """Every factor, on samples not seen where there are any, as `judged_alone` says."""
    view, held = facts.view, facts.held_out
    if held is not None:
        lost = held.contribution if held.predictive.any() else view.contribution
        areas = [
            (float(area), _number(view, of)) for area, of in zip(held.own, held.own_of, strict=True)
        ]
    else:
        lost = view.contribution
        areas = _areas(view, facts.samples.truth, facts.samples.scores)
    effects = _of_every_class(view)
    return [
        Alone(*_towards(facts, area, c, effects[c, j]), float(lost[j]))
        for j, (area, c) in enumerate(areas)
    ]


def judged_alone(facts: Facts) -> str:
    """The samples that the areas are of."""
    if facts.held_out is not None:
        return "out of fold"
    return "training" if facts.test is None else "held out"


def _areas(view: FactorView, truth: Any, scores: Any) -> list[tuple[float, int]]:
    """AUC and class number of each factor: of the class it moves most, else of that it goes with most."""
    effects, found = _of_every_class(view), []
    for effect, score in zip(effects.T, scores.T, strict=True):
        areas = np.array([_area(truth == c, score) for c in range(len(effects))])
        known = np.flatnonzero(np.isfinite(areas))
        if not len(known):  # one class only
            found.append((np.nan, 0))
            continue
        size = np.abs(effect) if effect.any() else np.abs(areas - 0.5)
        c = int(known[np.argmax(size[known])])
        found.append((float(areas[c]), c))
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


def _number(view: FactorView, of: str) -> int:
    assert view.classes is not None
    return view.classes.index(of)


def _towards(facts: Facts, area: float, c: int, effect: float) -> tuple[float, str, str]:
    """The AUC from the side that it speaks for: a factor that moves nothing has no side of its own."""
    name = facts.classes[c]
    if effect > 0 or not area < 0.5:
        return area, "for", name
    if len(facts.classes) == 2:
        return 1 - area, "for", facts.classes[1 - c]
    return 1 - area, "against", name
