"""Stability of factors and their top features: refits on subsamples, with factors matched to the fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from superfactor.estimators import inputs
from superfactor.estimators.parameters import seed_of
from superfactor.estimators.targets import UNLABELLED
from superfactor.interpretation.comparison.matching import match
from superfactor.interpretation.models import FittedModel, ModelData, fitted_model, model_data, refittable
from superfactor.interpretation.refits.progress import in_parallel, reporting
from superfactor.interpretation.refits.refitting import shuffled
from superfactor.interpretation.tables import ENDS, check_count, extremes, top_features
from superfactor.interpretation.view import DEFAULT, FactorView, arrange, factor_view, source_of, view_names
from superfactor.options import Options
from superfactor.samples import moments_of
from superfactor.spectrum import DataMatrix, compress

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Stability:
    """How often the factors of a model and their top features are found again.

    Attributes
    ----------
    table : DataFrame
        `top_features` of the model with two additional columns. ``frequency``, from 0 to 1: the share of
        resamples in which the feature is again among the top n at the same end of the same factor.
        ``frequency_shuffled``: the same for the feature at this place in fits to shuffled labels or other
        outcomes; NaN without shuffles, or if no shuffle has a feature at this place.
    similarity : array of shape (n_resamples, r)
        Similarity of each factor of the model to the matched factor of a resample: ``|cosine|`` of their
        correlations with all features. 1 means the same factor.
    n_resamples : int
        The number of refits.
    predictive : array of shape (r,) of bool, or None
        Which factors contribute to the prediction; the others are background.
    similarity_shuffled : array of shape (m, r), or None
        ``similarity`` for shuffled outcomes.
    shuffled : {"labels", "outcomes"}
        What was shuffled.

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
    >>> sorted(found.table.columns)  # doctest: +ELLIPSIS
    ['correlation', 'disagrees', 'end', 'factor', 'feature', 'frequency', 'frequency_shuffled', ...
    """

    table: DataFrame
    similarity: Any
    n_resamples: int
    predictive: Any = None
    similarity_shuffled: Any = None
    shuffled: str = "labels"


def stability(
    model: Any,
    X: Any,
    y: Any,
    n_resamples: int = 50,
    *,
    n: int = 5,
    fraction: float = 0.8,
    by: str = "correlation",
    shuffles: int = 5,
    rotation: str | None = None,
    positive: Any = None,
    covariates: Any = None,
    sample_weight: Any = None,
    random_state: Any = None,
    progress: Any = None,
    n_jobs: int | None = None,
) -> Stability:
    """Measure how often the top features of each factor are found again if samples are left out.

    The estimator is fitted again to random subsets of the samples, drawn without replacement and class by
    class. Preprocessing is not fitted again, and a search is not repeated. Each subset is weighted up to the
    weight of all samples, so that ξ and λ mean the same in every fit. Factors of a refit are matched one to
    one to those of the model so that the sum of ``|cosine|`` of their correlations with all features is
    largest, and get their signs. In the predictive rotation, predictive factors are matched to predictive
    factors and background factors to background factors.

    Subsets share samples with the fit, so some features are found again even if the outcome is random. The
    same is therefore repeated with shuffled outcomes as a reference.

    Refits are full fits without a certificate; they include further starts if an optimum is hard to prove.
    With wide X they share the products of samples. The time is mostly that of `n_resamples` fits of a small
    matrix.

    Parameters
    ----------
    model : fitted model
        As for `factor_view`, but no FactorView.
    X, y
        The training data, in the form ``model.fit`` took.
    n_resamples : int, default=50
        The number of refits.
    n : int, default=5
        Features at each end of a factor, as in `top_features`.
    fraction : float, default=0.8
        Share of the samples of each class in a resample, between 0 and 1.
    by : {"correlation", "weight"}, default="correlation"
        The ranking criterion of features, as in `top_features`.
    shuffles : int, default=5
        The number of shuffles of the outcomes. They share another `n_resamples` refits. 0 means none.
    rotation : None, "predictive", "variance" or "varimax", default=None
        As in `factor_view`, for the model and the refits.
    positive : class label, optional
        As in `factor_view`.
    covariates, sample_weight : optional
        Covariates and weights of the training data.
    random_state : int, Generator, RandomState or None, default=None
        For the choice of samples. None is a fixed seed.
    progress : None, True or function of (done, total), default=None
        True shows a bar (requires rich).
    n_jobs : int or None, default=None
        Processes, as in scikit-learn.

    Returns
    -------
    stability : Stability
        How often factors and their top features are found again.

    Notes
    -----
    A high frequency means that a feature does not depend on single samples. A low frequency can mean that it
    is one of many similar features. Compare it with ``frequency_shuffled``: only the difference is evidence
    of a relation to the outcome. `stable_features` gives an error bound.

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
    0.9
    """
    check_count("n_resamples", n_resamples)
    if not isinstance(shuffles, Integral) or isinstance(shuffles, bool) or shuffles < 0:
        raise ValueError(f"shuffles={shuffles!r}: an integer >= 0 is required")
    shuffles = min(shuffles, n_resamples)  # at least one refit per shuffle
    fitted = fitted_model(model)
    view = factor_view(model, rotation=rotation, positive=positive)
    data = model_data(fitted, X, y, covariates, "stability")
    weight = inputs.check_weights(sample_weight, data.X)
    weight = np.ones(data.X.shape[0]) if weight is None else weight
    strata = data.given.spread(view.outcome.resample_strata(data.given.labelled), UNLABELLED)
    rng = np.random.default_rng(seed_of(random_state))
    draw = partial(_resamples, weight=weight, fraction=fraction, rank=len(view.share), rng=rng)
    parts = list(draw(strata, n_resamples))
    refits = _Refits(fitted, data, weight, rotation, positive)

    def returns(reference: FactorView, order: Any, parts: list[Any], report: Any = None) -> tuple[Any, Any]:
        return _returns(reference, refits.views(order, parts, n_jobs), by, n, refits.by_kind, report)

    table, total = top_features(view, n, by=by), n_resamples + (n_resamples + 1) * bool(shuffles)
    with reporting(progress, "Refitting on resamples") as report:
        report(0, total)
        everyone = np.arange(len(weight))
        frequency, similarity = returns(view, everyone, parts, lambda done: report(done, total))
        table["frequency"] = _listed(table, frequency)
        null, alike = [], []
        for k in range(shuffles):
            order = shuffled(view.outcome, data.given, np.flatnonzero(weight), rng)
            count = n_resamples // shuffles + (k < n_resamples % shuffles)
            reference = refits.view(order, np.flatnonzero(weight))
            again = returns(reference, order, list(draw(strata[order], count)))
            null.append(again[0])
            alike.append(again[1])
            report(n_resamples + (k + 1) * (n_resamples + 1) // shuffles, total)
    places = (len(view.share), 2, n)
    table["frequency_shuffled"] = _listed(table, _mean(np.reshape(null, (-1, *places))))
    by_chance = np.concatenate(alike) if alike else None
    return Stability(table, similarity, n_resamples, view.predictive, by_chance, view.outcome.shuffled)


def _listed(table: DataFrame, values: Any) -> Any:
    """Return values (r, 2, n), by factor, end and rank, as a column of the table."""
    ends = table["end"].map({end: i for i, end in enumerate(ENDS)})
    return values[table["factor"] - 1, ends, table["rank"] - 1]


def _mean(values: Any) -> Any:
    """Return the mean over the first axis without NaN; NaN if all are."""
    known = np.isfinite(values)
    total, count = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


class _Refits:
    """Views of the model, fitted to some of the samples."""

    def __init__(
        self, fitted: FittedModel, data: ModelData, weight: Any, rotation: str | None, positive: Any
    ):
        self.data, self.weight, self.rotation = data, weight, rotation
        self.shown = fitted.outcome.shown_outputs(fitted.estimator, positive)
        self.names = view_names(fitted)
        self.estimator = refittable(fitted.estimator)
        # A constraint holds for the original entries, so X cannot be compressed.
        self.compresses = fitted.estimator.constraint is None
        stored = data.X.nnz if sp.issparse(data.X) else None
        wide = self.compresses and Options().compression_pays(data.X.shape, stored)
        # XXᵀ, of which all refits use submatrices.
        self.gram = DataMatrix(data.X).gram() if wide and not inputs.is_foreign(data.X) else None
        # In this rotation predictive factors are matched to predictive ones.
        self.by_kind = rotation in (None, DEFAULT)

    def views(self, order: Any, parts: list[Any], n_jobs: int | None) -> Iterator[FactorView]:
        """Return the factors of a fit to each part of the samples."""
        return in_parallel(self.view, ((order, rows) for rows in parts), n_jobs)

    def view(self, order: Any, rows: Any) -> FactorView:
        """Return the factors of a fit to the samples at `rows`; wide X are compressed to their row space.

        Sample i has the answer of sample ``order[i]``: counts come with their exposures.
        """
        X, weight, extra = inputs.take(self.data.X, rows, axis=0), self.weight[rows], self.data.covariates
        small = None
        if self.compresses:
            gram = None if self.gram is None else self.gram[np.ix_(rows, rows)]
            small = compress(DataMatrix(X), gram=gram)
        if small is not None and len(small.values) < self.estimator.n_components:
            small = None
        again = self.data.refit(
            clone(self.estimator),
            X if small is None else small.rows * small.values,
            self.data.y[order[rows]],
            order[rows],
            covariates=None if extra is None else extra[rows],
            sample_weight=weight * (self.weight.sum() / weight.sum()),
        )
        source = source_of(again, self.shown)
        if small is not None:  # X = ZVᵀ with coordinates Z, so XᵀDS = V·ZᵀDS
            source = replace(
                source,
                weights=small.expand(source.weights),
                covariance=small.expand(source.covariance),
                scale=moments_of(X, np.zeros((X.shape[1], 0)), weight)[1].feature_scale,
            )
        return arrange(source, self.rotation, self.names)


def _returns(
    view: FactorView, views: Iterable[FactorView], by: str, n: int, by_kind: bool, report: Any = None
) -> tuple[Any, Any]:
    """Return how often top features recur in other views (r, 2, n), and the similarity of factors (views, r).

    Places without a feature are NaN.
    """
    ends = [extremes(row, n) for row in view.shown(by)]
    found, similarity = [], []
    for k, again in enumerate(views):
        kinds = (view.carries, again.carries) if by_kind else None
        _, order, signs, alike = match(view.correlations, again.correlations, kinds)
        back = np.full((len(ends), 2, n), np.nan)
        for j, row in enumerate(again.shown(by)[order] * signs[:, None]):
            for end, (before, after) in enumerate(zip(ends[j], extremes(row, n), strict=True)):
                back[j, end, : len(before)] = np.isin(before, after)
        found.append(back)
        similarity.append(alike)
        if report is not None:
            report(k + 1)
    return np.mean(found, axis=0), np.array(similarity)


def _resamples(
    strata: Any, count: int, *, weight: Any, fraction: float, rank: int, rng: np.random.Generator
) -> Iterator[Any]:
    """Yield sorted positions of the samples in each resample: `fraction` of each stratum, at least one."""
    if not isinstance(fraction, Real) or not 0 < fraction < 1:
        raise ValueError(f"fraction={fraction!r}: a number between 0 and 1 is required")
    present = np.flatnonzero(weight)  # samples with weight zero are ignored
    groups = [present[strata[present] == value] for value in np.unique(strata[present])]
    sizes = [max(1, round(fraction * len(group))) for group in groups]
    if sum(sizes) < rank:
        raise ValueError(
            f"fraction={fraction!r}: resamples of {sum(sizes)} samples are too small for {rank} factors; "
            "a larger fraction or fewer factors are required"
        )
    for _ in range(count):
        chosen = [rng.choice(g, size, replace=False) for g, size in zip(groups, sizes, strict=True)]
        yield np.sort(np.concatenate(chosen))
