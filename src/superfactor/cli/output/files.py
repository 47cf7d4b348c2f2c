"""Where to write, checked before the work, and how tables are written."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superfactor._files import replacing
from superfactor.cli.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

# Commas in a file of such a name would be taken for something else.
_NOT_WRITTEN = (".xls", ".ods", ".h5ad", ".h5mu", ".npz", ".html", ".json", ".skops", ".feather")


def write_bytes(path: Path, content: bytes) -> None:
    """The file with this content, or no change at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table in the format that its name ends in; commas between the cells where that says nothing."""
    ending = _ending(path)
    if ending in (".parquet", ".xlsx"):
        import pandas as pd

        frame, content = pd.DataFrame(list(rows), columns=list(header)), io.BytesIO()
        write = frame.to_parquet if ending == ".parquet" else frame.to_excel
        write(content, index=False)
        write_bytes(path, content.getvalue())
        return
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    whole = text.getvalue().encode()
    # Without the time, so that the same table is the same file.
    write_bytes(path, gzip.compress(whole, mtime=0) if path.suffix.lower() == ".gz" else whole)


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """The columns of a DataFrame, without its index; empty cells where something is not known."""
    known = frame.astype(object).where(frame.notna(), None)
    write_table(path, [str(name) for name in frame], known.itertuples(index=False, name=None))


def check_table(option: str, path: Path | None) -> None:
    """Say before the work that tables are not written in such a format."""
    if path is None:
        return
    ending = _ending(path)
    if ending == ".xlsx" and find_spec("openpyxl") is None:
        raise UserError(
            f'{option} {path}: openpyxl is missing; pip install "superfactor[excel]", or name a .csv file'
        )
    if ending in _NOT_WRITTEN:
        raise UserError(
            f"{option} {path}: tables are written as .csv, .tsv, .parquet or .xlsx; another name is required"
        )


def _ending(path: Path) -> str:
    """``.csv`` of a.csv and a.csv.gz."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower()


def check_paths(outputs: Mapping[str, Path | None], *inputs: Path | None) -> None:
    """Say now, and not after the work, that an input is missing or a file could not be written."""
    read = [path for path in inputs if path is not None]
    for path in read:
        path.stat()
    taken: dict[Path, str] = {}
    for option, out in outputs.items():
        if out is None:
            continue
        _check_writable(out, option)
        if out.exists() and any(out.samefile(path) for path in read):
            raise UserError(f"{option} {out}: this would overwrite what is read; another name is required")
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
        raise UserError(f"{option} {path}: the folder {folder} cannot be written to; another is required")
