"""Columns of X: positions of covariates and exposures, and names."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor._arrays import Array
from superfactor.estimators.inputs.arrays import as_numpy, by_blocks, dense, take
from superfactor.estimators.parameters import shown
from superfactor.spectrum import RowSource
from superfactor.spectrum.rows import column_positions


def covariate_indices(columns: Any, n_features: int, names: Any) -> list[int]:
    """Return `covariate_columns` as positions 0..n_features−1, in the given order; [] for None."""
    if columns is None:
        return []
    said = f"covariate_columns={shown(columns)}"
    indices = column_positions(columns, n_features, names, said)
    if len(indices) == n_features:
        raise ValueError(f"{said}: at least one column of X must be left to factorize")
    return indices


def exposure_index(column: Any, covariates: list[int], n_features: int, names: Any) -> int | None:
    """Return `exposure_column` as a position 0..n_features−1; None if there is none."""
    if column is None:
        return None
    said = f"exposure_column={shown(column)}"
    found = column_positions(column, n_features, names, said)
    if len(found) != 1:
        raise ValueError(f"{said}: one column of X is required, got {len(found)}")
    if found[0] in covariates:
        raise ValueError(f"{said}: it is among covariate_columns too; a column has one role")
    if len(covariates) + 1 >= n_features:
        raise ValueError(f"{said}: at least one column of X must be left to factorize")
    return found[0]


def exposures_in(X: Any, column: Any) -> Any:
    """Return the checked exposures (n, 1) in `exposure_column` of X, an array or table; None without one."""
    if column is None:
        return None
    at = exposure_index(column, [], int(X.shape[1]), column_names(X))
    values = X.iloc[:, [at]].to_numpy() if hasattr(X, "iloc") else as_numpy(dense(take(X, [at], axis=1)))
    return check_exposures(np.asarray(values, dtype=float))


def check_exposures(exposures: Any, counted: Any = None) -> Any:
    """Return exposures (n, 1) if they are positive numbers; otherwise raise a ValueError.

    `counted` are the positions that are checked; None: all.
    """
    values = as_numpy(exposures)[:, 0]
    good = (values > 0) & np.isfinite(values)
    if counted is not None:
        good[np.setdiff1d(np.arange(len(good)), counted)] = True
    if not good.all():
        first = int(np.flatnonzero(~good)[0])
        raise ValueError(
            f"exposure_column: exposures > 0 are required, sample {first} has {shown(float(values[first]))}"
        )
    return exposures


def names_without(indices: list[int], n_features: int, names: list[str] | None) -> Any:
    """Return names (p,) of the columns except `indices`: x0, x1, … if X has none."""
    chosen = set(indices)
    all_names = names or [f"x{j}" for j in range(n_features)]
    return np.asarray([name for j, name in enumerate(all_names) if j not in chosen], dtype=object)


def split_columns(X: Array, indices: list[int]) -> tuple[Array, Array | None]:
    """Return the columns to factorize, and the covariates among the columns, dense (None without any).

    For a source of rows, the covariates are read into memory, and the other columns remain a source.
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


def split_apart(X: Array, covariates: list[int], exposure: int | None) -> tuple[Array, Array | None]:
    """Return the columns to factorize and the covariates (None without any), both without exposures."""
    if exposure is None:
        return split_columns(X, covariates)
    factorized, part = split_columns(X, [*covariates, exposure])
    return factorized, part[:, :-1] if covariates and part is not None else None


def column_names(table: Any) -> list[str] | None:
    """Return the names of a table's columns if all are strings; otherwise None."""
    if isinstance(table, RowSource):
        return table.names
    columns = getattr(table, "columns", None)
    names = [] if columns is None else list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None
