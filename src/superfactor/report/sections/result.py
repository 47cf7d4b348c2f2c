"""The first tab: is it any good, what are the factors, where do the samples lie."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from superfactor.interpretation.tables import direction, extremes
from superfactor.report.certificate import in_plain_words
from superfactor.report.facts import Facts, Samples
from superfactor.report.formats import label
from superfactor.report.section import Section
from superfactor.report.sections.choice import cross_validated
from superfactor.report.verdict import verdict_of

# Of each end of a factor.
FEATURES_SHOWN = 4
# More factors than these are left to their own tab.
FACTORS_SHOWN = 8


def section(facts: Facts) -> Section:
    """Verdict, measures of prediction, factors, samples, what was fitted."""
    estimator = facts.estimator
    training, *held_out = (
        np.bincount(s.truth, minlength=len(facts.classes)).tolist()
        for s in (facts.train, facts.test)
        if s is not None
    )
    told = {
        "verdict": verdict_of(facts),
        "proof": in_plain_words(estimator.certificate_, facts.rank),
        "nested": None if facts.nested is None else nested_table(facts.nested),
        "frequency_loss": _frequency_loss(facts),
        "validated": cross_validated(facts),
        "baselines": _baselines(facts),
        "factors": _factors(facts),
        "hidden_factors": max(0, facts.rank - FACTORS_SHOWN),
        "model": estimator.model,
        "steps": [type(step).__name__ for step in facts.steps],
        "share": float(np.sum(facts.view.share)),
        "xi": fitted_parameter(estimator, "xi"),
        "lam": fitted_parameter(estimator, "lam"),
        "seconds": estimator.history_["seconds"][-1] if estimator.history_["seconds"] else math.nan,
        "counts": list(zip(facts.classes, training, *held_out, strict=True)),
    }
    return Section("result", "Result", "What was found", told)


def fitted_parameter(estimator: Any, name: str) -> float:
    """ξ or λ as the fit used it, where the setting may have been a word."""
    return float(getattr(estimator, f"{name}_", getattr(estimator, name)))


def nested_table(nested: Any) -> dict[str, Any]:
    """The measures of this model and its rivals on the same folds, one row each."""
    metrics, beside = list(nested.summary), nested.differences
    rows = [
        {"name": "", "own": True, "cells": _cells(nested.summary, metrics), "difference": None},
        *(
            {
                "name": label(rival),
                "own": False,
                "cells": _cells(found, metrics),
                "difference": beside.get(rival),
            }
            for rival, found in nested.rivals.items()
        ),
    ]
    compared = {str(difference["metric"]) for difference in beside.values()}
    return {
        "metrics": metrics,
        "rows": rows,
        "differences": bool(beside),
        "metric": compared.pop() if len(compared) == 1 else "",
    }


def _cells(found: Any, metrics: list[str]) -> list[dict[str, Any] | None]:
    """Mean, low and high of each measure; an interval where both ends are numbers."""
    cells: list[dict[str, Any] | None] = []
    for name in metrics:
        value = found.get(name)
        if value is None:
            cells.append(None)
            continue
        low, high = (value.get(end) for end in ("low", "high"))
        known = all(v is not None and math.isfinite(v) for v in (low, high))
        cells.append({"mean": value["mean"], "low": low, "high": high, "interval": known})
    return cells


def _frequency_loss(facts: Facts) -> float:
    """Log loss of predicting the training frequencies for everyone."""
    counts = _counts(facts.train, len(facts.classes))
    # A class without training samples cannot occur: it would not be a class of the model.
    log_frequencies = np.log(np.maximum(counts, 1) / counts.sum())
    return float(-np.mean(log_frequencies[facts.samples.truth]))


def _baselines(facts: Facts) -> list[dict[str, Any]]:
    """Accuracies on the held-out samples, best first; the model itself on top."""
    rows = [{"name": label(name), "value": float(v)} for name, v in facts.baselines.items()]
    if facts.test is not None:
        common = int(np.argmax(_counts(facts.train, len(facts.classes))))
        always = float(np.mean(facts.test.truth == common))
        rows.append({"name": None, "always": facts.classes[common], "value": always})
    rows.sort(key=lambda row: -row["value"])
    if facts.test is not None:
        rows.insert(0, {"name": None, "own": True, "value": facts.evaluation.accuracy})
    for row in rows:
        value = row["value"]
        row["own"] = row.get("own", False)
        row["width"] = 100 * min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0
    return rows


def _factors(facts: Facts) -> list[dict[str, Any]]:
    """A row each, predictive ones first."""
    view, kinds = facts.view, facts.predictive
    order = sorted(range(facts.rank), key=lambda j: kinds is not None and not kinds[j])
    rows = []
    for j in order[:FACTORS_SHOWN]:
        high, low = (
            [label(view.features[i]) for i in end] for end in extremes(view.scaled[j], FEATURES_SHOWN)
        )
        rows.append(
            {
                "number": j + 1,
                "predictive": None if kinds is None else kinds[j],
                "direction": direction(view.coef[:, j], facts.classes, facts.classes[1:]),
                "share": float(view.share[j]),
                "high": high,
                "low": low,
            }
        )
    return rows


def _counts(samples: Samples, classes: int) -> np.ndarray:
    return np.bincount(samples.truth, minlength=classes)
