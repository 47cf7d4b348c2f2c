"""Confounders as numbers: words as one indicator column for every level, numbers as they are.

    batch  rin          batch=A  batch=B  rin
    A      7.1             1        0     7.1
    B      6.4      →      0        1     6.4
    ?      –              NaN      NaN    NaN

Few whole numbers are codes of levels: a straight line through batches 1, 2 and 3 means nothing. Two are
left as they are, of which line and levels are the same.

No level is left out as a reference: what is removed by least squares does not depend on one. A row of NaN
stands for a level that is unknown.
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

#: Whole numbers of so few different values are codes of levels; ages and doses have more.
MOST_CODES = 10


@dataclass(frozen=True)
class LevelIndicators:
    """Which columns are words, and what their levels are."""

    names: list[str]
    levels: list[list[str] | None]  # of each column, sorted; None where it holds numbers

    @classmethod
    def learn(cls, columns: Sequence[Any], names: Sequence[str]) -> LevelIndicators:
        """Words (strings, categories, booleans) and codes have levels; anything else has to be numbers."""
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
        """Names (q,) of the columns of `encode`: ``batch=A``, ``rin``."""
        return [
            name if level is None else f"{name}={level}"
            for name, levels in zip(self.names, self.levels, strict=True)
            for level in ([None] if levels is None else levels)
        ]

    @property
    def groups(self) -> list[slice]:
        """Where the columns of each confounder stand."""
        ends = np.cumsum([0, *(1 if levels is None else len(levels) for levels in self.levels)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def encode(self, columns: Sequence[Any]) -> Any:
        """Numbers (n, q), NaN where a value is missing or a level was not there at `learn`."""
        parts = [
            _finite(values, name)[:, None] if levels is None else _indicators(_words(values, name), levels)
            for values, name, levels in zip(columns, self.names, self.levels, strict=True)
        ]
        return np.hstack(parts)


def _has_levels(values: Any) -> bool:
    """All but numbers, and codes; objects of which nothing is known may be words, with no level yet."""
    if not holds_numbers(values):
        return True
    if np.asarray(values).dtype.kind == "O" and all(map(is_missing, values)):
        return True
    known = np.unique(floats(values, "X"))
    known = known[np.isfinite(known)]
    return 2 < len(known) <= MOST_CODES and bool(np.all(known == np.round(known)))


def _words(values: Any, name: str) -> list[str | None]:
    """Levels as text, None where there is none."""
    for value in np.asarray(values, dtype=object):
        if not is_missing(value) and not isinstance(value, str | Real | np.bool_ | date | np.datetime64):
            raise TypeError(
                f"X: column {name!r} holds a {type(value).__name__}; a level of a confounder, as any "
                "argument must be, is a string or a number"
            )
    return words(values)


def _indicators(words: list[str | None], levels: list[str]) -> Any:
    position = {level: k for k, level in enumerate(levels)}
    codes = np.array([position.get(word, -1) if word is not None else -1 for word in words], int)
    out = (codes[:, None] == np.arange(len(levels))).astype(np.float64)
    out[codes < 0] = np.nan
    return out


def _finite(values: Any, name: str) -> Any:
    """Numbers (n,), NaN where there is none."""
    found = floats(values, f"X: column {name!r}")
    if np.isinf(found).any():
        raise ValueError(f"X: column {name!r} contains infinity; finite numbers are required")
    return found
