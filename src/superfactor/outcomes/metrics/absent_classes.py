"""Scores of folds from which a class is absent: rare classes are not in every part of every split.

A model that was not shown a class gives it probability zero. Scores of probabilities (log loss, Brier score,
areas under ROC curves) compare them with labels class by class, and refuse where the numbers of classes
differ, or worse, compare one class with another where they happen to agree.
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
    """The score of a fitted classifier on X (n, p) and labels (n,), some of `classes` (k,) absent or not.

    Where one is absent, the first of these that is defined, or else NaN:

    1. the score with a probability, maybe zero, for each of the classes: all that is needed where y has all;
    2. the same, with the score told of all classes: log loss and Brier score;
    3. the score among the classes of y, as if nobody could be of another: areas under ROC curves.

    A scorer of the user's own, which is no scikit-learn scorer, is called with the classifier as it is.
    """
    present = np.unique(y)
    complete = len(fitted.classes_) == len(present) == len(classes)
    if complete or not hasattr(scorer, "get_metadata_routing"):
        return scorer(fitted, X, y, **extra)
    aligned = _Aligned(fitted, classes)
    try:
        return scorer(aligned, X, y, **extra)
    except ValueError as error:
        if not aligned.compared:  # by labels, so that no class was missed
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
    """Mean logarithm of the probability of the true class, of labels (n,) that may be unknown to a model.

    `neg_log_loss` of scikit-learn without checks, which take longer than the figure.
    """
    probabilities, known = np.asarray(model.predict_proba(X)), np.asarray(model.classes_)
    places = np.minimum(np.searchsorted(known, y), len(known) - 1)
    true = np.where(known[places] == y, probabilities[np.arange(len(y)), places], 0.0)
    smallest = np.finfo(probabilities.dtype).eps
    return float(np.average(np.log(np.clip(true, smallest, 1.0)), weights=sample_weight))


class _Aligned(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose probabilities have a column for each of `classes` (k,) and no other.

    Attributes
    ----------
    compared : whether its probabilities or scores have been asked for
    """

    def __init__(self, fitted: Any, classes: Any):
        self.fitted = fitted
        self.classes_ = classes
        self.compared = False

    def predict(self, X: Any) -> Any:
        return self.fitted.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities (n, k), given that a sample is of one of the classes; equal where none is known."""
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
        """Scores (n, k), (n,) of two classes, whose softmax is ``predict_proba``, but for its zeros."""
        shares = self.predict_proba(X)
        scores = np.log(np.maximum(shares, np.finfo(shares.dtype).eps))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return float(self.fitted.score(X, y, sample_weight=sample_weight))
