"""Confounders as numbers: words as one indicator column for every level, numbers as they are.

    batch  rin          batch=A  batch=B  rin
    A      7.1             1        0     7.1
    B      6.4      →      0        1     6.4
    ?      –              NaN      NaN    NaN

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


@dataclass(frozen=True)
class Levels:
    """Which columns are words, and what their levels are.

    Attributes
    ----------
    names : of the columns
    levels : one list of levels for each column, sorted; None where it holds numbers
    """

    names: list[str]
    levels: list[list[str] | None]

    @classmethod
    def learn(cls, columns: Sequence[Any], names: Sequence[str]) -> Levels:
        """Words (strings, categories, booleans) have levels; anything else has to be numbers."""
        found: list[list[str] | None] = []
        for values, name in zip(columns, names, strict=True):
            if not _is_words(values):
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
            _floats(values, name)[:, None]
            if levels is None
            else _indicators(_words(values, name), levels)
            for values, name, levels in zip(columns, self.names, self.levels, strict=True)
        ]
        return np.hstack(parts)


def _is_words(values: Any) -> bool:
    if str(values.dtype).startswith(("category", "Categorical", "Enum")):
        return True
    array = np.asarray(values)
    if array.dtype.kind in "iuf":
        return False
    if array.dtype.kind != "O":
        return True
    present = [value for value in array if not _is_missing(value)]
    return not all(isinstance(value, Real) and not isinstance(value, bool) for value in present)


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT or pandas' NA, which does not say whether it differs from itself."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True


def _words(values: Any, name: str) -> list[str | None]:
    """Levels as text, None where there is none; 2 and 2.0 are the same level."""
    found: list[str | None] = []
    for value in np.asarray(values, dtype=object):
        if _is_missing(value):
            found.append(None)
        elif isinstance(value, float) and value.is_integer():
            found.append(str(int(value)))
        elif isinstance(value, str | Real | np.bool_ | date | np.datetime64):
            found.append(str(value))
        else:
            raise TypeError(
                f"X: column {name!r} holds a {type(value).__name__}; a level of a confounder, as any "
                "argument must be, is a string or a number"
            )
    return found


def _indicators(words: list[str | None], levels: list[str]) -> Any:
    position = {level: k for k, level in enumerate(levels)}
    codes = np.array([position.get(word, -1) if word is not None else -1 for word in words], int)
    out = (codes[:, None] == np.arange(len(levels))).astype(np.float64)
    out[codes < 0] = np.nan
    return out


def _floats(values: Any, name: str) -> Any:
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = np.array([np.nan if _is_missing(value) else value for value in array], dtype=object)
    try:
        found = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X: column {name!r} was fitted as numbers; {error}") from error
    if np.isinf(found).any():
        raise ValueError(f"X: column {name!r} contains infinity; finite numbers are required")
    return found
