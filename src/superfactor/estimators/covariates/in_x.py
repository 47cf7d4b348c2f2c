"""Replace categories and missing values in covariate columns of X by codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from superfactor.estimators import inputs
from superfactor.estimators.covariates.categories import count_missing
from superfactor.estimators.covariates.encoder import CovariateEncoder, name_at
from superfactor.preprocessing.columns import column as column_at
from superfactor.preprocessing.columns import is_frame


def learn_inside(X: Any, columns: Any) -> tuple[Any, CovariateEncoder]:
    """Return the result of `codes_inside`, and the encoder of the covariate columns of X."""
    if columns is None or not _is_whole(X):
        return X, CovariateEncoder()
    names = inputs.column_names(X)
    positions = inputs.covariate_indices(columns, X.shape[1], names)
    chosen = [column_at(X, j) for j in positions]
    called = [name_at(names, j) for j in positions]
    encoder = CovariateEncoder.of_columns(chosen, called, "X: column")
    return codes_inside(X, positions, encoder), encoder


def codes_inside(X: Any, positions: Sequence[int], encoder: CovariateEncoder) -> Any:
    """Return X with codes for categories and missing values in its covariate columns."""
    if not positions or not _is_whole(X) or max(positions) >= X.shape[1]:
        return X  # a shape other than at fit is refused later
    names = inputs.column_names(X)
    codes = {}
    for k, j in enumerate(positions):
        column, said = column_at(X, j), f"X: column {name_at(names, j)!r}"
        if k in encoder.levels and _may_hold_words(X):
            # Single precision is exact for positions, and lets the other columns determine the type of X.
            codes[j] = encoder.code(k, column, said, "position {}".format).astype(np.float32)
        elif k in encoder.medians and count_missing(column):
            codes[j] = encoder.code(k, column, said, "position {}".format)
            if str(column.dtype).lower() == "float32":
                codes[j] = codes[j].astype(np.float32)
    return _with_columns(X, codes) if codes else X


def _with_columns(X: Any, columns: Mapping[int, np.ndarray]) -> Any:
    """Return a copy of X with some columns replaced."""
    if hasattr(X, "isetitem"):
        X = X.copy(deep=False)
        for j, column in columns.items():
            X.isetitem(j, column)
        return X
    if hasattr(X, "with_columns"):
        series = type(X.get_columns()[0])
        return X.with_columns([series(X.columns[j], column) for j, column in columns.items()])
    X = X.copy()
    for j, column in columns.items():
        X[:, j] = column
    return X


def _is_whole(X: Any) -> bool:
    """Return whether X is a table in memory: a DataFrame or a two-dimensional NumPy array."""
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and not isinstance(X, np.memmap)
    return is_frame(X)


def _may_hold_words(table: Any) -> bool:
    """Return whether a table may contain text: a DataFrame, or an array that is not numeric."""
    return is_frame(table) or (isinstance(table, np.ndarray) and table.dtype.kind in "bOUT")
