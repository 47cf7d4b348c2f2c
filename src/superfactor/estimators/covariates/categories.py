"""Categorical and numeric columns of covariates: levels, codes, medians, missing values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from superfactor.estimators.targets.spelling import two_spellings
from superfactor.preprocessing.cells import floats, holds_numbers, is_category, is_missing, listed, words

# The level of an empty cell; it is treated like other levels.
EMPTY = "(empty)"
#: Number of missing values of a covariate from which on they have an indicator.
FEWEST_MISSING = 5
# Text for "not known", in lower case.
_UNKNOWN = {EMPTY, "", "na", "n/a", "nan", "null", "?", "missing", "(missing)", "unknown"}
MOST_LEVELS = 50
# Numbers in a column of text are codes (of a site, of a stage) up to this many; with more, measurements.
MOST_CODES = 10
# Characters before or after a number that is a bound, or not exact.
_BOUNDS = "<>=≤≥~+ "
_BOOLEAN = ["False", "True"]


def is_words(column: Any, said: str) -> bool:
    """Return whether a column contains categories (strings, categories, booleans) and not numbers."""
    if is_category(column):
        return True
    kind = np.asarray(column).dtype.kind
    if kind in "mM":  # dates can be converted to floats
        raise ValueError(f"{said} holds dates or times; numbers or words are required")
    return kind in "bUTO" and not holds_numbers(column)


def _is_boolean(column: Any) -> bool:
    cells = np.asarray(column)
    if cells.dtype.kind != "O":
        return cells.dtype.kind == "b"
    given = [cell for cell in cells if not is_missing(cell)]
    return bool(given) and all(isinstance(cell, bool | np.bool_) for cell in given)


def _words(column: Any) -> list[str]:
    """Return the cells as text, `EMPTY` for missing values."""
    return [EMPTY if word is None else word for word in words(column)]


def levels_of(column: Any, said: str) -> list[str]:
    """Return the levels of a categorical column, the reference first and unknown values last.

    Empty cells are a level if there are at least `FEWEST_MISSING`, or fewer than two other levels.
    """
    counts = Counter(_words(column))
    if counts[EMPTY] < FEWEST_MISSING and len(counts) > 2:
        del counts[EMPTY]
    if _is_boolean(column):  # both values are levels, whether or not they occur
        return [*_BOOLEAN, EMPTY] if EMPTY in counts else list(_BOOLEAN)
    if not is_category(column):  # numbers in a categorical type are intended as levels
        _refuse_numbers(counts, said)
    if len(counts) > MOST_LEVELS:
        raise ValueError(
            f"{said} has {len(counts)} different values; at most {MOST_LEVELS} are allowed unless they are "
            "numbers"
        )
    alike = two_spellings(counts)
    if alike is not None:
        raise ValueError(
            f"{said}: {alike}; use one spelling if they are one level, or names that differ more if not"
        )
    known = sorted(level for level in counts if not _is_unknown(level))
    if not known or len(counts) == 1:
        raise ValueError(f"{said} is {min(counts)!r} for every sample; two levels are required")
    reference = max(known, key=lambda level: counts[level])  # the first of the most frequent
    if {level.lower() for level in known} == {"false", "true"}:
        reference = min(known, key=str.lower)
    others = [level for level in known if level != reference]
    return [reference, *others, *sorted(counts.keys() - set(known))]


def _refuse_numbers(levels: Iterable[str], said: str) -> None:
    """Raise a ValueError if levels are measurements that could not be read as numbers.

    Otherwise, a single text among the ages of 200 people would turn every age into a level.
    """
    known = [level for level in levels if not _is_unknown(level)]
    values = [level for level in known if _is_written_number(level.replace(",", ""))]
    others = [level for level in levels if level not in values]
    # "90+" and "<5" are numbers, too.
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
    written = sorted(word for word in others if word != EMPTY)
    beside = f" and {listed([repr(word) for word in written])}" if written else " as text"
    put = "replace the text by numbers, or leave such samples out" if written else "pass them as numbers"
    if all(value.isdigit() for value in values):
        put += f" (if the numbers are codes, write them as text, such as {'no. ' + min(values)!r})"
    raise ValueError(f"{said} holds {len(values)} different numbers{beside}; {put}")


def _is_unknown(level: str) -> bool:
    return level.strip().lower() in _UNKNOWN


def _is_written_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word  # which Python allows within numbers, and people use within names


def positions(column: Any, levels: Sequence[str], said: str, place: Callable[[int], str]) -> np.ndarray:
    """Return the position (n,) of each cell's level in `levels`."""
    known = {level: float(k) for k, level in enumerate(levels)}
    if levels[:2] == _BOOLEAN:
        known |= {"0": 0.0, "1": 1.0}
    found = np.empty(len(column))
    known.setdefault(EMPTY, 0.0)  # empty cells get the reference level
    for row, cell in enumerate(_words(column)):
        if cell not in known:
            # Integers in a column with empty cells are often written as 1.0.
            whole, _, rest = cell.partition(".")
            if whole not in known or rest.strip("0"):
                knows = listed([repr(level) for level in sorted(levels)])
                raise ValueError(f"{said} is {cell!r} at {place(row)}; the model knows {knows}")
            cell = whole
        found[row] = known[cell]
    return found


def is_real(column: Any) -> bool:
    """Return whether a column without categories can be converted to real numbers."""
    return np.asarray(column).dtype.kind in "iufO"


def count_missing(column: Any) -> int:
    """Return the number of missing values of a column."""
    given = np.asarray(column)
    if given.dtype.kind == "O":
        return sum(map(is_missing, given))
    return int(np.count_nonzero(np.isnan(given))) if given.dtype.kind == "f" else 0


def median(column: Any, said: str) -> float:
    """Return the median of the known numbers of a column."""
    values = floats(column, said)
    values = values[~np.isnan(values)]
    if not len(values):
        raise ValueError(f"{said} has no value for any sample; leave the column out")
    return float(np.median(values))
