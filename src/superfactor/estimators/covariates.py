"""Covariates as people have them: numbers as they are, words as indicator columns.

    age  sex  site           age  sex=M  site=B  site=C
    61   F    A              61   0      0       0
    48   M    C       →      48   1      0       1
    70   F    B              70   0      1       0

A column of words (strings, categories, booleans) with L levels becomes L − 1 indicator columns: one for each
level but the reference, which all coefficients compare with. The reference is the most frequent level, the
first in the alphabet among equally frequent ones, and ``False`` of booleans; a level that stands for "not
known" is never the reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from superfactor._arrays import Array, device, namespace
from superfactor.estimators import inputs
from superfactor.estimators.spelling import two_spellings

# The level of a cell with nothing in it; where it occurs it is a level like the others.
EMPTY = "(empty)"
# What people write for the same, in lower case.
_UNKNOWN = {EMPTY, "", "na", "n/a", "nan", "null", "?", "missing", "(missing)", "unknown"}
MOST_LEVELS = 50
# Numbers among words are codes (of a site, of a stage) up to so many different ones, and else measured.
MOST_CODES = 10
# What people write before or after a number that is a bound, or not exact.
_BOUNDS = "<>=≤≥~+ "
_BOOLEAN = ["False", "True"]


@dataclass(frozen=True)
class CovariateEncoder:
    """Which columns of a table of covariates are words, and what their levels are.

    Attributes
    ----------
    levels : dict from the position of a column of words to its levels, the reference first

    Notes
    -----
    ``encode`` is ``expand(codes(table))``: codes have one number for each cell, the cell itself or the
    position of its level, and stand where the table stood; indicators are made of them where needed.
    """

    levels: dict[int, list[str]] = field(default_factory=dict)

    @classmethod
    def learn(
        cls, table: Any, names: Sequence[Any] | None = None, said: str = "covariates: column"
    ) -> CovariateEncoder:
        """The levels of the columns of words among those of a table (n, q), array or list of columns.

        Parameters
        ----------
        table : DataFrame (pandas, polars), Series, array-like, or a `Columns`
        names : of the columns, for messages; those of the table, or their positions, by default
        said : what a message calls a column
        """
        names = names or inputs.column_names(table)
        levels = {}
        for j, column in enumerate(columns_of(table)):
            if _is_words(column, f"{said} {_name(names, j)!r}"):
                levels[j] = _levels(column, f"{said} {_name(names, j)!r}")
        return cls(levels)

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
        """Numbers (n, columns) in place of the cells; the table itself where no column is one of words."""
        if table is None or not self.levels:
            return table
        names = names or inputs.column_names(table)
        given = columns_of(table)
        if not given:
            return table  # no table, which is for others to say
        columns = [
            _positions(column, self.levels[j], f"{said} {_name(names, j)!r}", place)
            if j in self.levels
            else _floats(column, f"{said} {_name(names, j)!r}", place)
            for j, column in enumerate(given)
        ]
        return np.stack(columns, axis=1)

    def expand(self, codes: Array | None) -> Array | None:
        """Indicators in place of the positions of levels, for arrays of any library."""
        if codes is None or not self.levels:
            return codes
        xp, blocks = namespace(codes), []
        for j in range(codes.shape[1]):
            block = codes[:, j : j + 1]
            if j in self.levels:
                others = xp.arange(1, len(self.levels[j]), dtype=codes.dtype, device=device(codes))
                block = xp.astype(block == others[None, :], codes.dtype)
            blocks.append(block)
        return xp.concat(blocks, axis=1)

    def column_names(self, names: Sequence[str]) -> list[str]:
        """Names of the columns of `expand`, given those of the table: ``age``, ``sex=M``."""
        found = []
        for j, name in enumerate(names):
            levels = self.levels.get(j)
            found += [name] if levels is None else [f"{name}={level}" for level in levels[1:]]
        return found

    def named(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The levels by the name of their column, given the names of the table."""
        return {names[j]: levels for j, levels in self.levels.items()}


# --- columns of X ----------------------------------------------------------------------------------------


def learn_inside(X: Any, columns: Any) -> tuple[Any, CovariateEncoder]:
    """The same of the covariate columns of a table X, `columns` being ``covariate_columns``.

    Before it X as numbers, with the positions of levels in place of words.
    """
    if columns is None or not _may_hold_words(X) or not (_is_frame(X) or X.ndim == 2):
        return X, CovariateEncoder()
    names = inputs.column_names(X)
    positions = inputs.covariate_indices(columns, X.shape[1], names)
    chosen = Columns(X, positions)
    encoder = CovariateEncoder.learn(chosen, _chosen(names, positions), "X: column")
    return codes_inside(X, positions, encoder), encoder


