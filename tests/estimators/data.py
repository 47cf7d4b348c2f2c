"""Small data sets the estimator tests share."""

from __future__ import annotations

import numpy as np

from superfactor import SMFClassifier, SMFRegressor

MODELS = ("filter", "feature")
ESTIMATORS = (SMFClassifier, SMFRegressor)


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
