"""Rows of written cells, one after the other, become columns.

General readers spend most of a wide file's time on its columns, of which 50,000 is usual here. Rows
are few, so each row becomes numbers in one go, and all numeric columns lie in one block of memory.
On 104 x 22,283 cells that takes two thirds of pyarrow's time; on long, narrow tables pyarrow would be
faster, by a quarter of a second for 18,000 rows, but knows neither lines nor stray text (see messages).
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
    is_number,
    kept_as_text,
    unique,
)
from superfactor.tables.grids.grid import Grid
from superfactor.tables.notes import FileError, NoSamples, Note, note

# Rows at the top without a number may describe samples that are columns: so many are looked at.
_TOP = 20
# Cells with unexpected text are kept as written, with their rows, as long as they are so few.
_KEPT_CELLS = 1 << 19
# Rows are put together as soon as they hold so many numbers. What is as large as this goes back to the system
# when it is let go of, piece by piece; thousands of single rows would stay beside the whole table.
_PIECE = 1 << 20
# A comma that is no separator of thousands: 0,5  12,34  1234,567
_SURELY_DECIMAL = re.compile(r"[+-]?(0*,\d+|\d{4,},\d+|\d+,(\d{1,2}|\d{4,}))([eE][+-]?\d+)?")
# What floating-point numbers call themselves where they are none, in any case.
_NAN = re.compile(r"\s*[+-]?nan\s*", re.I)


class DecimalComma(Exception):
    """A number with a decimal comma, where points were expected so far; the text is its place."""


class Rows:
    """Takes the header and then row after row.

    Parameters
    ----------
    path, unit : for messages: the file, and what its rows are called
    text : names of columns to keep as they are written, and of rows, should those be the features
    words : positions of columns that are text, too
    keep : keep the cells of rows with unexpected text?
    commas : may numbers have decimal commas?
    comma_at : where decimal commas were found, which all numbers have then; None: they have points
    doubt : take commas for decimal ones even if each may be a separator of thousands?
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

    def header(self, cells: list[str]) -> None:
        """Take in the names of the columns."""
        if not any(cell.strip() for cell in cells):
            raise FileError(
                f"{self.path}: empty, or no header on its first {self.unit}; names of columns are required"
            )
        self.names = [cell.strip() for cell in cells]

    def add(self, cells: list[str], where: int) -> None:
        """Take in a row that stands at the place `where`."""
        if self._where:
            self._take(cells, where)
            return
        self._waiting.append((cells, where))
        if len(self._waiting) >= _TOP or any(self._is_number(cell) for cell in cells[1:]):
            self._begin()

    def grid(self) -> Grid:
        """All that was read, once."""
        if self._waiting:
            self._begin()
        if not self._where:
            raise NoSamples(f"{self.path}: no samples below the header; one a {self.unit} is required")
        notes: tuple[Note, ...] = ()
        if not self._sure and not self._doubt:
            raise FileError(
                f"{self.path}: {self._comma_at}: a decimal comma or a separator of thousands? Write "
                "numbers with a decimal point and without separators"
            )
        if not self._sure:
            notes = (note("commas", f"commas were taken for decimal ones: {self._comma_at}"),)
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
        """The first row shows the row names, and which columns hold text.

        Rows at the top without numbers, above one with hardly anything else, are text by themselves
        and say nothing of the columns.
        """
        waiting, self._waiting = self._waiting, []
        first, last = waiting[0][0], waiting[-1][0]
        if len(first) == len(self.names) + 1:  # R leaves the name of its row names out
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
            raise FileError(
                f"{self.path}: {self.unit} {where} has {len(cells)} cells, but the header has "
                f"{len(self.names)} columns; a cell with a delimiter in it needs quotation marks"
            )
        self._where.append(where)
        if self._asked and cells[0].strip() in self._asked:
            self._keep(list(cells))
        for position, column in self._texts.items():
            cell = cells[position].strip()
            column.append(None if cell in MISSING else cell)
            cells[position] = "nan"
        try:
            self._numbers.append(self._row_of_numbers(cells))
        except ValueError:
            self._numbers.append(self._row_with_gaps(cells))
        if len(self._numbers) * len(self.names) >= _PIECE:
            self._put_together()

    def _put_together(self) -> None:
        """The numbers of the last rows as one piece, without columns of text."""
        if self._numbers:
            self._pieces.append(np.array(self._numbers)[:, self._of_numbers()])
        self._numbers = []

    def _of_numbers(self) -> Any:
        """Which columns (k,) hold numbers; known with the first row."""
        found = np.ones(len(self.names), dtype=bool)
        found[list(self._texts)] = False
        return found

    def _row_of_numbers(self, cells: list[str]) -> Any:
        """Cells (k,) as float64; a ValueError where one is none, or is written the other way."""
        joined = "\0".join(cells)
        if "_" in joined:  # NumPy would take 1_000 for a number
            raise ValueError("an underscore is no part of a number")
        if self._comma_at is not None:
            if "." in joined:
                raise ValueError("a decimal point among decimal commas")
            if not self._sure:
                self._sure = any(_SURELY_DECIMAL.fullmatch(cell.strip()) for cell in cells)
            if "," in joined:
                cells = joined.replace(",", ".").split("\0")
        return np.array(cells, dtype=np.float64)

    def _row_with_gaps(self, cells: list[str]) -> Any:
        """A row with empty cells or unexpected text; NaN for either."""
        filled = ["nan" if cell.strip() in MISSING else cell for cell in cells]
        # Where there was text before there is likely to be more, and one look at all cells is saved.
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
        """Put nan in place of text at these positions; was there any?"""
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
        """Text in a column of numbers that is a number after all, written in another way."""
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
                "numbers one way"
            )
