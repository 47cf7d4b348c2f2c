"""Covariates as people have them: numbers, words as indicator columns, and gaps.

    age  sex  site           age  age=missing  sex=M  site=B  site=C
    61   F    A              61   0            0      0       0
    —    M    C       →      65.5 1            1      0       1
    70   F    B              70   0            0      1       0

A column of words (strings, categories, booleans) with L levels becomes L − 1 indicator columns: one for each
level but the reference, which all coefficients compare with. The reference is the most frequent level, the
first in the alphabet among equally frequent ones, and ``False`` of booleans; a level that stands for "not
known" is never the reference.

A gap in a column of numbers becomes the median of those that are there, and an indicator column says where;
empty cells among words are a level of their own. Fewer than five gaps have no indicator, since so few samples
cannot tell its coefficient: the median, or the reference, stands in.
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

# The indicator of a gap is called ``age=missing``.
MISSING = "missing"
# The code of a gap until it is expanded: finite, and exact in single precision.
_GAP = -(2.0**100)


@dataclass(frozen=True)
class CovariateEncoder:
    """Which columns of a table of covariates are words, what their levels are, and what fills gaps.

    Attributes
    ----------
    levels : dict from the position of a column of words to its levels, the reference first
    medians : dict from the position of a column of numbers to its median
    gaps : tuple of the positions of those that had five gaps or more, and have an indicator of them

    Notes
    -----
    ``encode`` is ``expand(codes(table))``: codes have one number for each cell, the cell itself or the
    position of its level, and stand where the table stood; indicators are made of them where needed.
    """

    levels: dict[int, list[str]] = field(default_factory=dict)
    medians: dict[int, float] = field(default_factory=dict)
    gaps: tuple[int, ...] = ()

    @classmethod
    def learn(
        cls, table: Any, names: Sequence[Any] | None = None, said: str = "covariates: column"
    ) -> CovariateEncoder:
        """The levels and medians of the columns of a table (n, q).

        Parameters
        ----------
        table : DataFrame (pandas, polars), Series or array-like
        names : of the columns, for messages; those of the table, or their positions, by default
        said : what a message calls a column
        """
        return cls.of_columns(columns_of(table), names or inputs.column_names(table), said)

    @classmethod
    def of_columns(cls, columns: Sequence[Any], names: Sequence[Any] | None, said: str) -> CovariateEncoder:
        """As `learn`, of the columns one by one."""
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
        """Whether a column becomes several, or indicators: such columns must not be scaled before."""
        return bool(self.levels or self.gaps)

    def encode(self, table: Any, **said: Any) -> Any:
        """Covariates (n, q) of new samples as numbers, in the columns of `column_names`."""
        codes = self.codes(table, **said)
        return self.expand(np.asarray(codes, dtype=np.float64))

    def codes(
        self,
        table: Any,
        names: Sequence[Any] | None = None,
        said: str = "covariates: column",
        place: Callable[[int], str] = "position {}".format,
    ) -> Any:
        """Numbers (n, columns) in place of the cells; the table itself where they are numbers already."""
        given = [] if table is None else columns_of(table)
        if not self.levels and not any(categories.count_missing(column) for column in given):
            return table
        names = names or inputs.column_names(table)
        columns = [
            self.code(j, column, f"{said} {name_at(names, j)!r}", place) for j, column in enumerate(given)
        ]
        return np.stack(columns, axis=1) if columns else table  # no table: for others to say

    def code(self, j: int, column: Any, said: str, place: Callable[[int], str]) -> np.ndarray:
        """Numbers (n,) in place of the cells of column j."""
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
        """Indicators in place of the positions of levels and of gaps, for arrays of any library."""
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
        """Names of the columns of `expand`, given those of the table: ``age``, ``age=missing``, ``sex=M``."""
        found = []
        for j, name in enumerate(names):
            if j in self.levels:
                found += [f"{name}={level}" for level in self.levels[j][1:]]
            else:
                found += [name, f"{name}={MISSING}"] if j in self.gaps else [name]
        return found

    def starts(self, count: int) -> list[int]:
        """Where each of the `count` columns of the table begins among those of `expand`."""
        return [len(self.column_names([""] * j)) for j in range(count)]

    def named(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """The levels by the name of their column; of numbers with gaps the median and ``"missing"``."""
        levels: dict[str, list[Any]] = {names[j]: known for j, known in self.levels.items()}
        return levels | {names[j]: [self.medians[j], MISSING] for j in self.gaps}


def _warn_of_few(said: str, stand_in: str) -> None:
    """The same words for every fold of a search, so that they are shown once."""
    warnings.warn(
        f"{said}: {stand_in} stands in for missing values; fewer than {categories.FEWEST_MISSING} were "
        "missing at fit, too few for an indicator",
        UserWarning,
        stacklevel=3,
    )


def as_table(covariates: Any) -> Any:
    """A Series as a table of one column, which keeps its name; anything else as it is."""
    return covariates.to_frame() if hasattr(covariates, "to_frame") else covariates


def columns_of(table: Any) -> list[Any]:
    """The columns of a table one by one, Series where it has them, else NumPy arrays; [] of no table."""
    table = as_table(table)
    if isinstance(table, list | tuple):
        try:
            table = np.array(table, dtype=object)  # numbers beside words stay numbers
        except ValueError:  # ragged, which is for others to say
            return []
    table = inputs.as_numpy(table)
    if isinstance(table, np.ndarray) and table.ndim == 1:
        return [table]
    if is_frame(table) or (isinstance(table, np.ndarray) and table.ndim == 2):
        return [column_at(table, j) for j in range(table.shape[1])]
    return []


def name_at(names: Sequence[Any] | None, j: int) -> Any:
    """Of a column in a message: its name, or else its position."""
    return j if names is None or j >= len(names) else names[j]


def labelled(levels: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """Names of indicator columns as people read them: ``sex=M`` is ``sex: M vs F``.

    ``age=missing`` is ``age: missing vs median 61``.
    """
    return {
        f"{name}={level}": f"{name}: {level} vs {_reference(known[0])}"
        for name, known in levels.items()
        for level in known[1:]
    }


def _reference(level: Any) -> str:
    return level if isinstance(level, str) else f"median {level:g}"
