"""How much each feature counts in the predictions: what selectors of features ask a model for.

scikit-learn's selectors (``SelectFromModel``, ``RFE``) take ``coef_`` for weights of the features, one
column each. Here it weighs the codes, of which there are a few. So selectors are told that there is no
``coef_``, and turn to ``feature_importances_``, their second choice.
"""

from __future__ import annotations

import sys
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from superfactor._arrays import NumpyArray
from superfactor.estimators import inputs


def refuse_selectors(depth: int = 1) -> None:
    """Raise an AttributeError where a selector of features asks for ``coef_``.

    Parameters
    ----------
    depth : how many callers above the caller of this function it is who asks
    """
    asking = str(sys._getframe(depth + 1).f_globals.get("__name__", ""))
    if asking.startswith("sklearn.feature_selection"):
        raise AttributeError(
            "coef_ weighs the codes and not the features; "
            "importance_getter='feature_importances_' weighs the features"
        )


class _CodeWeights:
    """``coef_``, an attribute as any other but for selectors of features."""

    def __get__(self, estimator: Any, owner: type) -> Any:
        if estimator is None:
            return self
        refuse_selectors()
        if "coef_" not in vars(estimator):
            raise AttributeError(f"{owner.__name__!r} object has no attribute 'coef_' before fit")
        return vars(estimator)["coef_"]

    def __set__(self, estimator: Any, weights: Any) -> None:
        vars(estimator)["coef_"] = weights


class FeatureImportancesMixin:
    """``feature_importances_`` of a model that predicts from codes."""

    coef_: NumpyArray = cast(Any, _CodeWeights())

    @property
    def feature_importances_(self) -> NumpyArray:
        check_is_fitted(self)
        return feature_importances(self)


def feature_importances(estimator: Any) -> NumpyArray:
    """Lengths (n_features_in_,) of the change of the activations by one unit of each column of X.

    The weights of a column that is factorized are its row of W·β (W⁺ᵀβ in the feature model), those of a
    covariate column its row of γ. With classes, activations count relative to their mean over all classes,
    so that it does not matter which one comes first.
    """
    names = ("coef_", "covariate_coef_")
    beta, gamma = (np.asarray(inputs.as_numpy(getattr(estimator, name))).T for name in names)
    columns = estimator.covariate_columns_
    weights = np.empty((estimator.n_features_in_, beta.shape[1]))
    factorized = np.delete(np.arange(len(weights)), columns)
    # The codes of the unit vectors, whatever the model does to code.
    units = sp.eye_array(len(factorized), format="csr", dtype=beta.dtype)
    weights[factorized] = estimator._coding.moved(inputs.as_numpy).codes(units) @ beta
    weights[columns] = gamma[: len(columns)]
    if is_classifier(estimator):
        weights = np.hstack([np.zeros_like(weights[:, :1]), weights])
        weights -= weights.mean(axis=1, keepdims=True)
    return np.linalg.norm(weights, axis=1)
