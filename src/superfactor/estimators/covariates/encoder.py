"""Encode covariates: numbers, categories as indicator columns, and missing values.

    age  sex  site           age  age=missing  sex=M  site=B  site=C
    61   F    A              61   0            0      0       0
    —    M    C       →      65.5 1            1      0       1
    70   F    B              70   0            0      1       0

A categorical column (strings, categories, booleans) with L levels becomes L − 1 indicator columns: one for
each level except the reference, to which all coefficients are relative. The reference is the most frequent
level, the first in alphabetical order among equally frequent ones, and ``False`` for booleans. A level that
means "not known" is never the reference.

A missing value in a column of numbers is replaced by the median, and an indicator column marks it. Empty
cells of a categorical column are a separate level. With fewer than five missing values there is no indicator,
because its coefficient could not be estimated; the median, or the reference, is used alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from superfactor._arrays import Array, device, namespace
from superfactor.estimators import inputs
from superfactor.estimators.covariates import categories
from superfactor.preprocessing.cells import floats
from superfactor.preprocessing.columns import column as column_at
from superfactor.preprocessing.columns import is_frame

# Suffix of indicators of missing values: ``age=missing``.
MISSING = "missing"
# Code of a missing value before expansion: finite, and exact in single precision.
_GAP = -(2.0**100)


@dataclass(frozen=True)
class CovariateEncoder:
    """Encoder of a table of covariates: levels of categorical columns, and medians for missing values.

    Attributes
    ----------
    levels : dict from the position of a categorical column to its levels, the reference first
    medians : dict from the position of a column of numbers to its median
    gaps : tuple of the positions of those with at least five missing values, which have an indicator

    Notes
    -----
    ``encode`` is ``expand(codes(table))``. Codes have the shape of the table and one number for each cell:
    the number itself or the position of its level. ``expand`` converts them to indicators.
    """

    levels: dict[int, list[str]] = field(default_factory=dict)
    medians: dict[int, float] = field(default_factory=dict)
    gaps: tuple[int, ...] = ()

    @classmethod
    def learn(
        cls, table: Any, names: Sequence[Any] | None = None, said: str = "covariates: column"
    ) -> CovariateEncoder:
        """Learn levels and medians of the columns of a table (n, q).

        Parameters
        ----------
        table : DataFrame (pandas, polars), Series or array-like
        names : names of the columns in messages; by default those of the table, or positions
        said : text before the name of a column in messages
        """
        return cls.of_columns(columns_of(table), names or inputs.column_names(table), said)

    @classmethod
    def of_columns(cls, columns: Sequence[Any], names: Sequence[Any] | None, said: str) -> CovariateEncoder:
        """Learn from a list of columns, as `learn` does."""
        levels, medians, gaps = {}, {}, []
        for j, column in enumerate(columns):
            called = f"{said} {name_at(names, j)!r}"
            if categories.is_words(column, called):
                levels[j] = categories.levels_of(column, called)
            elif len(column) and categories.is_real(column):
                medians[j] = categories.median(column, called)
                if categories.count_missing(column) >= categories.FEWEST_MISSING:
                    gaps.append(j)
        return cls(levels, medians, tuple(gaps))

    @property
    def expands(self) -> bool:
        """Return whether columns become indicators; such columns must not be scaled before."""
        return bool(self.levels or self.gaps)

    def encode(self, table: Any, **said: Any) -> Any:
        """Return covariates of new samples as numbers, with the columns of `column_names`."""
        codes = self.codes(table, **said)
        return self.expand(np.asarray(codes, dtype=np.float64))

    def codes(
        self,
        table: Any,
        names: Sequence[Any] | None = None,
        said: str = "covariates: column",
        place: Callable[[int], str] = "position {}".format,
    ) -> Any:
        """Return codes (n, columns) of the cells; the table itself if all cells are numbers."""
        given = [] if table is None else columns_of(table)
        if not self.levels and not any(categories.count_missing(column) for column in given):
            return table
        names = names or inputs.column_names(table)
        columns = [
            self.code(j, column, f"{said} {name_at(names, j)!r}", place) for j, column in enumerate(given)
        ]
        return np.stack(columns, axis=1) if columns else table  # an invalid table is refused later

    def code(self, j: int, column: Any, said: str, place: Callable[[int], str]) -> np.ndarray:
        """Return codes (n,) of the cells of column j."""
        if j in self.levels:
            if categories.EMPTY not in self.levels[j] and categories.count_missing(column):
                _warn_of_few(said, f"{self.levels[j][0]!r}")
            return categories.positions(column, self.levels[j], said, place)
        values = floats(column, said)
        gone = np.isnan(values)
        if j not in self.medians or not gone.any():
            return values
        if j not in self.gaps:
            _warn_of_few(said, "the median")
        return np.where(gone, _GAP if j in self.gaps else self.medians[j], values)

    def expand(self, codes: Array | None) -> Array | None:
        """Convert codes to numbers and indicators, for arrays of any library."""
        if codes is None or not self.expands:
            return codes
        xp, blocks = namespace(codes), []
        for j in range(codes.shape[1]):
            block = codes[:, j : j + 1]
            if j in self.levels:
                others = xp.arange(1, len(self.levels[j]), dtype=codes.dtype, device=device(codes))
                block = xp.astype(block == others[None, :], codes.dtype)
            elif j in self.gaps:
                gone = xp.astype(block == _GAP, codes.dtype)
                block = xp.concat([block * (1 - gone) + self.medians[j] * gone, gone], axis=1)
            blocks.append(block)
        return xp.concat(blocks, axis=1)

    def column_names(self, names: Sequence[str]) -> list[str]:
        """Return names of the columns of `expand` from those of the table: ``age=missing``, ``sex=M``."""
        found = []
        for j, name in enumerate(names):
            if j in self.levels:
                found += [f"{name}={level}" for level in self.levels[j][1:]]
            else:
                found += [name, f"{name}={MISSING}"] if j in self.gaps else [name]
        return found

    def starts(self, count: int) -> list[int]:
        """Return the first column in `expand` of each of the `count` columns of the table."""
        return [len(self.column_names([""] * j)) for j in range(count)]

    def named(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return levels by column name; for numbers with missing values, the median and ``"missing"``."""
        levels: dict[str, list[Any]] = {names[j]: known for j, known in self.levels.items()}
        return levels | {names[j]: [self.medians[j], MISSING] for j in self.gaps}


