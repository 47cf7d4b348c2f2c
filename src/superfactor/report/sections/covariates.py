"""Covariates as clinicians read them: `covariate_effects` in words and columns."""

from __future__ import annotations

import math
from typing import Any

from superfactor.report.facts import Facts
from superfactor.report.formats import coefficient, label, ratio


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
