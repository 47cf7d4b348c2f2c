"""Numeric columns of a table; errors name sample, line and column."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from superfactor.tables.grids.cells import DECIMAL_COMMA, MISSING, THOUSANDS, is_number
from superfactor.tables.notes import Note, Part, Setting, TableError, note, shortened

if TYPE_CHECKING:
    import pandas as pd

# Squares of larger values may overflow.
LARGEST = 1e140
# The largest number of values that are made dense: a gigabyte.
MOST_DENSE = 1 << 27
_WHOLE = re.compile(r"(-?\d+)\.0+")
# A number and its unit: 61 y, 5.2 mg/l.
_QUANTITY = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*([^\d\s.,].*)")
# A number in a form that is not read: 5,23  1,234  '5.2  <0.5  −3
_OTHER_FORM = re.compile(r"['’<>≤≥~≈+\-−–]*\s*\d[\d.,'’ ]*\+?")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})")
# As many words are listed in a message.
_MOST_WORDS = 12


def numbers(
    path: Any, table: pd.DataFrame, names: Sequence[str], ids: Any = None, *, gaps: bool = False
) -> Any:
    """The columns `names` (n, p) as finite float64."""
    kinds = dict(zip(table.columns, table.dtypes, strict=True))
    text = [name for name in names if kinds[name].kind == "O"]
    if text:
        _refuse_text(path, table, text, ids)
    block = table[list(names)].to_numpy(dtype=np.float64)
    check_range(
        path, block, lambda row, column: f"{place(table, row, ids)}, column {names[column]!r}", gaps=gaps
    )
    return block


def check_range(path: Any, values: Any, where: Callable[[int, int], str], *, gaps: bool) -> None:
    """Check that values (n, p) or (k,) are finite, or NaN if `gaps`; ``where(row, column)`` names a place.

    Of a sparse matrix only the stored values (k,) are given.
    """
    # The sum is finite if all values are, except for overflow: one pass without an array of flags.
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()
    if abs(total) < LARGEST:
        return
    wrong = ~(np.abs(values) < LARGEST)
    if gaps:
        wrong &= ~np.isnan(values)
    bad = np.argwhere(wrong)
    if not len(bad):
        return
    value = values[tuple(bad[0])]
    row, column = (int(i) for i in (*bad[0], 0)[:2])
    gone = bool(np.isnan(value))
    what = "a missing value" if gone else f"a value out of range ({value:g})"
    hint: list[Part] = [Setting("impute", "lowrank"), " fills it in, or "] if gone else []
    raise TableError(
        f"{path}: {what} at {where(row, column)}{_more(len(bad))}; numbers are required everywhere: ",
        *hint,
        "leave out the sample or the column",
        kind="cells",
    )


def place(table: pd.DataFrame, row: int, ids: Any = None) -> str:
    """A place in the file: ``sample GSM12 (line 17)``, or ``line 17`` if samples have no names."""
    where = f"{table.index.name} {table.index[row]}"
    if (
        ids is None or not ids[row] or table.index.name == "sample"
    ):  # joined from several files: there is no line
        return where
    return f"sample {ids[row]} ({where})"


def without_point(cell: str) -> str:
    """``1`` for ``1.0``, because programs write integers so in columns with empty cells."""
    whole = _WHOLE.fullmatch(cell)
    return cell if whole is None else whole[1]


def words(column: pd.Series[Any]) -> list[str | None]:
    """Cells as text, 1 for 1.0; None for empty cells."""
    absent = column.isna().tolist()
    cells = [None if gone else without_point(str(cell)) for cell, gone in zip(column, absent, strict=True)]
    return [None if cell in MISSING else cell for cell in cells]


def refuse_stray_text(path: Any, table: pd.DataFrame, name: str, ids: Any = None, codes: int = 10) -> None:
    """Raise an error for a column of measurements in which cells are text, such as "ca. 50" or "61 y".

    Up to `codes` different numbers may be codes among words. Of measurements, the text is rare, or has
    digits, or is a number with the same unit everywhere.
    """
    cells = [None if cell is None or cell in MISSING else str(cell) for cell in table[name].tolist()]
    given = [cell for cell in cells if cell is not None]
    points = with_points(given)
    stray = [cell for cell, text in zip(given, points, strict=True) if not is_number(str(text))]
    if not stray:
        return
    if len({*given} - {*stray}) > codes:
        wrong = 20 * len(stray) <= len(given) or all(any(map(str.isdigit, cell)) for cell in stray)
    else:
        wrong = len({*given}) > codes and _have_one_unit(given)
    if wrong:
        raise _stray(path, table, name, cells, stray, ids)


def _have_one_unit(cells: Sequence[str]) -> bool:
    """Return whether all cells are numbers with the same text behind them."""
    found = [_QUANTITY.fullmatch(cell) for cell in cells]
    return all(found) and len({match[1] for match in found if match}) == 1


def refuse_dates(where: str, cells: Sequence[str | None], codes: int = 10) -> None:
    """Raise an error for a column of dates; up to `codes` different ones may be names of batches."""
    given = {cell for cell in cells if cell is not None}
    if len(given) > codes and all(map(_DATE.fullmatch, given)):
        raise TableError(
            f"{where} holds dates, such as {min(given)!r}; use numbers, such as years, or leave it out",
            kind="cells",
        )


def with_points(cells: Sequence[str | None]) -> list[str | None]:
    """Replace decimal commas by points, unless any cell contains a point."""
    given = [cell for cell in cells if cell is not None]
    if any("." in cell for cell in given) or not any(map(DECIMAL_COMMA.fullmatch, given)):
        return list(cells)
    return [None if cell is None else cell.replace(",", ".") for cell in cells]


def _stray(
    path: Any, table: pd.DataFrame, name: str, cells: Sequence[Any], stray: Sequence[str], ids: Any
) -> TableError:
    """Return the error for text among numbers."""
    where = f"{place(table, cells.index(stray[0]), ids)}, column {name!r}"
    line = f"{path}: {stray[0]!r} is not a number, at {where}{_more(len(stray))}; "
    words = list(dict.fromkeys(stray))
    # A value below a limit of detection is no missing value; a word may mean one.
    comma = DECIMAL_COMMA.fullmatch(stray[0]) or THOUSANDS.fullmatch(stray[0])
    hint: list[Part] = ["use numbers" + " with a decimal point and without separators" * bool(comma)]
    if len(words) <= _MOST_WORDS and not any(map(_OTHER_FORM.fullmatch, words)):
        hint += [
            ", or empty cells (",
            Setting("missing", words if len(words) > 1 else words[0]),
            " makes them empty)",
        ]
    return TableError(line, *hint, ", or leave the column out", kind="cells", column=name)


def _refuse_text(path: Any, table: pd.DataFrame, names: list[str], ids: Any) -> None:
    """Raise an error for text: single words among numbers, numbers in another form, or columns of words."""
    for name in names:
        cells = list(table[name])
        given = [cell for cell in cells if cell is not None]
        stray = [cell for cell in given if not is_number(cell)]
        form = all(map(_OTHER_FORM.fullmatch, stray)) and not all(map(_DATE.fullmatch, stray))
        if stray and (2 * len(stray) <= len(given) or form or _have_one_unit(given)):
            raise _stray(path, table, name, cells, stray, ids)
    roles = (Setting("id"), ", ", Setting("covariates"), " or ", Setting("adjust"))
    raise TableError(
        f"{path}: no numbers in column{'s' * (len(names) > 1)} {shortened(names)}; leave out with ",
        *(Setting("drop"), ", or give their role with ", *roles),
        "; numeric columns without a role are features",
        kind="cells",
        columns=names,
    )


def _more(count: int) -> str:
    return "" if count == 1 else f" (and {count - 1} more such cell{'s' * (count > 2)})"


# --- sparse values --------------------------------------------------------------------------------


def as_dense(path: Any, X: Any, what: str) -> Any:
    """X (n, p) as an array; sparse X only up to a gigabyte."""
    if not sp.issparse(X):
        return X
    if X.shape[0] * X.shape[1] > MOST_DENSE:
        raise TableError(
            f"{path}: sparse values must be made dense to be {what}, and {X.shape[0]:,} x {X.shape[1]:,} "
            "values are too many; select features first",
            kind="sparse",
        )
    return X.toarray()


def made_dense(X: Any, why: str) -> Note:
    """Return a note about an array X (n, p) that was sparse."""
    size = f"{max(1, round(X.nbytes / 1e6)):,} MB"
    return note("dense", f"sparse values were {why}, and are now dense: {size}")
