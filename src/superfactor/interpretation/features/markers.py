"""Notes of the user on known features."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from superfactor.tables.grids.cells import from_spreadsheet

if TYPE_CHECKING:
    from pandas import DataFrame


def read_markers(markers: str | os.PathLike[str] | DataFrame | dict[Any, Any]) -> dict[str, str]:
    """Read known markers as a dict from feature to note.

    Parameters
    ----------
    markers : path of a CSV (or .tsv) file, DataFrame, or dict
        Two columns: the feature and a note on it. They can be named ``feature`` and ``note``, in any order
        and among other columns; otherwise the first two columns are used. Without notes every marker has the
        note "marker". Several notes on a feature are joined.

    Returns
    -------
    notes : dict
        It can contain features that the model does not have.

    Examples
    --------
    >>> import pandas as pd
    >>> from superfactor.interpretation import read_markers
    >>> read_markers(pd.DataFrame({"feature": ["KLK3", "TP53"], "note": ["PSA", "p53"]}))
    {'KLK3': 'PSA', 'TP53': 'p53'}
    """
    if isinstance(markers, dict):
        return _notes(markers.items())
    if isinstance(markers, str | os.PathLike):
        rows = _read(markers)
    elif hasattr(markers, "columns"):
        rows = [list(markers.columns), *markers.to_numpy(dtype=object).tolist()]
        if _columns(rows[0]) is None:
            rows = rows[1:]
    else:
        raise TypeError(
            f"markers={type(markers).__name__}: the path of a CSV file, a DataFrame with the columns "
            "feature and note, or a dict from feature to note is required"
        )
    named = _columns(rows[0]) if rows else None
    return _notes(_pairs(rows[1:], *named) if named else _pairs(rows, 0, 1))


def _read(path: str | os.PathLike[str]) -> list[list[str]]:
    """Return the rows of a file that are not blank."""
    delimiter = "\t" if os.fspath(path).endswith(".tsv") else ","
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file, delimiter=delimiter) if any(map(str.strip, row))]
    return [[from_spreadsheet(cell.strip()) for cell in row] for row in rows]


def _columns(header: list[Any]) -> tuple[int, int] | None:
    """Return the positions of "feature" and "note" in a header; without notes the second is past the end."""
    names = [str(name).strip().lower() for name in header]
    if "feature" not in names:
        return None
    return names.index("feature"), names.index("note") if "note" in names else len(names)


def _pairs(rows: list[list[Any]], feature: int, note: int) -> Iterator[tuple[Any, Any]]:
    """Yield feature and note of each row; "" for a missing cell."""
    for row in rows:
        cells = [*row, *[""] * (max(feature, note) + 1 - len(row))]
        yield cells[feature], cells[note]


def _notes(pairs: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    notes: dict[str, str] = {}
    for key, value in pairs:
        name, note = _text(key), _text(value) or "marker"
        if name:
            notes[name] = f"{notes[name]}; {note}" if name in notes else note
    return notes


def _text(cell: Any) -> str:
    """Return a cell as text; "" for the missing values of Python and pandas."""
    missing = not isinstance(cell, str) and str(cell) in ("None", "nan", "<NA>")
    return "" if missing else str(cell).strip()
