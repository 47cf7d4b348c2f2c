"""Scores of folds in which a class is absent.

A rare class may be absent from a training or test part. A model that has not seen a class gives it
probability zero. scikit-learn's scores of probabilities (log loss, Brier score, ROC areas) compare columns
with classes by position. They raise an error if the numbers of classes differ, and compare wrong classes if
the numbers happen to agree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UndefinedMetricWarning

Scorer = Callable[..., float]


def score_with_all_classes(scorer: Scorer, fitted: Any, X: Any, y: Any, classes: Any, **extra: Any) -> float:
    """Return the score of a fitted classifier on X (n, p) and labels (n,); `classes` (k,) may be absent.

    If a class is absent, the first of these that is defined is returned, otherwise NaN:

    1. the score with a probability, possibly zero, for each of the classes; sufficient if y has all classes;
    2. the same with ``labels=classes`` passed to the score: log loss and Brier score;
    3. the score restricted to the classes of y: ROC areas.

    A user's scorer that is not a scikit-learn scorer is called with the classifier itself.
    """
    present = np.unique(y)
    complete = len(fitted.classes_) == len(present) == len(classes)
    if complete or not hasattr(scorer, "get_metadata_routing"):
        return scorer(fitted, X, y, **extra)
    aligned = _Aligned(fitted, classes)
    try:
        return scorer(aligned, X, y, **extra)
    except ValueError as error:
        if not aligned.compared:  # the score did not use probabilities: absent classes are not the reason
            raise
        reason = error
    for attempt in (_with_all_labels, _with_present_labels):
        try:
            return attempt(scorer, fitted, X, y, classes, **extra)
        except (ValueError, TypeError, UndefinedMetricWarning):
            continue
    if len(present) < 2:
        return np.nan
    raise reason


def _with_all_labels(scorer: Scorer, fitted: Any, X: Any, y: Any, classes: Any, **extra: Any) -> float:
    with warnings.catch_warnings(), config_context(enable_metadata_routing=True):
        warnings.simplefilter("error", UndefinedMetricWarning)
        return scorer(_Aligned(fitted, classes), X, y, labels=classes, **extra)


def _with_present_labels(scorer: Scorer, fitted: Any, X: Any, y: Any, classes: Any, **extra: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UndefinedMetricWarning)
        return scorer(_Aligned(fitted, np.unique(y)), X, y, **extra)


def log_likelihood(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the mean log-probability of the true class; labels (n,) may be unknown to the model.

    The same as scikit-learn's `neg_log_loss`, without its checks, which take longer than the computation.
    """
    probabilities, known = np.asarray(model.predict_proba(X)), np.asarray(model.classes_)
    places = np.minimum(np.searchsorted(known, y), len(known) - 1)
    true = np.where(known[places] == y, probabilities[np.arange(len(y)), places], 0.0)
    smallest = np.finfo(probabilities.dtype).eps
    return float(np.average(np.log(np.clip(true, smallest, 1.0)), weights=sample_weight))


class _Aligned(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose probabilities have exactly one column for each of `classes` (k,).

    Attributes
    ----------
    compared : whether its probabilities or scores have been used
    """

    def __init__(self, fitted: Any, classes: Any):
        self.fitted = fitted
        self.classes_ = classes
        self.compared = False

    def predict(self, X: Any) -> Any:
        return self.fitted.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return probabilities (n, k) given that a sample is of one of the classes; equal if all are 0."""
        self.compared = True
        known = self.fitted.predict_proba(X)
        found = np.zeros((len(known), len(self.classes_)), dtype=known.dtype)
        _, ours, theirs = np.intersect1d(
            self.classes_, self.fitted.classes_, return_indices=True, assume_unique=True
        )
        found[:, ours] = known[:, theirs]
        found[found.sum(axis=1) == 0] = 1
        return found / found.sum(axis=1, keepdims=True)

    def decision_function(self, X: Any) -> Any:
        """Return scores (n, k), or (n,) for two classes; their softmax is ``predict_proba`` without zeros."""
        shares = self.predict_proba(X)
        scores = np.log(np.maximum(shares, np.finfo(shares.dtype).eps))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return float(self.fitted.score(X, y, sample_weight=sample_weight))
