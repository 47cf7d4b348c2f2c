"""Confounders of a table, what the features are adjusted for, as columns of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from superfactor.tables.columns.numbers import numbers, shortened, without_point
from superfactor.tables.errors import TableError

if TYPE_CHECKING:
    import pandas as pd

MOST_LEVELS = 50

# column → all of its levels; none for numbers
Levels = dict[str, list[str]]


def learn_levels(path: Any, table: pd.DataFrame, names: Sequence[str]) -> Levels:
    """What each confounder can be: categories for what `Adjuster` takes as such."""
    from superfactor.preprocessing.levels import MOST_CODES

    levels: Levels = {}
    for name in names:
        found = sorted({word for word in _words(table[name]) if word is not None})
        if len(found) < 2:
            what = f"{found[0]!r} for every sample" if found else "empty"
            raise TableError(f"{path}: --adjust {name}: {what}; there is nothing to adjust for")
        codes = len(found) <= MOST_CODES and all(_is_whole(word) for word in found)
        if table[name].dtype.kind != "O" and not codes:
            levels[name] = []
            continue
        if len(found) > MOST_LEVELS:
            raise TableError(
                f"{path}: --adjust {name}: {len(found)} different values; at most {MOST_LEVELS} levels, or "
                "numbers, are possible"
            )
        levels[name] = found
    return levels


def column_names(levels: Levels) -> list[str]:
    """The columns these become, ``batch=A`` of each level or ``age``, told apart from all others."""
    return [
        f"adjust:{name}{f'={level}' if level else ''}"
        for name, own in levels.items()
        for level in own or [""]
    ]


def encode(path: Any, table: pd.DataFrame, levels: Levels, ids: Any = None) -> Any:
    """Columns (n, k) of `column_names`; NaN where it is not known, or none of the levels."""
    import numpy as np

    blocks = [np.empty((len(table), 0))]
    for name, own in levels.items():
        if not own:
            blocks.append(numbers(path, table, [name], ids, gaps=True))
            continue
        words = _words(table[name])
        block = np.array([[float(word == level) for level in own] for word in words])
        block[[word not in own for word in words]] = np.nan
        blocks.append(block)
    return np.hstack(blocks)


def table(frame: pd.DataFrame, levels: Levels) -> Any:
    """The confounders (n, …), words for those that have levels; None without any."""
    import pandas as pd

    if not levels:
        return None
    columns = {
        name: [word if word in own else None for word in _words(frame[name])]
        if own
        else frame[name].to_numpy()
        for name, own in levels.items()
    }
    return pd.DataFrame(columns)


def unknown(levels: Levels, encoded: Any, absent: Collection[str] = ()) -> list[str]:
    """A note for each confounder that is not known of some samples, from their columns (n, k).

    Those that are `absent` have no column in the table.
    """
    import numpy as np

    said, start = [], 0
    for name, own in levels.items():
        stop = start + (len(own) or 1)
        count = int(np.isnan(encoded[:, start:stop]).any(axis=1).sum())
        start = stop
        if name in absent:
            said.append(
                f"no column {name!r}, for which the model is adjusted: nothing of it is taken out of the "
                "features of any sample"
            )
        elif count:
            said.append(
                f"{name!r} is empty{', or no level that was fitted,' if own else ''} for {count} of "
                f"{len(encoded)} samples: nothing of it is taken out of their features"
            )
    return said


def notes(table: pd.DataFrame, levels: Levels, y: Any) -> list[str]:
    """What a user should know: numbers that were taken for names, batches of one sample or one label.

    Parameters
    ----------
    y : labels (n,), None where a sample has none
    """
    said = []
    for name, own in levels.items():
        if own and table[name].dtype.kind != "O":
            said.append(f"--adjust {name}: {len(own)} different whole numbers, taken as categories")
        counts = Counter(_words(table[name]))
        alone = [level for level in own if counts[level] == 1]
        if alone:
            said.append(
                f"--adjust {name}: one sample only of {shortened(alone)}; all that sets such a sample apart "
                "is taken out with it, which makes it an average one"
            )
        of_level: dict[str, set[Any]] = {}
        for word, label in zip(_words(table[name]), y.tolist(), strict=True):
            if word in own and label is not None:
                of_level.setdefault(str(word), set()).add(label)
        if of_level and all(len(labels) == 1 for labels in of_level.values()):
            said.append(
                f"--adjust {name}: every level has one label only; what tells the labels apart is taken out "
                "with it"
            )
    return said


def _words(column: pd.Series[Any]) -> list[str | None]:
    """Cells as text, 1 for 1.0; None where one is empty."""
    from superfactor.tables.grids.cells import MISSING

    absent = column.isna().tolist()
    cells = [None if gone else without_point(str(cell)) for cell, gone in zip(column, absent, strict=True)]
    return [None if cell in MISSING else cell for cell in cells]


def _is_whole(word: str) -> bool:
    return word.lstrip("-").isdecimal()
