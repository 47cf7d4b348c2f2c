"""Join files by sample names, and report the samples that are lost or lack a block."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from superfactor.preprocessing.joining import distinct_names
from superfactor.tables.columns.numbers import as_dense, made_dense, numbers, place, without_point
from superfactor.tables.grids.cells import MISSING, ROW_NAMES, is_number
from superfactor.tables.grids.grid import TableFile
from superfactor.tables.joining.source import Combined, Ranges, Sources, ranges_of_kept, with_defaults
from superfactor.tables.notes import Note, Setting, TableError, note, occur_twice, shortened
from superfactor.tables.roles import Columns

if TYPE_CHECKING:
    import pandas as pd

# Number of lost samples that are named.
_FIRST = 5


@dataclass(frozen=True)
class _Part:
    """One file: sample names (n,) from the column `key` of `frame`, feature values (n, p).

    A phenotype file has no features. `blocks` are the blocks inside a file, if any.
    """

    name: str
    path: Path
    key: str
    names: list[str]
    frame: pd.DataFrame
    values: Any = None
    features: Sequence[str] = ()
    blocks: Mapping[str, tuple[int, int]] | None = None


def join(
    source: Sources,
    tables: Mapping[str, TableFile],
    people: TableFile | None,
    roles: Columns,
    wanted: Collection[str] | None,
) -> Combined:
    """Return the samples with features; with a phenotype file, only those that it lists.

    The order is that of the tables. The features of a table are missing for samples it lacks.
    """
    paths, files = dict(source.tables), dict(tables)
    if people is not None:
        assert source.phenotype is not None
        paths[""], files[""] = source.phenotype, people
    keys = _keys(paths, files, roles.id)
    parts = [_part(name, paths[name], table, keys[name], roles, wanted) for name, table in tables.items()]
    known = None
    if people is not None:
        own_names = _names(paths[""], people.frame, keys[""])
        known = _Part("", paths[""], keys[""], own_names, people.frame)
    names = list(dict.fromkeys(name for part in parts for name in part.names))
    if known is not None:
        own = set(known.names)
        kept = [name for name in names if name in own]
        if not kept:
            raise TableError(
                f"{known.path}: no sample of {parts[0].path} is in it: {shortened(names, 2)} there, "
                f"{shortened(known.names, 2)} here; name the column with matching names with ",
                Setting("id"),
                kind="join",
            )
    else:
        kept = names
    frame = _frame(parts, known, kept, roles.compared)
    defaults = with_defaults(roles, frame if known is None else known.frame)
    features = distinct_names({part.name: part.features for part in parts}, wanted or ())
    report = _report(parts, known, kept)
    matrix = _matrix(parts, kept)
    notes = [*(own for table in files.values() for own in table.notes), *_notes(report)]
    if not sp.issparse(matrix) and any(sp.issparse(part.values) for part in parts):
        notes.append(made_dense(matrix, "joined to dense values, or missing for some samples"))
    return Combined(
        source.path,
        source.title,
        frame,
        replace(defaults, id=str(frame.columns[0])),
        matrix,
        [name for own in features.values() for name in own],
        _ranges(parts),
        report,
        tuple(notes),
        frozenset(name for table in tables.values() for name in table.features or () if name in roles.drop),
    )


# --- names of samples -----------------------------------------------------------------------------


def _keys(paths: dict[str, Path], files: dict[str, TableFile], id: str | None) -> dict[str, str]:
    """The column of sample names in each file.

    This is the column `id`, or else the row names, or else the column that shares most names with the
    other files.
    """
    found = {name: _own_key(table.frame, id) for name, table in files.items()}
    names: set[str] = set()
    for name, table in files.items():
        key = found[name]
        names |= set() if key is None else set(_names(paths[name], table.frame, key))
    return {name: key or _matching(paths[name], files[name].frame, names, id) for name, key in found.items()}


def _own_key(frame: pd.DataFrame, id: str | None) -> str | None:
    if id is not None and id in frame.columns:
        return id
    # A transposed table, or one with row names: `id` is a column of another file.
    default = with_defaults(Columns(), frame).id
    return default if id is None or default == ROW_NAMES else None


def _matching(path: Path, frame: pd.DataFrame, names: set[str], id: str | None) -> str:
    words = [name for name, kind in frame.dtypes.items() if kind.kind == "O"]
    common = {name: len(names.intersection(frame[name])) for name in words}
    best = max(common, key=lambda name: common[name], default=None)
    if best is None or not common[best]:
        if id is None and names and words:
            here = ", ".join(f"{next(iter(frame[name].dropna()), '')!r} in {name!r}" for name in words[:3])
            raise TableError(
                f"{path}: no column has the sample names of the other files, such as "
                f"{shortened(sorted(names), 2)}; here are {here}: use the same names, or give the column as ",
                Setting("id"),
                kind="join",
            )
        wanted = " is required" if id is None else f": there is no column {id!r}"
        raise TableError(
            f"{path}: ",
            Setting("id"),
            f"{wanted}, the column with the sample names by which files are joined; the columns are "
            f"{shortened(list(frame.columns))}",
            kind="join",
        )
    return str(best)


def _names(path: Path, frame: pd.DataFrame, key: str) -> list[str]:
    """Check and return the sample names; 7 for the 7.0 of a column with empty cells."""
    cells = frame[key]
    empty = cells.isna().to_numpy()
    if empty.any():
        raise TableError(
            f"{path}: missing sample name in column {key!r} at {place(frame, int(empty.argmax()))}; fill it "
            "in, because files are joined by it",
            kind="join",
        )
    names = [without_point(str(cell)) for cell in cells]
    twice = occur_twice(names, f" in column {key!r}")
    if twice:
        raise TableError(
            f"{path}: {twice}; files are joined by unique names: keep one row of each, rename the others, or "
            "name another column with ",
            Setting("id"),
            kind="join",
        )
    return names


# --- one file -------------------------------------------------------------------------------------


def _part(
    name: str, path: Path, table: TableFile, key: str, roles: Columns, wanted: Collection[str] | None
) -> _Part:
    """The samples and features of a table."""
    frame, names = table.frame, _names(path, table.frame, key)
    if table.matrix is None:
        chosen = _chosen(name, [str(n) for n in frame.columns if n != key], roles, wanted)
        values = numbers(path, frame, chosen, names, gaps=True)
        frame = frame[[n for n in frame.columns if n == key or n in roles.special]]
        return _Part(name, path, key, names, frame, values, chosen)
    assert table.features is not None
    chosen = _chosen(name, table.features, roles, wanted)
    values, blocks = table.matrix, table.blocks
    if len(chosen) < len(table.features):
        keep = set(chosen)
        positions = [j for j, n in enumerate(table.features) if n in keep]
        values = values[:, positions]
        blocks = ranges_of_kept(blocks, positions)
    return _Part(name, path, key, names, frame, values, chosen, blocks or None)


def _chosen(block: str, names: Sequence[str], roles: Columns, wanted: Collection[str] | None) -> list[str]:
    """Return the names that are features."""
    special = roles.special
    if wanted is None:
        return [name for name in names if name not in special]
    return [name for name in names if name in wanted or f"{block}:{name}" in wanted]


# --- all of them ----------------------------------------------------------------------------------


def _ranges(parts: list[_Part]) -> Ranges:
    """(start, stop) of the features of every block."""
    ranges: Ranges = {}
    start = 0
    for part in parts:
        inside = part.blocks or {part.name: (0, len(part.features))}
        ranges |= {name: (start + a, start + b) for name, (a, b) in inside.items() if b > a}
        start += len(part.features)
    return ranges if len(ranges) > 1 else {}


def _frame(
    parts: list[_Part], known: _Part | None, kept: list[str], compared: Collection[str]
) -> pd.DataFrame:
    """Columns other than features for the samples `kept`, the names first.

    The phenotype file has priority over the tables, and an earlier table over a later one. Different values
    in one of the columns `compared` are an error.
    """
    import pandas as pd

    sources = parts if known is None else [known, *parts]
    key = sources[0].key
    columns: dict[str, Any] = {key: pd.Series(kept, index=kept, dtype=object)}
    origin: dict[str, list[Path]] = {}
    for part in sources:
        frame = part.frame.set_axis(pd.Index(part.names, dtype=object), axis=0).reindex(kept)
        for name in frame.columns:
            if name == part.key:
                continue
            mine = frame[name]
            if name in compared:
                if name in columns:
                    _refuse_differences(name, columns[name], mine, origin[name], part.path)
                origin.setdefault(name, []).append(part.path)
            # A sample may be only in a later table.
            columns[name] = mine if name not in columns else columns[name].where(columns[name].notna(), mine)
    frame = pd.DataFrame(columns)
    for name in list(columns):
        column = frame[name]
        if column.dtype.kind == "O":
            frame[name] = column.where(column.notna(), None)
    frame.columns = pd.Index(list(columns), dtype=object)
    frame.index = pd.Index(kept, name="sample", dtype=object)
    return frame


def _refuse_differences(
    name: str, before: pd.Series[Any], mine: pd.Series[Any], others: list[Path], path: Path
) -> None:
    """Check that a column is the same in two files; samples are in the same order."""
    pairs = list(zip(before.index, _spelled(before), _spelled(mine), strict=True))
    there = [(sample, a, b) for sample, a, b in pairs if a is not None and b is not None]
    differ = [(sample, a, b) for sample, a, b in there if a != b]
    if differ:
        sample, a, b = differ[0]
        raise TableError(
            f"column {name!r} differs between {' + '.join(map(str, others))} and {path} for {len(differ)} of "
            f"{len(there)} samples, first for {str(sample)!r}: {a!r} and {b!r}; remove the column from "
            "one of them",
            kind="join",
            column=name,
        )


def _spelled(column: pd.Series[Any]) -> list[str | None]:
    """Cells as text, 61.5 for 61.50 and 7 for 7.0; None for empty cells."""
    cells = [None if gone else str(c) for c, gone in zip(column, column.isna(), strict=True)]
    return [
        None
        if cell is None or cell in MISSING
        else without_point(str(float(cell)))
        if is_number(cell)
        else cell
        for cell in cells
    ]


def _matrix(parts: list[_Part], kept: list[str]) -> Any:
    """Features (n, p) of the samples `kept`, NaN for samples that a table lacks; sparse if all tables are."""
    rows = []
    for part in parts:
        at = {name: i for i, name in enumerate(part.names)}
        rows.append(np.array([at.get(name, -1) for name in kept]))
    if all(sp.issparse(part.values) and (own >= 0).all() for part, own in zip(parts, rows, strict=True)):
        return sp.hstack([part.values[own] for part, own in zip(parts, rows, strict=True)], format="csr")
    out = np.full((len(kept), sum(len(part.features) for part in parts)), np.nan)
    start = 0
    for part, own in zip(parts, rows, strict=True):
        stop, there = start + len(part.features), own >= 0
        out[there, start:stop] = as_dense(part.path, part.values[own[there]], "joined")
        start = stop
    return out


def _report(parts: list[_Part], known: _Part | None, kept: list[str]) -> dict[str, Any]:
    """The lost samples and why, and the samples without a block, as plain values."""
    inside = set(kept)
    lost = []
    if known is not None:
        for part in parts:
            gone = [name for name in part.names if name not in inside]
            lost.append(_group(part.path, f"not in {known.path.name}", gone))
        anywhere = {name for part in parts for name in part.names}
        gone = [name for name in known.names if name not in anywhere]
        where = parts[0].path.name if len(parts) == 1 else "any table"
        lost.append(_group(known.path, f"not in {where}", gone))
    without = []
    for part in parts if len(parts) > 1 else []:
        own = set(part.names)
        gone = [name for name in kept if name not in own]
        without.append({"block": part.name, "samples": len(gone), "first": gone[:_FIRST]})
    files = [*parts, *([] if known is None else [known])]
    return {
        "by": files[-1].key,
        "files": {str(part.path): len(part.names) for part in files},
        "samples": len(kept),
        "lost": [group for group in lost if group["samples"]],
        "without_block": [group for group in without if group["samples"]],
    }


def _group(path: Path, why: str, names: list[str]) -> dict[str, Any]:
    return {"file": str(path), "why": why, "samples": len(names), "first": names[:_FIRST]}


def _notes(report: dict[str, Any]) -> list[Note]:
    """The report as notes."""
    lines = [
        f"{_samples(group)} of {Path(group['file']).name} left out, {group['why']}: {_some(group)}"
        for group in report["lost"]
    ]
    lines += [
        f"{_samples(group)} of {report['samples']} without {group['block']!r}: its features are missing "
        f"values for {_some(group)}"
        for group in report["without_block"]
    ]
    return [note("join", line) for line in lines]


def _samples(group: dict[str, Any]) -> str:
    return f"{group['samples']} sample{'s' * (group['samples'] > 1)}"


def _some(group: dict[str, Any]) -> str:
    more = group["samples"] - len(group["first"])
    return ", ".join(map(repr, group["first"])) + (f" and {more} more" if more else "")
