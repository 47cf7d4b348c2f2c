"""Covariates of a table: the encoder of the estimators, in messages that name file, sample and line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.estimators.covariates import EMPTY, FEWEST_GAPS, MISSING, CovariateEncoder
from superfactor.tables.columns.numbers import numbers, place
from superfactor.tables.grids.cells import MISSING as WRITTEN_FOR_NOTHING
from superfactor.tables.notes import Note, TableError, note

if TYPE_CHECKING:
    import pandas as pd

# column → of words the levels, the first of which is the reference and has no indicator; of numbers the
# median, and "missing" behind it where some had none. Nothing in the files of earlier versions, for numbers.
Encoding = dict[str, list[Any]]


def learn_encoding(path: Any, table: pd.DataFrame, names: Sequence[str]) -> Encoding:
    """What the levels of each covariate are; more than fifty is probably not meant."""
    encoding: Encoding = {}
    for name in names:
        try:
            found = CovariateEncoder.learn(_as_given(table[name]), [name], f"{path}: covariate")
        except ValueError as error:
            raise TableError(str(error), kind="covariates", column=name) from error
        gone = [MISSING] if found.gaps else []
        encoding[name] = found.levels.get(0) or [*found.medians.values(), *gone]
    return encoding


def encoder_of(encoding: Encoding) -> CovariateEncoder:
    """The encoder that an encoding stands for."""
    columns = list(enumerate(encoding.values()))
    return CovariateEncoder(
        {j: levels for j, levels in columns if _is_words(levels)},
        {j: levels[0] for j, levels in columns if levels and not _is_words(levels)},
        tuple(j for j, levels in columns if len(levels) > 1 and not _is_words(levels)),
    )


def words(encoding: Encoding) -> list[str]:
    """The columns that are words, to be read as they are written."""
    return [name for name, levels in encoding.items() if _is_words(levels)]


def column_names(encoding: Encoding) -> list[str]:
    """The columns an encoding makes: ``age``, ``age=missing``, ``sex=M``."""
    return encoder_of(encoding).column_names(list(encoding))


def notes(encoding: Encoding) -> list[Note]:
    """What is done about empty cells, one sentence for each covariate that has any."""
    said = []
    for name, levels in encoding.items():
        if EMPTY in levels:
            line = f"covariate {name!r}: empty cells count as a level of their own"
        elif len(levels) > 1 and not _is_words(levels):
            line = (
                f"covariate {name!r}: empty cells take the median {levels[0]:g}, and the column "
                f"{name}={levels[1]} says where"
            )
        else:
            continue
        said.append(note("covariate", line, column=name))
    return said


def encode(path: Any, table: pd.DataFrame, encoding: Encoding, ids: Any = None) -> tuple[Any, list[Note]]:
    """Covariates (n, q) in the columns of `column_names`, and notes on gaps without a level."""
    if not encoding:
        return np.empty((len(table), 0)), []
    said: list[Note] = []
    given = {}
    for name, levels in encoding.items():
        column = _as_given(table[name])
        gone = column.isna().to_numpy()
        if not _is_words(levels):
            numbers(path, table, [name], ids, gaps=bool(levels))
        if gone.any() and levels and (EMPTY not in levels if _is_words(levels) else len(levels) == 1):
            stand_in = f"most frequent level {levels[0]!r}" if _is_words(levels) else f"median {levels[0]:g}"
            line = (
                f"covariate {name!r} is empty for {gone.sum()} sample(s), the first at "
                f"{place(table, int(gone.argmax()), ids)}: too few of the samples fitted are for an "
                f"indicator ({FEWEST_GAPS} are required), so the {stand_in} stands in"
            )
            said.append(note("covariate", line, column=name))
            column = column.where(~gone, levels[0])
        given[name] = column
    frame = table[list(given)].assign(**given)
    try:
        found = encoder_of(encoding).encode(
            frame, said=f"{path}: covariate", place=lambda row: place(table, row, ids)
        )
    except ValueError as error:
        raise TableError(
            f"{error}: write it as one of these, leave the cell empty, or leave such samples out",
            kind="covariates",
        ) from error
    return found, said


def table(frame: pd.DataFrame, encoding: Encoding) -> Any:
    """The covariates (n, …) as they are written; None without any."""
    return frame[list(encoding)].reset_index(drop=True).apply(_as_given) if encoding else None


def _is_words(levels: Sequence[Any]) -> bool:
    return bool(levels) and isinstance(levels[0], str)


def _as_given(column: pd.Series[Any]) -> pd.Series[Any]:
    """A text column as it is written, with None for what people write where there is no value."""
    if column.dtype.kind != "O":
        return column
    # Numbers of a Parquet file that are kept as text may be "nan".
    return column.map(lambda cell: None if cell in WRITTEN_FOR_NOTHING else cell)
