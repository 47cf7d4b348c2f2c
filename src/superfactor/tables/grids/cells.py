"""Cells as numbers, missing values or text, also for spreadsheets; and unique names of columns."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from superfactor.tables.notes import FileError

# Spellings of a missing value.
MISSING = frozenset(["", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL"])
# The first two columns of a table of the Curated Microarray Database: sample and label.
CUMIDA = ("samples", "type")
# The name of the unnamed column of row names that R and pandas write.
ROW_NAMES = "row name"

DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
# 1,234.5  1,234,567  1.234,5  1'234.5; only blanks between digits could be a telephone number.
THOUSANDS = re.compile(
    r"\s*[+-]?(\d{1,3}(,\d{3})+\.\d+|\d{1,3}(,\d{3}){2,}|\d{1,3}(\.\d{3})+,\d+"
    r"|\d{1,3}(['’\u00a0\u2009\u202f]\d{3})+([.,]\d+)?|\d{1,3}( \d{3})+[.,]\d+)\s*"
)
# Text that a spreadsheet computes. A sign alone or with a number behind it is a label or a number.
_COMPUTED = re.compile(r"[=@\t\r]|[+-](?!\s*[\d.,]*([eE][+-]?\d+)?\s*%?\s*\Z)(?=.*[\w(])", re.DOTALL)
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*|\s*[+-]?inf(inity)?\s*", re.I)


class Label(str):
    """Text of a column whose type is text or categorical: a label, even if it looks like a number."""


def is_number(cell: str) -> bool:
    """Return whether a cell is a number; unlike float(), this refuses 1_000."""
    return _NUMBER.fullmatch(cell) is not None


def stripped(cell: str) -> str | None:
    """Return the text of a cell without surrounding blanks; None for a missing value."""
    cell = from_spreadsheet(cell.strip())
    return None if cell in MISSING else cell


def for_spreadsheet(cell: Any) -> Any:
    """Return a cell for a CSV file: an apostrophe precedes text that a spreadsheet would compute.

    Text that already has apostrophes there gets one more, so that `from_spreadsheet` restores every text.

    Examples
    --------
    >>> from superfactor.tables.grids.cells import for_spreadsheet, from_spreadsheet
    >>> [for_spreadsheet(cell) for cell in ("=1+1", "-sum(A1)", "-1.5", "-", "TP53", -3)]
    ["'=1+1", "'-sum(A1)", '-1.5', '-', 'TP53', -3]
    >>> from_spreadsheet("'=1+1")
    '=1+1'
    """
    return f"'{cell}" if isinstance(cell, str) and is_computed(cell.lstrip("'")) else cell


def from_spreadsheet(cell: str) -> str:
    """Return the text that `for_spreadsheet` has written as this cell."""
    return cell[1:] if cell.startswith("'") and is_computed(cell.lstrip("'")) else cell


def is_computed(cell: str) -> bool:
    """Return whether a spreadsheet would compute this text instead of showing it."""
    return _COMPUTED.match(cell) is not None


def some(names: Sequence[str], most: int = 3) -> str:
    """Return the first few names, for a message."""
    return ", ".join(names[:most]) + ", …" * (len(names) > most)


def kept_as_text(names: Sequence[str], text: Collection[str]) -> set[str]:
    """Return names of columns that are text even if they look like numbers."""
    return {ROW_NAMES, *text, *(CUMIDA if tuple(names[:2]) == CUMIDA else ())}


def unique(path: Path, names: list[str], text: Collection[str] = (), what: str = "columns") -> list[str]:
    """Return the names; repeated ones are numbered, because several probes of a gene are common."""
    for position, name in enumerate(names, start=1):
        if "\0" in name:
            one = what.removesuffix("s")
            raise FileError(f"{path}: the name of {one} {position}, {name!r}, has a NUL character; remove it")
    taken = set(names)
    if len(taken) == len(names) and all(names):
        return names
    result: list[str] = []
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name:
            one = what.removesuffix("s")
            raise FileError(f"{path}: {one} {position} has no name in the header; give it one")
        if name not in seen:
            seen[name] = 0
            result.append(name)
            continue
        if name in text:
            raise FileError(f"{path}: two {what} are named {name!r}; rename one")
        while f"{name}.{seen[name]}" in taken or not seen[name]:
            seen[name] += 1
        result.append(f"{name}.{seen[name]}")
        taken.add(result[-1])
    new = [name for name, old in zip(result, names, strict=True) if name != old]
    single = len(new) == 1
    line = f"1 {what.removesuffix('s')} has" if single else f"{len(new)} {what} have"
    warnings.warn(
        f"{path}: {line} the name of another and {'is' if single else 'are'} numbered ({some(new)})",
        UserWarning,
        stacklevel=2,
    )
    return result
