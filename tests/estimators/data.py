"""Small data sets for the tests of estimators."""

from __future__ import annotations

import numpy as np

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival

MODELS = ("filter", "feature")
ESTIMATORS = (SMFClassifier, SMFRegressor, SMFSurvival)


def small(n=40, p=6, classes=2, seed=0):
    """X (n, p), labels 0..classes−1 that depend on it, covariates (n, 2)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    covariates = rng.standard_normal((n, 2))
    scores = X[:, :classes] + 0.5 * rng.standard_normal((n, classes))
    scores[:, 0] += covariates[:, 0]
    y = np.argmax(scores, axis=1)
    y[:classes] = np.arange(classes)
    return X, y, covariates


def outcome(estimator, y):
    """Return labels as y of an estimator: unchanged, or as events that are earlier for higher labels."""
    if estimator is not SMFSurvival:
        return y
    time = 3.0 - np.asarray(y) / (1 + np.max(y)) + 0.5 * np.random.default_rng(0).random(len(y))
    return np.column_stack([np.arange(len(y)) % 4 > 0, time])


def patients(n=60, p=5, seed=0, ties=True):
    """X (n, p), y (n, 2) of events and times with censoring, covariates (n, 2)."""
    rng = np.random.default_rng(seed)
    X, covariates = rng.standard_normal((n, p)), rng.standard_normal((n, 2))
    risk = X[:, 0] - 0.7 * X[:, 1] + 0.5 * covariates[:, 0]
    time, left = rng.exponential(np.exp(-risk)), rng.exponential(1.5, n)
    event, time = time <= left, np.minimum(time, left)
    if ties:
        time = np.ceil(8 * time) / 8
    return X, np.column_stack([event, time]).astype(float), covariates


def structured(y):
    """Return y in the form of scikit-survival."""
    dtype = [("status", bool), ("days", float)]
    return np.array([(bool(event), time) for event, time in y], dtype=dtype)
