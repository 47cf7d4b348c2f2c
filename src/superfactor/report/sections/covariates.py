"""Covariates as clinicians read them: whatever `covariate_effects` tells, in words and columns."""

from __future__ import annotations

import math
import re
from typing import Any

from superfactor.report.facts import Facts
from superfactor.report.formats import coefficient, label, number, ratio

_TITLES = {
    "covariate": "Covariate",
    "output": "Class",
    "odds_ratio": "Odds ratio",
    "low": "95 % interval",
    "per_sd": "Per standard deviation",
    "estimate_per_sd": "Per standard deviation",
    "low_per_sd": "95 % interval",
    "coef": "Coefficient",
}
# The low end of an interval stands for both; the others are for computing, not for reading.
_ENDS = {"low": "high", "low_per_sd": "high_per_sd"}
_LEFT_OUT = {*_ENDS.values(), "column", "against", "kind", "standard_error", "sd"}


def covariates(facts: Facts) -> dict[str, Any] | None:
    """Columns, rows of text and what is said about them; None without covariates."""
    table = facts.covariate_table
    if table is None:
        return None
    if table.index.name is not None:
        table = table.reset_index()
    columns = [str(name) for name in table.columns if name not in _LEFT_OUT]
    kinds = table["kind"].tolist() if "kind" in table else []
    if "estimate" in columns:
        columns.remove("coef")
    if "output" in columns and table["output"].nunique() == 1:
        columns.remove("output")
    ratios = "odds ratio" in kinds or "odds_ratio" in columns
    against = table["against"].iloc[0] if "against" in table else facts.classes[0]
    titles = _TITLES | ({"estimate": kinds[0].capitalize()} if kinds else {})
    return {
        "head": [_title(name, titles) for name in columns],
        "right": [table[name].dtype.kind in "fiu" for name in columns],
        "rows": [
            [_cell(name, row, ratios) for name in columns] for row in table.to_dict("records")
        ],
        "ratios": ratios,
        "intervals": "low" in columns,
        "against": "" if against is None else label(against),
        # Estimates undo the scaling; bare coefficients do not.
        "scaled": not ratios and bool(facts.steps and facts.estimator.covariate_columns_),
    }


def _title(name: str, titles: dict[str, str]) -> str:
    inside = re.fullmatch(r"coef\[(.*)\]", name, re.DOTALL)
    return label(inside[1]) if inside else titles.get(name, label(name.replace("_", " ")))


def _cell(name: str, row: dict[str, Any], ratios: bool) -> str:
    value = row[name]
    if name in _ENDS:
        ends = (value, row[_ENDS[name]])
        known = all(end is not None and math.isfinite(end) for end in ends)
        return " to ".join(_number(name, end, ratios) for end in ends) if known else "–"
    return _number(name, value, ratios) if isinstance(value, float) else label(value)


def _number(name: str, value: float, ratios: bool) -> str:
    if name.startswith("coef"):
        return coefficient(value)
    effect = name.startswith(("estimate", "low", "odds", "per_sd"))
    return (ratio(value) if ratios else coefficient(value)) if effect else number(value)
