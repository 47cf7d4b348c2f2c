"""Metrics of predicted probabilities, their calibration, and a test against chance.

Metrics take class numbers `truth` (n,) and `probabilities` (n, c). Their values are those of scikit-learn,
without its checks, which take longer than the computation in hundreds of small folds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import random_table, rankdata

# Ratio of the largest to the smallest class from which on classes are unequal: accuracy then depends more on
# class sizes than on the model. For two classes this is a majority of 60 %.
UNEQUAL = 1.5
# Smallest probability, so that the log loss stays finite.
SMALLEST = 1e-15
# Logits are clipped to ± this value.
_FARTHEST_LOGIT = 30.0
# Larger slopes mean that the predictions separate the classes; the slope is then not defined.
_STEEPEST = 100.0


def accuracy(truth: Any, probabilities: Any) -> float:
    """Return the share of samples whose most probable class is the true one."""
    return float((probabilities.argmax(axis=1) == truth).mean())


def balanced_accuracy(truth: Any, probabilities: Any) -> float:
    """Return the mean recall of the classes that have samples."""
    right = probabilities.argmax(axis=1) == truth
    return float(np.mean([right[truth == k].mean() for k in np.unique(truth)]))


def roc_auc(truth: Any, probabilities: Any) -> float:
    """Return the area under the ROC curve of the second of two classes.

    For several classes it is the mean over each class against the rest, without classes that have no
    samples. NaN if all samples are of one class.
    """
    c = probabilities.shape[1]
    areas = [roc_area(truth == k, probabilities[:, k]) for k in ([1] if c == 2 else range(c))]
    areas = [area for area in areas if not np.isnan(area)]
    return float(np.mean(areas)) if areas else float("nan")


def log_loss(truth: Any, probabilities: Any) -> float:
    """Return minus the mean log-probability of the true class."""
    likelihood = np.clip(probabilities[np.arange(len(truth)), truth], SMALLEST, 1.0)
    return float(-np.log(likelihood).mean())


def brier(truth: Any, probabilities: Any) -> float:
    """Return the mean squared error of the probability of the second of two classes.

    For several classes it is the sum over all classes.
    """
    c = probabilities.shape[1]
    squares = (probabilities - np.eye(c)[truth]) ** 2
    return float((squares[:, 1] if c == 2 else squares.sum(axis=1)).mean())


def roc_area(positive: Any, score: Any) -> float:
    """Return the area under the ROC curve: the share of pairs in the right order; ties count half."""
    p, q = int(positive.sum()), int((~positive).sum())
    if not p or not q:
        return float("nan")
    return float((rankdata(score)[positive].sum() - p * (p + 1) / 2) / (p * q))


def calibration(positive: Any, probability: Any) -> dict[str, float]:
    """Return slope and intercept of the logistic regression of an outcome on the logit of its probability.

    Slope 1 and intercept 0 are ideal; below 1, probabilities are too extreme. NaN if the predictions
    separate the classes, since no slope is then best.

    Parameters
    ----------
    positive : (n,) bool
    probability : (n,)

    Returns
    -------
    dict with slope, intercept, and their standard errors slope_error, intercept_error
    """
    x = np.clip(logit(probability), -_FARTHEST_LOGIT, _FARTHEST_LOGIT)
    A = np.column_stack([np.ones(len(x)), x])
    y, w = positive.astype(float), np.zeros(2)
    nothing = dict.fromkeys(("slope", "intercept", "slope_error", "intercept_error"), float("nan"))
    if not 0 < y.mean() < 1 or np.ptp(x) < 1e-9:
        return nothing
    value = _deviance(A, y, w)
    for _ in range(100):
        p = expit(A @ w)
        H = (A * (p * (1 - p))[:, None]).T @ A + 1e-10 * np.eye(2)
        step = np.linalg.solve(H, A.T @ (y - p))
        # A full step may overshoot where most probabilities are extreme.
        while (new := _deviance(A, y, w + step)) > value + 1e-12 and np.abs(step).max() > 1e-12:
            step = step / 2
        w, value = w + step, new
        if np.abs(step).max() < 1e-9:
            break
    if np.abs(w[1]) > _STEEPEST or value < 1e-6:
        return nothing
    errors = np.sqrt(np.diag(np.linalg.inv(H)))
    return {
        "slope": float(w[1]),
        "intercept": float(w[0]),
        "slope_error": float(errors[1]),
        "intercept_error": float(errors[0]),
    }


def calibration_in_the_large(positive: Any, probability: Any) -> tuple[float, float]:
    """Return the mean shift of the logits that would calibrate the probabilities, and its standard error.

    It is the intercept of the logistic regression with the logit as an offset, of slope 1: above 0, the
    outcome is more frequent than predicted. The intercept of `calibration` belongs to another slope. NaN if
    all samples have the same outcome.
    """
    y, offset = positive.astype(float), np.clip(logit(probability), -_FARTHEST_LOGIT, _FARTHEST_LOGIT)
    if not 0 < y.mean() < 1:
        return float("nan"), float("nan")
    far = np.abs(offset).max() + abs(float(logit(y.mean()))) + 1
    shift = float(brentq(lambda b: float(np.sum(y - expit(offset + b))), -far, far))
    p = expit(offset + shift)
    return shift, float(1 / np.sqrt(np.sum(p * (1 - p))))


def _deviance(A: Any, y: Any, w: Any) -> float:
    z = A @ w
    return float(np.sum(np.logaddexp(0.0, z) - y * z))


def chance_of(metric: str, truth: Any, predicted: Any, classes: int, draws: int = 9999) -> float:
    """Return a p-value: how often labels independent of the predictions agree with them as well as `truth`.

    Confusion matrices with the same margins are drawn, as in Fisher's exact test. The p-value is
    (1 + number of draws that score at least as high)/(1 + draws).

    Parameters
    ----------
    metric : "accuracy" or "balanced_accuracy"
    truth, predicted : class numbers (n,)
    classes : number of classes c
    """
    table = np.zeros((classes, classes), dtype=int)
    np.add.at(table, (truth, predicted), 1)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    drawn = random_table(rows, columns).rvs(draws, random_state=0)

    if metric not in ("accuracy", "balanced_accuracy"):
        raise ValueError(f"metric={metric!r}: 'accuracy' or 'balanced_accuracy' is required")

    def score(tables: Any) -> Any:
        diagonal = np.diagonal(tables, axis1=-2, axis2=-1)
        if metric == "accuracy":
            return diagonal.sum(axis=-1)
        return (diagonal[..., rows > 0] / rows[rows > 0]).sum(axis=-1)

    reached = int(np.count_nonzero(score(drawn) >= score(table) - 1e-9))
    return (1 + reached) / (1 + draws)
