"""The cells of target columns as text, and which samples have a value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.tables.columns.numbers import place, with_points, without_point
from superfactor.tables.grids.cells import Label, is_number
from superfactor.tables.notes import TableError

if TYPE_CHECKING:
    import pandas as pd


# With more different words, a column probably holds names.
MOST_CLASSES = 50


@dataclass(frozen=True)
class TargetColumns:
    """A table and its target columns.

    Attributes
    ----------
    path : the file, for messages
    frame : the table
    names : the columns: targets, or the time and the event
    unlabeled : a value that means "no value", in addition to empty cells
    event_word : the value that means an event, or None
    ids : names of the samples (n,), or None
    most_classes : largest number of classes in a column of labels
    """

    path: Any
    frame: pd.DataFrame
    names: tuple[str, ...]
    unlabeled: str | None = None
    event_word: str | None = None
    ids: Any = None
    most_classes: float = MOST_CLASSES

    def where(self, name: str) -> str:
        """The file and a column, for messages."""
        return f"{self.path}: column {name!r}"

    def cells(self, name: str) -> list[str | None]:
        """The cells of a column as text, None for missing values."""
        return cells_of(self.frame[name], self.unlabeled)

    def are_labels(self, name: str) -> bool:
        """Whether the type of a column says that its cells are labels, even if they look like numbers."""
        return any(isinstance(cell, Label) for cell in self.frame[name])

    def numbers(self, name: str) -> Any:
        """A column as float64 (n,), NaN for missing values; raise a TableError for text."""
        cells = self.cells(name)
        found = np.full(len(cells), np.nan)
        for i, (cell, text) in enumerate(zip(cells, with_points(cells), strict=True)):
            if text is None:
                continue
            if not is_number(text) or not math.isfinite(float(text)):
                raise TableError(
                    f"{self.where(name)}: {cell!r} is not a number, at {place(self.frame, i, self.ids)}; "
                    "numbers or empty cells are required",
                    kind="target",
                    column=name,
                )
            found[i] = float(text)
        if np.isnan(found).all():
            raise empty(self, name)
        return found


def cells_of(column: Any, unlabeled: str | None = None) -> list[str | None]:
    """The cells of a column as text, None for missing values and for `unlabeled`."""
    absent = column.isna().tolist()
    cells = [None if gone else str(cell) for cell, gone in zip(column, absent, strict=True)]
    if unlabeled is None:
        return cells
    return [None if cell is None or unlabeled in (cell, without_point(cell)) else cell for cell in cells]


def empty(columns: TargetColumns, name: str) -> TableError:
    """Return the error for a column without any value."""
    line = f"{columns.where(name)} is empty for all {len(columns.frame)} samples; values are required"
    return TableError(line, kind="target", column=name)


def are_numbers(cells: list[str]) -> bool:
    """Whether all cells are finite numbers; decimal commas are allowed."""
    return bool(cells) and all(is_number(c) and math.isfinite(float(c)) for c in with_points(cells) if c)


# --- y --------------------------------------------------------------------------------------------


def has_value(y: Any) -> Any:
    """Whether each sample has a value (n,), bool; of several targets at least one."""
    if y.dtype.names:
        return ~np.isnan(y[y.dtype.names[1]])
    if y.dtype.kind == "O":
        return np.array([label is not None for label in y], dtype=bool)
    if y.dtype.kind != "f":
        return np.ones(len(y), dtype=bool)
    return ~np.isnan(y).reshape(len(y), -1).all(axis=1)


def known(y: Any) -> Any:
    """y of the samples that have a value; labels as an array of integers or strings."""
    if y.dtype.kind == "O":
        return np.array([label for label in y if label is not None])
    return y[has_value(y)]
