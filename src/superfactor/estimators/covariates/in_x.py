"""Words and gaps in covariate columns of X: codes in their places."""

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
    """X as `codes_inside` gives it, and the encoder of its covariate columns, ``covariate_columns``."""
    if columns is None or not _is_whole(X):
        return X, CovariateEncoder()
    names = inputs.column_names(X)
    positions = inputs.covariate_indices(columns, X.shape[1], names)
    chosen = [column_at(X, j) for j in positions]
    called = [name_at(names, j) for j in positions]
    encoder = CovariateEncoder.of_columns(chosen, called, "X: column")
    return codes_inside(X, positions, encoder), encoder


def codes_inside(X: Any, positions: Sequence[int], encoder: CovariateEncoder) -> Any:
    """X with codes in place of words and gaps in its covariate columns, and else as it was."""
    if not positions or not _is_whole(X) or max(positions) >= X.shape[1]:
        return X  # where it is of another shape than the one at fit, which is for others to say
    names = inputs.column_names(X)
    codes = {}
    for k, j in enumerate(positions):
        column, said = column_at(X, j), f"X: column {name_at(names, j)!r}"
        if k in encoder.levels and _may_hold_words(X):
            # Single precision holds positions exactly, and leaves the type of X to its other columns.
            codes[j] = encoder.code(k, column, said, "position {}".format).astype(np.float32)
        elif k in encoder.medians and count_missing(column):
            codes[j] = encoder.code(k, column, said, "position {}".format)
            if str(column.dtype).lower() == "float32":
                codes[j] = codes[j].astype(np.float32)
    return _with_columns(X, codes) if codes else X


def _with_columns(X: Any, columns: Mapping[int, np.ndarray]) -> Any:
    """X with other columns in some places; the one given stays as it is."""
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
    """A table in memory: a DataFrame of pandas or polars, or a NumPy array of two dimensions."""
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and not isinstance(X, np.memmap)
    return is_frame(X)


def _may_hold_words(table: Any) -> bool:
    """A DataFrame of pandas or polars, or an array of something else than numbers."""
    return is_frame(table) or (isinstance(table, np.ndarray) and table.dtype.kind in "bOUT")
