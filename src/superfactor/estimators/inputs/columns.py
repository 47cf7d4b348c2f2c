"""Columns of X: which are covariates, what they are called."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor._arrays import Array
from superfactor.estimators.inputs.arrays import by_blocks, dense, take
from superfactor.estimators.parameters import shown
from superfactor.spectrum import RowSource
from superfactor.spectrum.rows import column_positions


def covariate_indices(columns: Any, n_features: int, names: Any) -> list[int]:
    """`covariate_columns` as positions 0..n_features−1, in the order given; None is none."""
    if columns is None:
        return []
    said = f"covariate_columns={shown(columns)}"
    indices = column_positions(columns, n_features, names, said)
    if len(indices) == n_features:
        raise ValueError(f"{said}: at least one column of X must be left to factorize")
    return indices


def names_without(indices: list[int], n_features: int, names: list[str] | None) -> Any:
    """Names (p,) of the columns that are factorized: x0, x1, … where X has none."""
    chosen = set(indices)
    all_names = names or [f"x{j}" for j in range(n_features)]
    return np.asarray([name for j, name in enumerate(all_names) if j not in chosen], dtype=object)


def split_columns(X: Array, indices: list[int]) -> tuple[Array, Array | None]:
    """The columns to factorize, and the dense covariates among the columns (None without any).

    Of a source the covariates are read, all of them, and what is left is a source again.
    """
    if not indices:
        return X, None
    chosen = set(indices)
    kept = [j for j in range(X.shape[1]) if j not in chosen]
    if isinstance(X, RowSource):
        (part,) = by_blocks(lambda block: (dense(block),), X.select(indices))
        return X.select(kept), part
    part = take(X, indices, axis=1)
    part = dense(part)
    if kept[-1] - kept[0] + 1 == len(kept):
        return X[:, kept[0] : kept[-1] + 1], part  # a view
    return take(X, kept, axis=1), part


def column_names(table: Any) -> list[str] | None:
    """The names of a table's columns where all are strings; None otherwise."""
    if isinstance(table, RowSource):
        return table.names
    columns = getattr(table, "columns", None)
    names = [] if columns is None else list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None
