"""Convert rows of cells to columns, row by row.

General readers are slow for wide files, and 50,000 columns are common here. There are few rows, so each row
is converted at once, and all numeric columns are in one block of memory. For 104 x 22,283 cells this takes
two thirds of the time of pyarrow. For long, narrow tables pyarrow is faster, by a quarter of a second for
18,000 rows, but does not report lines and unexpected text.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from superfactor.tables.grids.cells import (
    DECIMAL_COMMA,
    MISSING,
    ROW_NAMES,
    THOUSANDS,
    from_spreadsheet,
    is_number,
    kept_as_text,
    stripped,
    unique,
)
from superfactor.tables.grids.grid import Grid
from superfactor.tables.notes import FileError, NoSamples, Note, note

# The number of rows at the top that are checked for numbers: if columns are samples, they can be text.
_TOP = 20
# The largest number of cells in rows with unexpected text that are kept as written.
_KEPT_CELLS = 1 << 19
# Rows are joined to arrays of this size. The memory of such arrays is returned to the system when they are
# freed; that of thousands of single rows is not.
_PIECE = 1 << 20
# A comma that is no separator of thousands: 0,5  12,34  1234,567
_SURELY_DECIMAL = re.compile(r"[+-]?(0*,\d+|\d{4,},\d+|\d+,(\d{1,2}|\d{4,}))([eE][+-]?\d+)?")
# Spellings of NaN, in any case.
_NAN = re.compile(r"\s*[+-]?nan\s*", re.I)


class DecimalComma(Exception):
    """A decimal comma was found in a table with decimal points so far; the text is its place."""


class Rows:
    """Converts the header and then row after row.

    Parameters
    ----------
    path, unit : for messages: the file, and the name of its rows
    text : names of columns to keep as written, or of rows if rows are features
    words : positions of further text columns
    keep : whether to keep the cells of rows with unexpected text
    commas : whether decimal commas are allowed
    comma_at : the place of the first decimal comma, if numbers have decimal commas; None for points
    doubt : whether commas are decimal even if all of them could be separators of thousands
    """

    def __init__(
        self,
        path: Path,
        unit: str,
        text: Collection[str],
        *,
        words: Collection[int] = (),
        keep: bool = True,
        commas: bool = False,
        comma_at: str | None = None,
        doubt: bool = False,
    ):
        self.path, self.unit = path, unit
        self.names: list[str] = []
        self._text = set(text)
        self._asked = frozenset(text)
        self._words = frozenset(words)
        self._commas = commas
        self._comma_at = comma_at
        self._sure = comma_at is None
        self._doubt = doubt
        self._waiting: list[tuple[list[str], int]] = []
        self._texts: dict[int, list[str | None]] = {}
        self._stray: set[int] = set()
        self._kept: dict[int, list[str]] | None = {} if keep else None
        self._numbers: list[Any] = []
        self._pieces: deque[Any] = deque()
        self._where: list[int] = []
        self._nameless = 0  # empty columns at the end

    def header(self, cells: list[str]) -> None:
        """Set the names of the columns."""
        if not any(cell.strip() for cell in cells):
            raise FileError(
                f"{self.path}: empty, or no header on its first {self.unit}; names of columns are required"
            )
        self.names = [from_spreadsheet(cell.strip()) for cell in cells]
        while not self.names[-1]:
            self.names.pop()
        self._nameless = len(cells) - len(self.names)

    def add(self, cells: list[str], where: int) -> None:
        """Add the row at the place `where`."""
        if self._nameless and len(cells) == len(self.names) + self._nameless:
            if any(map(str.strip, cells[len(self.names) :])):
                position = len(self.names) + 1
                raise FileError(f"{self.path}: column {position} has no name in the header; give it one")
            cells = cells[: len(self.names)]
        if self._where:
            self._take(cells, where)
            return
        self._waiting.append((cells, where))
        if len(self._waiting) >= _TOP or any(self._is_number(cell) for cell in cells[1:]):
            self._begin()

    def grid(self) -> Grid:
        """Return all rows; call it once."""
        if self._waiting:
            self._begin()
        if not self._where:
            raise NoSamples(f"{self.path}: no samples below the header; one per {self.unit} is required")
        notes: tuple[Note, ...] = ()
        if not self._sure and not self._doubt:
            raise FileError(
                f"{self.path}: {self._comma_at} has a decimal comma or a separator of thousands; write "
                "numbers with a decimal point and without separators"
            )
        if not self._sure:
            notes = (note("commas", f"commas are read as decimal commas: {self._comma_at}"),)
        self._put_together()
        numeric, start = np.flatnonzero(self._of_numbers()), 0
        block = np.empty((len(self._where), len(numeric)))
        while self._pieces:
            piece = self._pieces.popleft()
            block[start : start + len(piece)] = piece
            start += len(piece)
        return Grid(
            self.names,
            numeric.tolist(),
            block,
            self._texts,
            self._where,
            self.unit,
            self._stray,
            self._kept,
            notes,
        )

    def _begin(self) -> None:
        """Determine from the first row whether there are row names, and which columns are text.

        Rows without numbers at the top, above a row of numbers, are text rows and do not determine the type
        of columns.
        """
        waiting, self._waiting = self._waiting, []
        first, last = waiting[0][0], waiting[-1][0]
        if len(first) == len(self.names) + 1:  # R does not name the column of row names
            self.names.insert(0, "")
        self.names[0] = self.names[0] or ROW_NAMES
        self._text = kept_as_text(self.names, self._text)
        self.names = unique(self.path, self.names, self._text)
        shown = 2 * sum(map(self._is_number, last[1:])) >= len(last) - 1
        example, where = waiting[-1 if shown else 0]
        for position, (name, cell) in enumerate(zip(self.names, example, strict=False)):
            if name in self._text or position in self._words:
                self._texts[position] = []
            elif not (cell.strip() in MISSING or self._is_number(cell)):
                self._refuse_separators(name, cell, where)
                self._texts[position] = []
        for cells, where in waiting:
            self._take(cells, where)

    def _take(self, cells: list[str], where: int) -> None:
        if len(cells) != len(self.names):
            if len(self.names) == 1:
                raise FileError(
                    f"{self.path}: the first {self.unit} is {self.names[0]!r}, but {self.unit} {where} has "
                    f"{len(cells)} cells; the names of the columns are required above them"
                )
            raise FileError(
                f"{self.path}: {self.unit} {where} has {len(cells)} cells, but the header has "
                f"{len(self.names)} columns; put a cell with a delimiter in quotation marks"
            )
        self._where.append(where)
        if self._asked and stripped(cells[0]) in self._asked:
            self._keep(list(cells))
        for position, column in self._texts.items():
            cell = stripped(cells[position])
            if cell is not None and self._comma_at is not None and position in self._words:
                cell = cell.replace(",", ".") if self._is_number(cell) else cell
            column.append(cell)
            cells[position] = "nan"
        try:
            self._numbers.append(self._row_of_numbers(cells))
        except ValueError:
            self._numbers.append(self._row_with_missing(cells))
        if len(self._numbers) * len(self.names) >= _PIECE:
            self._put_together()

    def _put_together(self) -> None:
        """Join the numbers of the last rows to one array, without text columns."""
        if self._numbers:
            self._pieces.append(np.array(self._numbers)[:, self._of_numbers()])
        self._numbers = []

    def _of_numbers(self) -> Any:
        """Return which columns (k,) hold numbers, as determined from the first row."""
        found = np.ones(len(self.names), dtype=bool)
        found[list(self._texts)] = False
        return found

    def _row_of_numbers(self, cells: list[str]) -> Any:
        """Return cells (k,) as float64; raise a ValueError if one is not a number in the expected form."""
        joined = "\0".join(cells)
        if "_" in joined:  # NumPy would read 1_000 as a number
            raise ValueError("an underscore is not part of a number")
        if self._comma_at is not None:
            if "." in joined:
                raise ValueError("a decimal point among decimal commas")
            if not self._sure:
                self._sure = any(_SURELY_DECIMAL.fullmatch(cell.strip()) for cell in cells)
            if "," in joined:
                cells = joined.replace(",", ".").split("\0")
        return np.array(cells, dtype=np.float64)

    def _row_with_missing(self, cells: list[str]) -> Any:
        """Return a row with NaN for empty cells and unexpected text."""
        filled = ["nan" if cell.strip() in MISSING else cell for cell in cells]
        # Columns with text in earlier rows are checked first, which often saves a check of all cells.
        text = self._without_text(filled, self._stray)
        try:
            numbers = self._row_of_numbers(filled)
        except ValueError:
            text |= self._without_text(filled, range(len(filled)))
            numbers = self._row_of_numbers(filled)
        if text:
            self._keep(cells)
        return numbers

    def _without_text(self, cells: list[str], positions: Collection[int]) -> bool:
        """Replace text at these positions by nan; return whether there was any."""
        text = [j for j in positions if not (self._is_number(cells[j]) or _NAN.fullmatch(cells[j]))]
        for position in text:
            self._refuse_separators(self.names[position], cells[position], self._where[-1])
            cells[position] = "nan"
        self._stray.update(text)
        return bool(text)

    def _keep(self, cells: list[str]) -> None:
        if self._kept is not None:
            self._kept[len(self._where) - 1] = cells
            if len(self._kept) * len(cells) > _KEPT_CELLS:
                self._kept = None

    def _is_number(self, cell: str) -> bool:
        if self._comma_at is None:
            return is_number(cell)
        return "." not in cell and is_number(cell.replace(",", "."))

    def _refuse_separators(self, name: str, cell: str, where: int) -> None:
        """Raise an error for a number in another form: with separators of thousands or a decimal comma."""
        place = f"{self.unit} {where}, column {name!r}: {cell.strip()!r}"
        if THOUSANDS.fullmatch(cell):
            raise FileError(f"{self.path}: {place} has a separator of thousands; write numbers without them")
        if not self._commas:
            return
        if self._comma_at is None and DECIMAL_COMMA.fullmatch(cell):
            raise DecimalComma(place)
        if self._comma_at is not None and is_number(cell):
            raise FileError(
                f"{self.path}: {place} has a decimal point, but {self._comma_at} a comma; write all "
                "numbers in the same way"
            )
