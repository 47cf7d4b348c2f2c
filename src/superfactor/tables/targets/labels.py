"""One column of labels: whole numbers or words, two classes or more; empty for samples without a label."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from superfactor.estimators.targets import two_spellings
from superfactor.tables.columns.numbers import without_point
from superfactor.tables.notes import Note, Setting, TableError, note
from superfactor.tables.targets.columns import TargetColumns, has_value, known

MOST_CLASSES = 50
# Whole numbers that fit into 64 bits, in the one spelling that str() gives back.
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
# What people write, besides nothing, where they do not know.
_NO_LABELS = frozenset(
    ["unknown", "?", "na", "n/a", "n.a.", "missing", "unlabeled", "unlabelled", "not known", "-"]
)


def read(columns: TargetColumns) -> Any:
    """Labels (n,) as a NumPy array of int64 where all are whole numbers, else of str.

    Where some are empty, of objects, None for those. Labels come back as they are written, 007, +1 and 1_0
    are words; only a column of numbers 0.0 and 1.0 loses its zeros.
    """
    (name,) = columns.names
    where, cells = columns.where(name), columns.cells(name)
    words = [cell for cell in cells if cell is not None]
    kinds = sorted(set(words))
    if not kinds:
        raise _refusal(f"{where} is empty for all {len(cells)} samples; labels of two classes are required")
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


def again(columns: TargetColumns, about: Mapping[str, Any]) -> Any:
    """Labels (n,) of samples for a model that knows classes; None for those without one."""
    (name,) = columns.names
    cells = columns.cells(name)
    among = {str(label): label for label in about["classes"]}
    labels = [None if c is None else among.get(c, among.get(without_point(c))) for c in cells]
    for cell, label in zip(cells, labels, strict=True):
        if cell is not None and label is None:
            raise _refusal(
                f"{columns.where(name)} holds {cell!r}; the model knows {', '.join(among)}: write it as one "
                "of these, or leave such samples out"
            )
    return np.array(labels, dtype=object if None in labels else None)


def rare(columns: TargetColumns, y: Any, groups: Any, fewest: int) -> dict[Any, int]:
    """Classes with fewer samples than this, or fewer groups, and how many they have; two others are left."""
    units = known(y).tolist()
    if groups is not None:
        units = [label for label, _ in {*zip(units, groups[has_value(y)].tolist(), strict=True)}]
    counts = Counter(units)
    few = {label: counts[label] for label in sorted(counts) if counts[label] < fewest}
    left = len(counts) - len(few)
    if few and left < 2:
        who = "one class only has" if left else "no class has"
        raise _refusal(
            f"{columns.where(columns.names[0])}: {who} {fewest} samples or more; two are required: ",
            "leave out ",
            Setting("min_class"),
            ", or ask for fewer",
        )
    return few


def notes_on_rare(few: Mapping[Any, int], min_class: int) -> list[Note]:
    """Which classes were left out."""
    if not few:
        return []
    counted = ", ".join(f"{str(label)!r} ({count})" for label, count in few.items())
    classes = f"{len(few)} class{'es' * (len(few) > 1)}"
    line = f"{classes} with fewer than {min_class} samples left out: {counted}"
    return [note("rare", line, classes=dict(few))]


def notes(columns: TargetColumns, y: Any) -> list[Note]:
    """Classes that look like no label."""
    said = []
    for label, count in Counter(map(str, known(y).tolist())).items():
        if label.strip().lower() in _NO_LABELS:
            line = (
                f"the label {label!r} of {count} sample{'s' * (count > 1)} is a class, and looks like none: "
            )
            said.append(note("no label", line, Setting("unlabeled", label), " takes it for no label"))
    return said


def _refusal(*parts: Any) -> TableError:
    return TableError(*parts, kind="labels")
