"""One column of labels, integers or words, with at least two classes; empty cells are missing labels."""

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

# Integers of 64 bits, only in the spelling of str().
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
# Common spellings of a missing label.
_NO_LABELS = frozenset(
    ["unknown", "?", "na", "n/a", "n.a.", "missing", "unlabeled", "unlabelled", "not known", "-"]
)


def read(columns: TargetColumns) -> Any:
    """Labels (n,) as int64 if all are integers, else as str; as objects with None if some are missing.

    Labels keep their spelling: 007, +1 and 1_0 are words. Only 0.0 and 1.0 become integers.
    """
    (name,) = columns.names
    where, cells = columns.where(name), columns.cells(name)
    words = [cell for cell in cells if cell is not None]
    kinds = sorted(set(words))
    if not kinds:
        raise _refusal(f"{where} is empty for all {len(cells)} samples; labels of two classes are required")
    if len(kinds) > columns.most_classes:
        raise _refusal(
            f"{where} has {len(kinds)} different values; a column of labels, with at most "
            f"{columns.most_classes}, is required: choose another with ",
            Setting("target"),
        )
    if len(kinds) < 2:
        raise _refusal(
            f"{where} has only one class, {kinds[0]!r}; two or more are required: add samples of another "
            "class, or choose another column with ",
            Setting("target"),
        )
    alike = two_spellings(kinds)
    if alike is not None:
        raise _refusal(
            f"{where}: {alike}; write them alike if they are one class, else use names that differ more"
        )
    whole = {word: without_point(word) for word in kinds}
    value: dict[str, Any] = {word: word for word in kinds}
    if all(map(_INTEGER.fullmatch, whole.values())) and len(set(whole.values())) == len(kinds):
        value = {word: int(whole[word]) for word in kinds}
    if len(words) == len(cells):
        return np.array([value[word] for word in words])
    return np.array([None if cell is None else value[cell] for cell in cells], dtype=object)


def read_new(columns: TargetColumns, about: Mapping[str, Any]) -> Any:
    """Labels (n,) of new samples as classes of the model; None for missing labels."""
    (name,) = columns.names
    cells = columns.cells(name)
    among = {str(label): label for label in about["classes"]}
    labels = [None if c is None else among.get(c, among.get(without_point(c))) for c in cells]
    for cell, label in zip(cells, labels, strict=True):
        if cell is not None and label is None:
            raise _refusal(
                f"{columns.where(name)} holds {cell!r}; the classes of the model are {', '.join(among)}: "
                "write it as one of these, or leave such samples out"
            )
    return np.array(labels, dtype=object if None in labels else None)


def rare(columns: TargetColumns, y: Any, groups: Any, fewest: int) -> dict[Any, int]:
    """Classes with fewer samples (or groups) than `fewest`, and their counts; at least two others remain."""
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
            " or use a smaller number",
        )
    return few


def notes_on_rare(few: Mapping[Any, int], min_class: int) -> list[Note]:
    """A note on the classes that were left out."""
    if not few:
        return []
    counted = ", ".join(f"{str(label)!r} ({count})" for label, count in few.items())
    classes = f"{len(few)} class{'es' * (len(few) > 1)}"
    line = f"{classes} with fewer than {min_class} samples left out: {counted}"
    return [note("rare", line, classes=dict(few))]


def notes(columns: TargetColumns, y: Any) -> list[Note]:
    """Notes on classes that look like a missing label."""
    result = []
    classes = np.unique(known(y))
    if len(classes) > 2 and classes.dtype.kind == "i" and classes[0] == -1:
        line = "-1 among the labels is taken as a class; if it marks samples without a label, "
        result.append(note("no label", line, Setting("unlabeled", -1), " treats it as missing"))
    for label, count in Counter(map(str, known(y).tolist())).items():
        if label.strip().lower() in _NO_LABELS:
            line = (
                f"the label {label!r} of {count} sample{'s' * (count > 1)} is taken as a class, but looks "
                "like a missing label: "
            )
            result.append(note("no label", line, Setting("unlabeled", label), " treats it as missing"))
    return result


def _refusal(*parts: Any) -> TableError:
    return TableError(*parts, kind="labels")
