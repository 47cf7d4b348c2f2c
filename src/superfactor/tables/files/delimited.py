"""Delimited text: its encoding, which character separates cells, and where a line goes wrong."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeVar

from superfactor.tables.grids.grid import Grid
from superfactor.tables.grids.rows import DecimalComma, Rows
from superfactor.tables.notes import FileError, Note, note

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
    """The cells of a file, whose first line is its header."""

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


Result = TypeVar("Result")

_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
# A word around a byte that is no UTF-8.
_WORD = re.compile(rb"[^\s,;\"]*\Z"), re.compile(rb"[^\s,;\"]*")


def read_text(
    path: Path, read: Callable[[io.TextIOWrapper, IO[bytes]], Result]
) -> tuple[Result, tuple[Note, ...]]:
    """What `read` makes of the text, and notes on its encoding."""
    notes: tuple[Note, ...] = ()
    # Five bytes mean nothing in Windows-1252; in Latin-1 every byte means something.
    encodings = [None, "cp1252", "latin-1"]
    try:
        for encoding in encodings:
            try:
                with lines_of(path, encoding) as (lines, raw):
                    return read(lines, raw), notes
            except UnicodeDecodeError as error:
                notes = notes or (_note(path, error),)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(f"{path}: not a complete gzip file ({error}); copy or download it again") from None
    raise AssertionError("Latin-1 reads anything")


@contextmanager
def lines_of(path: Path, encoding: str | None = None) -> Iterator[tuple[io.TextIOWrapper, IO[bytes]]]:
    """The text of a file, and the file underneath."""
    with open(path, "rb") as raw:
        data: Any = raw
        if path.suffix.lower() == ".gz":
            data = io.BufferedReader(gzip.GzipFile(fileobj=raw), 1 << 20)
        if encoding is None:
            marked = data.peek(2)[:2] in _BYTE_ORDER_MARKS
            encoding = "utf-16" if marked else "utf-8-sig"
        with io.TextIOWrapper(data, encoding=encoding, newline="") as lines:
            yield lines, raw


def _note(path: Path, error: UnicodeDecodeError) -> Note:
    """What to say of text that is no UTF-8, with a word in which that shows."""
    part, place = error.object, error.start
    if b"\0" in part or error.encoding.startswith("utf-16"):
        raise FileError(f"{path}: not UTF-8 text (byte 0x{part[place]:02x}); save it as UTF-8") from None
    before, after = _WORD[0].search(part[:place]), _WORD[1].match(part[place:])
    word = (before[0] if before else b"") + (after[0] if after else b"")
    shown = word.decode("cp1252", errors="replace")
    return note("encoding", f"read as Windows-1252, since it is not UTF-8: check {shown!r}")
