"""Small data sets and fits the interpretation tests share."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier, SMFRegressor

MODELS = ("filter", "feature")
# Where the optimum is quick to prove.
LAM = {"filter": 10.0, "feature": 0.5}


def table(n=40, p=7, classes=2, seed=0):
    """X (n, p) with named columns of unequal sizes, and labels that depend on two of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.linspace(3, 1, p) + np.arange(p)
    score = X[:, 1] - X[:, 3] + 0.5 * rng.standard_normal(n)
    y = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score)
    labels = np.array(["normal", "tumoral", "unclear", "other"])[y]
    return pd.DataFrame(X, columns=[f"gene{j}" for j in range(p)]), labels


def classifier(model="filter", rank=3, **params):
    params = {"xi": 0.01, "lam": LAM[model]} | params
    return SMFClassifier(rank, model=model, prediction="fast", **params)


def pipeline(model="filter", rank=3, **params):
    return make_pipeline(StandardScaler(), classifier(model, rank, **params))


def regressor(model="filter", rank=3, **params):
    params = {"xi": 0.01, "lam": LAM[model]} | params
    return SMFRegressor(rank, model=model, prediction="fast", **params)


def reconstruction(view):
    return view.codes @ view.weights


def of_outputs(activations, classes=None):
    """Activations against the first class (n, κ) as a view shows them, two classes with the second up."""
    if classes is None or len(classes) == 2:
        return activations
    every = np.hstack([np.zeros((len(activations), 1)), activations])
    return every - every.mean(axis=1, keepdims=True)


def activations(view):
    """What the factors add to the outputs of the training samples (n, outputs), from the view alone."""
    spread = view.codes.std(axis=0)
    return view.codes @ (view.coef / np.where(spread > 0, spread, 1)).T
