"""Covariates as clinicians read them: whatever `covariate_effects` tells, in words and columns."""

from __future__ import annotations

import re
from typing import Any

from superfactor.report.facts import Facts
from superfactor.report.formats import coefficient, label, number, ratio

_TITLES = {
    "covariate": "Covariate",
    "output": "Class",
    "class": "Class",
    "level": "Level",
    "reference": "Against",
    "unit": "Unit",
    "odds_ratio": "Odds ratio",
    "hazard_ratio": "Hazard ratio",
    "interval": "95 % interval",
    "per_sd": "Per standard deviation",
    "coef": "Coefficient",
}
_RATIOS = ("odds_ratio", "hazard_ratio", "low", "high", "per_sd")


def covariates(facts: Facts) -> dict[str, Any] | None:
    """Columns, rows of text and what is said about them; None without covariates."""
    table = facts.covariate_table
    if table is None:
        return None
    table = table.reset_index()
    names = [str(name) for name in table.columns if name not in ("low", "high")]
    interval = {"low", "high"} <= set(table.columns)
    if interval:
        names.insert(1 + next((i for i, n in enumerate(names) if n in _RATIOS), len(names) - 1), "interval")
    rows = [
        [
            f"{ratio(row['low'])} to {ratio(row['high'])}" if name == "interval" else _cell(name, row[name])
            for name in names
        ]
        for _, row in table.iterrows()
    ]
    return {
        "head": [_title(name) for name in names],
        # Numbers are set to the right, as are what they are made of.
        "right": [name == "interval" or table[name].dtype.kind in "fiu" for name in names],
        "rows": rows,
        "ratios": any(name in _RATIOS for name in names),
        "scaled": bool(facts.steps and facts.estimator.covariate_columns_),
    }


def _title(name: str) -> str:
    inside = re.fullmatch(r"coef\[(.*)\]", name, re.DOTALL)
    return label(inside[1]) if inside else _TITLES.get(name, label(name.replace("_", " ")))


def _cell(name: str, value: Any) -> str:
    if isinstance(value, float):
        is_coefficient = name.startswith("coef")
        return coefficient(value) if is_coefficient else ratio(value) if name in _RATIOS else number(value)
    return label(value) if value is not None else ""
