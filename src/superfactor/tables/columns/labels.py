"""The label column: whole numbers or words, two classes or more; empty for samples without a label."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.estimators.targets import two_spellings
from superfactor.tables.columns.numbers import without_point
from superfactor.tables.grids.cells import is_number
from superfactor.tables.notes import Note, Setting, TableError, note

if TYPE_CHECKING:
    import pandas as pd

MOST_CLASSES = 50
# Whole numbers that fit into 64 bits, in the one spelling that str() gives back.
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
# What people write, besides nothing, where they do not know.
_NO_LABELS = frozenset(
    ["unknown", "?", "na", "n/a", "n.a.", "missing", "unlabeled", "unlabelled", "not known", "-"]
)


def labels_of(column: pd.Series[Any], where: str, unlabeled: str | None = None) -> Any:
    """Labels (n,) as a NumPy array of int64 where all are whole numbers, else of str.

    Where some are empty, of objects, None for those. Labels come back as they are written, 007, +1 and 1_0
    are words; only a column of numbers 0.0 and 1.0 loses its zeros.
    """
    cells = _cells(column, unlabeled)
    words = [cell for cell in cells if cell is not None]
    kinds = sorted(set(words))
    if not kinds:
        raise _refusal(f"{where} is empty for all {len(cells)} samples; labels of two classes are required")
    fraction = _fraction_among(kinds)
    if fraction is not None:
        raise _refusal(
            f"{where} holds numbers such as {fraction}; a column of labels is required: numbers are for "
            "SMFRegressorCV and times until an event for SMFSurvival, both in Python"
        )
    if len(kinds) > MOST_CLASSES:
        raise _refusal(
            f"{where} has {len(kinds)} different values; a column of labels, with at most "
            f"{MOST_CLASSES}, is required: choose another with ",
            Setting("target"),
        )
    if len(kinds) < 2:
        raise _refusal(
            f"{where} has one class only, {kinds[0]!r}; two or more are required: add samples of another, or "
            "choose another column with ",
            Setting("target"),
        )
    alike = two_spellings(kinds)
    if alike is not None:
        raise _refusal(
            f"{where}: {alike}; write them alike if they are one class, else give them names that differ more"
        )
    whole = {word: without_point(word) for word in kinds}
    value: dict[str, Any] = {word: word for word in kinds}
    if all(map(_INTEGER.fullmatch, whole.values())) and len(set(whole.values())) == len(kinds):
        value = {word: int(whole[word]) for word in kinds}
    if len(words) == len(cells):
        return np.array([value[word] for word in words])
    return np.array([None if cell is None else value[cell] for cell in cells], dtype=object)


def labels_among(column: pd.Series[Any], classes: list[Any], where: str, unlabeled: str | None = None) -> Any:
    """Labels (n,) of samples for a model that knows `classes`; None for those without one."""
    cells = _cells(column, unlabeled)
    among = {str(name): name for name in classes}
    labels = [None if c is None else among.get(c, among.get(without_point(c))) for c in cells]
    for cell, label in zip(cells, labels, strict=True):
        if cell is not None and label is None:
            raise _refusal(
                f"{where} holds {cell!r}; the model knows {', '.join(among)}: write it as one of these, or "
                "leave such samples out"
            )
    return np.array(labels, dtype=object if None in labels else None)


def is_labeled(y: Any) -> Any:
    """Which labels (n,) are there, as bool."""
    if y.dtype.kind != "O":
        return np.ones(len(y), dtype=bool)
    return np.array([label is not None for label in y], dtype=bool)


def known(y: Any) -> Any:
    """The labels that are there, as an array of whole numbers or words."""
    return y if y.dtype.kind != "O" else np.array([label for label in y if label is not None])


def rare(where: str, y: Any, groups: Any, fewest: int) -> dict[Any, int]:
    """Classes with fewer samples than this, or fewer groups, and how many they have; two others are left."""
    units = known(y).tolist()
    if groups is not None:
        units = [label for label, _ in {*zip(units, groups[is_labeled(y)].tolist(), strict=True)}]
    counts = Counter(units)
    few = {label: counts[label] for label in sorted(counts) if counts[label] < fewest}
    left = len(counts) - len(few)
    if few and left < 2:
        raise _refusal(
            f"{where}: {'one class only has' if left else 'no class has'} {fewest} samples or more; two are "
            "required: ",
            Setting("min_class"),
            " with a smaller number",
        )
    return few


def notes(y: Any, few: dict[Any, int], min_class: int, unlabeled: str | None) -> list[Note]:
    """What was left out, what looks like no label, and how many samples have none."""
    said = []
    if few:
        counted = ", ".join(f"{str(label)!r} ({count})" for label, count in few.items())
        classes = f"{len(few)} class{'es' * (len(few) > 1)}"
        line = f"{classes} with fewer than {min_class} samples left out: {counted}"
        said.append(note("rare", line, classes=dict(few)))
    for label, count in Counter(map(str, known(y).tolist())).items():
        if label.strip().lower() in _NO_LABELS:
            line = (
                f"the label {label!r} of {count} sample{'s' * (count > 1)} is a class, and looks like none: "
            )
            said.append(note("no label", line, Setting("unlabeled", label), " takes it for no label"))
    gone = len(y) - len(known(y))
    if gone:
        line = f"{gone} of {len(y)} samples have no label: they shape the factors, and are predicted"
        said.append(note("unlabeled", line, samples=gone))
    elif unlabeled is not None:
        said.append(note("unlabeled", Setting("unlabeled", unlabeled), f": no label is {unlabeled!r}"))
    return said


def _refusal(*parts: Any) -> TableError:
    return TableError(*parts, kind="labels")


def _cells(column: pd.Series[Any], unlabeled: str | None) -> list[str | None]:
    """What is written, None where there is no label."""
    absent = column.isna().tolist()
    cells = [None if gone else str(cell) for cell, gone in zip(column, absent, strict=True)]
    if unlabeled is None:
        return cells
    return [None if cell is None or unlabeled in (cell, without_point(cell)) else cell for cell in cells]


def _fraction_among(words: list[str]) -> str | None:
    """The first that is no whole number, where all of them are finite numbers."""
    if not all(is_number(word) and math.isfinite(float(word)) for word in words):
        return None
    return next((word for word in words if not float(word).is_integer()), None)
