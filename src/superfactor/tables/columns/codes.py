"""Numbers that stand for missing values, such as -999: detected, and replaced where declared."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor.tables.columns.missing import percent
from superfactor.tables.grids.cells import CUMIDA, ROW_NAMES, is_number
from superfactor.tables.grids.grid import TableFile, frame
from superfactor.tables.notes import Note, Setting, TableError, note, shortened

# Entries per chunk.
_ENTRIES = 1 << 20
# Columns with a code, and as many others, that are looked at cell by cell; if there are more, a part of them.
_MOST = 500
# Minimum of 16 and 32 bits, which programs write for missing integers.
_LEAST_INTEGERS = (-32768.0, -2147483648.0)


def is_code(value: float) -> bool:
    """Return whether this number is a usual code: -1, 9, 99, -999, 8888, 99.9, -100, -32768, 1e30."""
    if abs(value) >= 1e15 or value in (-1.0, *_LEAST_INTEGERS):
        return True
    digits = repr(abs(float(value))).removesuffix(".0").replace(".", "")
    alike = len(set(digits)) == 1 and (digits[0] in "789" if len(digits) > 1 else digits == "9")
    return alike or (value <= -100 and digits.rstrip("0") == "1")


def about_codes(*tables: tuple[Sequence[str], Any]) -> list[Note]:
    """Return a note on each number that probably stands for missing values.

    Such a number is a usual code, the least or the largest of its column, repeated, and far away: its
    distance to the next number is at least the range of the others. Where no other number of a table is
    negative, negative codes need not be far away. A code below 100 is an ordinary number if as many other
    columns have repeated numbers so far away: counts do.

    Parameters
    ----------
    tables : pairs of names (p,) and values (n, p), an array or CSR
        NaN marks missing values. Sparse values stay sparse.
    """
    names: dict[float, list[str]] = defaultdict(list)
    cells: Counter[float] = Counter()
    known: Counter[float] = Counter()
    for own_names, values in tables:
        if len(own_names) and values.shape[0]:
            for code, (positions, count, size) in _codes(values).items():
                names[code] += [own_names[j] for j in positions]
                cells[code] += count
                known[code] += size
    notes = []
    for code, columns in sorted(names.items()):
        if cells[code] < (3 if abs(code) < 10 else 2):
            continue
        share = cells[code] / known[code]
        value = int(code) if code == int(code) and abs(code) < 1e15 else code
        one = len(columns) == 1
        where = f"column {columns[0]!r}" if one else f"{len(columns)} columns ({shortened(columns, 3)})"
        line = f"{value} stands in {percent(share)} of the cells of {where}; if it means a missing value, "
        fields = {"value": value, "share": share, "columns": columns}
        notes.append(note("code", line, Setting("missing", value), " declares it", **fields))
    return notes


@dataclass
class _Coded:
    """Columns (k,) that end with a code: the codes, NaN for none, their counts, and the other ends."""

    low: Any
    high: Any
    n_low: Any
    n_high: Any
    size: Any
    least: Any
    most: Any


def _codes(values: Any) -> dict[float, tuple[list[int], int, int]]:
    """Return the codes of one table: their columns, the number of their cells, and of all known cells."""
    least, most = _ends(values)
    low, high = _only_codes(least), _only_codes(np.where(most > least, most, np.nan))
    at = np.flatnonzero(~(np.isnan(low) & np.isnan(high)))
    if not len(at):
        return {}
    own = _coded(values, _some(at), low, high)
    signed = bool(np.any((least < 0) & np.isnan(low)) or np.any(own.least < 0))
    span = own.most - own.least
    cells, known, far, near = Counter[float](), Counter[float](), Counter[float](), Counter[float]()
    for code, count, gap in (
        (own.low, own.n_low, own.least - own.low),
        (own.high, own.n_high, own.high - own.most),
    ):
        # A table of -1, 0 and 1 has no code.
        alone = (code < 0) & (own.least >= 0) & ((own.most > 1) | (code < -1)) & (not signed)
        away = (gap >= span) & (code != -1)
        # A single 9 or 99 in a column is no evidence for or against a code, nor is a column of two numbers.
        weighs = alone | ((span > 0) & ((count > 1) | (code < 0) | (code >= 100)))
        for k in np.flatnonzero(count).tolist():
            value = float(code[k])
            cells[value] += int(count[k])
            known[value] += int(own.size[k])
            if weighs[k]:
                (far if alone[k] or away[k] else near)[value] += 1
    lonely = _lonely(values, at) if any(0 < code < 100 for code in far) else 0.0
    found = {}
    for code in far:
        # Among many columns of ordinary numbers, some end with a code, but few of these are far away.
        if far[code] > max(near[code], lonely * (0 < code < 100)):
            found[code] = np.flatnonzero((low == code) | (high == code)).tolist(), cells[code], known[code]
    return found


def _ends(values: Any) -> tuple[Any, Any]:
    """Return the least and the largest number of each column (p,); NaN for columns without any."""
    if sp.issparse(values):
        columns = sp.csc_array(values)
        return columns.nanmin(axis=0).toarray().ravel(), columns.nanmax(axis=0).toarray().ravel()
    ends = []
    for function, ignoring in ((np.min, np.fmin), (np.max, np.fmax)):
        found = function(values, axis=0)
        gaps = np.flatnonzero(np.isnan(found))
        for part in _parts(gaps, len(values)):
            found[part] = ignoring.reduce(values[:, part], axis=0)
        ends.append(found)
    return ends[0], ends[1]


def _parts(positions: Any, n: int) -> Iterable[Any]:
    """Positions of columns in parts, to limit the memory of copies with n rows."""
    width = max(1, _ENTRIES // n)
    return (positions[start : start + width] for start in range(0, len(positions), width))


def _only_codes(ends: Any) -> Any:
    """Return numbers (p,) with NaN for those that are no codes."""
    codes = [value for value in np.unique(ends[~np.isnan(ends)]).tolist() if is_code(value)]
    return np.where(np.isin(ends, codes), ends, np.nan)


def _some(positions: Any) -> Any:
    """Return at most about `_MOST` of these positions."""
    return positions[:: max(1, len(positions) // _MOST)]


def _coded(values: Any, at: Any, low: Any, high: Any) -> _Coded:
    """Look again at the columns `at` with a code at one end."""
    found = []
    for part in _parts(at, values.shape[0]):
        block = values[:, part]
        block = block.toarray() if sp.issparse(block) else block
        size = np.count_nonzero(block == block, axis=0)
        counts = []
        for code in (low[part], high[part]):
            coded = block == code
            counts.append(np.count_nonzero(coded, axis=0))
            np.copyto(block, np.nan, where=coded)
        found.append([*counts, size, np.fmin.reduce(block, axis=0), np.fmax.reduce(block, axis=0)])
    return _Coded(low[at], high[at], *(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _lonely(values: Any, coded: Any) -> float:
    """Estimate how many of the other columns have a repeated largest number that is as far away."""
    others = np.setdiff1d(np.arange(values.shape[1]), coded)
    some = _some(others)
    count = 0
    for j in some.tolist():
        column = values[:, [j]].toarray()[:, 0] if sp.issparse(values) else values[:, j]
        numbers, times = np.unique(column[~np.isnan(column)], return_counts=True)
        if len(numbers) > 2 and times[-1] > 1:
            count += bool(numbers[-1] - numbers[-2] >= numbers[-2] - numbers[0])
    return count * len(others) / max(1, len(some))


# --- declared by the user -------------------------------------------------------------------------


def without_codes(
    table: TableFile, missing: Sequence[str], text: Collection[str], id: str | None
) -> TableFile:
    """Return a table in which these numbers or words are missing values, but not in names of samples.

    A column that then has numbers only becomes one of numbers, unless it is in `text`.
    """
    if not missing:
        return table
    codes = [float(word) for word in missing if is_number(word)]
    names = {id, ROW_NAMES, CUMIDA[0]}
    columns = table.frame
    texts: dict[str, Any] = {}
    numeric: list[str] = []
    blocks: list[tuple[str, Any]] = []
    for name, kind in zip(map(str, columns), columns.dtypes, strict=True):
        if kind.kind != "O":
            numeric.append(name)
            continue
        cells = columns[name].tolist()
        if name not in names:
            known = [None if _is_declared(cell, missing, codes) else cell for cell in cells]
            if known != cells and name not in text and all(cell is None or is_number(cell) for cell in known):
                blocks.append((name, np.array([np.nan if cell is None else float(cell) for cell in known])))
                continue
            cells = known
        texts[name] = cells
    block = columns[numeric].to_numpy(dtype=np.float64, copy=True)
    kept = [j for j, name in enumerate(numeric) if name in names]
    same = block[:, kept].copy()
    _blank(block, codes)
    block[:, kept] = same
    if blocks:
        block = np.column_stack([block, *(values for _, values in blocks)])
        numeric += [name for name, _ in blocks]
    new = frame(
        [str(name) for name in columns], block, numeric, texts, columns.index, str(columns.index.name)
    )
    matrix = table.matrix
    if sp.issparse(matrix):
        if 0.0 in codes:
            raise TableError(
                Setting("missing", 0), ": the zeros of a sparse table are values; leave it out", kind="cells"
            )
        matrix = matrix.copy()
        _blank(matrix.data, codes)
    elif matrix is not None:
        matrix = matrix.copy()
        _blank(matrix, codes)
    return replace(table, frame=new, matrix=matrix)


def _blank(values: Any, codes: Iterable[float]) -> None:
    """Replace these numbers in an array by NaN."""
    for code in codes:
        values[values == code] = np.nan


def _is_declared(cell: str | None, missing: Collection[str], codes: Collection[float]) -> bool:
    return cell is not None and (cell in missing or (is_number(cell) and float(cell) in codes))
