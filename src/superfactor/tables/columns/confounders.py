"""ConfounderLevels of a table, what the features are adjusted for, as columns of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.preprocessing.levels import MOST_CODES, LevelIndicators
from superfactor.tables.columns.numbers import numbers, words
from superfactor.tables.notes import Note, Setting, TableError, note, shortened

if TYPE_CHECKING:
    import pandas as pd

MOST_LEVELS = 50

# column → all of its levels; none for numbers
ConfounderLevels = dict[str, list[str]]


def learn_levels(path: Any, table: pd.DataFrame, names: Sequence[str]) -> ConfounderLevels:
    """What each confounder can be: categories for what `Adjuster` takes as such."""
    levels: ConfounderLevels = {}
    for name in names:
        found = sorted({word for word in words(table[name]) if word is not None})
        said = (f"{path}: ", Setting("adjust", name))
        if len(found) < 2:
            what = f"{found[0]!r} for every sample" if found else "empty"
            line = f": {what}; there is nothing to adjust for"
            raise TableError(*said, line, kind="confounders", column=name)
        codes = len(found) <= MOST_CODES and all(word.lstrip("-").isdecimal() for word in found)
        if table[name].dtype.kind != "O" and not codes:
            levels[name] = []
            continue
        if len(found) > MOST_LEVELS:
            line = f": {len(found)} different values; at most {MOST_LEVELS} levels, or numbers, are possible"
            raise TableError(*said, line, kind="confounders", column=name)
        levels[name] = found
    return levels


def coding(levels: ConfounderLevels) -> LevelIndicators:
    """The same for `Adjuster`: its own coding, of columns that are told apart from all others."""
    return LevelIndicators([f"adjust:{name}" for name in levels], [own or None for own in levels.values()])


def encode(path: Any, table: pd.DataFrame, levels: ConfounderLevels, ids: Any = None) -> Any:
    """Columns (n, k) as `coding` names them; NaN where it is not known, or none of the levels."""
    if not levels:
        return np.empty((len(table), 0))
    columns = [
        words(table[name]) if own else numbers(path, table, [name], ids, gaps=True)[:, 0]
        for name, own in levels.items()
    ]
    return coding(levels).encode(columns)


def table(frame: pd.DataFrame, levels: ConfounderLevels) -> Any:
    """The confounders (n, …), words for those that have levels; None without any."""
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
    """A note for each confounder that is not known of some samples, from their columns (n, k).

    Those that are `absent` have no column in the table.
    """
    said = []
    for (name, own), group in zip(levels.items(), coding(levels).groups, strict=True):
        count = int(np.isnan(encoded[:, group]).any(axis=1).sum())
        if name in absent:
            line = (
                f"no column {name!r}, for which the model is adjusted: nothing of it is taken out of the "
                "features of any sample"
            )
        elif count:
            line = (
                f"{name!r} is empty{', or no level that was fitted,' if own else ''} for {count} of "
                f"{len(encoded)} samples: nothing of it is taken out of their features"
            )
        else:
            continue
        said.append(note("confounder", line, column=name))
    return said


def notes(table: pd.DataFrame, levels: ConfounderLevels, y: Any = None) -> list[Note]:
    """What a user should know: numbers that were taken for names, batches of one sample or one label.

    `y` are labels (n,), None for those without; None altogether where the outcome are none.
    """
    said = []

    def say(name: str, line: str) -> None:
        said.append(note("confounder", Setting("adjust", name), line, column=name))

    for name, own in levels.items():
        if own and table[name].dtype.kind != "O":
            say(name, f": {len(own)} different whole numbers, taken as categories")
        cells = words(table[name])
        counts = Counter(cells)
        alone = [level for level in own if counts[level] == 1]
        if alone:
            say(
                name,
                f": one sample only of {shortened(alone)}; all that sets such a sample apart is taken out "
                "with it, which makes it an average one",
            )
        of_level: dict[str, set[Any]] = {}
        for word, label in zip(cells, [None] * len(cells) if y is None else y.tolist(), strict=True):
            if word in own and label is not None:
                of_level.setdefault(str(word), set()).add(label)
        if of_level and all(len(labels) == 1 for labels in of_level.values()):
            say(name, ": every level has one label only; what tells the labels apart is taken out with it")
    return said
