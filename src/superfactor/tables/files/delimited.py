"""Delimited text: encoding, delimiter, and errors with the line number."""

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

# Possible delimiters by the ending of the file, the most likely first.
DELIMITERS = {".csv": ",;\t", ".tsv": "\t", ".tab": "\t", ".txt": "\t,;"}
_CELL_LIMIT = 1 << 24
# The line by which Excel states the delimiter.
_SEPARATOR = re.compile(r"(?i)\ufeff?\"?sep=(.)\"?\s*")

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
    """Read the cells of a file whose first line is the header."""

    size = os.path.getsize(path)

    def read(lines: io.TextIOWrapper, raw: IO[bytes], comma_at: str | None = None) -> Grid:
        header, before = lines.readline(), 0
        named = _SEPARATOR.fullmatch(header)
        if named is not None:
            header, before = lines.readline(), 1
        delimiter = max(delimiters, key=header.count) if named is None else named[1]
        # If commas separate the cells, commas inside cells are not decimal. If semicolons do, they are.
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

        on_line = None if progress is None else lambda: progress(raw.tell(), size)
        return read_lines(path, chain([header], lines), delimiter, rows, on_line, before)

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
    on_line: Callable[[], None] | None = None,
    before: int = 0,
) -> Grid:
    """Read the cells of lines, the first of which is the header, after `before` lines of the file."""
    limit = csv.field_size_limit(_CELL_LIMIT)
    try:
        # A quoted header can span several lines.
        reader = csv.reader(_without_nul(path, lines, before), delimiter=delimiter, strict=True)
        rows.header(next(reader, []))
        for cells in reader:
            if any(map(str.strip, cells)):  # rows without any value are ignored
                rows.add(cells, before + reader.line_num)
            if on_line is not None:
                on_line()
    except csv.Error as error:
        raise FileError(
            f"{path}: line {before + reader.line_num}: {error}; look for a stray quotation mark"
        ) from None
    finally:
        csv.field_size_limit(limit)
    return rows.grid()


def _without_nul(path: Path, lines: Iterable[str], before: int) -> Iterator[str]:
    """Yield the lines; raise an error for a NUL character, which text never has."""
    for number, line in enumerate(lines, start=before + 1):
        if "\0" in line:
            at = line.index("\0")
            shown = line[max(0, at - 10) : at + 10].strip()
            raise FileError(f"{path}: line {number} has a NUL character, at {shown!r}; remove it")
        yield line


Result = TypeVar("Result")

_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
# The word around a byte that is not UTF-8.
_WORD = re.compile(rb"[^\s,;\"]*\Z"), re.compile(rb"[^\s,;\"]*")


def read_text(
    path: Path, read: Callable[[io.TextIOWrapper, IO[bytes]], Result]
) -> tuple[Result, tuple[Note, ...]]:
    """Return the result of `read` for the text, and notes on its encoding."""
    notes: tuple[Note, ...] = ()
    # Windows-1252 does not define five bytes; Latin-1 defines all.
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
    """Open a file as text; yield the lines and the binary file."""
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
    """Return a note on text that is not UTF-8, with an affected word."""
    part, place = error.object, error.start
    if b"\0" in part or error.encoding.startswith("utf-16"):
        raise FileError(f"{path}: not UTF-8 text (byte 0x{part[place]:02x}); save it as UTF-8") from None
    before, after = _WORD[0].search(part[:place]), _WORD[1].match(part[place:])
    word = (before[0] if before else b"") + (after[0] if after else b"")
    shown = word.decode("cp1252", errors="replace")
    return note("encoding", f"read as Windows-1252, because it is not UTF-8: check {shown!r}")
