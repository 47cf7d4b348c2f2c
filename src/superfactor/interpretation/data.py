"""A user's X, y and covariates as the estimator inside a model sees them, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from superfactor.estimators import inputs
from superfactor.estimators.targets import Given
from superfactor.interpretation.models import FittedModel


@dataclass(frozen=True)
class ModelData:
    """Training data after preprocessing.

    Attributes
    ----------
    X : (n, p), the columns that are factorized; dense or sparse
    given : labels or targets, and who has one
    covariates : (n, q) or None: covariate columns of X first, then the covariates given
    """

    X: Any
    given: Given
    covariates: Any

    @property
    def y(self) -> Any:
        """As ``fit`` takes it, None or NaN where a sample has no label."""
        return self.given.marked


def model_data(fitted: FittedModel, X: Any, y: Any, covariates: Any, where: str) -> ModelData:
    """Checked as ``fit`` checks, and against what the model was fitted to."""
    estimator = fitted.estimator
    X, regressors = estimator.split_columns(fitted.preprocess(X), covariates)
    if covariates is None:  # which may be an error
        inputs.check_covariates(None, X, estimator.n_covariates_in_, where)
    given = estimator._given(y, X)
    return ModelData(inputs.as_numpy(X), given, inputs.as_numpy(regressors))


def refittable(estimator: Any, **params: Any) -> Any:
    """A clone for `ModelData`: its covariates are given separately, and nobody asks for a proof."""
    quiet = {"covariate_columns": None, "certify": None, "checkpoint": None, "verbose": 0}
    return clone(estimator).set_params(**quiet, **params)
