"""Excel files: the saved values of one sheet."""

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
from superfactor.tables.notes import FileError, Note, Setting, note, shortened

Cells = list[Any]
# A title, or merged cells over groups of columns, can precede the names of the columns.
_HEADER_ROWS = 4


def read_sheet(
    path: Path, sheet: str | None, text: Collection[str], *, words: Collection[int] = (), keep: bool = True
) -> Grid:
    """Read the cells of a sheet, by default of the only one; rows without any value are ignored."""
    rows = Rows(path, "row", text, words=words, keep=keep)
    missing = False
    with _opened(path, sheet) as values:
        filled = ((_without_end(cells), row) for row, cells in enumerate(values, start=1))
        header, start, data, skipped = _header(path, (pair for pair in filled if pair[0]))
        rows.header([_written(cell) for cell in header])
        for cells, row in data:
            cells = cells[start:]
            cells += [None] * (len(header) - len(cells))
            missing = missing or None in cells
            rows.add([_written(cell) for cell in cells], row)
    if missing:
        _refuse_formulas(path, sheet)
    grid = rows.grid()
    return replace(grid, notes=(*skipped, *grid.notes))


@contextmanager
def _opened(path: Path, sheet: str | None, formulas: bool = False) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Yield the rows of a sheet; without a name there must be only one that is visible and has cells."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise FileError(
            f"{path}: reading it requires openpyxl: pip install 'superfactor[excel]', or save it as .csv"
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
            filled = [
                page.title for page in book.worksheets if page.sheet_state == "visible" and _is_filled(page)
            ]
            if len(filled) > 1:
                several = f"it has the sheets {shortened(filled, 8)}; choose one with "
                raise FileError(f"{path}: ", several, Setting("sheet"))
            chosen = (filled or names)[0]
        else:  # case is ignored, as in Excel
            alike = [name for name in names if name.casefold() == sheet.strip().casefold()]
            if not alike:
                raise FileError(f"{path}: there is no sheet {sheet!r}; there are {some(names, 8)}")
            chosen = alike[0]
        page = book[chosen]
        page.reset_dimensions()  # the stored size is often wrong
        try:
            yield page.iter_rows(values_only=True)
        finally:
            book.close()


def _is_filled(page: Any) -> bool:
    page.reset_dimensions()
    return any(cell is not None for row in page.iter_rows(values_only=True) for cell in row)


def _header(
    path: Path, rows: Iterator[tuple[Cells, int]]
) -> tuple[Cells, int, Iterator[tuple[Cells, int]], tuple[Note, ...]]:
    """Return the names of the columns, the position of the first one, the rows below, and a note.

    A header has several rows if names are missing and a row of words below has them. Then the lowest row
    names the columns; if a cell is empty, the row above does.
    """
    top = list(islice(rows, _HEADER_ROWS))
    if not top:
        raise FileError(f"{path}: an empty sheet; select another one")
    width = max(len(cells) for cells, _ in top)
    padded = [cells + [None] * (width - len(cells)) for cells, _ in top]
    # The table can start in a later column.
    start = next(column for column in range(width) if any(cells[column] is not None for cells in padded))
    last, header = 0, padded[0]
    while last + 2 < len(padded):
        below = padded[last + 1]
        merged = [above if cell is None else cell for above, cell in zip(header, below, strict=True)]
        words = all(cell is None or isinstance(cell, str) for cell in below)
        if not words or None not in header[start + 1 :] or merged.count(None) >= header.count(None):
            break
        last, header = last + 1, merged
    title = note("header", f"the header has {last + 1} rows; the last one names the columns")
    rest = chain(top[last + 1 :], rows)
    return _without_end(header)[start:], start, rest, (title,) if last else ()


def _refuse_formulas(path: Path, sheet: str | None) -> None:
    """Raise an error if a formula has no saved value, because it looks like an empty cell."""
    with _opened(path, sheet) as values, _opened(path, sheet, formulas=True) as written:
        for row, (saved, source) in enumerate(zip(values, written, strict=False), start=1):
            for column, (value, cell) in enumerate(zip(saved, source, strict=False), start=1):
                if value is None and isinstance(cell, str) and cell.startswith("="):
                    from openpyxl.utils import get_column_letter

                    raise FileError(
                        f"{path}: the formula in cell {get_column_letter(column)}{row} has no saved value; "
                        "open the file in Excel or LibreOffice and save it"
                    )


def _without_end(row: Iterable[Any]) -> Cells:
    """Return the cells up to the last one with a value."""
    cells = [*row]
    while cells and (cells[-1] is None or cells[-1] == ""):
        cells.pop()
    return cells


def _written(cell: Any) -> str:
    """Return a cell as text; numbers keep all digits."""
    if cell is None:
        return ""
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        cell = cell.date()
    return str(cell)
