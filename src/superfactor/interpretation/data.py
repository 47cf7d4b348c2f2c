"""A user's X, y and covariates as the estimator inside a model sees them, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier

from superfactor.estimators import inputs
from superfactor.interpretation.models import FittedModel


@dataclass(frozen=True)
class ModelData:
    """Training data after preprocessing.

    Attributes
    ----------
    X : (n, p), the columns that are factorized; dense or sparse
    y : (n,) labels, or (n,) or (n, κ) targets
    covariates : (n, q) or None: covariate columns of X first, then the covariates given
    """

    X: Any
    y: Any
    covariates: Any


def model_data(fitted: FittedModel, X: Any, y: Any, covariates: Any, where: str) -> ModelData:
    """Checked as ``fit`` checks, and against what the model was fitted to."""
    estimator = fitted.estimator
    X = inputs.check_data(estimator, fitted.preprocess(X), reset=False, method=where)
    extra = inputs.check_covariates(covariates, X, estimator._n_extra_covariates, where)
    check = inputs.check_labels if is_classifier(estimator) else inputs.check_real_targets
    y = check(y, X, type(estimator).__name__)
    X, inside = inputs.split_columns(X, estimator._covariate_index)
    blocks = [np.asarray(inputs.as_numpy(part)) for part in (inside, extra) if part is not None]
    X = X if sp.issparse(X) else np.asarray(inputs.as_numpy(X))
    return ModelData(X, y, np.hstack(blocks) if blocks else None)


def refittable(estimator: Any, **params: Any) -> Any:
    """A clone for `ModelData`: its covariates are given separately, and nobody asks for a proof."""
    quiet = {"covariate_columns": None, "certify": None, "checkpoint": None, "verbose": 0}
    return clone(estimator).set_params(**quiet, **params)
