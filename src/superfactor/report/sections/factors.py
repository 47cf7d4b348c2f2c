"""The factors: their extreme features, coefficients and shares, beside those of a plain SVD; covariates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from superfactor.interpretation import FactorView
from superfactor.interpretation.tables import extremes
from superfactor.report.facts import Facts, class_effects, directions
from superfactor.report.formats import (
    LONGEST_NOTE,
    coefficient,
    compact,
    label,
    raw_weight,
    share,
    similarity,
    weight,
)
from superfactor.report.section import Section
from superfactor.report.sections.covariates import covariates

# Features kept of each end of a factor, fewer where there are many factors.
FEATURES_PER_END = 20
MOST_BARS = 600


def section(facts: Facts) -> Section:
    """Bars of both kinds of factors, and their tables."""
    plain, kinds = facts.plain, facts.predictive
    own, beside = _rows(facts.view, facts.classes), _rows(plain.view, facts.classes)
    for j, row in enumerate(own):
        row["predictive"] = kinds[j]
    for row, number, partner, alike in zip(
        beside, plain.number, plain.beside, plain.similarity, strict=True
    ):
        row |= {"number": int(number), "beside": int(partner) + 1, "similarity": float(alike)}
    told = {
        "counts": [n for n in (5, 10, 20) if n <= per_end(facts.rank)],
        # Two classes have one coefficient, that of one of them; several have one each.
        "columns": [facts.classes[facts.up]] if len(facts.classes) == 2 else facts.classes,
        "against": facts.classes[1 - facts.up] if len(facts.classes) == 2 else "",
        "supervised": own,
        "plain": beside,
        "covariates": covariates(facts),
    }
    supervised = _payload(facts.view, facts.markers)
    for factor, kind in zip(supervised, kinds, strict=True):
        factor["kind"] = "predictive" if kind else "background"
    payload = {
        "up": facts.up,
        "supervised": supervised,
        "plain": [
            factor | {"number": row["number"], "similarity": similarity(row["similarity"])}
            for factor, row in zip(_payload(plain.view, facts.markers), beside, strict=True)
        ],
    }
    return Section("factors", "Factors", "What the factors are made of", told, payload)


def per_end(rank: int) -> int:
    """How many features the page has of each end."""
    return min(FEATURES_PER_END, max(MOST_BARS // rank, 5))


def _rows(view: FactorView, classes: list[str]) -> list[dict[str, Any]]:
    """Share, coefficients and direction of each factor."""
    effects, towards = class_effects(view), directions(view, classes)
    return [
        {
            "number": j + 1,
            "share": float(view.share[j]),
            "effects": effects[:, j].tolist(),
            "direction": towards[j],
        }
        for j in range(len(view.weights))
    ]


def _payload(view: FactorView, markers: Mapping[str, str]) -> list[dict[str, Any]]:
    factors, effects = [], class_effects(view)
    for j, scaled in enumerate(view.scaled):
        high, low = (
            [_bar(view, j, i, markers) for i in end]
            for end in extremes(scaled, per_end(len(view.scaled)))
        )
        coef = [
            [place, coefficient(e)]
            for place, e in zip(compact(effects[:, j]), effects[:, j], strict=True)
        ]
        factors.append(
            {"share": share(float(view.share[j])), "coef": coef, "high": high, "low": low}
        )
    return factors


def _bar(view: FactorView, factor: int, feature: int, markers: Mapping[str, str]) -> list[str]:
    """Name, scaled weight, weight in the units of the fit, and the marker's note where there is one."""
    name = view.features[feature]
    bar = [
        label(name),
        weight(view.scaled[factor, feature]),
        raw_weight(view.weights[factor, feature]),
    ]
    return [*bar, label(markers[name], LONGEST_NOTE)] if name in markers else bar
