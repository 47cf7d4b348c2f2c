"""Results of single features: relation to the outcome, markers of classes, and stable features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from superfactor.interpretation import (
    FactorView,
    Nearness,
    StableFeatures,
    factor_view,
    feature_effects,
    nearness,
    stable_features,
)
from superfactor.interpretation.features.class_features import markers_of
from superfactor.interpretation.refits import progress
from superfactor.report.formats import LONGEST_NOTE, label

MARKERS_PER_CLASS = 10


@dataclass(frozen=True)
class FeatureResults:
    """Results of single features in the training samples."""

    effects: Any  # DataFrame of `feature_effects`
    markers: Any  # DataFrame of `class_features`; None without classes
    stable: StableFeatures | None
    why_not: str  # why `stable` is missing; empty if it was not requested
    nearness: Nearness | None  # None if not requested, or if it would take too long


def feature_results(
    view: FactorView,
    model: Any,
    X: Any,
    again: tuple[Any, Any],
    y: Any,
    *,
    covariates: Any,
    groups: Any,
    stable: Any,
    near: Any,
) -> FeatureResults:
    """Return results of the features of a model, and its similarity to plain methods.

    Parameters
    ----------
    view : the factors that are shown, with the names of the features
    model, X : the fitted model and its X; they may lack names
    again : the same, in a form that can be fitted again
    stable, near : StableFeatures and Nearness, None to compute them if that is quick, or False
    """
    effects = feature_effects(model, X, y, covariates=covariates, positive=view.positive)
    markers = None if view.classes is None else markers_of(effects, view.classes, MARKERS_PER_CLASS)
    why = ""

    def named(table: Any, of: Any = model) -> Any:
        names = dict(zip(factor_view(of).features, view.features, strict=True))
        return table.assign(feature=[names[name] for name in table["feature"]])

    if stable is None:
        stable, why = _stable(*again, y, covariates, groups)
        if stable is not None:
            stable = replace(stable, table=named(stable.table, again[0]))
    if near is None and progress.is_quick(np.shape(X), len(view.outputs)):
        near = nearness(model, X, y, covariates=covariates)
    marked = None if markers is None else named(markers)
    return FeatureResults(named(effects), marked, stable or None, why, near or None)


def _stable(model: Any, X: Any, y: Any, covariates: Any, groups: Any) -> tuple[StableFeatures | None, str]:
    """Return the stable features, or None and the reason."""
    options = {"covariates": covariates, "groups": groups, "progress": progress.time_limited()}
    try:
        return stable_features(model, X, y, **options), ""
    except progress.TooLong:
        return None, f"it would take more than {progress.MOST_SECONDS} seconds"
    except ValueError as error:  # too few samples or features
        return None, label(error, LONGEST_NOTE)
