"""Small data sets and fits the interpretation tests share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.estimators.data import patients

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival

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
    """What the factors say about X of the training samples, beside its mean (n, p)."""
    return view.scores @ view.patterns


def activations(view):
    """What the factors add to the outputs of the training samples, beside the mean (n, outputs)."""
    return view.scores @ view.coef.T


def loss(fit, y, outputs, weight=None):
    """Of predictions (n, outputs): log loss, squared error, or Breslow's partial likelihood."""
    if hasattr(fit, "event_times_"):
        event, time = y.T
        pairs = zip(event, time, outputs[:, 0], strict=True)
        risk = {t: np.exp(outputs[time >= t]).sum() / event[time == t].sum() for t in time[event == 1]}
        return sum(np.log(risk[t]) - a for died, t, a in pairs if died)
    if not hasattr(fit, "classes_"):
        return mean_squared_error(y, outputs, sample_weight=weight)
    scores = np.hstack([0 * outputs, outputs]) if outputs.shape[1] == 1 else outputs
    return log_loss(y, softmax(scores, axis=1), sample_weight=weight, labels=fit.classes_)


# --- fits of every kind, and what they answer -------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A fit, and what it was fitted to: X (n, p) as the estimator sees it, in float64, and its weights."""

    fit: Any
    X: Any
    weight: Any
    y: Any
    covariates: Any = None

    def codes(self):
        return np.asarray(self.fit.transform(self.X), dtype=np.float64)

    def outputs(self, covariates=None):
        """Predictions (n, outputs) as a view shows them, at given covariates or at none."""
        given = {} if self.covariates is None else {"covariates": 0 * self.covariates}
        if covariates is not None:
            given = {"covariates": covariates}
        ask = getattr(self.fit, "decision_function", self.fit.predict)
        answer = np.asarray(ask(self.X, **given), dtype=np.float64).reshape(len(self.X), -1)
        several = answer.shape[1] > 1 and hasattr(self.fit, "classes_")
        return answer - answer.mean(axis=1, keepdims=True) if several else answer


CASES = (
    *("two", "four", "weighted", "unlabelled", "balanced", "covariates", "targets", "survival"),
    *("float32", "sparse", "wide", "constant", "tiny", "huge"),
)
# Each with one of the models, and each outcome with both.
PAIRS = [(name, MODELS[k % 2]) for k, name in enumerate(CASES)]
PAIRS += [(name, MODELS[1 - CASES.index(name) % 2]) for name in ("two", "four", "targets", "survival")]


@cache
def case(name, model="filter"):
    """A fit of rank 4, or 3 of survival times."""
    X, y = table(*((18, 50) if name == "wide" else (40, 7)), classes=4 if name == "four" else 2)
    X, weight, params, given = X.to_numpy(), np.ones(len(y)), {}, {}
    rng = np.random.default_rng(8)
    if name in ("tiny", "huge"):
        X *= {"tiny": 1e-8, "huge": 1e8}[name]
    elif name == "constant":
        X[:, 2], X[:, 4] = 3.3, 0
    elif name == "sparse":
        X = np.where(X > 2, X, 0)
    elif name == "balanced":
        y[:8], params = y[0], {"class_weight": "balanced"}
    elif name == "unlabelled":
        y = np.where(np.arange(len(y)) % 4 == 0, None, y)
    elif name == "weighted":
        weight = given["sample_weight"] = rng.integers(0, 4, len(y)).astype(float)
    elif name == "covariates":
        given["covariates"] = rng.standard_normal((len(y), 2))
        y[given["covariates"][:, 0] > 1] = "tumoral"
    fit = SMFClassifier(4, model=model, prediction="fast", **params)
    if name == "targets":
        y = np.c_[5 * X[:, 1], X[:, 0] - 100 * X[:, 3]] + rng.standard_normal((len(y), 2))
        fit = SMFRegressor(4, model=model, prediction="fast")
    elif name == "survival":
        X, y, given["covariates"] = patients(n=70)
        fit, weight = SMFSurvival(3, model=model, prediction="fast"), np.ones(70)
    made = {"sparse": sp.csr_array, "float32": np.float32}.get(name, np.asarray)
    fit.fit(made(X), y, **given)
    return Case(fit, X, weight, np.asarray(y), given.get("covariates"))