def codes_inside(X: Any, positions: Sequence[int], encoder: CovariateEncoder) -> Any:
    """X with the positions of levels in place of words in its covariate columns, and else as it was."""
    if not encoder.levels or not _may_hold_words(X):
        return X
    chosen = [positions[k] for k in encoder.levels if positions[k] < X.shape[1]]
    if len(chosen) < len(encoder.levels):
        return X  # of another shape than the one at fit, which is for others to say
    words = CovariateEncoder(dict(enumerate(encoder.levels.values())))
    names = _chosen(inputs.column_names(X), chosen)
    # Single precision holds them exactly, and leaves the type of X to its other columns.
    codes = words.codes(Columns(X, chosen), names, "X: column").astype(np.float32)
    if hasattr(X, "isetitem"):
        X = X.copy(deep=False)
        for j, column in zip(chosen, codes.T, strict=True):
            X.isetitem(j, column)
        return X
    if hasattr(X, "with_columns"):
        series = type(X.get_columns()[0])
        return X.with_columns(
            [series(X.columns[j], column) for j, column in zip(chosen, codes.T, strict=True)]
        )
    X = X.copy()
    X[:, chosen] = codes
    return X


@dataclass(frozen=True)
class Columns:
    """Some of the columns of a table."""

    table: Any
    positions: Sequence[int]


def as_table(covariates: Any) -> Any:
    """A Series as a table of one column, which keeps its name; anything else as it is."""
    return covariates.to_frame() if hasattr(covariates, "to_frame") else covariates


def columns_of(table: Any) -> list[Any]:
    """The columns of a table one by one, Series where it has them, else NumPy arrays; [] of no table."""
    if isinstance(table, Columns):
        return [_column(table.table, j) for j in table.positions]
    table = as_table(table)
    if isinstance(table, list | tuple):
        try:
            table = np.array(table, dtype=object)  # numbers beside words stay numbers
        except ValueError:  # ragged, which is for others to say
            return []
    table = inputs.as_numpy(table)
    if isinstance(table, np.ndarray) and table.ndim == 1:
        return [table]
    if _is_frame(table) or (isinstance(table, np.ndarray) and table.ndim == 2):
        return [_column(table, j) for j in range(table.shape[1])]
    return []


def _column(table: Any, j: int) -> Any:
    if hasattr(table, "iloc"):
        return table.iloc[:, j]
    return table.get_columns()[j] if hasattr(table, "get_columns") else table[:, j]


def _may_hold_words(table: Any) -> bool:
    """A DataFrame of pandas or polars, or an array of something else than numbers."""
    return _is_frame(table) or (isinstance(table, np.ndarray) and table.dtype.kind in "bOUT")


def _is_frame(table: Any) -> bool:
    return hasattr(table, "iloc") or hasattr(table, "get_columns")


def _chosen(names: Sequence[str] | None, positions: Sequence[int]) -> list[Any]:
    return [_name(names, j) for j in positions]


def _name(names: Sequence[Any] | None, j: int) -> Any:
    """Of a column in a message: its name, or else its position."""
    return j if names is None or j >= len(names) else names[j]


# --- cells -----------------------------------------------------------------------------------------------


def _is_words(column: Any, said: str) -> bool:
    if _is_category(column):
        return True
    cells = np.asarray(column)
    if cells.dtype.kind in "mM":  # which would pass for numbers
        raise ValueError(f"{said} holds dates or times; numbers or words are required")
    if cells.dtype.kind != "O":
        return cells.dtype.kind in "bUT"
    return any(not _is_missing(cell) and not _is_number(cell) for cell in cells)


def _is_category(column: Any) -> bool:
    """Whether the column is declared to hold categories, by pandas or polars."""
    kind = str(getattr(column, "dtype", "")).lower()
    return kind == "category" or kind.startswith(("categorical", "enum"))


def _is_boolean(column: Any) -> bool:
    cells = np.asarray(column)
    if cells.dtype.kind != "O":
        return cells.dtype.kind == "b"
    given = [cell for cell in cells if not _is_missing(cell)]
    return bool(given) and all(isinstance(cell, bool | np.bool_) for cell in given)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, Real | Decimal) and not isinstance(cell, bool | np.bool_)


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, float | np.floating):
        return bool(np.isnan(cell))
    return cell is None or type(cell).__name__ in (
        "NAType",
        "NaTType",
    )  # pandas', which may be absent


