"""Parquet files, including an index written by pandas."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from superfactor.tables.grids.cells import ROW_NAMES, kept_as_text, unique
from superfactor.tables.grids.grid import Grid
from superfactor.tables.notes import FileError

_NAMELESS = re.compile(r"__index_level_(\d+)__")


def read_parquet(path: Path, text: Collection[str], *, words: Collection[int] = ()) -> Grid:
    """Read the columns of a file, those of the index first."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise FileError(
            f"{path}: reading it requires pyarrow: pip install 'superfactor[cli]', or save it as .csv"
        ) from None
    try:
        with open(path, "rb") as raw:
            # One thread: for small columns, threads cost more than they save.
            table = parquet.ParquetFile(raw).read(use_threads=False)
    except pa.ArrowException as error:
        raise FileError(
            f"{path}: not a Parquet file ({str(error).splitlines()[0]}); write it again, or as CSV"
        ) from None
    if not table.num_rows or not table.num_columns:
        raise FileError(f"{path}: no samples; one row per sample is required")
    index, named_range = _index(table)
    # By position, because names can be duplicates.
    written = table.column_names
    order = sorted(range(len(written)), key=lambda j: written[j] not in index)
    names = [_name(written[j]) for j in order]
    columns = [table.column(j) for j in order]
    if named_range is not None:
        names.insert(0, named_range["name"])
        values = range(named_range["start"], named_range["stop"], named_range["step"])
        columns.insert(0, pa.chunked_array([pa.array(values)]))
    kept = kept_as_text(names, text)
    names = unique(path, names, kept)
    block = np.empty((table.num_rows, len(names)))
    numeric: list[int] = []
    texts: dict[int, list[str | None]] = {}
    for position, (name, column) in enumerate(zip(names, columns, strict=True)):
        if name not in kept and position not in words and _holds_numbers(column.type):
            # Not safe: integers beyond 2⁵³ are rounded, as in text files.
            block[:, len(numeric)] = column.cast(pa.float64(), safe=False).to_numpy()
            numeric.append(position)
        else:
            texts[position] = [None if cell is None else str(cell) for cell in column.to_pylist()]
    rows = range(1, table.num_rows + 1)
    return Grid(names, numeric, block[:, : len(numeric)], texts, rows, "row")


def _index(table: Any) -> tuple[list[str], dict[str, Any] | None]:
    """Return names of the index columns of a DataFrame, and an index that is a named range."""
    about = (table.schema.metadata or {}).get(b"pandas")
    parts = json.loads(about)["index_columns"] if about else []
    present = set(table.column_names)
    named = [part for part in parts if isinstance(part, dict) and part.get("name") is not None]
    stored = [part for part in parts if isinstance(part, str) and part in present]
    return stored, named[0] if named else None


def _name(name: str) -> str:
    """Return the name of a column; pandas stores unnamed index levels as __index_level_0__ and so on."""
    level = _NAMELESS.fullmatch(name)
    if level is None:
        return name
    return ROW_NAMES if level[1] == "0" else f"{ROW_NAMES} {level[1]}"


def _holds_numbers(kind: Any) -> bool:
    from pyarrow import types

    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    )
