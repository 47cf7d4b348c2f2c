"""Effects of the factors on the outcome: directions, and the association of each factor alone."""

from __future__ import annotations

from dataclasses import dataclass

from superfactor.interpretation import FactorView
from superfactor.report.facts.facts import Facts
from superfactor.report.formats import area, correlation


def directions(facts: Facts, view: FactorView) -> list[tuple[str, str]]:
    """Return for each factor what a higher and what a lower score predicts.

    The second text is empty if it is the opposite; both are empty for a factor without effect.
    """
    return [facts.page.towards(effect, facts.up, facts.names) for effect in view.coef.T]


@dataclass(frozen=True)
class Alone:
    """One factor alone: the association of its score with the outcome, and its contribution.

    `own` is an AUC, a correlation or a concordance as text, `of` its class or target, empty if there is only
    one. `lost` is the share of the explained deviance that is lost without the factor.
    """

    own: str
    of: str
    lost: float


def alone(facts: Facts) -> list[Alone]:
    """Return the association of each factor alone, for the samples that `alone_samples` names."""
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
    """Name the samples of `alone`; held-out samples are preferred."""
    if facts.held_out is not None:
        return "out of fold"
    return "training" if facts.test is None else "held out"
