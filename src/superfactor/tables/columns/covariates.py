"""Covariates of a table: the encoder of the estimators, in messages that name file, sample and line."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from superfactor.tables.columns.numbers import numbers, place
from superfactor.tables.errors import TableError

if TYPE_CHECKING:
    import pandas as pd

# column → of words the levels, the first of which is the reference and has no indicator; of numbers the
# median, and "missing" behind it where some had none. Nothing in the files of earlier versions, for numbers.
Encoding = dict[str, list[Any]]


def learn_encoding(path: Any, table: pd.DataFrame, names: Sequence[str]) -> Encoding:
    """What the levels of each covariate are; more than fifty is probably not meant."""
    from superfactor.estimators.covariates import MISSING, CovariateEncoder

    encoding: Encoding = {}
    for name in names:
        try:
            found = CovariateEncoder.learn(_as_given(table[name]), [name], f"{path}: covariate")
        except ValueError as error:
            raise TableError(str(error)) from error
        gone = [MISSING] if found.gaps else []
        encoding[name] = found.levels.get(0) or [*found.medians.values(), *gone]
    return encoding


def words(encoding: Encoding) -> list[str]:
    """The columns that are words, to be read as they are written."""
    return [name for name, levels in encoding.items() if _is_words(levels)]


def column_names(encoding: Encoding) -> list[str]:
    """The columns an encoding makes: ``age``, ``age=missing``, ``sex=M``."""
    names = []
    for name, levels in encoding.items():
        names += [] if _is_words(levels) else [name]
        names += [f"{name}={level}" for level in levels[1:]]
    return names


def notes(encoding: Encoding) -> list[str]:
    """What is done about empty cells, one sentence for each covariate that has any."""
    said = []
    for name, levels in encoding.items():
        if has_empty(levels):
            said.append(f"covariate {name!r}: empty cells count as a level of their own")
        elif len(levels) > 1 and not _is_words(levels):
            said.append(
                f"covariate {name!r}: empty cells take the median {levels[0]:g}, and the column "
                f"{name}={levels[1]} says where"
            )
    return said


def encode(path: Any, table: pd.DataFrame, encoding: Encoding, ids: Any = None) -> Any:
    """Covariates (n, q) of new samples, in the columns of `column_names`."""
    import numpy as np

    from superfactor.estimators.covariates import CovariateEncoder

    blocks = [np.empty((len(table), 0))]
    for name, levels in encoding.items():
        if not _is_words(levels):
            blocks.append(_numbers(path, table, name, levels, ids))
            continue
        said = {"names": [name], "said": f"{path}: covariate", "place": lambda row: place(table, row, ids)}
        given = _filled(table, name, levels, ids)
        try:
            blocks.append(CovariateEncoder({0: levels}).encode(given, **said))
        except ValueError as error:
            raise TableError(
                f"{error}: write it as one of these, leave the cell empty, or leave such samples out"
            ) from error
    return np.hstack(blocks)


def _filled(table: pd.DataFrame, name: str, levels: Sequence[str], ids: Any) -> pd.Series[Any]:
    """Words (n,), the reference in empty cells where the model has no level for them."""
    given = _as_given(table[name])
    gone = given.isna()
    if has_empty(levels) or not gone.any():
        return given
    warnings.warn(
        f"covariate {name!r} is empty for {gone.sum()} sample(s), the first at "
        f"{place(table, int(gone.to_numpy().argmax()), ids)}; none was when the model was fitted, so that "
        f"its most frequent level {levels[0]!r} stands in",
        UserWarning,
        stacklevel=2,
    )
    return given.astype(object).where(~gone, levels[0])


def _numbers(path: Any, table: pd.DataFrame, name: str, levels: Sequence[Any], ids: Any) -> Any:
    """A column of numbers (n, 1), or (n, 2) with the indicator of its gaps."""
    import numpy as np

    gone = table[name].isna().to_numpy()
    if not levels or not (gone.any() or len(levels) > 1):
        return numbers(path, table, [name], ids)
    if gone.any() and len(levels) == 1:
        warnings.warn(
            f"covariate {name!r} is empty for {gone.sum()} sample(s), the first at "
            f"{place(table, int(np.argmax(gone)), ids)}; none was when the model was fitted, so that its "
            f"median {levels[0]:g} stands in",
            UserWarning,
            stacklevel=2,
        )
    filled = numbers(path, table[[name]].assign(**{name: table[name].fillna(levels[0])}), [name], ids)
    return np.hstack([filled, gone[:, None]]) if len(levels) > 1 else filled


def has_empty(levels: Sequence[Any]) -> bool:
    """Whether empty cells are one of the levels of words."""
    from superfactor.estimators.covariates import EMPTY

    return EMPTY in levels


def _is_words(levels: Sequence[Any]) -> bool:
    return bool(levels) and isinstance(levels[0], str)


def _as_given(column: pd.Series[Any]) -> pd.Series[Any]:
    """A text column as it is written, with None for what people write where there is no value."""
    from superfactor.tables.grids.cells import MISSING

    if column.dtype.kind != "O":
        return column
    # Numbers of a Parquet file that are kept as text may be "nan".
    return column.map(lambda cell: None if cell in MISSING else cell)
