"""Delimited text: which character separates cells, and where a line goes wrong."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO

from superfactor.tables.files.written import read_text
from superfactor.tables.grids.grid import Grid
from superfactor.tables.grids.rows import DecimalComma, Rows
from superfactor.tables.notes import FileError

__all__ = ["DELIMITERS", "Progress", "read_delimited", "read_lines"]

# Those that may separate the cells of a file with this ending, the most likely first.
DELIMITERS = {".csv": ",;\t", ".tsv": "\t", ".tab": "\t", ".txt": "\t,;"}
_CELL_LIMIT = 1 << 24

Progress = Callable[[int, int], None]


def read_delimited(
    path: Path,
    delimiters: str,
    text: Collection[str],
    *,
    words: Collection[int] = (),
    keep: bool = True,
    progress: Progress | None = None,
) -> Grid:
    """The cells of a file, whose first line is its header.

    Parameters
    ----------
    delimiters : of these the one that the header has most of
    text, words, keep : see `Rows`
    """

    size = os.path.getsize(path)

    def read(lines: io.TextIOWrapper, raw: IO[bytes], comma_at: str | None = None) -> Grid:
        header = lines.readline()
        delimiter = max(delimiters, key=header.count)
        # In a table with commas between its cells those inside are no decimal ones. In one with
        # semicolons they are: that is why it has semicolons.
        rows = Rows(
            path,
            "line",
            text,
            words=words,
            keep=keep,
            commas=delimiter != ",",
            comma_at=comma_at,
            doubt=delimiter == ";",
        )

        told = None if progress is None else lambda: progress(raw.tell(), size)
        return read_lines(path, chain([header], lines), delimiter, rows, told)

    try:
        grid, notes = read_text(path, read)
    except DecimalComma as found:
        grid, notes = read_text(path, partial(read, comma_at=str(found)))
    return replace(grid, notes=(*notes, *grid.notes))


def read_lines(
    path: Path,
    lines: Iterable[str],
    delimiter: str,
    rows: Rows,
    told: Callable[[], None] | None = None,
    before: int = 0,
) -> Grid:
    """The cells of lines, the first of them the header; `before` so many stand above it in the file."""
    limit = csv.field_size_limit(_CELL_LIMIT)
    try:
        # A quoted header may run over several lines; the reader takes up where it has to.
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        rows.header(next(reader, []))
        for cells in reader:
            if cells:  # blank lines are nothing
                rows.add(cells, before + reader.line_num)
            if told is not None:
                told()
    except csv.Error as error:
        raise FileError(
            f"{path}: line {before + reader.line_num}: {error}; look for a stray quotation mark"
        ) from None
    finally:
        csv.field_size_limit(limit)
    return rows.grid()
