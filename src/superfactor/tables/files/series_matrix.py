"""Series matrices of the Gene Expression Omnibus: lines about the samples, then a table of probes.

Lines about the series begin with ``!Series_``, those about samples with ``!Sample_``, one cell per sample.
The table is between ``!series_matrix_table_begin`` and ``!series_matrix_table_end``.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any

from superfactor.tables.files.delimited import Progress, lines_of, read_lines, read_text
from superfactor.tables.grids.cells import is_number, stripped, unique
from superfactor.tables.grids.grid import Grid, TableFile, about_samples
from superfactor.tables.grids.rows import Rows
from superfactor.tables.notes import FileError, NoSamples, note

_BEGIN, _END = "!series_matrix_table_begin", "!series_matrix_table_end"
_SAMPLE = "!Sample_"
_CHARACTERISTICS = "characteristics_ch"
_ACCESSION = "geo_accession"

# Lines about the samples: the name without !Sample_, and the cells.
About = list[tuple[str, list[str]]]


def is_one(path: Path) -> bool:
    """Return whether a file begins like a series matrix."""
    try:
        with lines_of(path) as (lines, _):
            return lines.read(len("!Series_")) in ("!Series_", _SAMPLE)
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error):
        return False


def read(path: Path, *, text: Collection[str], progress: Progress | None) -> TableFile:
    """Return the samples of a series; see `superfactor.tables.open_table`."""
    size = os.path.getsize(path)

    def read_both(lines: io.TextIOWrapper, raw: IO[bytes]) -> tuple[About, Grid]:
        on_line = None if progress is None else lambda: progress(raw.tell(), size)
        about, above = _about(path, lines)
        rows = Rows(path, "line", (), words=[0])
        try:
            return about, read_lines(path, _table(path, lines), "\t", rows, on_line, above)
        except NoSamples:
            raise FileError(
                f"{path}: the table of this series is empty; its values are in the supplementary files of GEO"
            ) from None

    (about, grid), notes = read_text(path, read_both)
    samples = [name for j, name in enumerate(grid.names) if j]
    if grid.stray or len(grid.texts) > 1:
        column = grid.names[min(grid.stray) if grid.stray else max(grid.texts)]
        raise FileError(f"{path}: there is text among the values of sample {column!r}; numbers are required")
    probes = unique(path, [name or "" for name in grid.texts[0]], what="probes")
    frame = about_samples(len(samples), _columns(path, about, samples, text), text, samples)
    line = f"series matrix of GEO: {len(samples):,} samples, {len(probes):,} probes"
    return TableFile(frame, grid.block.T, probes, notes=(*notes, note("series", line)))


def _about(path: Path, lines: io.TextIOWrapper) -> tuple[About, int]:
    """Return the lines about the samples, and the number of lines before the table."""
    about: About = []
    for above, line in enumerate(lines, start=1):
        if line.startswith(_BEGIN):
            return about, above
        if line.startswith(_SAMPLE):
            name, *cells = next(csv.reader([line.rstrip("\r\n")], delimiter="\t"))
            about.append((name.removeprefix(_SAMPLE), cells))
    raise FileError(f"{path}: a series matrix without {_BEGIN}; download it again")


def _table(path: Path, lines: io.TextIOWrapper) -> Iterator[str]:
    for line in lines:
        if line.startswith(_END):
            return
        yield line
    raise FileError(f"{path}: a series matrix without {_END}; it is not complete, download it again")


def _columns(path: Path, about: About, samples: list[str], text: Collection[str]) -> dict[str, Any]:
    """Return columns about the samples: characteristics by their key, and other lines that vary.

    A line of characteristics can have the age of one sample and the sex of the next. Each key becomes one
    column, whatever its line.
    """
    accessions = next((cells for name, cells in about if name == _ACCESSION), samples)
    if sorted(accessions) != sorted(samples):
        raise FileError(f"{path}: the samples of the table are not those of !Sample_{_ACCESSION}")
    place = {sample: row for row, sample in enumerate(samples)}
    order = [place[name] for name in accessions]
    columns: dict[str, list[str | None]] = {}

    def put(name: str, row: int, cell: str) -> None:
        column = columns.setdefault(name, [None] * len(samples))
        value = stripped(cell)
        # If a sample has a key twice, both values are joined.
        column[row] = value if column[row] is None else f"{column[row]}; {value}"

    repeated = Counter(name for name, _ in about)
    for name, cells in about:
        special = name.startswith(_CHARACTERISTICS)
        if not special and (len(set(cells)) < 2 or name == _ACCESSION or repeated[name] > 1):
            continue
        for row, cell in zip(order, cells, strict=False):
            key, colon, value = cell.partition(":")
            if special and colon:
                put(key.strip(), row, value)
            elif cell.strip():
                put(name, row, cell)
    return {name: _numbers(cells) if name not in text else cells for name, cells in columns.items()}


def _numbers(cells: list[str | None]) -> list[Any]:
    """Return numbers if all cells with a value are numbers, otherwise the cells."""
    given = [cell for cell in cells if cell is not None]
    if not given or not all(map(is_number, given)):
        return cells
    return [float("nan") if cell is None else float(cell) for cell in cells]
