"""Columns by name, position or mask."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np


def column_positions(columns: Any, n_features: int, names: Sequence[str] | None, said: str) -> list[int]:
    """Return columns as positions 0..n_features−1, in the given order.

    Parameters
    ----------
    columns : one name or index, several of them, or a boolean mask (n_features,)
    names : of the columns of X, if it has names
    said : the argument as the user wrote it, for messages, such as ``"exclude=['id']"``
    """
    given = columns
    if isinstance(columns, str | Integral) or np.ndim(columns) == 0:
        columns = [columns]
    columns = list(columns)
    if all(isinstance(c, str) for c in columns):
        positions = _by_name(columns, names, said)
    elif all(isinstance(c, bool | np.bool_) for c in columns) and np.ndim(given) == 1:
        if len(columns) != n_features:
            raise ValueError(
                f"{said}: a mask of {len(columns)}, but X has {n_features} columns; the numbers must agree"
            )
        positions = [i for i, chosen in enumerate(columns) if chosen]
    elif all(isinstance(c, Integral) and not isinstance(c, bool | np.bool_) for c in columns):
        positions = [int(c) for c in columns]
        for i in positions:
            if not -n_features <= i < n_features:
                raise ValueError(f"{said}: {i} is not a column of X, which has {n_features}")
        positions = [i % n_features for i in positions]
    else:
        raise TypeError(f"{said}: column names, column indices, a boolean mask or None are required")
    if len(set(positions)) < len(positions):
        raise ValueError(f"{said}: every column at most once")
    return positions


def _by_name(columns: list[str], names: Sequence[str] | None, said: str) -> list[int]:
    if not columns:
        return []
    if names is None:
        raise ValueError(
            f"{said}: names need X to be a table whose columns have them (a DataFrame, Parquet, Arrow); "
            "use column indices for arrays"
        )
    position = {name: i for i, name in enumerate(names)}
    missing = [c for c in columns if c not in position]
    if missing:
        raise ValueError(f"{said}: X has no column {str(missing[0])!r}")
    return [position[c] for c in columns]
