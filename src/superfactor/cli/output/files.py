"""Check output paths before the computation, and write tables."""

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
from superfactor.tables.grids.cells import for_spreadsheet, is_computed

if TYPE_CHECKING:
    import pandas as pd

# Endings of other formats, for which a CSV file would be misleading.
_NOT_WRITTEN = (".xls", ".ods", ".h5ad", ".h5mu", ".npz", ".html", ".json", ".skops", ".feather")


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table in the format of the file's ending, completely or not at all; CSV for unknown endings.

    Text that a spreadsheet would compute stays text there; our own readers restore it.
    """
    with replacing(path) as temporary:
        # Within the block, since openpyxl has temporary files of its own: an error names the table.
        temporary.write_bytes(_content(path, header, rows))


def _content(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    ending = _ending(path)
    if ending == ".parquet":
        import pandas as pd

        content = io.BytesIO()
        pd.DataFrame(list(rows), columns=list(header)).to_parquet(content, index=False)
        return content.getvalue()
    if ending == ".xlsx":
        return _workbook([header, *rows])
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
    writer.writerows([for_spreadsheet(cell) for cell in row] for row in (header, *rows))
    whole = text.getvalue().encode()
    # Without a time stamp, so that the same table gives the same file.
    return gzip.compress(whole, mtime=0) if path.suffix.lower() == ".gz" else whole


def _workbook(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a workbook with one sheet, in which all text is text and no formula."""
    from openpyxl import Workbook
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book, content = Workbook(), io.BytesIO()
    for i, row in enumerate(rows, start=1):
        for j, value in enumerate(row, start=1):
            if value is None or value != value:
                continue
            known = value.item() if hasattr(value, "item") else value
            if isinstance(known, str):
                known = ILLEGAL_CHARACTERS_RE.sub("\ufffd", known)
            if isinstance(known, str) and is_computed(known.lstrip("'")):
                # The cell is marked as text, so an apostrophe is needed only before one that readers remove.
                cell = book.active.cell(i, j, for_spreadsheet(known) if known.startswith("'") else known)
                cell.data_type, cell.quotePrefix = "s", True
            else:
                book.active.cell(i, j, known)
    book.save(content)
    return content.getvalue()


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """Write the columns of a DataFrame without its index; missing values are empty cells."""
    known = frame.astype(object).where(frame.notna(), None)
    write_table(path, [str(name) for name in frame], known.itertuples(index=False, name=None))


def check_table(option: str, path: Path | None) -> None:
    """Raise an error if tables are not written in the format of this path."""
    if path is None:
        return
    ending = _ending(path)
    if ending == ".xlsx" and find_spec("openpyxl") is None:
        raise UserError(
            f'{option} {path}: openpyxl is missing; pip install "superfactor[excel]", or use a .csv file'
        )
    if ending in _NOT_WRITTEN:
        raise UserError(f"{option} {path}: a name that ends in .csv, .tsv, .parquet or .xlsx is required")


def _ending(path: Path) -> str:
    """Return the ending of a file: ``.csv`` for a.csv and a.csv.gz."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower()


def check_paths(outputs: Mapping[str, Path | None], *inputs: Path | None) -> None:
    """Raise an error before the computation if an input is missing or an output cannot be written."""
    read = [path for path in inputs if path is not None]
    for path in read:
        path.stat()
    taken: dict[Path, str] = {}
    for option, out in outputs.items():
        if out is None:
            continue
        _check_writable(out, option)
        if out.exists() and any(out.samefile(path) for path in read):
            raise UserError(f"{option} {out}: this is an input file; another name is required")
        other = taken.setdefault(out.resolve(), option)
        if other != option:
            raise UserError(f"{option} {out}: this is also the file of {other}; two names are required")


def _check_writable(path: Path, option: str) -> None:
    folder = path.parent
    if path.is_dir():
        raise UserError(f"{option} {path}: a folder; the name of a file is required")
    if path.exists() and not path.is_file():  # renaming would replace a device by a file
        raise UserError(f"{option} {path}: not a file; the name of a file is required")
    if not folder.is_dir():
        raise UserError(f"{option} {path}: there is no folder {folder}; create it first")
    if not os.access(folder, os.W_OK):
        raise UserError(f"{option} {path}: the folder {folder} is not writable; another is required")
