"""The text of a file: packed or not, in UTF-8, in the UTF-16 of Excel or in the encoding of older Windows."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from superfactor.tables.notes import FileError, Note, note

__all__ = ["lines_of", "read_text"]

Result = TypeVar("Result")

_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
# A word around a byte that is no UTF-8.
_WORD = re.compile(rb"[^\s,;\"]*\Z"), re.compile(rb"[^\s,;\"]*")


def read_text(
    path: Path, read: Callable[[io.TextIOWrapper, IO[bytes]], Result]
) -> tuple[Result, tuple[Note, ...]]:
    """What `read` makes of the text, and notes on its encoding.

    Parameters
    ----------
    read : callable(lines, raw)
        `raw` is the file underneath, whose position shows the progress. Called again, from the
        beginning, where the text turns out to be none of UTF-8.
    """
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
