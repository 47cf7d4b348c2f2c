"""Weights of the columns of X: ``coef_`` for linear predictions, and ``feature_importances_``.

scikit-learn's feature selectors (``SelectFromModel``, ``RFE``) and explainers of linear models use ``coef_``,
with one column for each column of X. Selectors use ``feature_importances_`` if there is no ``coef_``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from superfactor._arrays import Array, NumpyArray, column_norms, indices, namespace
from superfactor.estimators.inputs import as_numpy


class LinearPredictions:
    """``coef_`` and ``feature_importances_`` of a model that predicts from codes."""

    @property
    def coef_(self) -> NumpyArray:
        """Return weights of the columns of X in the prediction, (outputs, ``n_features_in_``)."""
        check_coef(self)
        factorized, covariates = _column_weights(self)
        # Covariates have one coefficient for each output and column, however the factors are used.
        return _in_order(self, self._linear(factorized), self._by_output(covariates.T).T).T  # type: ignore[attr-defined]

    @property
    def feature_importances_(self) -> NumpyArray:
        """Return the change of the activations per unit of each column of X, ``(n_features_in_,)``."""
        check_is_fitted(self)
        weights = _in_order(self, *map(as_numpy, _column_weights(self)))
        return column_norms(self._symmetric(weights.T))  # type: ignore[attr-defined]

    def _linear(self, signal: Array) -> Array:
        """Convert the factors' part of the activations (n, κ) to that of a linear prediction (n, outputs).

        Raises an AttributeError if predictions are not linear.
        """
        coding, prediction = self._coding, self.prediction  # type: ignore[attr-defined]
        return coding.targets(signal, namespace(signal).zeros_like(signal), prediction)


def check_coef(estimator: Any) -> None:
    """Raise an AttributeError if an estimator does not have one coefficient for each column of X."""
    if not hasattr(estimator, "components_"):
        raise AttributeError(f"{type(estimator).__name__!r} object has no attribute 'coef_' before fit")
    if estimator._roles.words_inside.expands:
        raise AttributeError(
            "coef_: a covariate column of X has categories or missing values, hence several coefficients; "
            "they are in covariate_coef_"
        )


def _column_weights(estimator: Any) -> tuple[Array, Array]:
    """Return weights in the activations: of factorized columns (p, κ) and covariate columns of X (c, κ)."""
    beta = estimator._by_activation(estimator.factor_coef_).T
    gamma = estimator._by_activation(estimator.covariate_coef_).T
    return estimator._coding.weights @ beta, gamma[: len(estimator.covariate_columns_), :]


def _in_order(estimator: Any, factorized: Array, covariates: Array) -> Array:
    """Return rows for all columns of X in their order, (n_features_in_, m)."""
    columns = estimator._roles.apart
    if not columns:
        return factorized
    others = np.setdiff1d(np.arange(estimator.n_features_in_), columns)
    rows = np.argsort(np.concatenate([others, columns]))
    xp = namespace(factorized)
    parts = [factorized, covariates]
    if estimator._roles.exposure is not None:  # its logarithm is added without a weight
        parts.append(0.0 * factorized[:1, :])
    return xp.take(xp.concat(parts), indices(factorized, rows), axis=0)
