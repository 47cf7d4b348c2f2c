"""Tables of single features: relation to the outcome, markers, and stable features."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from superfactor.report import formats
from superfactor.report.facts import Facts
from superfactor.report.facts.feature_results import FeatureResults
from superfactor.report.formats import LONGEST_NOTE, correlation, label, number, p_value

# Rows of the table of all features, over all classes, and of the stable ones.
MOST_EFFECTS = 300
MOST_STABLE = 60
# The largest q of features that count as different.
LEVEL = 0.05

# Heads, columns of the tables of `superfactor.interpretation`, and formats of their values.
Columns = list[tuple[str, str, Callable[[Any], str]]]


def _difference(value: float) -> str:
    """Format a difference in standard deviations; infinite without variance in the classes."""
    return "perfect" if math.isinf(value) else formats.deviations(value)


_DIFFER: Columns = [("Difference, s.d.", "difference_in_sd", _difference), ("AUC", "auc", formats.area)]
_P: Columns = [("p", "p", p_value)]
# The role of a feature in the model; for classes in log-odds.
_MODEL: Columns = [("q", "q", p_value), ("Correlation, model", "correlation", correlation)]
_LOG_ODDS: Columns = [("Log-odds per s.d.", "coef_per_sd", formats.effect_per_sd)]
# Columns of other kinds, if their tables have them.
_OTHERS: Columns = [
    ("Mean", "mean", number),
    ("Correlation, outcome", "outcome_correlation", correlation),
    ("z", "z", formats.deviations),
    ("Hazard ratio per s.d.", "hazard_ratio", formats.ratio),
    ("Rate ratio per s.d.", "rate_ratio", formats.ratio),
    *_DIFFER,
    *_P,
    ("q", "q", p_value),
    ("Correlation, model", "correlation", correlation),
    ("Effect per s.d., model", "coef_per_sd", formats.effect_per_sd),
]


def _table(table: Any, columns: Columns) -> dict[str, Any]:
    """Return heads and rows of text."""
    rows = [[write(row[name]) for _, name, write in columns] for row in table.to_dict("records")]
    return {"head": [head for head, _, _ in columns], "rows": rows}


def stable(feature_results: FeatureResults) -> dict[str, Any]:
    """Return the statement on stable features, and a table of the first ones."""
    found = feature_results.stable
    if found is None:
        return {"found": False, "why_not": feature_results.why_not}
    shown = found.table[found.table["share"] > 0]
    shown = shown.head(max(MOST_STABLE, min(found.n_selected, MOST_EFFECTS)))
    ends = [f"{correlation(a)} to {correlation(b)}" for a, b in zip(shown["low"], shown["high"], strict=True)]
    content = _table(
        shown.assign(ends=ends),
        [
            ("Feature", "feature", label),
            ("Half-samples", "share", formats.frequency),
            ("Shuffled", "share_shuffled", formats.frequency),
            ("Selected", "selected", lambda chosen: "yes" if chosen else "no"),
            ("Correlation", "correlation", correlation),
            ("In 95 % of halves", "ends", str),
        ],
    )
    content |= {
        "found": True,
        "statement": label(found.statement, LONGEST_NOTE),
        "selected": found.n_selected,
    }
    return content | {"bound": float(found.bound_without_assumption)}


def markers(facts: Facts, feature_results: FeatureResults) -> dict[str, Any]:
    """Return the markers of each class, and the classes without markers."""
    table, names = feature_results.markers, _names(facts)
    without = [name for own, name in names.items() if own not in set(table["class"])]
    return _table(table, [*_inside(names), *_DIFFER, *_MODEL, *_LOG_ODDS]) | {"without": without}


def effects(facts: Facts, feature_results: FeatureResults) -> dict[str, Any]:
    """Return the features with the strongest relation to the outcome."""
    table, (by, none) = feature_results.effects, facts.page.effect_column
    columns, words = _columns(facts, table)
    size = np.abs(table[by] - none).to_numpy() if by in table else np.zeros(len(table))
    perfect = table["perfect"].to_numpy() if "perfect" in table else np.zeros(len(table), dtype=bool)
    order = np.lexsort((-size, table["q"].to_numpy(), ~perfect))
    lowest = table["q"].min()
    two = facts.page.right_or_wrong and len(facts.names) == 2
    return _table(table.iloc[order[:MOST_EFFECTS]], columns) | {
        "words": words,  # columns that are not numbers
        "total": len(table),
        "features": len(facts.view.features),
        "differ": int(table.loc[table["q"] <= LEVEL, "feature"].nunique()),
        "lowest": p_value(float(lowest)) if math.isfinite(lowest) else "",
        "up": facts.names[facts.up] if two else "",
        "linear": bool(np.isfinite(table["coef_per_sd"]).any()),
    }


def _columns(facts: Facts, table: Any) -> tuple[Columns, int]:
    """Return the columns of the table of effects, and the number of text columns."""
    if facts.page.right_or_wrong:
        names, several = _names(facts), len(facts.names) > 2
        first = _inside(names)
        if not several:
            up, other = facts.names[facts.up], facts.names[1 - facts.up]
            means: Columns = [(f"Mean, {up}", "mean", number), (f"Mean, {other}", "mean_rest", number)]
            first = [("Feature", "feature", label), *means]
        return [*first, *_DIFFER, *_P, *_MODEL, *_LOG_ODDS], 2 if several else 1
    columns: Columns = [("Feature", "feature", label)]
    output = facts.outcome.output_column
    if output is not None and output in table and len(facts.names) > 1:
        columns.append((output.capitalize(), output, facts.shown_name))
    return [*columns, *(own for own in _OTHERS if own[1] in table)], len(columns)


def _inside(names: dict[str, str]) -> Columns:
    """Return the columns of a feature, a class, and the means in and outside the class."""
    return [
        ("Feature", "feature", label),
        ("Class", "class", names.__getitem__),
        ("Mean in class", "mean", number),
        ("Mean in others", "mean_rest", number),
    ]


def _names(facts: Facts) -> dict[str, str]:
    """Return the names of the classes on the page by their names in tables."""
    assert facts.view.classes is not None
    return dict(zip(facts.view.classes, facts.names, strict=True))
