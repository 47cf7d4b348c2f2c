"""Cells of a user's column: words, numbers, and nothing."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Number, Real
from typing import Any

import numpy as np


def is_missing(cell: Any) -> bool:
    """Whether there is nothing in a cell: None, NaN, NaT, NA. What is there equals itself."""
    if cell is None:
        return True
    try:
        return bool(cell != cell)
    except TypeError:  # pandas' NA will not say
        return True
    except ValueError:  # an array, which is something, if nothing that belongs here
        return False


def is_category(column: Any) -> bool:
    """Whether a column is declared to hold categories, by pandas or polars."""
    kind = str(getattr(column, "dtype", "")).lower()
    return kind.startswith(("category", "categorical", "enum"))


def holds_numbers(column: Any) -> bool:
    """Whether a column holds numbers, or nothing at all: no words, categories, booleans or dates."""
    if is_category(column):
        return False
    cells = np.asarray(column)
    if cells.dtype.kind == "O":
        return all(is_missing(cell) or _is_number(cell) for cell in cells)
    return cells.dtype.kind in "iuf"


def _is_number(cell: Any) -> bool:
    return isinstance(cell, Real | Decimal) and not isinstance(cell, bool | np.bool_)


def holds_unreadable(values: Any) -> bool:
    """Whether a table, or an array, holds cells that are no numbers and cannot be read as such."""
    try:
        table = np.asarray(values)
    except ValueError:  # ragged, which is another mistake
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
    """Cells as they are written, 1 and not 1.0 for whole numbers; None where there is nothing."""
    return [None if is_missing(cell) else _written(cell) for cell in np.asarray(column, object)]


def _written(cell: Any) -> str:
    whole = isinstance(cell, float | np.floating) and float(cell).is_integer()
    return str(int(cell) if whole else cell)


def floats(column: Any, said: str) -> np.ndarray:
    """A column of numbers (n,), NaN where there is none; `said` is what a message calls it."""
    cells = np.asarray(column)
    if cells.dtype.kind == "O":
        cells = np.array([np.nan if is_missing(cell) else cell for cell in cells], dtype=object)
    try:
        return cells.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{said}: numbers are required, as at fit; {error}") from error


def listed(names: Sequence[Any], most: int = 10) -> str:
    """The first names of many, and how many more there are: ``a, b and 3 more``."""
    shown, more = ", ".join(map(str, names[:most])), len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown
