"""The first tab: verdict, factors, samples, data and model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from superfactor.interpretation.roles import ROLES, beyond
from superfactor.interpretation.tables import extremes
from superfactor.outcomes import COVARIATES
from superfactor.report.certificate import in_plain_words
from superfactor.report.facts import Facts, alone, alone_samples, directions
from superfactor.report.formats import LONGEST_NOTE, label
from superfactor.report.section import Section
from superfactor.report.sections.samples import picture

# Features at each end of a factor, and the smallest correlation in standard errors of a zero correlation.
FEATURES_SHOWN = 4
STANDARD_ERRORS = 2
# Further factors are shown in their tab only.
FACTORS_SHOWN = 8


def section(facts: Facts) -> Section:
    """Return verdict, metrics, factors, samples, data and model."""
    estimator, times = facts.estimator, facts.estimator.history_["seconds"]
    stable, near = (
        (None, None)
        if facts.feature_results is None
        else (facts.feature_results.stable, facts.feature_results.nearness)
    )
    summaries = [facts.page.summary(s.truth, facts.names) for s in (facts.train, facts.test) if s is not None]
    content = {
        "verdict": facts.verdict,
        "kind": facts.verdict.grade.replace(" ", "-"),  # for the style sheet
        "certified": estimator.certificate_ is not None,
        "proof": in_plain_words(
            estimator.certificate_,
            facts.rank,
            influence=facts.page.influence,
            completed=facts.filled is not None,
        ),
        "nested": None if facts.nested is None else nested_table(facts.nested),
        "optimism": facts.optimism,
        "guess": _guess(facts),
        "figures": [name for name, value in facts.evaluation.figures.items() if math.isfinite(value)],
        "baselines": _baselines(facts) if facts.baselines or _always_shown(facts) else [],
        "factors": _factors(facts),
        "judged": alone_samples(facts),
        "stable": "" if stable is None else label(stable.statement, LONGEST_NOTE),
        "near": "" if near is None else label(near.statement, LONGEST_NOTE),
        "beyond": beyond(facts.roles),
        "picture": picture(facts),
        "hidden_factors": max(0, facts.rank - FACTORS_SHOWN),
        "model": estimator.model,
        "steps": [type(step).__name__ for step in facts.steps],
        "share": facts.view.explained,
        "xi": facts.fitted("xi"),
        "lam": facts.fitted("lam"),
        "seconds": times[-1] if times else math.nan,
        "counts": [(rows[0][0], *(value for _, value in rows)) for rows in zip(*summaries, strict=True)],
    }
    return Section("result", "Result", "Summary of the results", content)


def nested_table(nested: Any) -> dict[str, Any]:
    """Return the metrics of this model and the baselines on the same folds: one column per method."""
    own = "This model: covariates + factors" if COVARIATES in nested.baselines else "This model"
    methods = {own: nested.summary} | {label(k): v for k, v in nested.baselines.items()}
    return {
        "methods": list(methods),
        "rows": [
            {"metric": name, "cells": [_cell(found.get(name)) for found in methods.values()]}
            for name in nested.summary
        ],
        "differences": [_cell(nested.differences.get(name)) for name in nested.baselines]
        if nested.differences
        else [],
        "compared": next((str(d["metric"]) for d in nested.differences.values()), ""),
        "calibrated": any(name.startswith("calibration") for name in nested.summary),
        "splits": getattr(nested, "n_splits", None),
        "repeats": getattr(nested, "n_repeats", None),
    }


def _cell(value: Any) -> dict[str, Any] | None:
    """Return mean, low and high; with an interval if both ends are finite."""
    if value is None or not math.isfinite(value["mean"]):
        return None
    low, high = (value.get(end) for end in ("low", "high"))
    known = all(v is not None and math.isfinite(v) for v in (low, high))
    return {"mean": value["mean"], "low": low, "high": high, "interval": known}


def _guess(facts: Facts) -> dict[str, float]:
    """Return the metrics of a prediction that uses only the outcomes of the training samples."""
    truth = facts.samples.truth
    rows = facts.outcome.guessed(facts.train.truth, truth, facts.train.rows.shape[1])
    return facts.outcome.guess_metric_values(truth, rows, facts.train.truth)


def _always_shown(facts: Facts) -> bool:
    """Return whether to compare with the most frequent class; the cards show other guesses."""
    return facts.nested is None and facts.page.right_or_wrong


def _baselines(facts: Facts) -> list[dict[str, Any]]:
    """Return the metric of other methods on the held-out samples, best first; the model is on top."""
    compared = facts.outcome.metrics[0].name
    rows: list[dict[str, Any]] = [
        {"name": label(name), "value": float(value)} for name, value in facts.baselines.items()
    ]
    if facts.test is not None:
        always = facts.outcome.guess(facts.train.truth, 1, facts.train.rows.shape[1])[0]
        name = facts.names[int(np.argmax(always))] if facts.page.right_or_wrong else ""
        rows.append({"name": None, "always": name, "value": _guess(facts)[compared]})
    rows.sort(key=lambda row: -row["value"])
    if facts.test is not None:
        rows.insert(0, {"name": None, "own": True, "value": facts.evaluation.figures[compared]})
    for row in rows:
        row |= {"own": row.get("own", False), "metric": compared}
        row["width"] = 100 * min(max(row["value"], 0.0), 1.0) if math.isfinite(row["value"]) else 0.0
    return rows


def _factors(facts: Facts) -> list[dict[str, Any]]:
    """Return one row per factor, predictive factors first."""
    view, roles = facts.view, facts.roles
    least = STANDARD_ERRORS / math.sqrt(len(facts.train) + len(facts.unlabeled or ()))
    towards, by_itself = directions(facts, view), alone(facts)
    rows = []
    for j in sorted(range(facts.rank), key=lambda j: ROLES.index(roles[j]))[:FACTORS_SHOWN]:
        ends = [
            [label(view.features[i]) for i in end if abs(view.correlations[j, i]) >= least]
            for end in extremes(view.correlations[j], FEATURES_SHOWN)
        ]
        row = {"number": j + 1, "role": roles[j], "direction": towards[j], "alone": by_itself[j]}
        rows.append(row | {"share": float(view.share[j]), "high": ends[0], "low": ends[1]})
    return rows
