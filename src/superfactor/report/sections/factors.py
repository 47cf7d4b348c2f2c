"""The factors: their extreme features, coefficients and shares, beside those of a plain SVD; covariates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from superfactor.interpretation import FactorView
from superfactor.interpretation.roles import BESIDE_NAME, beside
from superfactor.interpretation.tables import extremes
from superfactor.report.facts import Facts, alone, directions, judged_alone
from superfactor.report.formats import (
    LONGEST_NOTE,
    area,
    coefficient,
    compact,
    correlation,
    label,
    ratio,
    raw_weight,
    share,
    similarity,
    weight,
)
from superfactor.report.section import Section

# Features kept of each end of a factor, fewer where there are many factors.
FEATURES_PER_END = 20
MOST_BARS = 400


def section(facts: Facts) -> Section:
    """Bars of both kinds of factors, and their tables."""
    plain, by_itself = facts.plain, alone(facts)
    own, paired = (_rows(facts, view) for view in (facts.view, plain.view))
    for row, role, one in zip(own, facts.roles, by_itself, strict=True):
        row |= {"said": BESIDE_NAME[role], "alone": one}
    for row, number, partner, alike in zip(paired, plain.number, plain.beside, plain.similarity, strict=True):
        row |= {"number": int(number), "beside": int(partner) + 1, "similarity": float(alike)}
    told = {
        "counts": [n for n in (5, 10, 20) if n <= per_end(facts.rank)],
        # Two classes have one coefficient, that of one of them; several have one each.
        "columns": [facts.classes[facts.up]] if len(facts.classes) == 2 else facts.classes,
        "against": facts.classes[1 - facts.up] if len(facts.classes) == 2 else "",
        "supervised": own,
        "judged": judged_alone(facts),
        "beside": beside(facts.roles),
        "separates": facts.separates,
        "plain": paired,
        "covariates": covariates(facts),
    }
    supervised = _payload(facts.view, facts.markers)
    for factor, role, one in zip(supervised, facts.roles, by_itself, strict=True):
        factor["said"] = BESIDE_NAME[role]
        factor["alone"] = f"{area(one.area)} for {one.of}"
    payload = {
        "up": facts.up,
        "judged": judged_alone(facts),
        "supervised": supervised,
        "plain": [
            factor | {"number": row["number"], "similarity": similarity(row["similarity"])}
            for factor, row in zip(_payload(plain.view, facts.markers), paired, strict=True)
        ],
    }
    return Section("factors", "Factors", "What the factors are made of", told, payload)


def per_end(rank: int) -> int:
    """How many features the page has of each end."""
    return min(FEATURES_PER_END, max(MOST_BARS // rank, 5))


def _rows(facts: Facts, view: FactorView) -> list[dict[str, Any]]:
    """Share, coefficients and direction of each factor."""
    towards = directions(facts, view)
    return [
        {
            "number": j + 1,
            "share": float(view.share[j]),
            "effects": view.coef[:, j].tolist(),
            "direction": towards[j],
        }
        for j in range(len(view.weights))
    ]


def _payload(view: FactorView, markers: Mapping[str, str]) -> list[dict[str, Any]]:
    factors, weights = [], view.shown("weight")
    for j, row in enumerate(view.correlations):
        high, low = (
            [_bar(view, weights, j, i, markers) for i in end] for end in extremes(row, per_end(len(weights)))
        )
        own = view.coef[:, j]
        coef = [[place, coefficient(e)] for place, e in zip(compact(own), own, strict=True)]
        factors.append({"share": share(float(view.share[j])), "coef": coef, "high": high, "low": low})
    return factors


def _bar(view: FactorView, weights: Any, factor: int, feature: int, markers: Mapping[str, str]) -> list[Any]:
    """Name, correlation, scaled weight, weight in the units of the fit, whether they disagree, any note."""
    name = view.features[feature]
    bar = [
        label(name),
        correlation(view.correlations[factor, feature]),
        weight(weights[factor, feature]),
        raw_weight(view.weights[factor, feature]),
        int(view.disagree[factor, feature]),
    ]
    return [*bar, label(markers[name], LONGEST_NOTE)] if name in markers else bar


def covariates(facts: Facts) -> dict[str, Any] | None:
    """Columns, rows of text and what is said about them; None without covariates."""
    table = facts.covariate_table
    if table is None:
        return None
    kind, against = table["kind"].iloc[0], table["against"].iloc[0]
    shown = ratio if kind == "odds ratio" else coefficient
    several = table["output"].nunique() > 1
    head = ["Covariate", *["Class"] * several, kind.capitalize(), "95 % interval"]
    head += ["Per standard deviation", "95 % interval"]

    def interval(row: dict[str, Any], unit: str) -> str:
        ends = row[f"low{unit}"], row[f"high{unit}"]
        return " to ".join(map(shown, ends)) if all(map(math.isfinite, ends)) else "–"

    def cells(row: dict[str, Any]) -> list[str]:
        words = [row["covariate"], *[row["output"]] * several]
        numbers = [(shown(row[f"estimate{unit}"]), interval(row, unit)) for unit in ("", "_per_sd")]
        return [*map(label, words), *numbers[0], *numbers[1]]

    return {
        "head": head,
        "right": [False] * (1 + several) + [True] * 4,
        "rows": [cells(row) for row in table.to_dict("records")],
        "ratios": kind == "odds ratio",
        "against": "" if against is None else label(against),
    }
