"""Columns of numbers out of a table, and cells that are none named by sample, line and column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from superfactor.tables.errors import TableError

if TYPE_CHECKING:
    import pandas as pd

# Squares of larger values leave the range of floating-point numbers.
LARGEST = 1e140
_WHOLE = re.compile(r"(-?\d+)\.0+")


def numbers(
    path: Any, table: pd.DataFrame, names: Sequence[str], ids: Any = None, *, gaps: bool = False
) -> Any:
    """The columns `names` (n, p) as finite float64.

    Parameters
    ----------
    path : the file, for messages
    ids : names of the samples (n,), or None where they have none
    gaps : whether NaN is allowed
    """
    import numpy as np

    kinds = dict(zip(table.columns, table.dtypes, strict=True))
    text = [name for name in names if kinds[name].kind == "O"]
    if text:
        _refuse_text(path, table, text, ids)
    block = table[list(names)].to_numpy(dtype=np.float64)
    check_range(
        path, block, lambda row, column: f"{place(table, row, ids)}, column {names[column]!r}", gaps=gaps
    )
    return block


def check_range(path: Any, values: Any, where: Callable[[int, int], str], *, gaps: bool) -> None:
    """Values (n, p) or (k,) are finite, or NaN where there may be gaps; ``where(row, column)`` places them.

    Those of a sparse matrix are looked at alone: what is left out is zero.
    """
    import numpy as np

    # Finite whenever all cells are, save for overflow: one pass, no array of flags.
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()
    if abs(total) < LARGEST:
        return
    wrong = ~(np.abs(values) < LARGEST)
    if gaps:
        wrong &= ~np.isnan(values)
    bad = np.argwhere(wrong)
    if not len(bad):
        return
    value = values[tuple(bad[0])]
    row, column = (int(i) for i in (*bad[0], 0)[:2])
    what = "a missing value" if np.isnan(value) else f"a value out of range ({value:g})"
    mend = "--impute lowrank fills in, or " if np.isnan(value) else ""
    raise TableError(
        f"{path}: {what} at {where(row, column)}{_more(len(bad))}; numbers are required everywhere: "
        f"{mend}leave out the sample or the column"
    )


def place(table: pd.DataFrame, row: int, ids: Any = None) -> str:
    """Where to look: ``sample GSM12 (line 17)``, or ``line 17`` where samples have no names."""
    where = f"{table.index.name} {table.index[row]}"
    if ids is None or table.index.name == "sample":  # of several files: it stands in no one line
        return where
    return f"sample {ids[row]} ({where})"


def without_point(cell: str) -> str:
    """``1`` for ``1.0``, as programs write whole numbers in a column that also has empty cells."""
    whole = _WHOLE.fullmatch(cell)
    return cell if whole is None else whole[1]


def shortened(names: Sequence[Any], most: int = 5) -> str:
    """The first few, and how many there are besides."""
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def occur_twice(names: Sequence[str], where: str = "") -> str:
    """What to say of names of samples that are not there once; nothing where all are."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if not twice:
        return ""
    what = "name of a sample" if len(twice) == 1 else "names of samples"
    verb = "occurs" if len(twice) == 1 else "occur"
    return f"{len(twice)} {what}{where} {verb} more than once: {shortened(twice)}"


def _refuse_text(path: Any, table: pd.DataFrame, names: list[str], ids: Any) -> None:
    """A stray word among numbers is one thing, a column of words another."""
    from superfactor.tables.grids.cells import is_number

    for name in names:
        cells = list(table[name])
        given = [cell for cell in cells if cell is not None]
        words = [cell for cell in given if not is_number(cell)]
        if words and 2 * len(words) <= len(given):
            raise TableError(
                f"{path}: {words[0]!r} is not a number, at "
                f"{place(table, cells.index(words[0]), ids)}, column {name!r}{_more(len(words))}; "
                "put a number there, nothing if it is not known, or leave the column out"
            )
    raise TableError(
        f"{path}: no numbers in column{'s' * (len(names) > 1)} {shortened(names)}; leave out with "
        "--drop, or say what they are with --id, --covariates or --adjust"
    )


def _more(count: int) -> str:
    return "" if count == 1 else f" (and {count - 1} more such cells)"
