"""Columns of a table of covariates: words, numbers, and what stands where there is neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from superfactor.estimators.targets.spelling import two_spellings
from superfactor.preprocessing.cells import floats, holds_numbers, is_category, is_missing, listed, words

# The level of a cell with nothing in it; where it occurs it is a level like the others.
EMPTY = "(empty)"
# What people write for the same, in lower case.
#: Missing values of a covariate from which on they have an indicator.
FEWEST_MISSING = 5
_UNKNOWN = {EMPTY, "", "na", "n/a", "nan", "null", "?", "missing", "(missing)", "unknown"}
MOST_LEVELS = 50
# Numbers among words are codes (of a site, of a stage) up to so many different ones, and else measured.
MOST_CODES = 10
# What people write before or after a number that is a bound, or not exact.
_BOUNDS = "<>=≤≥~+ "
_BOOLEAN = ["False", "True"]


def is_words(column: Any, said: str) -> bool:
    """Whether a column holds words (strings, categories, booleans) and not numbers."""
    if is_category(column):
        return True
    kind = np.asarray(column).dtype.kind
    if kind in "mM":  # which would pass for numbers
        raise ValueError(f"{said} holds dates or times; numbers or words are required")
    return kind in "bUTO" and not holds_numbers(column)


def _is_boolean(column: Any) -> bool:
    cells = np.asarray(column)
    if cells.dtype.kind != "O":
        return cells.dtype.kind == "b"
    given = [cell for cell in cells if not is_missing(cell)]
    return bool(given) and all(isinstance(cell, bool | np.bool_) for cell in given)


def _words(column: Any) -> list[str]:
    """The cells as they are written, and a word for those with nothing in them."""
    return [EMPTY if word is None else word for word in words(column)]


def levels_of(column: Any, said: str) -> list[str]:
    """The levels of a column of words, the reference first and what is not known last.

    Empty cells are a level if there are `FEWEST_MISSING`, or no two others.
    """
    counts = Counter(_words(column))
    if counts[EMPTY] < FEWEST_MISSING and len(counts) > 2:
        del counts[EMPTY]
    if _is_boolean(column):  # both are known, whether or not they occur
        return [*_BOOLEAN, EMPTY] if EMPTY in counts else list(_BOOLEAN)
    if not is_category(column):  # where whole numbers are levels on purpose
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
    others = [level for level in levels if level not in values]
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
    written = sorted(word for word in others if word != EMPTY)
    beside = f" beside {listed([repr(word) for word in written])}" if written else " as text"
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


def positions(column: Any, levels: Sequence[str], said: str, place: Callable[[int], str]) -> np.ndarray:
    """Where each cell's level stands among `levels`, (n,)."""
    known = {level: float(k) for k, level in enumerate(levels)}
    if levels[:2] == _BOOLEAN:
        known |= {"0": 0.0, "1": 1.0}
    found = np.empty(len(column))
    known.setdefault(EMPTY, 0.0)  # the reference stands in
    for row, cell in enumerate(_words(column)):
        if cell not in known:
            # Programs write 1.0 for 1 in a column that also has empty cells.
            whole, _, rest = cell.partition(".")
            if whole not in known or rest.strip("0"):
                knows = listed([repr(level) for level in sorted(levels)])
                raise ValueError(f"{said} is {cell!r} at {place(row)}; the model knows {knows}")
            cell = whole
        found[row] = known[cell]
    return found


def is_real(column: Any) -> bool:
    """Whether a column that is no words can be taken as real numbers."""
    return np.asarray(column).dtype.kind in "iufO"


def count_missing(column: Any) -> int:
    """How many cells of a column have nothing in them."""
    given = np.asarray(column)
    if given.dtype.kind == "O":
        return sum(map(is_missing, given))
    return int(np.count_nonzero(np.isnan(given))) if given.dtype.kind == "f" else 0


def median(column: Any, said: str) -> float:
    """Of the numbers that a column has."""
    values = floats(column, said)
    values = values[~np.isnan(values)]
    if not len(values):
        raise ValueError(f"{said} has no value for any sample; leave the column out")
    return float(np.median(values))
