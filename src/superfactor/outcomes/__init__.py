"""Kinds of y: classes, numbers, times. One file and one object each; nothing else asks what kind y is.

A new kind is a new file here and its object in `KINDS`.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from superfactor.outcomes.base import COVARIATES, FEWEST, Outcome, Steps, Target, Units
from superfactor.outcomes.classes import Classes
from superfactor.outcomes.metric import Metric
from superfactor.outcomes.numbers import Numbers
from superfactor.outcomes.times import Times

#: One object for each kind; one whose estimator is a subclass of another's comes after it.
KINDS: list[Outcome] = [Classes(), Numbers(), Times()]

__all__ = [
    "COVARIATES",
    "FEWEST",
    "KINDS",
    "Classes",
    "Metric",
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
    """The kind of this name: "classes", "numbers" or "times"."""
    return next(kind for kind in KINDS if kind.name == name)


def outcome_of(model: Any) -> Outcome:
    """What a model predicts, fitted or not: an estimator, a pipeline that ends in one, or a search for one.

    Other libraries' classifiers and regressors have the kind of ours.

    Examples
    --------
    >>> from superfactor import SMFSurvival
    >>> from superfactor.outcomes import outcome_of
    >>> outcome_of(SMFSurvival()).name
    'times'
    """
    own = getattr(model, "_outcome", None)
    if isinstance(own, Outcome):
        return own
    for kind in reversed(KINDS):
        if isinstance(model, kind.estimator):
            return kind
    if isinstance(model, Pipeline):
        return outcome_of(model.steps[-1][1])
    inner = getattr(model, "estimator", None)
    if inner is not None and hasattr(inner, "fit"):
        return outcome_of(inner)
    if is_classifier(model):
        return outcome_named("classes")
    if is_regressor(model):
        return outcome_named("numbers")
    raise TypeError(
        f"model={type(model).__name__}: an estimator of superfactor is required, a Pipeline that ends in "
        "one, a search for one, or a classifier or regressor of scikit-learn's kind"
    )
