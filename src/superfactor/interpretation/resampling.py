"""Would the same features come back? Refits on parts of the samples, factors matched to the fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier

from superfactor.estimators import inputs
from superfactor.estimators.parameters import seed_of
from superfactor.estimators.targets import UNLABELLED, Given, classes_of
from superfactor.interpretation.data import ModelData, model_data, refittable
from superfactor.interpretation.matching import match
from superfactor.interpretation.models import fitted_model
from superfactor.interpretation.outcome import Outcome
from superfactor.interpretation.predictive import predictive_turn
from superfactor.interpretation.progress import reporting
from superfactor.interpretation.rotation import varimax
from superfactor.interpretation.tables import check_count, extremes, top_features
from superfactor.interpretation.view import (
    FactorView,
    Unordered,
    factor_view,
    filled,
    unordered,
    which_rotation,
)
from superfactor.spectrum import Compression, DataMatrix, compress

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Stability:
    """How often the factors of a model and their top features return.

    Attributes
    ----------
    table : DataFrame
        `top_features` of the model with a further column ``frequency``, from 0 to 1: the share of
        resamples in which the feature is again among the top n at the same end of the same factor.
    similarity : array of shape (n_resamples, r)
        ``|cosine|`` between each factor of the model and the one matched to it: 1 is the same factor.
    n_resamples : int
        How often the model was fitted again.
    predictive : array of shape (r,) of bool, or None
        Which factors carry the classifier; the others are background.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import stability
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X - X.mean(), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> model = SMFClassifier(n_components=2).fit(X, y)
    >>> found = stability(model, X, y, n_resamples=5, n=2, random_state=0)
    >>> found.similarity.shape, found.n_resamples
    ((5, 2), 5)
    >>> sorted(found.table.columns)
    ['end', 'factor', 'feature', 'frequency', 'rank', 'weight']
    """

    table: DataFrame
    similarity: Any
    n_resamples: int
    predictive: Any = None


def stability(
    model: Any,
    X: Any,
    y: Any,
    n_resamples: int = 50,
    *,
    n: int = 5,
    fraction: float = 0.8,
    rotation: str | None = None,
    positive: Any = None,
    covariates: Any = None,
    sample_weight: Any = None,
    random_state: Any = None,
    progress: Any = None,
    n_jobs: int | None = None,
) -> Stability:
    """How often each top feature of each factor returns when some of the samples are left out.

    The chosen estimator is fitted again to random parts of the samples, drawn without replacement
    and class by class. Preprocessing stays as it was fitted to all samples, and a search is not
    repeated: this is the stability of the factors, given those. Each resample is weighted up to the
    weight of all samples, so that ξ and λ mean the same in every fit. Factors of a refit are matched
    one to one to those of the model such that the sum of ``|cosine|`` of their atoms is largest, and
    take their signs. In the predictive rotation a predictive factor is matched to predictive ones
    only, and background to background: what a factor does is part of what it is.

    Refits are full fits but for the certificate, other starts included where an optimum is hard to
    prove; wide X is compressed once for all of them. The time is mostly that of `n_resamples` fits
    of a small matrix.

    Parameters
    ----------
    model : fitted model
        As for `factor_view`, but no FactorView.
    X, y
        The training data, in the form ``model.fit`` took.
    n_resamples : int, default=50
        How often to fit again.
    n : int, default=5
        Features at each end of a factor, as in `top_features`.
    fraction : float, default=0.8
        Share of the samples of each class in a resample, between 0 and 1.
    rotation : None, "predictive", "variance" or "varimax", default=None
        As in `factor_view`; refits are turned likewise.
    positive : class label, optional
        As in `factor_view`.
    covariates, sample_weight : optional
        Of the training data, likewise.
    random_state : int, Generator, RandomState or None, default=None
        For the choice of samples. None is a fixed seed.
    progress : None, True or function of (done, total), default=None
        True shows a bar (which needs rich).
    n_jobs : int or None, default=None
        Processes, as in scikit-learn.

    Returns
    -------
    stability : Stability
        How often factors and their top features return.

    Notes
    -----
    Pure chance returns a feature with frequency n/p, but resamples share samples with the fit, and
    what is peculiar to these samples returns with them. A low frequency says that a feature is one
    of many alike; a high one that it does not hang on single samples, not that it means something.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import stability
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X - X.mean(), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> model = SMFClassifier(n_components=2).fit(X, y)
    >>> found = stability(model, X, y, n_resamples=5, n=2, random_state=0)
    >>> float(found.similarity.min().round(1))
    1.0
    """
    check_count("n_resamples", n_resamples)
    fitted = fitted_model(model)
    view = factor_view(model, rotation=rotation, positive=positive)
    rotation = which_rotation(rotation, view.weights, view.codes)
    table = top_features(view, n)
    data = model_data(fitted, X, y, covariates, "stability")
    weight = inputs.check_weights(sample_weight, data.X)
    weight = np.ones(data.X.shape[0]) if weight is None else weight
    strata = _strata(data.given, is_classifier(fitted.estimator))
    rank = len(view.weights)
    parts = list(_resamples(strata, weight, n_resamples, fraction, rank, random_state))

    small = _compression(fitted.estimator, data.X, rank)
    estimator = refittable(fitted.estimator)
    ends = [extremes(scaled, n) for scaled in view.scaled]
    similarity, returns = np.empty((n_resamples, rank)), np.zeros(len(table))
    with reporting(progress, "Refitting on resamples") as report:
        refits = _refits(estimator, _compressed(data, small), weight, parts, n_jobs)
        report(0, n_resamples)
        for done, factors in enumerate(refits, start=1):
            atoms, kinds = _turned(factors, rotation, view, small)
            _, order, signs, similarity[done - 1] = match(view.weights, atoms, kinds)
            atoms = atoms[order] * signs[:, None]
            returns += _returned(ends, [extremes(row, n) for row in atoms])
            report(done, n_resamples)
    table["frequency"] = returns / n_resamples
    return Stability(table, similarity, n_resamples, view.predictive)


def _turned(
    factors: Unordered, rotation: str, view: FactorView, small: Compression | None
) -> tuple[Any, Any]:
    """The atoms (r, p) of a refit in a rotation; and which ones of the view and of it carry the classifier.

    Coordinates of the row space have the lengths and angles of X, which is all that the predictive
    turn looks at; varimax looks at the weights themselves.
    """
    atoms, kinds = filled(factors.weights, factors.share), None
    if rotation == "predictive":
        by_codes = view.model == "feature"
        turn = predictive_turn(atoms, factors.codes, factors.effect, orthonormal_codes=by_codes)
        atoms = turn.inverse @ atoms
        kinds = view.predictive, np.arange(len(atoms)) < turn.predictive
    if small is not None:
        atoms = small.expand(atoms.T).T
    if rotation == "varimax":
        atoms = varimax(atoms).T @ atoms
    return atoms, kinds


def _resamples(
    strata: Any, weight: Any, count: int, fraction: float, rank: int, random_state: Any
) -> Iterator[Any]:
    """Positions of the samples in each resample, sorted: `fraction` of every stratum, one at least."""
    if not isinstance(fraction, Real) or not 0 < fraction < 1:
        raise ValueError(f"fraction={fraction!r}: a number between 0 and 1 is required")
    rng = np.random.default_rng(seed_of(random_state))
    present = np.flatnonzero(weight)  # a sample of weight zero is no sample
    groups = [present[strata[present] == value] for value in np.unique(strata[present])]
    sizes = [max(1, round(fraction * len(group))) for group in groups]
    if sum(sizes) < rank:
        raise ValueError(
            f"fraction={fraction!r}: resamples of {sum(sizes)} samples are too few for {rank} factors; "
            "a larger fraction, or a model with fewer, is required"
        )
    for _ in range(count):
        chosen = [rng.choice(g, size, replace=False) for g, size in zip(groups, sizes, strict=True)]
        yield np.sort(np.concatenate(chosen))


def _strata(given: Given, classes: bool) -> Any:
    """Class numbers (n,), those without a label being one more; of targets, who has one."""
    if not classes:
        return np.ones(len(given.values)) if given.known is None else given.known
    return given.spread(classes_of(given.labelled)[1], UNLABELLED)


def _compression(estimator: Any, X: Any, rank: int) -> Compression | None:
    """Wide X in coordinates of its row space, where all refits live; None where that may not be.

    A constraint is on entries of the original, and does not carry over.
    """
    small = compress(DataMatrix(X)) if estimator.constraint is None else None
    return small if small is not None and len(small.values) >= rank else None


def _compressed(data: ModelData, small: Compression | None) -> ModelData:
    if small is None:
        return data
    X = small.rows * (small.values * small.original.scale)
    return ModelData(X, data.given, data.covariates)


def _refits(
    estimator: Any, data: ModelData, weight: Any, parts: list[Any], n_jobs: int | None
) -> Iterator[Unordered]:
    """The factors of each refit, in order."""
    from joblib import Parallel, delayed

    jobs = (delayed(_refit)(estimator, data, weight, rows) for rows in parts)
    factors: Iterator[Unordered] = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    return factors


def _refit(estimator: Any, data: ModelData, weight: Any, rows: Any) -> Unordered:
    """The factors of a fit to some of the samples."""
    refit = clone(estimator).fit(
        inputs.take(data.X, rows, axis=0),
        data.y[rows],
        covariates=None if data.covariates is None else data.covariates[rows],
        sample_weight=weight[rows] * (weight.sum() / weight[rows].sum()),
    )
    return unordered(refit, Outcome.of(refit))


def _returned(ends: list[tuple[Any, Any]], again: list[tuple[Any, Any]]) -> Any:
    """For each top feature, factor by factor and end by end: is it among those found again?"""
    return np.concatenate(
        [
            np.isin(before, after)
            for pair, other in zip(ends, again, strict=True)
            for before, after in zip(pair, other, strict=True)
        ]
    )
