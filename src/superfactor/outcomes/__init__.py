"""Kinds of y: classes, flags, numbers, counts, times, mixed. One file and one object each.

Nothing else asks what kind y is.

A new kind is a new file here and its object in `KINDS`.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from superfactor.outcomes.base import COVARIATES, FEWEST, Outcome, Steps, Target, Units
from superfactor.outcomes.classes import Classes
from superfactor.outcomes.counts import Counts
from superfactor.outcomes.flags import Flags
from superfactor.outcomes.metrics.metric import Metric
from superfactor.outcomes.mixed import Mixed
from superfactor.outcomes.numbers import Numbers
from superfactor.outcomes.times import Times

#: One object for each kind. One whose estimator is that of another, or a subclass of it, comes after it: the
#: last that says yes counts (`Outcome.is_of`), and the first of an estimator always does.
KINDS: list[Outcome] = [Classes(), Flags(), Numbers(), Counts(), Times(), Mixed()]

__all__ = [
    "COVARIATES",
    "FEWEST",
    "KINDS",
    "Classes",
    "Counts",
    "Flags",
    "Metric",
    "Mixed",
    "Numbers",
    "Outcome",
    "Steps",
    "Target",
    "Times",
    "Units",
    "outcome_named",
    "outcome_of",
]


def outcome_named(name: str) -> Outcome:
    """The kind of this name: "classes", "flags", "numbers", "counts", "times" or "mixed"."""
    return next(kind for kind in KINDS if kind.name == name)


def outcome_of(model: Any, y: Any = None) -> Outcome:
    """What a model predicts, fitted or not: an estimator, a pipeline that ends in one, or a search for one.

    Where an estimator takes several kinds of y, that of y counts; without y that of the fitted model. Other
    libraries' classifiers and regressors have the kind of ours.

    Parameters
    ----------
    model : estimator, pipeline or search
    y : what it is to be fitted to, or None

    Examples
    --------
    >>> from superfactor import SMFClassifier, SMFSurvival
    >>> from superfactor.outcomes import outcome_of
    >>> outcome_of(SMFSurvival()).name
    'times'
    >>> outcome_of(SMFClassifier(), [[0, 1], [1, 1]]).name
    'flags'
    """
    if isinstance(model, Pipeline):
        return outcome_of(model.steps[-1][1], y)
    own = getattr(model, "_outcome", None)
    if isinstance(own, Outcome):
        fitted = getattr(model, "best_estimator_", model)
        return _among(own, fitted[-1] if isinstance(fitted, Pipeline) else fitted, y)
    for kind in reversed(KINDS):
        if isinstance(model, kind.estimator):
            return _among(kind, model, y)
    inner = getattr(model, "best_estimator_", getattr(model, "estimator", None))
    if inner is not None and hasattr(inner, "fit"):
        return outcome_of(inner, y)
    if is_classifier(model):
        return _among(outcome_named("classes"), model, y)
    if is_regressor(model):
        return _among(outcome_named("numbers"), model, y)
    raise TypeError(
        f"model={type(model).__name__}: an estimator of superfactor is required, a Pipeline that ends in "
        "one, a search for one, or a classifier or regressor of scikit-learn's kind"
    )


def _among(kind: Outcome, model: Any, y: Any) -> Outcome:
    """Of the kinds with the estimator of `kind` the one that model and y are of; else `kind`."""
    for other in reversed(KINDS):
        if other.estimator is kind.estimator and other.is_of(model, y):
            return other
    return kind
