"""The factors of plain SVD, which ignores the labels, for comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import svds

from superfactor.estimators import inputs
from superfactor.estimators.parameters import check_rank
from superfactor.interpretation.models import ModelData, fitted_model, model_data, refittable
from superfactor.interpretation.tables import check_count
from superfactor.interpretation.view import FactorView, Source, arrange, check_rotation, view_names
from superfactor.models import model_named
from superfactor.options import Options
from superfactor.samples import moments_of
from superfactor.spectrum import DataMatrix, compress, truncated_svd

# For dense tall tables of this size a compression takes copies of X; their leading directions are enough.
_MANY_VALUES = 10_000_000
# Of the largest square of a singular value: smaller ones have fewer than ten digits in a Gram matrix.
_LEAST_SQUARE = 1e-6


def unsupervised(
    model: Any,
    X: Any,
    y: Any,
    *,
    covariates: Any = None,
    sample_weight: Any = None,
    n_components: int | None = None,
    rotation: str | None = None,
    positive: Any = None,
) -> FactorView:
    """Return the factors without supervision, with the same rank and on the same data.

    They are the truncated SVD of X after the model's preprocessing, samples weighted as given. Their
    coefficients come from a regression of y on the codes with the model's link, class weights, covariates and
    ridge λ: the model for ξ → ∞.

    Parameters
    ----------
    model : fitted model
        As for `factor_view`, but no FactorView.
    X, y, covariates, sample_weight
        The training data, in the form ``model.fit`` took.
    n_components : int, optional
        The rank; by default that of the model.
    rotation : None, "predictive", "variance" or "varimax", default=None
        None is "variance" here: the principal axes of X.
    positive : class label, optional
        As in `factor_view`.

    Returns
    -------
    view : FactorView
        With ``model="svd"`` and ``supervised=False``, in the order and sign of `factor_view`. Functions that
        take a model or FactorView accept it: ``top_features(unsupervised(model, X, y))``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import supervised_factors, unsupervised
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X - X.mean(), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> model = SMFClassifier(n_components=2).fit(X, y)
    >>> view = unsupervised(model, X, y)
    >>> view.model, view.supervised
    ('svd', False)
    >>> supervised_factors(view)["share_of_variance"].round(2).tolist()
    [0.92, 0.05]
    """
    check_rotation(rotation)
    fitted = fitted_model(model)
    rank = fitted.estimator.n_components if n_components is None else n_components
    check_count("n_components", rank)
    data = model_data(fitted, X, y, covariates, "unsupervised")
    check_rank(rank, *data.X.shape)
    weight = inputs.check_weights(sample_weight, data.X)
    values, atoms = _svd(data.X if weight is None else _weighted(data.X, np.sqrt(weight)), rank)
    codes = np.asarray(data.X @ atoms, dtype=np.float64)
    effect = fitted.estimator._by_output(_regression(fitted.estimator, data, codes, values, weight))
    shown = fitted.outcome.shown_outputs(fitted.estimator, positive)
    present = data.X if weight is None else inputs.take(data.X, np.flatnonzero(weight), axis=0)
    moments = moments_of(present, atoms, None if weight is None else weight[weight > 0])[1]
    source = Source(
        weights=atoms,
        covariance=moments.K,
        C=moments.C,
        mean=moments.score_mean,
        scale=moments.feature_scale,
        shown=shown,
        effect=shown.effects(effect),
        codes=codes,
    )
    names = view_names(fitted) | {"model": "svd", "supervised": False}
    return arrange(source, rotation or "variance", names)


def _weighted(X: Any, root: Any) -> Any:
    """Return X (n, p) with row i multiplied by ``root[i]``."""
    return X.multiply(root[:, None]).tocsr() if sp.issparse(X) else X * root[:, None]


def _svd(X: Any, rank: int) -> tuple[Any, Any]:
    """Return σ (r,) and V (p, r) of X (n, p); zeros beyond the rank."""
    n, p = X.shape
    if n > p and not sp.issparse(X) and X.size >= _MANY_VALUES:
        found = _leading(X, rank)
        if found is not None:
            return found
    data = DataMatrix(X if n <= p else X.T)
    small = compress(data)
    if small is not None:  # from the smaller Gram matrix, which is accurate enough here
        k = min(rank, len(small.values))
        values = small.values[:k] * data.scale
        V = small.expand(np.eye(len(small.values), k)) if n <= p else small.rows[:, :k]
    elif _dense_svd(X, rank):
        _, values, Vt = truncated_svd(X.toarray() if sp.issparse(X) else X, rank)
        V = Vt.T
    else:
        _, values, Vt = svds(X, k=rank, v0=np.random.default_rng(0).standard_normal(min(n, p)))
        values, V = values[::-1], Vt[::-1].T
    k = int(np.sum(values > values[0] * max(n, p) * np.finfo(values.dtype).eps))
    return _kept(values, k, rank), _kept(V, k, rank)


def _leading(X: Any, rank: int) -> tuple[Any, Any] | None:
    """Return the same for tall X by leading eigenvectors of its Gram matrix; None if some are too small."""
    p = X.shape[1]
    squares, V = eigh(DataMatrix(X).gram(), subset_by_index=[p - rank, p - 1])
    squares, V = squares[::-1], V[:, ::-1]
    if not squares[-1] > _LEAST_SQUARE * squares[0]:
        return None
    return np.sqrt(squares), V


def _dense_svd(X: Any, rank: int) -> bool:
    """Return whether to use a dense SVD; for sparse X only at full rank or for zeros, where ARPACK fails."""
    if rank == min(X.shape):
        return True
    return not X.count_nonzero() if sp.issparse(X) else min(X.shape) <= Options.compressed_side


def _kept(part: Any, k: int, rank: int) -> Any:
    """Return the first k entries along the last axis in float64, followed by zeros up to `rank`."""
    out = np.zeros((*part.shape[:-1], rank))
    out[..., :k] = part[..., :k]
    return out


def _regression(estimator: Any, data: ModelData, codes: Any, values: Any, weight: Any) -> Any:
    """Return coefficients (κ, r) of the regression of y on the codes (n, r), with the ridge of the model.

    At full rank the factorization of the codes is exact, so the fit is a regression on them. The ridge of the
    feature model is on the activations, which equals a ridge on the coefficients of codes of norm 1.
    """
    used = values > 0
    unit = model_named(estimator.model).ridge_unit(values[used])
    codes = codes[:, used] / unit
    effect = np.zeros((len(estimator._by_activation(estimator.factor_coef_)), len(values)))
    if codes.shape[1]:
        free = {"constraint": None, "solver": "auto", "step_size": "auto", "max_iter": None}
        alone = refittable(estimator, model="filter", n_components=codes.shape[1], **free)
        beside = {"covariates": data.covariates, "sample_weight": weight}
        regression = data.refit(alone, codes, data.y, **beside)
        beta = regression._by_activation(regression.factor_coef_)
        effect[:, used] = beta @ regression.components_ / unit
    return effect
