"""Single features: how they go with the classes, markers, which of them return. Tables of text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from superfactor.report.facts import Facts
from superfactor.report.words.formats import (
    LONGEST_NOTE,
    area,
    correlation,
    deviations,
    effect_per_sd,
    frequency,
    label,
    number,
    p_value,
)

# Rows of the table of all features, over all classes, and of those that return.
MOST_EFFECTS = 300
MOST_STABLE = 60
# Features with a q of at most this are said to differ.
LEVEL = 0.05


def stable(facts: Facts) -> dict[str, Any]:
    """What is said of the features that return in halves of the samples, and the first of them."""
    assert facts.trusted is not None
    found = facts.trusted.stable
    if found is None:
        return {"found": False, "why_not": facts.trusted.why_not}
    shown = found.table[found.table["share"] > 0]
    shown = shown.head(max(MOST_STABLE, min(found.n_selected, MOST_EFFECTS)))
    rows = [
        [
            label(row["feature"]),
            frequency(row["share"]),
            frequency(row["share_shuffled"]),
            "yes" if row["selected"] else "no",
            correlation(row["correlation"]),
            f"{correlation(row['low'])} to {correlation(row['high'])}",
        ]
        for row in shown.to_dict("records")
    ]
    head = ["Feature", "Half-samples", "Labels shuffled", "Selected", "Correlation", "In 95 % of halves"]
    told = {"found": True, "statement": label(found.statement, LONGEST_NOTE), "selected": found.n_selected}
    return told | {"bound": float(found.bound_without_assumption), "head": head, "rows": rows}


def markers(facts: Facts) -> dict[str, Any]:
    """The markers of each class; classes without any are named."""
    assert facts.trusted is not None
    table, shown = facts.trusted.markers, dict(zip(_names(facts), facts.classes, strict=True))
    rows = [
        [
            label(row["feature"]),
            shown[row["class"]],
            number(row["mean"]),
            number(row["mean_rest"]),
            *_compared(row),
            p_value(row["q"]),
            correlation(row["correlation"]),
            effect_per_sd(row["coef_per_sd"]),
        ]
        for row in table.to_dict("records")
    ]
    present = set(table["class"])
    head = ["Feature", "Class", "Mean there", "Mean elsewhere", "Difference, s.d.", "AUC", "q"]
    head += ["Correlation", "Log-odds per s.d."]
    without = [shown[name] for name in _names(facts) if name not in present]
    return {"head": head, "rows": rows, "without": without}


def effects(facts: Facts) -> dict[str, Any]:
    """The features that differ most between the classes, and those that are named elsewhere on the page."""
    assert facts.trusted is not None
    table, several = facts.trusted.effects, len(facts.classes) > 2
    shown = dict(zip(_names(facts), facts.classes, strict=True))
    size = (table["auc"] - 0.5).abs()
    order = np.lexsort((-size.to_numpy(), table["q"].to_numpy()))
    kept = table.iloc[order[:MOST_EFFECTS]]
    rows = [
        [
            label(row["feature"]),
            *[shown[row["class"]]] * several,
            number(row["mean"]),
            number(row["mean_rest"]),
            *_compared(row),
            p_value(row["p"]),
            p_value(row["q"]),
            correlation(row["correlation"]),
            effect_per_sd(row["coef_per_sd"]),
        ]
        for row in kept.to_dict("records")
    ]
    if several:
        head = ["Feature", "Class", "Mean there", "Mean elsewhere"]
    else:
        up, other = facts.classes[facts.up], facts.classes[1 - facts.up]
        head = ["Feature", f"Mean, {up}", f"Mean, {other}"]
    head += ["Difference, s.d.", "AUC", "p", "q", "Correlation", "Log-odds per s.d."]
    lowest = table["q"].min()
    return {
        "head": head,
        "rows": rows,
        "words": 2 if several else 1,  # columns that are no numbers
        "total": len(table),
        "features": len(facts.view.features),
        "differ": int(table.loc[table["q"] <= LEVEL, "feature"].nunique()),
        "lowest": p_value(float(lowest)) if math.isfinite(lowest) else "",
        "up": facts.classes[facts.up] if not several else "",
        "linear": bool(np.isfinite(table["coef_per_sd"]).any()),
    }


def _compared(row: dict[Any, Any]) -> list[str]:
    """The difference of two classes in standard deviations, and the AUC."""
    return [deviations(row["difference_in_sd"]), area(row["auc"])]


def _names(facts: Facts) -> list[str]:
    """The classes as tables call them."""
    assert facts.view.classes is not None
    return list(facts.view.classes)
