"""Missing values of the table, and how they were imputed before the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.impute import MissingIndicator
from sklearn.utils import _safe_indexing

from superfactor.interpretation.models import FittedModel
from superfactor.preprocessing.columns import positions_of
from superfactor.report.formats import count, plural, share

# By name, because IterativeImputer of scikit-learn requires an experimental import.
IMPUTERS = ("LowRankImputer", "SimpleImputer", "KNNImputer", "IterativeImputer")
_SIMPLE = {
    "mean": "the means of the features",
    "median": "the medians of the features",
    "most_frequent": "the most frequent values of the features",
    "constant": "a constant",
}


@dataclass(frozen=True)
class Counted:
    """Number of missing values and of all values, without features that have no value."""

    n_missing: int
    n_values: int

    def __str__(self) -> str:
        part = share(self.n_missing / self.n_values)
        return f"{count(self.n_missing)} of {count(self.n_values)} values ({part})"


@dataclass(frozen=True)
class Filled:
    """Missing values that an imputer of the pipeline replaced."""

    train: Counted
    test: Counted | None  # None without held-out samples, or without missing values in them
    how: str  # description of the imputation


def filled_in(fitted: FittedModel, X: Any, X_test: Any) -> Filled | None:
    """Return the missing values in the input of the imputer; None without an imputer or missing values."""
    for step in fitted.steps:
        if type(step).__name__ in IMPUTERS:
            train, test = (None if part is None else _counted(step, part) for part in (X, X_test))
            if train is not None and train.n_missing:
                shown = test if test is not None and test.n_missing else None
                return Filled(train, shown, _how(step))
        X, X_test = (None if part is None else step.transform(part) for part in (X, X_test))
    return None


def _counted(step: Any, X: Any) -> Counted:
    """Count the missing values in the columns that a step imputes."""
    passed = positions_of(getattr(step, "passthrough_columns", None), step, "passthrough_columns")
    if passed:
        X = _safe_indexing(X, np.setdiff1d(np.arange(np.shape(X)[1]), passed), axis=1)
    if sp.issparse(X):  # missing values are stored entries
        return Counted(int(np.isnan(X.data).sum()), int(np.prod(X.shape)))
    mark = getattr(step, "missing_values", np.nan)
    gone = MissingIndicator(missing_values=mark, features="all").fit_transform(X)
    gone = gone[:, ~gone.all(axis=0)]
    return Counted(int(gone.sum()), gone.size)


def _how(step: Any) -> str:
    kind = type(step).__name__
    if kind == "LowRankImputer":
        if not step.n_components_:  # no components, only the means
            return f"{_SIMPLE['mean']} over the training samples"
        return f"a low-rank fit to the training samples ({plural(step.n_components_, 'component')})"
    if kind == "KNNImputer":
        return f"the means of the {step.n_neighbors} nearest training samples"
    if kind == "IterativeImputer":
        return "regressions on the other features"
    found = _SIMPLE.get(step.strategy, "one value for each feature")
    return found if step.strategy == "constant" else f"{found} over the training samples"
