"""Confounders as numbers: one indicator column for every level of a category, numbers unchanged.

    batch  rin          batch=A  batch=B  rin
    A      7.1             1        0     7.1
    B      6.4      →      0        1     6.4
    ?      –              NaN      NaN    NaN

Whole numbers with few different values are codes of levels, since a linear effect of batches 1, 2 and 3 has
no meaning. Two values stay numbers, because a line and two levels are equivalent.

No level is left out as a reference, because the least-squares fit does not depend on it. A row of NaN means
that the level is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from superfactor.preprocessing.cells import floats, holds_numbers, is_missing, words

#: Whole numbers with at most this many different values are codes of levels; ages and doses have more.
MOST_CODES = 10


@dataclass(frozen=True)
class LevelIndicators:
    """Names of columns, and the levels of those that are categories."""

    names: list[str]
    levels: list[list[str] | None]  # sorted levels of each column; None for numbers

    @classmethod
    def learn(cls, columns: Sequence[Any], names: Sequence[str]) -> LevelIndicators:
        """Learn levels of text, categories, booleans and codes; other columns must be numbers."""
        found: list[list[str] | None] = []
        for values, name in zip(columns, names, strict=True):
            if not _has_levels(values):
                found.append(None)
                continue
            known = {level for level in _words(values, name) if level is not None}
            found.append(sorted(known))
        return cls(list(names), found)

    @property
    def column_names(self) -> list[str]:
        """Return names (q,) of the columns of `encode`: ``batch=A``, ``rin``."""
        return [
            name if level is None else f"{name}={level}"
            for name, levels in zip(self.names, self.levels, strict=True)
            for level in ([None] if levels is None else levels)
        ]

    @property
    def groups(self) -> list[slice]:
        """Return the slice of columns of each confounder."""
        ends = np.cumsum([0, *(1 if levels is None else len(levels) for levels in self.levels)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def encode(self, columns: Sequence[Any]) -> Any:
        """Return numbers (n, q), NaN where a value is missing or a level did not occur at `learn`."""
        parts = [
            _finite(values, name)[:, None] if levels is None else _indicators(_words(values, name), levels)
            for values, name, levels in zip(columns, self.names, self.levels, strict=True)
        ]
        return np.hstack(parts)


def _has_levels(values: Any) -> bool:
    """Return whether a column is categorical; a column of objects that are all missing is, without levels."""
    if not holds_numbers(values):
        return True
    if np.asarray(values).dtype.kind == "O" and all(map(is_missing, values)):
        return True
    known = np.unique(floats(values, "X"))
    known = known[np.isfinite(known)]
    return 2 < len(known) <= MOST_CODES and bool(np.all(known == np.round(known)))


def _words(values: Any, name: str) -> list[str | None]:
    """Return levels as text, None where missing."""
    for value in np.asarray(values, dtype=object):
        if not is_missing(value) and not isinstance(value, str | Real | np.bool_ | date | np.datetime64):
            raise TypeError(
                f"X: column {name!r} holds a {type(value).__name__}; every argument must be a string or a "
                "number, also the level of a confounder"
            )
    return words(values)


def _indicators(words: list[str | None], levels: list[str]) -> Any:
    position = {level: k for k, level in enumerate(levels)}
    codes = np.array([position.get(word, -1) if word is not None else -1 for word in words], int)
    out = (codes[:, None] == np.arange(len(levels))).astype(np.float64)
    out[codes < 0] = np.nan
    return out


def _finite(values: Any, name: str) -> Any:
    """Return numbers (n,), NaN where missing."""
    found = floats(values, f"X: column {name!r}")
    if np.isinf(found).any():
        raise ValueError(f"X: column {name!r} contains infinity; finite numbers are required")
    return found
