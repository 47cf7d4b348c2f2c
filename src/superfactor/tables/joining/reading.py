"""Read all files of a study and join them to one table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from superfactor.tables.columns.codes import without_codes
from superfactor.tables.grids.grid import TableFile
from superfactor.tables.joining.joining import join
from superfactor.tables.joining.source import Combined, Progress, Sources, no_progress, with_defaults
from superfactor.tables.notes import Note, TableError, note
from superfactor.tables.roles import Columns

if TYPE_CHECKING:
    import pandas as pd


def read(
    source: Sources,
    roles: Columns,
    progress: Progress = no_progress,
    *,
    words: Sequence[str] = (),
    wanted: Collection[str] | None = None,
) -> Combined:
    """Return the samples of all files."""
    text = [name for name in (*roles.outcome, roles.id, *words) if name is not None]

    def opened(path: Path, source: Sources) -> TableFile:
        return without_codes(source.open(path, text, progress), source.missing, text, roles.id)

    people = None
    if source.phenotype is not None:
        # The rows of a phenotype file are always samples.
        plain = replace(source, layout="samples", layer=None)
        people = opened(source.phenotype, plain)
    tables = {}
    for name, path in source.tables:
        tables[name] = opened(path, source)
        if people is not None and _has_samples_in_columns(source, tables[name], people.frame):
            tables[name] = opened(path, replace(source, layout="features"))
    if len(tables) == 1:
        (table,) = tables.values()
        if people is None:
            return _alone(source, table, table.frame, roles)
        if not len(table.frame.columns):
            return _in_order(source, table, people, roles)
    return join(source, tables, people, roles, wanted)


def _alone(source: Sources, table: TableFile, frame: pd.DataFrame, roles: Columns, *notes: Note) -> Combined:
    """The features of one table, and the other data of its samples in `frame`."""
    found = with_defaults(roles, frame)
    matrix, blocks = (table.matrix, table.features), dict(table.blocks)
    return Combined(source.path, source.title, frame, found, *matrix, blocks, notes=(*table.notes, *notes))


def _in_order(source: Sources, table: TableFile, people: TableFile, roles: Columns) -> Combined:
    """Join a matrix without sample names to a phenotype file by row order."""
    assert source.phenotype is not None
    n, m = len(table.frame), len(people.frame)
    if n != m:
        raise TableError(
            f"{source.path}: {n} rows without sample names, but {source.phenotype} has {m}; the same "
            "number is required, in the same order",
            kind="join",
        )
    line = f"{source.path.name} has no sample names: its rows are matched to {source.phenotype.name} by order"
    return _alone(source, table, people.frame, roles, *people.notes, note("order", line))


def _has_samples_in_columns(source: Sources, table: TableFile, people: pd.DataFrame) -> bool:
    """Whether most columns of a table are sample names of the phenotype file."""
    if source.layout not in (None, "auto") or table.matrix is not None:
        return False
    columns = set(table.frame.columns)
    words = [name for name, kind in people.dtypes.items() if kind.kind == "O"]
    return any(2 * len(columns.intersection(people[name])) > len(columns) for name in words)
