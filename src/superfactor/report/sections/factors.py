"""The factors: top features, coefficients and shares, compared with plain SVD; covariates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from superfactor.interpretation import FactorView
from superfactor.interpretation.roles import AFTER_NAME, beyond
from superfactor.interpretation.tables import extremes
from superfactor.report import formats
from superfactor.report.facts import Facts, alone, alone_samples, directions
from superfactor.report.formats import LONGEST_NOTE, label
from superfactor.report.section import Section

# Features at each end of a factor; fewer with many factors.
FEATURES_PER_END = 20
MOST_BARS = 400


def section(facts: Facts) -> Section:
    """Return bars and tables of supervised factors and plain SVD."""
    plain, judged = facts.plain, alone_samples(facts)
    columns, against = facts.page.columns(facts.names, facts.up)
    (own, drawn), (paired, drawn_plain) = (_factors(facts, view) for view in (facts.view, plain.view))
    for row, bars, role, one in zip(own, drawn, facts.roles, alone(facts), strict=True):
        row |= {"said": AFTER_NAME[role], "alone": one}
        bars |= {"said": AFTER_NAME[role], "alone": f"{one.own} for {one.of}" if one.of else one.own}
    for j, (row, bars) in enumerate(zip(paired, drawn_plain, strict=True)):
        row |= {"number": int(plain.number[j]), "beside": int(plain.beside[j]) + 1}
        row["similarity"] = float(plain.similarity[j])
        bars |= {"number": row["number"], "similarity": formats.similarity(row["similarity"])}
    content = {
        "counts": [n for n in (5, 10, 20) if n <= per_end(facts.rank)],
        "columns": columns,
        "against": against,
        "supervised": own,
        "judged": judged,
        "beyond": beyond(facts.roles),
        "separates": facts.separates,
        "plain": paired,
        "covariates": covariates(facts),
    }
    payload = {"up": facts.up, "judged": judged, "supervised": drawn, "plain": drawn_plain}
    if facts.groups != facts.names:  # coefficients do not refer to the groups in plots
        payload |= {"outputs": columns, "own": facts.page.own_term}
    return Section("factors", "Factors", "Features and effects of the factors", content, payload)


def per_end(rank: int) -> int:
    """Return the number of features at each end of a factor."""
    return min(FEATURES_PER_END, max(MOST_BARS // rank, 5))


def _factors(facts: Facts, view: FactorView) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return share, coefficients and direction of each factor for a table, and with bars for a figure."""
    rows, drawn, weights = [], [], view.shown("weight")
    for j, towards in enumerate(directions(facts, view)):
        share, coef, ends = (
            float(view.share[j]),
            view.coef[:, j],
            extremes(view.correlations[j], per_end(facts.rank)),
        )
        rows.append({"number": j + 1, "share": share, "effects": coef.tolist(), "direction": towards})
        places = zip(formats.compact(coef), map(formats.coefficient, coef), strict=True)
        high, low = ([_bar(view, weights, j, i, facts.markers) for i in end] for end in ends)
        drawn.append({"share": formats.share(share), "coef": list(places), "high": high, "low": low})
    return rows, drawn


def _bar(view: FactorView, weights: Any, factor: int, feature: int, markers: Mapping[str, str]) -> list[Any]:
    """Return name, correlation, scaled weight, weight, whether the signs are opposite, and any note."""
    name = view.features[feature]
    bar = [
        label(name),
        formats.correlation(view.correlations[factor, feature]),
        formats.weight(weights[factor, feature]),
        formats.raw_weight(view.weights[factor, feature]),
        int(view.disagree[factor, feature]),
    ]
    return [*bar, label(markers[name], LONGEST_NOTE)] if name in markers else bar


def covariates(facts: Facts) -> dict[str, Any] | None:
    """Return head, rows and note of the table of covariates; None without covariates."""
    table = facts.covariate_table
    if table is None:
        return None
    kind, against = table["kind"].iloc[0], table["against"].iloc[0]
    ratios = kind.endswith("ratio")
    shown = formats.ratio if ratios else formats.coefficient
    several = table["output"].nunique() > 1

    def cells(row: dict[str, Any]) -> list[str]:
        found = [label(row["covariate"]), *[label(row["output"])] * several]
        for unit in ("", "_per_sd"):
            ends = row[f"low{unit}"], row[f"high{unit}"]
            known = all(map(math.isfinite, ends))
            found += [shown(row[f"estimate{unit}"]), " to ".join(map(shown, ends)) if known else formats.NONE]
        return found

    interval = "95 % interval"
    return {
        "head": [
            "Covariate",
            *["Class" if facts.page.right_or_wrong else "Of"] * several,
            kind.capitalize(),
            interval,
            "Per standard deviation",
            interval,
        ],
        "right": [False] * (1 + several) + [True] * 4,
        "rows": [cells(row) for row in table.to_dict("records")],
        "ratios": ratios,
        "kind": kind,
        "against": "" if against is None else label(against),
        "note": table.attrs.get("note", ""),
    }
