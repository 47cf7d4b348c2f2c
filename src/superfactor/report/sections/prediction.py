"""The quality of predictions: figures and tables of the kind of y, and each factor alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from superfactor.models import model_named
from superfactor.outcomes.pages import Curve
from superfactor.report.facts import Facts, alone_samples
from superfactor.report.formats import area, compact, loss, number
from superfactor.report.section import Section
from superfactor.report.sections.samples import factor_names, positions

# Metrics that appear in a table too: as text, so that both are rounded equally.
_TEXTS: dict[str, Callable[[float], str]] = {"explained": loss, "error": number}


def section(facts: Facts) -> Section:
    """Return figures and tables of the predictions, and of each factor alone."""
    found, estimator = facts.evaluation, facts.estimator
    tested = facts.test is not None
    drawn = found.drawn if tested else _without_tests(found.drawn)
    content: dict[str, Any] = {
        "drawn": drawn,
        "tested": tested,
        "by_factor": _by_factor(facts),
        "judged": "held out" if tested else alone_samples(facts),
        # The energies of the exact codes are not calibrated probabilities.
        "energies": model_named(estimator.model).codes_see_labels and estimator.prediction == "exact",
    }
    if facts.page.right_or_wrong:
        content |= {"confusion": _confusion(found.confusion), "by_class": _by_class(facts)}
    payload = _plain(drawn, facts.samples.ids) | ({"axis": facts.axis} if facts.axis else {})
    return Section("prediction", "Prediction", facts.page.prediction_heading, content, payload)


def _without_tests(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of the figures without p-values and intervals of ratios.

    These treat samples as independent. Predictions out of fold are not: models of different folds share most
    of their samples, and of 60 tables of noise, 8 had a hazard ratio with p < .05.
    """
    kept = {name: value for name, value in drawn.items() if name != "p"}
    if "ratio" in kept:
        kept["ratio"] = {"estimate": kept["ratio"]["estimate"]}
    return kept


def _plain(value: Any, ids: list[str]) -> Any:
    """Return values for JSON: rounded coordinates, metrics as text, and names instead of positions."""
    if isinstance(value, Curve):
        x, y = compact(value.false_positive), compact(value.true_positive)
        return {"class": value.positive, "area": area(value.area), "x": x, "y": y}
    if isinstance(value, Mapping):
        plain = {
            name: _TEXTS[name](own) if name in _TEXTS else _plain(own, ids)
            for name, own in value.items()
            if name != "kept"
        }
        return plain | ({"ids": [ids[i] for i in value["kept"]]} if "kept" in value else {})
    if isinstance(value, list):
        return [_plain(own, ids) for own in value]
    if isinstance(value, np.ndarray):
        return compact(value)
    return compact([value])[0] if isinstance(value, float) else value


def _by_factor(facts: Facts) -> list[dict[str, Any]]:
    """Return the association of each factor alone with the outcome, for the samples of the evaluation."""
    samples = facts.samples
    found = facts.page.by_factor(samples.truth, positions(samples), facts.names)
    several = len(found) // facts.rank > 1
    names = [(j, name) for j in factor_names(facts) for name in (facts.names if several else [""])]
    keys = ("estimate", "low", "high", "p")
    return [
        {"factor": j, "of": of} | dict(zip(keys, own, strict=True))
        for (j, of), own in zip(names, found, strict=False)
    ]


def _confusion(confusion: Any) -> list[list[dict[str, Any]]]:
    return [
        [{"count": int(n), "share": n / max(int(row.sum()), 1), "right": i == j} for j, n in enumerate(row)]
        for i, row in enumerate(confusion)
    ]


def _by_class(facts: Facts) -> list[dict[str, Any]]:
    found = facts.evaluation
    areas = {curve.positive: curve.area for curve in found.drawn["curves"]}
    if len(facts.names) == 2 and areas:
        areas[0] = areas[1]  # the same curve for the other class
    return [
        {
            "name": name,
            "samples": int(found.confusion[i].sum()),
            "recall": _share(found.confusion[i, i], found.confusion[i].sum()),
            "precision": _share(found.confusion[i, i], found.confusion[:, i].sum()),
            "area": areas.get(i, math.nan),
        }
        for i, name in enumerate(facts.names)
    ]


def _share(part: int, whole: int) -> float:
    """Return part / whole; NaN if the whole is 0."""
    return float(part / whole) if whole else math.nan
