"""Confounders of a table as columns of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.preprocessing.levels import MOST_CODES, LevelIndicators
from superfactor.tables.columns.numbers import numbers, refuse_stray_text, words
from superfactor.tables.notes import Note, Setting, TableError, note, shortened

if TYPE_CHECKING:
    import pandas as pd

MOST_LEVELS = 50

# column → its levels; empty for numbers
ConfounderLevels = dict[str, list[str]]


def learn_levels(path: Any, table: pd.DataFrame, names: Sequence[str], ids: Any = None) -> ConfounderLevels:
    """Learn the levels of each confounder; `Adjuster` treats the same columns as categories."""
    levels: ConfounderLevels = {}
    for name in names:
        found = sorted({word for word in words(table[name]) if word is not None})
        prefix = (f"{path}: ", Setting("adjust", name))
        if len(found) < 2:
            what = f"{found[0]!r} for every sample" if found else "empty"
            line = f": {what}; there is nothing to adjust for"
            raise TableError(*prefix, line, kind="confounders", column=name)
        codes = len(found) <= MOST_CODES and all(word.lstrip("-").isdecimal() for word in found)
        if table[name].dtype.kind != "O" and not codes:
            levels[name] = []
            continue
        if table[name].dtype.kind == "O":
            refuse_stray_text(path, table, name, ids)
        if len(found) > MOST_LEVELS:
            line = f": {len(found)} different values; at most {MOST_LEVELS} levels, or numbers, are possible"
            raise TableError(*prefix, line, kind="confounders", column=name)
        levels[name] = found
    return levels


def coding(levels: ConfounderLevels) -> LevelIndicators:
    """Return the coding of `Adjuster`; its column names begin with ``adjust:``."""
    return LevelIndicators([f"adjust:{name}" for name in levels], [own or None for own in levels.values()])


def encode(path: Any, table: pd.DataFrame, levels: ConfounderLevels, ids: Any = None) -> Any:
    """Columns (n, k) in the coding; NaN for missing values and unknown levels."""
    if not levels:
        return np.empty((len(table), 0))
    columns = [
        words(table[name]) if own else numbers(path, table, [name], ids, gaps=True)[:, 0]
        for name, own in levels.items()
    ]
    return coding(levels).encode(columns)


def table(frame: pd.DataFrame, levels: ConfounderLevels) -> Any:
    """The confounders (n, …), as text where they have levels; None without confounders."""
    import pandas as pd

    if not levels:
        return None
    columns = {
        name: [word if word in own else None for word in words(frame[name])]
        if own
        else frame[name].to_numpy()
        for name, own in levels.items()
    }
    return pd.DataFrame(columns)


def unknown(levels: ConfounderLevels, encoded: Any, absent: Collection[str] = ()) -> list[Note]:
    """Notes on confounders that are unknown for some samples, from the columns (n, k).

    Confounders in `absent` have no column in the table.
    """
    result = []
    for (name, own), group in zip(levels.items(), coding(levels).groups, strict=True):
        count = int(np.isnan(encoded[:, group]).any(axis=1).sum())
        if name in absent:
            line = (
                f"no column {name!r}, for which the model is adjusted: the features of all samples stay "
                "unadjusted for it"
            )
        elif count:
            line = (
                f"{name!r} is empty{' or an unknown level' if own else ''} for {count} of "
                f"{len(encoded)} samples: their features stay unadjusted for it"
            )
        else:
            continue
        result.append(note("confounder", line, column=name))
    return result


def notes(table: pd.DataFrame, levels: ConfounderLevels, y: Any = None) -> list[Note]:
    """Notes on integers taken as categories, and on levels with one sample or one label.

    `y` holds labels (n,), None for missing ones; `y` is None if the outcome is not labels.
    """
    result = []

    def add(name: str, line: str) -> None:
        result.append(note("confounder", Setting("adjust", name), line, column=name))

    for name, own in levels.items():
        if own and table[name].dtype.kind != "O":
            add(name, f": {len(own)} different integers, taken as categories")
        cells = words(table[name])
        counts = Counter(cells)
        alone = [level for level in own if counts[level] == 1]
        if alone:
            add(
                name,
                f": only one sample of {shortened(alone)}; adjusting removes everything that distinguishes "
                "such a sample",
            )
        of_level: dict[str, set[Any]] = {}
        for word, label in zip(cells, [None] * len(cells) if y is None else y.tolist(), strict=True):
            if word in own and label is not None:
                of_level.setdefault(str(word), set()).add(label)
        if of_level and all(len(labels) == 1 for labels in of_level.values()):
            add(name, ": every level has only one label; adjusting also removes what separates the labels")
    return result
