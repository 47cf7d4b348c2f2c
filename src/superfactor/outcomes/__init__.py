"""Everything that depends on the kind of y: classes, flags, numbers, counts, times or mixed.

Each kind is one `Outcome` object in a file of its own. Code above this package calls the methods of the
object and does not check the kind itself. To add a kind, add a file here and its object to `KINDS`.

================ ===============================================================================
file             idea
================ ===============================================================================
``base``         ``Outcome``: the interface of a kind
``classes``      class labels
``flags``        several yes/no labels
``flag_folds``   folds with equal shares of several labels
``numbers``      measurements
``counts``       counts, with or without exposures
``times``        survival times
``mixed``        several outcomes of different kinds
``ridge``        ridge regressions with many penalties, for the baselines
``metrics/``     metrics, intervals and survival curves
``reading/``     how a kind is described, compared with features and plotted
``pages/``       what a page of ``superfactor.report`` shows of a kind
``descriptions`` text and plain values about a kind, for the terminal and scripts
================ ===============================================================================
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

#: One object for each kind. Kinds that share an estimator, or whose estimator is a subclass, come after the
#: general one: the last kind whose `Outcome.is_of` is True is used, and the first kind of an estimator is
#: the default.
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
    """Return the kind of this name: "classes", "flags", "numbers", "counts", "times" or "mixed"."""
    return next(kind for kind in KINDS if kind.name == name)


def outcome_of(model: Any, y: Any = None) -> Outcome:
    """Return the kind of y that a model predicts.

    If an estimator accepts several kinds of y, y decides; without y, the fitted model decides. Classifiers
    and regressors of other libraries have the kinds "classes" or "flags", and "numbers".

    Parameters
    ----------
    model : estimator, Pipeline that ends in one, or search for one
        Fitted or not.
    y : y that the model is fitted to, or None

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
    """Return the kind of model and y among those with the estimator of `kind`; `kind` if none matches."""
    for other in reversed(KINDS):
        if other.estimator is kind.estimator and other.is_of(model, y):
            return other
    return kind
