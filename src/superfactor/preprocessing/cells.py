"""Cells of a column: text, numbers, and missing values."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Number, Real
from typing import Any

import numpy as np


def is_missing(cell: Any) -> bool:
    """Return whether a cell is missing: None, NaN, NaT or NA. Other values equal themselves."""
    if cell is None:
        return True
    try:
        return bool(cell != cell)
    except TypeError:  # pandas' NA has no truth value
        return True
    except ValueError:  # an array, which is not missing, although it is no valid cell
        return False


def is_category(column: Any) -> bool:
    """Return whether a column has a categorical type of pandas or polars."""
    kind = str(getattr(column, "dtype", "")).lower()
    return kind.startswith(("category", "categorical", "enum"))


def holds_numbers(column: Any) -> bool:
    """Return whether a column contains numbers or missing values only; not text, booleans or dates."""
    if is_category(column):
        return False
    cells = np.asarray(column)
    if cells.dtype.kind == "O":
        return all(is_missing(cell) or _is_number(cell) for cell in cells)
    return cells.dtype.kind in "iuf"


def _is_number(cell: Any) -> bool:
    return isinstance(cell, Real | Decimal) and not isinstance(cell, bool | np.bool_)


def holds_unreadable(values: Any) -> bool:
    """Return whether a table or array contains cells that cannot be read as numbers."""
    try:
        table = np.asarray(values)
    except ValueError:  # ragged: another error is raised for it
        return False
    return table.ndim > 0 and table.dtype.kind not in "biufc" and any(map(_is_unreadable, table.flat))


def _is_unreadable(cell: Any) -> bool:
    if cell is None or isinstance(cell, Number | list | tuple | np.ndarray):
        return False
    try:
        float(cell)
    except (TypeError, ValueError):
        return True
    return False


def words(column: Any) -> list[str | None]:
    """Return cells as text, 1 and not 1.0 for whole numbers; None for missing values."""
    return [None if is_missing(cell) else _written(cell) for cell in np.asarray(column, object)]


def _written(cell: Any) -> str:
    whole = isinstance(cell, float | np.floating) and float(cell).is_integer()
    return str(int(cell) if whole else cell)


def floats(column: Any, said: str) -> np.ndarray:
    """Return a column of numbers (n,), NaN where missing; `said` is its name in messages."""
    cells = np.asarray(column)
    if cells.dtype.kind == "O":
        cells = np.array([np.nan if is_missing(cell) else cell for cell in cells], dtype=object)
    try:
        return cells.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{said}: numbers are required, as at fit; {error}") from error


def listed(names: Sequence[Any], most: int = 10) -> str:
    """Return the first names and the number of others: ``a, b and 3 more``."""
    shown, more = ", ".join(map(str, names[:most])), len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown
