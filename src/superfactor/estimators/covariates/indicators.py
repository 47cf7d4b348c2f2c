"""`IndicatorColumns`: encodes covariate columns of X, to place before a scaler."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from superfactor.estimators import inputs
from superfactor.estimators.covariates.in_x import codes_inside, learn_inside


class IndicatorColumns(TransformerMixin, BaseEstimator):
    """Move the covariate columns of X to the end; encode categories and missing values as indicators.

    Missing values in other columns are not changed.

    Parameters
    ----------
    columns : column name(s), index(es) or boolean mask
        ``covariate_columns`` of the estimator that follows.

    Attributes
    ----------
    covariate_columns_ : list of int
        Positions of the covariates in the result of ``transform``.
    levels_ : dict from str to list
        Levels of each categorical column by name, the reference first; for numbers with missing values, the
        median and "missing".
    """

    covariate_columns_: list[int]
    levels_: dict[str, list[Any]]

    def __init__(self, columns: Any = None):
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the levels; y is ignored."""
        numbers, self._words = learn_inside(X, self.columns)
        data = self._checked(numbers, reset=True)
        self._index = inputs.covariate_indices(self.columns, data.shape[1], inputs.column_names(numbers))
        names = self._names(getattr(self, "feature_names_in_", None))
        first = data.shape[1] - len(self._index)
        self.covariate_columns_ = list(range(first, len(names)))
        own = getattr(self, "feature_names_in_", [f"x{j}" for j in range(data.shape[1])])
        self.levels_ = self._words.named([str(own[j]) for j in self._index])
        return self

    def transform(self, X: Any) -> Any:
        """Return numbers (n_samples, features and then covariates)."""
        check_is_fitted(self)
        data = self._checked(codes_inside(X, self._index, self._words), reset=False)
        rest, inside = inputs.split_columns(data, self._index)
        covariates: Any = self._words.expand(inside)
        return np.hstack([rest, covariates])

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return names of the columns of ``transform``, such as ``sex=M`` for an indicator."""
        check_is_fitted(self)
        own = getattr(self, "feature_names_in_", None)
        return np.asarray(self._names(input_features if own is None else own), dtype=object)

    def _names(self, given: Any) -> list[str]:
        names = [f"x{j}" for j in range(self.n_features_in_)] if given is None else list(given)
        chosen = [str(names[j]) for j in self._index]
        rest = [str(name) for name in np.delete(names, self._index)]
        return [*rest, *self._words.column_names(chosen)]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "levels_")
