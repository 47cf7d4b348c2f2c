"""Files that are either complete or not there: written under another name, then renamed."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from superfactor.cli.errors import UserError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` to write to; it becomes `path` only if nothing went wrong."""
    folder, name = os.path.split(path)
    handle, temporary = tempfile.mkstemp(dir=folder or ".", prefix=f".{name}.", suffix=".tmp")
    try:
        os.close(handle)
        # mkstemp lets nobody else read; a result has the permissions any new file would have.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        yield Path(temporary)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """The file with this content, or no change at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table; tabs between the cells where the name ends in .tsv, commas otherwise."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t" if path.suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_bytes(path, text.getvalue().encode())


def check_paths(path: Path | None, option: str = "--out", *inputs: Path) -> None:
    """Say now, and not after the work, that an input is missing or a file could not be written."""
    for other in inputs:
        other.stat()
    if path is None:
        return
    folder = path.parent
    if path.is_dir():
        raise UserError(f"{option} {path}: a folder; the name of a file is required")
    if not folder.is_dir():
        raise UserError(f"{option} {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise UserError(f"{option} {path}: the folder {folder} cannot be written to")
    for other in inputs:
        if path.exists() and path.samefile(other):
            raise UserError(f"{option} {path}: this would overwrite what is read")