def _words(column: Any) -> list[str]:
    """The cells as they are written; 1 and not 1.0 for whole numbers that are categories."""
    found = []
    for cell in np.asarray(column, dtype=object):
        if _is_missing(cell):
            found.append(EMPTY)
        elif isinstance(cell, float | np.floating) and float(cell).is_integer():
            found.append(str(int(cell)))
        else:
            found.append(str(cell))
    return found


def _levels(column: Any, said: str) -> list[str]:
    """The levels of a column of words, the reference first and what is not known last."""
    counts = Counter(_words(column))
    if _is_boolean(column):  # both are known, whether or not they occur
        return [*_BOOLEAN, EMPTY] if EMPTY in counts else list(_BOOLEAN)
    if not _is_category(column):  # where whole numbers are levels on purpose
        _refuse_numbers(counts, said)
    if len(counts) > MOST_LEVELS:
        raise ValueError(
            f"{said} has {len(counts)} different values; at most {MOST_LEVELS} are allowed where they "
            "are no numbers"
        )
    alike = two_spellings(counts)
    if alike is not None:
        raise ValueError(
            f"{said}: {alike}; write them alike if they are one level, else give them names that differ more"
        )
    known = sorted(level for level in counts if not _is_unknown(level))
    if not known or len(counts) == 1:
        raise ValueError(f"{said} is {min(counts)!r} for every sample; two levels are required")
    reference = max(known, key=lambda level: counts[level])  # the first of the largest
    if {level.lower() for level in known} == {"false", "true"}:
        reference = min(known, key=str.lower)
    others = [level for level in known if level != reference]
    return [reference, *others, *sorted(counts.keys() - set(known))]


def _refuse_numbers(levels: Iterable[str], said: str) -> None:
    """Raise a ValueError where levels are measured numbers that something keeps from being read as such.

    One word among the ages of 200 people would make every year of age a level.
    """
    known = [level for level in levels if not _is_unknown(level)]
    values = [level for level in known if _is_written_number(level.replace(",", ""))]
    words = [level for level in levels if level not in values]
    # "90+" and "<5" are meant as numbers, too.
    if len(values) <= MOST_CODES or not all(
        _is_written_number(level.strip(_BOUNDS)) for level in known if level not in values
    ):
        return
    commas = sorted(level for level in values if "," in level)
    if commas:
        raise ValueError(
            f"{said} holds numbers with a comma, such as {commas[0]!r}; write them with a decimal point and "
            "without commas"
        )
    written = sorted(word for word in words if word != EMPTY)
    beside = f" beside {_listed(written)}" if written else " as text"
    put = "put numbers there, or leave such samples out" if written else "give them as numbers"
    if all(value.isdigit() for value in values):
        put += f" (if the numbers are codes, write them as words, such as {'no. ' + min(values)!r})"
    raise ValueError(f"{said} holds {len(values)} different numbers{beside}; {put}")


def _is_unknown(level: str) -> bool:
    return level.strip().lower() in _UNKNOWN


def _is_written_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word  # which Python allows within numbers, and people use within names


def _positions(
    column: Any, levels: Sequence[str], said: str, place: Callable[[int], str]
) -> np.ndarray:
    """Where each cell's level stands among `levels`, (n,)."""
    known = {level: float(k) for k, level in enumerate(levels)}
    if levels[:2] == _BOOLEAN:
        known |= {"0": 0.0, "1": 1.0}
    found = np.empty(len(column))
    for row, cell in enumerate(_words(column)):
        if cell not in known:
            # Programs write 1.0 for 1 in a column that also has empty cells.
            whole, _, rest = cell.partition(".")
            if whole not in known or rest.strip("0"):
                raise ValueError(
                    f"{said} is {cell!r} at {place(row)}; the model knows {_listed(sorted(levels))}"
                )
            cell = whole
        found[row] = known[cell]
    return found


def _floats(column: Any, said: str, place: Callable[[int], str]) -> np.ndarray:
    """A column of numbers (n,)."""
    cells = np.asarray(column)
    gone = [row for row, cell in enumerate(cells) if _is_missing(cell)]
    if gone:
        raise ValueError(
            f"{said} has {len(gone)} missing value(s), the first at {place(gone[0])}; numbers are "
            "required everywhere"
        )
    try:
        return cells.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{said}: numbers are required, as at fit; {error}") from error


def _listed(levels: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(repr(level) for level in levels[:most])
    return shown if len(levels) <= most else f"{shown} and {len(levels) - most} more"


def labelled(levels: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Names of indicator columns as people read them: ``sex=M`` is ``sex: M vs F``."""
    return {
        f"{name}={level}": f"{name}: {level} vs {known[0]}"
        for name, known in levels.items()
        for level in known[1:]
    }
