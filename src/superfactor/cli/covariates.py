"""Covariates: numbers as they are, words as indicator columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from superfactor.cli.cells import numbers, place, shortened, without_point
from superfactor.cli.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

# The level of a cell with nothing in it; where it occurs it is a level like the others.
EMPTY = "(empty)"
MOST_LEVELS = 50

# column → its levels in alphabetical order, the first of which has no indicator; none for numbers
Encoding = dict[str, list[str]]


def learn_encoding(path: Any, table: pd.DataFrame, names: Sequence[str]) -> Encoding:
    """What the levels of each covariate are; more than fifty is probably not meant."""
    encoding: Encoding = {}
    for name in names:
        levels = sorted(set(_levels(table[name]))) if table[name].dtype.kind == "O" else []
        if len(levels) > MOST_LEVELS:
            raise UserError(
                f"{path}: covariate {name!r} has {len(levels)} different values; at most "
                f"{MOST_LEVELS} are allowed where they are no numbers"
            )
        if len(levels) == 1:
            raise UserError(f"{path}: covariate {name!r} is {levels[0]!r} for every sample")
        encoding[name] = levels
    return encoding


def column_names(encoding: Encoding) -> list[str]:
    """The columns an encoding makes: ``age``, ``sex=M``."""
    names = []
    for name, levels in encoding.items():
        names += [f"{name}={level}" for level in levels[1:]] or [name]
    return names


def encode(path: Any, table: pd.DataFrame, encoding: Encoding, ids: Any = None) -> Any:
    """Covariates (n, q) of new samples, in the columns of `column_names`."""
    import numpy as np

    blocks = [np.empty((len(table), 0))]
    for name, levels in encoding.items():
        if not levels:
            blocks.append(numbers(path, table, [name], ids))
            continue
        known = set(levels)
        cells = [cell if cell in known else without_point(cell) for cell in _levels(table[name])]
        for row, cell in enumerate(cells):
            if cell not in known:
                raise UserError(
                    f"{path}: covariate {name!r} is {cell!r} at {place(table, row, ids)}; the model "
                    f"knows {shortened(levels, 10)}"
                )
        blocks.append(np.array([[float(cell == level) for level in levels[1:]] for cell in cells]))
    return np.hstack(blocks)


def _levels(column: pd.Series[Any]) -> list[str]:
    """The cells of a text column as they are written."""
    from superfactor.datasets.tables import MISSING

    # Numbers of a Parquet file that are kept as text may be "nan".
    return [EMPTY if cell is None or cell in MISSING else cell for cell in column]
