"""Covariates of a table, encoded as in the estimators; messages name file, sample and line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.estimators.covariates import EMPTY, FEWEST_MISSING, MISSING, CovariateEncoder
from superfactor.tables.columns.numbers import numbers, place, refuse_dates, refuse_stray_text
from superfactor.tables.columns.numbers import words as words_of
from superfactor.tables.grids.cells import MISSING as MISSING_CELLS
from superfactor.tables.notes import Note, TableError, note

if TYPE_CHECKING:
    import pandas as pd

# column → for words the levels, the first of which is the reference and has no indicator; for numbers the
# median, followed by "missing" if some values were. Files of earlier versions have an empty list for numbers.
Encoding = dict[str, list[Any]]


def learn_encoding(path: Any, table: pd.DataFrame, names: Sequence[str], ids: Any = None) -> Encoding:
    """Learn the levels of each covariate; more than fifty are an error."""
    encoding: Encoding = {}
    for name in names:
        if table[name].dtype.kind == "O":
            refuse_dates(f"{path}: covariate {name!r}", words_of(table[name]))
            refuse_stray_text(path, table, name, ids)
        try:
            found = CovariateEncoder.learn(_as_given(table[name]), [name], f"{path}: covariate")
        except ValueError as error:
            raise TableError(str(error), kind="covariates", column=name) from error
        gone = [MISSING] if found.gaps else []
        encoding[name] = found.levels.get(0) or [*found.medians.values(), *gone]
    return encoding


def encoder_of(encoding: Encoding) -> CovariateEncoder:
    """Return the encoder of an encoding."""
    columns = list(enumerate(encoding.values()))
    return CovariateEncoder(
        {j: levels for j, levels in columns if _is_words(levels)},
        {j: levels[0] for j, levels in columns if levels and not _is_words(levels)},
        tuple(j for j, levels in columns if len(levels) > 1 and not _is_words(levels)),
    )


def words(encoding: Encoding) -> list[str]:
    """The covariates with levels, which are read as text."""
    return [name for name, levels in encoding.items() if _is_words(levels)]


def column_names(encoding: Encoding) -> list[str]:
    """Names of the encoded columns: ``age``, ``age=missing``, ``sex=M``."""
    return encoder_of(encoding).column_names(list(encoding))


def notes(encoding: Encoding) -> list[Note]:
    """A note on each covariate with empty cells."""
    result = []
    for name, levels in encoding.items():
        if EMPTY in levels:
            line = f"covariate {name!r}: empty cells are a separate level"
        elif len(levels) > 1 and not _is_words(levels):
            line = (
                f"covariate {name!r}: empty cells are replaced by the median {levels[0]:g} and marked in the "
                f"column {name}={levels[1]}"
            )
        else:
            continue
        result.append(note("covariate", line, column=name))
    return result


def encode(path: Any, table: pd.DataFrame, encoding: Encoding, ids: Any = None) -> tuple[Any, list[Note]]:
    """Return covariates (n, q), as in `column_names`, and notes on missing values without an indicator."""
    if not encoding:
        return np.empty((len(table), 0)), []
    result: list[Note] = []
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
                f"{place(table, int(gone.argmax()), ids)}: fewer than {FEWEST_MISSING} training samples had "
                f"an empty cell, too few for an indicator, so the {stand_in} is used"
            )
            result.append(note("covariate", line, column=name))
            column = column.where(~gone, levels[0])
        given[name] = column
    frame = table[list(given)].assign(**given)
    try:
        found = encoder_of(encoding).encode(
            frame, said=f"{path}: covariate", place=lambda row: place(table, row, ids)
        )
    except ValueError as error:
        raise TableError(
            f"{error}: use one of these, leave the cell empty, or leave such samples out", kind="covariates"
        ) from error
    return found, result


def table(frame: pd.DataFrame, encoding: Encoding) -> Any:
    """The covariates (n, …) as in the file; None without covariates."""
    return frame[list(encoding)].reset_index(drop=True).apply(_as_given) if encoding else None


def _is_words(levels: Sequence[Any]) -> bool:
    return bool(levels) and isinstance(levels[0], str)


def _as_given(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column as in the file, with None for missing values in text."""
    if column.dtype.kind != "O":
        return column
    # Numbers of a Parquet file that are kept as text may be "nan".
    return column.map(lambda cell: None if cell in MISSING_CELLS else cell)
