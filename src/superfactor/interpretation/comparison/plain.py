"""Similarity of a model to plain methods: ridge regression and principal components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

from superfactor.estimators import inputs
from superfactor.interpretation.models import ModelData, fitted_model, model_data
from superfactor.interpretation.view import factor_view
from superfactor.outcomes import Outcome
from superfactor.samples import moments_of
from superfactor.selection.evaluation.baselines import first_deviation
from superfactor.selection.rows.coordinates import short_rows


@dataclass(frozen=True)
class Nearness:
    """Similarity of a model to plain methods.

    Attributes
    ----------
    cosine : float or None
        Cosine between the weights of the features in the prediction and those of tuned ridge regression;
        with several classes or targets the mean of the canonical cosines. 1 means the same direction. None
        if the factors have no effect.
    variance_kept : float
        The variance that the factors explain, divided by that of the same number of principal components.
    n_components : int
        The number of factors.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import nearness
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = nearness(SMFClassifier().fit(scale(X), y), scale(X), y)
    >>> round(found.cosine, 2), round(found.variance_kept, 2)
    (0.93, 0.98)
    >>> found.statement.split("; ")[1]
    'the 2 factors keep 98 % of the variance that 2 principal components explain.'
    """

    cosine: float | None
    variance_kept: float
    n_components: int

    @property
    def statement(self) -> str:
        """Both numbers in one sentence."""
        r, share = self.n_components, f"{100 * self.variance_kept:.0f} %"
        factors = "the factor keeps" if r == 1 else f"the {r} factors keep"
        components = "1 principal component explains" if r == 1 else f"{r} principal components explain"
        kept = f"{factors} {share} of the variance that {components}."
        if self.cosine is None:
            return kept[0].upper() + kept[1:]
        return (
            f"The direction of the prediction has the cosine {self.cosine:.2f} with that of tuned ridge "
            f"regression; {kept}"
        )


def nearness(model: Any, X: Any, y: Any, *, covariates: Any = None, sample_weight: Any = None) -> Nearness:
    """Measure how similar the prediction is to ridge regression, and the factors to principal components.

    Parameters
    ----------
    model : fitted model
        As for `factor_view`, but no FactorView.
    X, y, covariates, sample_weight
        The training data, in the form ``model.fit`` took.

    Returns
    -------
    nearness : Nearness
        Two numbers, and a sentence about them.

    Notes
    -----
    Ridge regression uses the loss of the outcome (logistic for all links), the preprocessed features, the
    covariates, and the sample and class weights, and is tuned by cross-validation. For survival times it uses
    the leading 300 directions of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from superfactor import SMFRegressor
    >>> from superfactor.interpretation import nearness
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = nearness(SMFRegressor(n_components=2).fit(X, y), X, y)
    >>> bool(0 < found.cosine <= 1), bool(0 < found.variance_kept <= 1)
    (True, True)
    """
    fitted = fitted_model(model)
    view = factor_view(model)
    data = model_data(fitted, X, y, covariates, "nearness")
    weight = inputs.check_weights(sample_weight, data.X)
    weight = np.ones(len(data.given.values)) if weight is None else weight
    r = len(view.share)
    rows = short_rows(data.X)
    best = _leading_variance(inputs.take(rows, np.flatnonzero(weight), axis=0), weight[weight > 0], r)
    total = moments_of(data.X, np.zeros((data.X.shape[1], 0)), weight)[1].variance
    kept = view.explained * total / best if best > 0 else 1.0
    cosine, ridge = None, None
    if np.any(view.coef):
        ridge = _ridge(rows, data, weight, fitted.estimator, view.outcome)
    if ridge is not None:
        own = (view.coef @ view.weights).T
        if rows is not data.X:  # in the coordinates of `rows`, with the same activations
            own = np.linalg.lstsq(rows, data.X @ own, rcond=None)[0]
        cosine = _canonical(own, ridge)
    return Nearness(cosine, min(kept, 1.0), r)


def _leading_variance(rows: Any, weight: Any, r: int) -> float:
    """Return the weighted variance of X (n, m) along its leading r principal components."""
    weight = weight / weight.sum()
    mean, root = rows.T @ weight, np.sqrt(weight)

    def times(v: Any) -> Any:
        return root * (rows @ v.ravel() - mean @ v.ravel())

    def back(u: Any) -> Any:
        u = root * u.ravel()
        return rows.T @ u - mean * u.sum()

    if r < min(rows.shape):
        centred = LinearOperator(rows.shape, matvec=times, rmatvec=back, dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(min(rows.shape))
        return float(np.sum(svds(centred, r, v0=start, return_singular_vectors=False) ** 2))
    return float(
        weight @ np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        if sp.issparse(rows)
        else weight @ np.sum(rows**2, axis=1)
    ) - float(mean @ mean)


def _ridge(rows: Any, data: ModelData, weight: Any, estimator: Any, outcome: Outcome) -> Any:
    """Return directions (m, c) of tuned ridge regression on the labelled rows and covariates; or None."""
    given, m = data.given, int(rows.shape[1])
    known = np.flatnonzero(weight > 0 if given.known is None else given.known & (weight > 0))
    rows, values, weight = inputs.take(rows, known, axis=0), given.values[known], weight[known]
    weight = weight * outcome.class_weights(estimator, values, weight)
    values = outcome.out_of(values, None if data.exposures is None else data.exposures[known])
    size = first_deviation(rows)
    Z = rows / size
    if data.covariates is not None:
        extra = data.covariates[known]
        spread = extra.std(axis=0)
        extra = (extra - extra.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        Z = sp.hstack([Z, extra], "csr") if sp.issparse(Z) else np.hstack([Z, extra])
    found = outcome.ridge_directions(Z, values, Outcome.strengths, weight)
    return None if found is None else found[:m]


def _canonical(one: Any, other: Any) -> float:
    """Return the mean cosine of the principal angles between the spans of two sets of columns."""
    bases = []
    for columns in (one, other):
        U, values, _ = np.linalg.svd(columns, full_matrices=False)
        bases.append(U[:, values > 1e-9 * values.max(initial=0.0)])
    cosines = np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)
    return float(np.mean(np.clip(cosines, 0, 1)))
