"""A copy of a fitted model without column names, for speed.

scikit-learn checks every column name in every call. For 20,000 columns this takes longer than all other work
for the page. Here the names are checked once.
"""

from __future__ import annotations

import copy
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from superfactor.interpretation.models import FittedModel
from superfactor.preprocessing import BlockScaler


def without_names(fitted: FittedModel, *tables: Any) -> tuple[FittedModel, list[Any]]:
    """Return the model and its X (training, held-out or None) as arrays, if their names agree.

    Otherwise, and if a step may use the names, they are returned unchanged, and scikit-learn reports errors.
    """
    chain = (*fitted.steps, fitted.estimator)
    names = getattr(chain[0], "feature_names_in_", None)
    simple = all(isinstance(step, StandardScaler | BlockScaler) for step in fitted.steps)
    given = [X for X in tables if X is not None]
    if not simple or names is None or not all(_has_names(X, names.tolist()) for X in given):
        return fitted, list(tables)
    *steps, estimator = map(_unnamed, chain)
    # Fitted attributes are positions, but this parameter is looked up in X again.
    if isinstance(getattr(estimator, "exposure_column", None), str):
        estimator.exposure_column = names.tolist().index(estimator.exposure_column)
    arrays = [None if X is None else X.to_numpy() for X in tables]
    return FittedModel(estimator, tuple(steps)), arrays


def to_refit(model: Any, X: Any, bare: FittedModel, array: Any) -> tuple[Any, Any]:
    """Return the unnamed model and its X if no parameter names a column, so that they can be fitted again.

    Otherwise return the model and X of the caller.
    """
    columns = bare.estimator.covariate_columns
    by_name = columns is not None and any(isinstance(c, str) for c in columns)
    # A ColumnScaler can name the columns that it passes through.
    if by_name or not all(type(step) is StandardScaler for step in bare.steps):
        return model, X
    return whole(bare), array


def whole(bare: FittedModel) -> Pipeline:
    """Return the model as a pipeline."""
    named = [(f"step {k}", step) for k, step in enumerate(bare.steps)]
    return Pipeline([*named, ("smf", bare.estimator)])


def _has_names(X: Any, names: list[str]) -> bool:
    if not hasattr(X, "columns") or not hasattr(X, "to_numpy"):
        return False
    columns = X.columns
    return (columns.tolist() if hasattr(columns, "tolist") else list(columns)) == names


def _unnamed(step: Any) -> Any:
    """Return a copy without names that returns arrays."""
    step = copy.copy(step)
    for name in ("feature_names_in_", "_sklearn_output_config"):
        vars(step).pop(name, None)
    return step
