"""Several binary columns (yes/no), each with its own missing values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from superfactor.tables.columns.numbers import place, without_point
from superfactor.tables.notes import Note, TableError, note
from superfactor.tables.targets.columns import TargetColumns, empty

# Spellings of no and yes, in lower case.
_NO = frozenset(["0", "no", "n", "false", "f"])
_YES = frozenset(["1", "yes", "y", "true", "t"])
ALLOWED = "0/1, no/yes or FALSE/TRUE"


def flag(cell: str) -> float | None:
    """1.0 for yes, 0.0 for no, None for anything else."""
    word = without_point(cell.strip()).lower()
    return 1.0 if word in _YES else 0.0 if word in _NO else None


def are_flags(cells: list[str]) -> bool:
    """Whether all cells mean yes or no."""
    return all(flag(cell) is not None for cell in set(cells))


def read(columns: TargetColumns) -> Any:
    """Flags (n, k): 0, 1, or NaN if unknown. Each column must contain both values."""
    y = read_new(columns, {})
    for name, values in zip(columns.names, y.T, strict=True):
        given = values[~np.isnan(values)]
        if len(np.unique(given)) < 2:
            value = "yes (1)" if given[0] else "no (0)"
            raise TableError(
                f"{columns.where(name)} has only one value, {value}, in all {len(given)} samples that have "
                "one; both are required: leave the column out",
                kind="target",
                column=name,
            )
    return y


def read_new(columns: TargetColumns, about: Mapping[str, Any]) -> Any:
    """Flags (n, k) of new samples, which may all be equal."""
    return np.column_stack([_column(columns, name) for name in columns.names])


def _column(columns: TargetColumns, name: str) -> Any:
    cells = columns.cells(name)
    found = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        if cell is None:
            continue
        value = flag(cell)
        if value is None:
            raise TableError(
                f"{columns.where(name)} holds {cell!r} at {place(columns.frame, i, columns.ids)}; {ALLOWED}, "
                "or an empty cell, are required in every label column",
                kind="target",
                column=name,
            )
        found[i] = value
    if np.isnan(found).all():
        raise empty(columns, name)
    return found


def notes(columns: TargetColumns, y: Any) -> list[Note]:
    """A note on missing flags of samples that have other flags."""
    gaps = np.isnan(y)
    some = gaps & ~gaps.all(axis=1, keepdims=True)
    if not some.any():
        return []
    counts = {name: int(gone) for name, gone in zip(columns.names, some.sum(axis=0), strict=True) if gone}
    words = ", ".join(f"{name!r} ({count})" for name, count in counts.items())
    line = f"some labels of some samples are missing: {words}; these samples count for their other labels"
    return [note("gaps in targets", line, columns=counts)]
