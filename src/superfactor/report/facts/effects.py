"""What the factors do to the outcome: directions, and how each does by itself."""

from __future__ import annotations

from dataclasses import dataclass

from superfactor.interpretation import FactorView
from superfactor.report.facts.facts import Facts
from superfactor.report.formats import area, correlation


def directions(facts: Facts, view: FactorView) -> list[tuple[str, str]]:
    """For each factor what becomes more likely, or more, as it goes up, and as it goes down.

    The second is empty where it is the opposite; both are for a factor without effect.
    """
    return [facts.page.towards(effect, facts.up, facts.names) for effect in view.coef.T]


@dataclass(frozen=True)
class Alone:
    """One factor by itself: how its score goes with the outcome, and what the prediction loses without it.

    `own` is an AUC, a correlation or a concordance as text, `of` its class or target, empty where there is
    only one. `lost` is a share of what all factors explain.
    """

    own: str
    of: str
    lost: float


def alone(facts: Facts) -> list[Alone]:
    """Every factor, on samples not seen where there are any, as `alone_samples` says."""
    view, held, samples = facts.view, facts.held_out, facts.samples
    lost = view.contribution
    if held is None:
        both = zip(view.coef.T, samples.scores.T, strict=True)
        areas = [facts.page.alone(effect, facts.up, samples.truth, score) for effect, score in both]
    else:
        known = view.classes or view.outputs
        areas = list(zip(held.own, map(known.index, held.own_of), strict=True))
        lost = held.contribution if held.predictive.any() else lost
    write, several = correlation if facts.page.own_is_signed else area, len(facts.names) > 1
    return [
        Alone(write(own), facts.names[k] if several else "", float(share))
        for (own, k), share in zip(areas, lost, strict=True)
    ]


def alone_samples(facts: Facts) -> str:
    """The samples that the areas are of."""
    if facts.held_out is not None:
        return "out of fold"
    return "training" if facts.test is None else "held out"
