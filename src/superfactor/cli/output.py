"""Where to write, checked before the work, and how tables are written."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from superfactor._files import replacing
from superfactor.cli.errors import UserError


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


def check_paths(outputs: Mapping[str, Path | None], *inputs: Path | None) -> None:
    """Say now, and not after the work, that an input is missing or a file could not be written.

    Parameters
    ----------
    outputs : files to write by option, None where the option is not given
    inputs : files to read, likewise
    """
    read = [path for path in inputs if path is not None]
    for path in read:
        path.stat()
    taken: dict[Path, str] = {}
    for option, out in outputs.items():
        if out is None:
            continue
        _check_writable(out, option)
        if out.exists() and any(out.samefile(path) for path in read):
            raise UserError(
                f"{option} {out}: this would overwrite what is read; another name is required"
            )
        other = taken.setdefault(out.resolve(), option)
        if other != option:
            raise UserError(f"{option} {out}: this would overwrite {other}; two names are required")


def _check_writable(path: Path, option: str) -> None:
    folder = path.parent
    if path.is_dir():
        raise UserError(f"{option} {path}: a folder; the name of a file is required")
    if path.exists() and not path.is_file():  # renaming would put a file in place of a device
        raise UserError(f"{option} {path}: not a file; a name to write a file to is required")
    if not folder.is_dir():
        raise UserError(f"{option} {path}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise UserError(
            f"{option} {path}: the folder {folder} cannot be written to; another is required"
        )
