"""Topics of texts that carry a classifier: supervised ones, or unsupervised ones with a regression."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from reproduction.experiment import Setting
from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.constraints import NonNegative

__all__ = ["Fit", "Texts", "Topics", "fits"]

SCORING = "average_precision"  # depends on no threshold, and is about the rare class
FOLDS = 3
# For reading, not for the scores: at 1 there are two topics nearly alike (cosines of 0.67 to 0.83 in three
# splits of 3,398 postings, coefficients of opposite sign), at 10 hardly (0.37 to 0.54). It has its price:
# average precision on held-out postings was 0.60 at 1 and 0.58 at 10, with covariates 0.73 and 0.68.
READABLE = 10.0
C = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]


@dataclass(frozen=True)
class Texts:
    """Texts with labels.

    Attributes
    ----------
    X : csr (n, p), TF-IDF
    counts : csr (n, p), how often each word occurs
    y : (n,) of 0 and 1
    covariates : (n, q), or None to leave them out
    """

    X: Any
    counts: Any
    y: Any
    covariates: Any


@dataclass(frozen=True)
class Topics:
    """Topics in their order: by size of the coefficient, or from the largest coefficient to the smallest.

    Attributes
    ----------
    coef : (r,), change of the log-odds with one standard deviation of the topic
    weights : (r, p), of the words, the largest of each topic being 1 in size
    signed : whether words may have negative weights, so that a topic has two ends
    """

    coef: Any
    weights: Any
    signed: bool


@dataclass(frozen=True)
class Fit:
    """A fitted method.

    Attributes
    ----------
    score : callable(rows) -> (n,), the probability of class 1 of the texts of these rows
    topics : None where the method has none
    weights : ξ and λ, or C, in words
    """

    score: Callable[[Any], Any]
    topics: Topics | None
    weights: str


def fits(texts: Texts, train: Any, rank: int, setting: Setting) -> dict[tuple[str, bool], Fit]:
    """All methods fitted to the rows `train`, by name and whether covariates were used.

    ξ and λ of SMF, and the C of logistic regressions, have the best average precision in the folds of
    a cross-validation.
    """
    codes = {name: _codes(name, texts, train, rank, setting) for name in ("NMF", "LDA")}
    found: dict[tuple[str, bool], Fit] = {}
    for used in (False, True):
        Z = texts.covariates if used else None
        smf = _smf(texts, Z, train, rank, setting)
        readable = _non_negative(texts, Z, train, smf, setting)
        found["SMF", used] = _factorized(smf, texts.X, Z, signed=True)
        found["non-negative SMF", used] = _factorized(readable, texts.X, Z, signed=False)
        for name, of in codes.items():
            found[f"{name} + LR", used] = _regressed(*of, texts.y, Z, train, setting)
        found["all words + LR", used] = _regressed(texts.X, None, texts.y, Z, train, setting)
    return found


def _folds(seed: int) -> Any:
    return StratifiedKFold(FOLDS, shuffle=True, random_state=seed)


def _part(Z: Any, rows: Any) -> Any:
    return None if Z is None else Z[rows]


def _smf(texts: Texts, Z: Any, train: Any, rank: int, setting: Setting) -> SMFClassifier:
    search = SMFClassifierCV(rank, preprocess=None, cv=_folds(setting.seed), scoring=SCORING, certify=None)
    search.fit(texts.X[train], texts.y[train], covariates=_part(Z, train))
    best: SMFClassifier = search.best_estimator_
    return best


def _non_negative(texts: Texts, Z: Any, train: Any, smf: SMFClassifier, setting: Setting) -> SMFClassifier:
    """With the λ of `smf`, and a ξ at which no topics cost `READABLE` times as much as no classifier."""
    unit = len(train) * math.log(2) / float(sp.linalg.norm(texts.X[train]) ** 2)
    model = SMFClassifier(
        smf.n_components,
        xi=READABLE * unit,
        lam=smf.lam,
        constraint=NonNegative(),
        solver="bcd",
        max_iter=20 if setting.quick else 100,
        certify=None,
    )
    with warnings.catch_warnings():  # topics change no more long before the last digits do
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(texts.X[train], texts.y[train], covariates=_part(Z, train))
    return model


def _factorized(model: SMFClassifier, X: Any, Z: Any, *, signed: bool) -> Fit:
    def score(rows: Any) -> Any:
        return model.predict_proba(X[rows], covariates=_part(Z, rows))[:, 1]

    # The factors of the fit itself, as the paper shows them: per standard deviation of their codes.
    spread = np.sqrt(np.diag(model.score_covariance_))
    topics = _topics(model.factor_coef_[0] * spread, model.components_, signed)
    return Fit(score, topics, f"ξ = {model.xi:.2g}, λ = {model.lam:.2g}")


def _topics(coef: Any, weights: Any, signed: bool) -> Topics:
    order = np.argsort(-np.abs(coef) if signed else -coef, kind="stable")
    largest = np.max(np.abs(weights), axis=1, keepdims=True)
    scaled = weights / np.where(largest > 0, largest, 1)
    return Topics(coef[order], scaled[order], signed)


def _codes(name: str, texts: Texts, train: Any, rank: int, setting: Setting) -> tuple[Any, Any]:
    """Codes (n, r) of all texts, one standard deviation of `train` being 1, and the topics (r, p)."""
    if name == "NMF":
        data, model = (texts.X, NMF(rank, init="nndsvda", max_iter=1000, tol=1e-3, random_state=setting.seed))
    else:
        passes = 3 if setting.quick else 20
        data, model = (
            texts.counts,
            LatentDirichletAllocation(
                rank, learning_method="online", max_iter=passes, random_state=setting.seed
            ),
        )
    model.fit(data[train])
    codes = model.transform(data)
    spread = codes[train].std(axis=0)
    return codes / np.where(spread > 0, spread, 1), model.components_


def _regressed(codes: Any, components: Any, y: Any, Z: Any, train: Any, setting: Setting) -> Fit:
    """Logistic regression on codes (n, r), which may be sparse, and the covariates beside them."""
    whole = codes
    if Z is not None:
        whole = sp.hstack([codes, Z]).tocsr() if sp.issparse(codes) else np.hstack([codes, Z])
    search = GridSearchCV(
        LogisticRegression(max_iter=5000), {"C": C}, cv=_folds(setting.seed), scoring=SCORING
    ).fit(whole[train], y[train])
    topics = None
    if components is not None:
        topics = _topics(search.best_estimator_.coef_[0, : len(components)], components, False)

    def score(rows: Any) -> Any:
        return search.predict_proba(whole[rows])[:, 1]

    return Fit(score, topics, f"C={search.best_params_['C']:.2g}")
