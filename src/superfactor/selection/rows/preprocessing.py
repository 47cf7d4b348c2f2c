"""What stands before a model in every fold: completion of gaps, and scaling by name or by a transformer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from superfactor.preprocessing import LowRankImputer
from superfactor.preprocessing.scaling import ColumnScaler

# Besides None and transformers.
PREPROCESSING = ("center", "standardize")
IMPUTATION = ("lowrank", "mean")


def is_transformer(given: Any) -> bool:
    """Is this a transformer of the user's own, and no name?"""
    return hasattr(given, "fit") and hasattr(given, "transform")


def scaler_of(preprocess: str | None, *, sparse: bool, passed: Any = None) -> StandardScaler | None:
    """The step of a pipeline that preprocesses like this; sparse columns keep their means, `passed` all."""
    if preprocess is None:
        return None
    if passed is not None:
        return ColumnScaler([passed], with_mean=not sparse, with_std=preprocess == "standardize")
    return StandardScaler(with_mean=not sparse, with_std=preprocess == "standardize")


def fresh(transformer: Any, X: Any) -> Any:
    """A clone, not yet fitted, which hands on the names of the columns where X has any."""
    found = clone(transformer)
    if hasattr(X, "columns") and hasattr(found, "set_output"):
        try:
            found.set_output(transform="pandas")
        except ValueError:  # one of its steps cannot, such as TfidfVectorizer in a ColumnTransformer
            return clone(transformer)
    return found


def steps_of(transformer: Any, X: Any) -> list[tuple[str, Any]]:
    """A transformer of X as steps of a pipeline, not yet fitted: one, or those of a pipeline."""
    found = fresh(transformer, X)
    return list(found.steps) if isinstance(found, Pipeline) else [("preprocess", found)]


def has_gaps(X: Any) -> bool:
    """Whether NaN stands in X, dense or sparse."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(values)  # no copy; NaN also where infinities meet
    return bool(np.isnan(total) and np.isnan(values).any())


def imputer_for(impute: Any, X: Any) -> Any:
    """What completes X (n, p) in every fold, not yet fitted; None where nothing is missing."""
    if impute is None or sp.issparse(X) or not has_gaps(X):
        return None
    if is_transformer(impute):
        return clone(impute)
    # A column may have no value in the training part of a fold.
    if impute == "mean":
        return SimpleImputer(keep_empty_features=True)
    return LowRankImputer(keep_empty_features=True, random_state=0)


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings of folds: what holds for all samples is said once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
