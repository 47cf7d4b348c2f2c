"""ROC curves, confusion matrix, figures by class."""

from __future__ import annotations

import math
from typing import Any

from superfactor.models import model_named
from superfactor.report.facts import Facts
from superfactor.report.formats import area, compact
from superfactor.report.section import Section


def section(facts: Facts) -> Section:
    """How the predictions do, class by class."""
    found, estimator = facts.evaluation, facts.estimator
    curves = [
        {
            "class": curve.positive,
            "area": area(curve.area),
            "x": compact(curve.false_positive),
            "y": compact(curve.true_positive),
        }
        for curve in found.curves
    ]
    told = {
        "confusion": [
            [
                {"count": int(n), "share": n / max(int(row.sum()), 1), "right": i == j}
                for j, n in enumerate(row)
            ]
            for i, row in enumerate(found.confusion)
        ],
        "by_class": _by_class(facts),
        # The energies of the exact codes are no calibrated probabilities.
        "energies": model_named(estimator.model).codes_see_labels and estimator.prediction == "exact",
    }
    return Section(
        "prediction", "Prediction", "How good the predictions are, class by class", told, {"curves": curves}
    )


def _by_class(facts: Facts) -> list[dict[str, Any]]:
    found = facts.evaluation
    areas = {curve.positive: curve.area for curve in found.curves}
    if len(facts.classes) == 2 and areas:
        areas[0] = areas[1]  # the same curve seen from the other side
    return [
        {
            "name": name,
            "samples": int(found.confusion[i].sum()),
            "recall": _share(found.confusion[i, i], found.confusion[i].sum()),
            "precision": _share(found.confusion[i, i], found.confusion[:, i].sum()),
            "area": areas.get(i, math.nan),
        }
        for i, name in enumerate(facts.classes)
    ]


def _share(part: int, whole: int) -> float:
    """NaN of nothing."""
    return float(part / whole) if whole else math.nan
