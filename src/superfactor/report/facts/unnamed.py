"""A fitted model without the names of its columns, for speed.

scikit-learn compares and inspects every column name in every call, which for 20,000 of them takes
longer than all else that the page needs. Here it is done once.
"""

from __future__ import annotations

import copy
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from superfactor.interpretation.models import FittedModel
from superfactor.preprocessing import BlockScaler


def without_names(fitted: FittedModel, *tables: Any) -> tuple[FittedModel, list[Any]]:
    """The model and its X (training, held-out or None) as arrays, where their names agree.

    Otherwise, and where a step may want the names, both stay as they are, and scikit-learn says
    what is wrong with them.
    """
    chain = (*fitted.steps, fitted.estimator)
    names = getattr(chain[0], "feature_names_in_", None)
    simple = all(isinstance(step, StandardScaler | BlockScaler) for step in fitted.steps)
    given = [X for X in tables if X is not None]
    if not simple or names is None or not all(_has_names(X, names.tolist()) for X in given):
        return fitted, list(tables)
    *steps, estimator = map(_nameless, chain)
    # Fitted attributes are positions; this one is looked up in X again.
    if isinstance(getattr(estimator, "exposure_column", None), str):
        estimator.exposure_column = names.tolist().index(estimator.exposure_column)
    arrays = [None if X is None else X.to_numpy() for X in tables]
    return FittedModel(estimator, tuple(steps)), arrays


def to_refit(model: Any, X: Any, bare: FittedModel, array: Any) -> tuple[Any, Any]:
    """The nameless model and its X where they can be fitted again: where no parameter names a column.

    Otherwise the model and X as the caller has them.
    """
    columns = bare.estimator.covariate_columns
    by_name = columns is not None and any(isinstance(c, str) for c in columns)
    # A ColumnScaler may name the columns that it leaves as they are.
    if by_name or not all(type(step) is StandardScaler for step in bare.steps):
        return model, X
    return whole(bare), array


def whole(bare: FittedModel) -> Pipeline:
    """The model as one."""
    named = [(f"step {k}", step) for k, step in enumerate(bare.steps)]
    return Pipeline([*named, ("smf", bare.estimator)])


def _has_names(X: Any, names: list[str]) -> bool:
    if not hasattr(X, "columns") or not hasattr(X, "to_numpy"):
        return False
    columns = X.columns
    return (columns.tolist() if hasattr(columns, "tolist") else list(columns)) == names


def _nameless(step: Any) -> Any:
    """A copy that knows no names, and gives arrays."""
    step = copy.copy(step)
    for name in ("feature_names_in_", "_sklearn_output_config"):
        vars(step).pop(name, None)
    return step
