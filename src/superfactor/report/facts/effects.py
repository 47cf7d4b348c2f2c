"""What the factors do to the classes: directions, and how each does by itself."""

from __future__ import annotations

from dataclasses import dataclass

from superfactor.interpretation import FactorView
from superfactor.report.facts.facts import Facts


def directions(facts: Facts, view: FactorView) -> list[tuple[str, str]]:
    """For each factor the class that becomes more likely as it goes up, and as it goes down.

    Two classes need the first alone; both are empty for a factor without effect.
    """
    found = []
    for effect in view.coef.T:
        ends = facts.page.direction(effect, facts.up)
        names = ("", "") if ends is None else (facts.classes[ends[0]], facts.classes[ends[1]])
        found.append((names[0], "" if len(effect) == 1 else names[1]))
    return found


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
    view, held, samples = facts.view, facts.held_out, facts.samples
    lost = view.contribution
    if held is None:
        both = zip(view.coef.T, samples.scores.T, strict=True)
        areas = [facts.page.alone(effect, facts.up, samples.truth, score) for effect, score in both]
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