def _warn_of_few(said: str, stand_in: str) -> None:
    """Warn with the same text in every fold of a search, so that it is shown once."""
    warnings.warn(
        f"{said}: {stand_in} replaces missing values; fewer than {categories.FEWEST_MISSING} were "
        "missing at fit, too few for an indicator",
        UserWarning,
        stacklevel=3,
    )


def as_table(covariates: Any) -> Any:
    """Convert a Series to a table of one column with its name; return anything else unchanged."""
    return covariates.to_frame() if hasattr(covariates, "to_frame") else covariates


def columns_of(table: Any) -> list[Any]:
    """Return the columns of a table as Series or NumPy arrays; [] for anything else."""
    table = as_table(table)
    if isinstance(table, list | tuple):
        try:
            table = np.array(table, dtype=object)  # numbers stay numbers next to text
        except ValueError:  # ragged: refused later
            return []
    table = inputs.as_numpy(table)
    if isinstance(table, np.ndarray) and table.ndim == 1:
        return [table]
    if is_frame(table) or (isinstance(table, np.ndarray) and table.ndim == 2):
        return [column_at(table, j) for j in range(table.shape[1])]
    return []


def name_at(names: Sequence[Any] | None, j: int) -> Any:
    """Return the name of a column for messages, or its position."""
    return j if names is None or j >= len(names) else names[j]


def labelled(levels: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """Return readable names of indicator columns: ``sex: M vs F`` for ``sex=M``.

    ``age=missing`` is ``age: missing vs median 61``.
    """
    return {
        f"{name}={level}": f"{name}: {level} vs {_reference(known[0])}"
        for name, known in levels.items()
        for level in known[1:]
    }


def _reference(level: Any) -> str:
    return level if isinstance(level, str) else f"median {level:g}"
