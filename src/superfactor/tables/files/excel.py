"""Excel files: the values of one sheet as they were last saved."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from superfactor.tables.grids.cells import some
from superfactor.tables.grids.grid import Grid
from superfactor.tables.grids.rows import Rows
from superfactor.tables.notes import FileError, Note, note

Cells = list[Any]
# Above the names of the columns there may be a title, or merged cells over groups of columns.
_HEADER_ROWS = 4


def read_sheet(
    path: Path, sheet: str | None, text: Collection[str], *, words: Collection[int] = (), keep: bool = True
) -> Grid:
    """The cells of a sheet, by default of the first; rows without any value are nothing."""
    rows = Rows(path, "row", text, words=words, keep=keep)
    gaps = False
    with _opened(path, sheet) as (values, notes):
        filled = ((_without_end(cells), row) for row, cells in enumerate(values, start=1))
        header, start, data, skipped = _header(path, (pair for pair in filled if pair[0]))
        rows.header([_written(cell) for cell in header])
        for cells, row in data:
            cells = cells[start:]
            cells += [None] * (len(header) - len(cells))
            gaps = gaps or None in cells
            rows.add([_written(cell) for cell in cells], row)
    if gaps:
        _refuse_formulas(path, sheet)
    return replace(rows.grid(), notes=(*notes, *skipped))


@contextmanager
def _opened(
    path: Path, sheet: str | None, formulas: bool = False
) -> Iterator[tuple[Iterator[tuple[Any, ...]], tuple[Note, ...]]]:
    """The rows of a sheet, and a note where there are others."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise FileError(
            f"{path}: reading it needs openpyxl: pip install 'superfactor[excel]', or save it as .csv"
        ) from None
    with open(path, "rb") as raw:
        try:
            book = load_workbook(raw, read_only=True, data_only=not formulas)
        except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
            raise FileError(
                f"{path}: not an Excel workbook ({error}); save it again as .xlsx, without a password"
            ) from None
        names = [page.title for page in book.worksheets]
        if sheet is None:
            chosen = names[0]
        else:  # as Excel itself, which has no two sheets that differ in case only
            alike = [name for name in names if name.casefold() == sheet.strip().casefold()]
            if not alike:
                raise FileError(f"{path}: there is no sheet {sheet!r}; there are {some(names, 8)}")
            chosen = alike[0]
        page = book[chosen]
        page.reset_dimensions()  # what other programs write about the size is often wrong
        others = [name for name in names if name != chosen]
        found = note("sheet", f"sheet {chosen!r} was read, not {some(others, 5)}", sheet=chosen)
        try:
            yield page.iter_rows(values_only=True), (found,) if others and sheet is None else ()
        finally:
            book.close()


def _header(
    path: Path, rows: Iterator[tuple[Cells, int]]
) -> tuple[Cells, int, Iterator[tuple[Cells, int]], tuple[Note, ...]]:
    """The names of the columns, where the first of them stands, the rows below, and a note.

    A header of several rows is one where names are missing that a row of words below has: that row then
    names the columns, and where it is empty the one above it.
    """
    top = list(islice(rows, _HEADER_ROWS))
    if not top:
        raise FileError(f"{path}: an empty sheet; name another one")
    width = max(len(cells) for cells, _ in top)
    padded = [cells + [None] * (width - len(cells)) for cells, _ in top]
    # A table may begin further right.
    start = next(column for column in range(width) if any(cells[column] is not None for cells in padded))
    last, header = 0, padded[0]
    while last + 2 < len(padded):
        below = padded[last + 1]
        merged = [above if cell is None else cell for above, cell in zip(header, below, strict=True)]
        words = all(cell is None or isinstance(cell, str) for cell in below)
        if not words or None not in header[start + 1 :] or merged.count(None) >= header.count(None):
            break
        last, header = last + 1, merged
    title = note("header", f"the header has {last + 1} rows; columns are called by the last")
    rest = chain(top[last + 1 :], rows)
    return _without_end(header)[start:], start, rest, (title,) if last else ()


def _refuse_formulas(path: Path, sheet: str | None) -> None:
    """A formula that no program has computed looks like an empty cell."""
    with _opened(path, sheet) as (values, _), _opened(path, sheet, formulas=True) as (written, _):
        for row, (saved, source) in enumerate(zip(values, written, strict=False), start=1):
            for column, (value, cell) in enumerate(zip(saved, source, strict=False), start=1):
                if value is None and isinstance(cell, str) and cell.startswith("="):
                    from openpyxl.utils import get_column_letter

                    raise FileError(
                        f"{path}: the formula in cell {get_column_letter(column)}{row} has no saved value; "
                        "open the file in Excel or LibreOffice and save it"
                    )


def _without_end(row: Iterable[Any]) -> Cells:
    """The cells up to the last one with a value."""
    cells = [*row]
    while cells and (cells[-1] is None or cells[-1] == ""):
        cells.pop()
    return cells


def _written(cell: Any) -> str:
    """A cell as text; numbers with all their digits, so that they are the same when read."""
    if cell is None:
        return ""
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        cell = cell.date()
    return str(cell)
