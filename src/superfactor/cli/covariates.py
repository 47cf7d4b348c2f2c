"""Covariates of a table: the encoder of the estimators, in messages that name file, sample and line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from superfactor.cli.cells import numbers, place
from superfactor.cli.errors import as_user_error

if TYPE_CHECKING:
    import pandas as pd

# column → its levels, the first of which is the reference and has no indicator; none for numbers
Encoding = dict[str, list[str]]


def learn_encoding(path: Any, table: pd.DataFrame, names: Sequence[str]) -> Encoding:
    """What the levels of each covariate are; more than fifty is probably not meant."""
    from superfactor.estimators.covariates import CovariateEncoder

    encoding: Encoding = {}
    for name in names:
        with as_user_error():
            found = CovariateEncoder.learn(_as_given(table[name]), [name], f"{path}: covariate")
        encoding[name] = found.levels.get(0, [])
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

    from superfactor.estimators.covariates import CovariateEncoder

    blocks = [np.empty((len(table), 0))]
    for name, levels in encoding.items():
        if not levels:
            blocks.append(numbers(path, table, [name], ids))
            continue
        words = {
            "names": [name],
            "said": f"{path}: covariate",
            "place": lambda row: place(table, row, ids),
        }
        with as_user_error():
            blocks.append(CovariateEncoder({0: levels}).encode(_as_given(table[name]), **words))
    return np.hstack(blocks)


def has_empty(levels: Sequence[str]) -> bool:
    """Whether empty cells are one of the levels."""
    from superfactor.estimators.covariates import EMPTY

    return EMPTY in levels


def _as_given(column: pd.Series[Any]) -> pd.Series[Any]:
    """A text column as it is written, with None for what people write where there is no value."""
    from superfactor.datasets.tables import MISSING

    if column.dtype.kind != "O":
        return column
    # Numbers of a Parquet file that are kept as text may be "nan".
    return column.map(lambda cell: None if cell in MISSING else cell)
