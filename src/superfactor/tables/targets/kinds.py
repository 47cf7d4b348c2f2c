"""The kind of outcome of target columns, given or detected, and the reader of each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._words import listed
from superfactor.estimators.targets import looks_like_counts
from superfactor.tables.columns.numbers import refuse_dates, refuse_stray_text
from superfactor.tables.notes import Note, Setting, TableError, note
from superfactor.tables.roles import Columns
from superfactor.tables.targets import flags, labels, measured, times
from superfactor.tables.targets.columns import TargetColumns, are_numbers, has_value

#: Values of `task`, and the kind of outcome each selects.
TASKS = {"classes": "classes", "regression": "numbers", "counts": "counts", "labels": "flags"}
# Columns with more distinct integers are measurements or counts, not classes.
_MOST_NUMBERED = 20

Read = Callable[[TargetColumns], Any]
ReadNew = Callable[[TargetColumns, Mapping[str, Any]], Any]
Notes = Callable[[TargetColumns, Any], list[Note]]


def _none(y: Any) -> None:
    return None


def _in_columns(y: Any) -> Any:
    return y.reshape(len(y), -1)


def _no_columns(y: Any) -> Any:
    return np.empty((len(y), 0))


def _identity(y: Any) -> Any:
    return y


def _no_notes(columns: TargetColumns, y: Any) -> list[Note]:
    return []


@dataclass(frozen=True)
class KindOfTarget:
    """Functions that read the columns of one kind of outcome.

    Attributes
    ----------
    read : y of training samples
    read_new : y of new samples for a fitted model, whose record is the second argument
    notes : notes on y of training samples
    lacking : the name of a missing value in messages
    as_labels : y (n,) if it holds labels, else None
    as_numbers : y (n, m) as columns of numbers; m = 0 for labels
    notes_on_new : notes on y of new samples
    """

    read: Read
    read_new: ReadNew
    notes: Notes
    lacking: str
    as_labels: Callable[[Any], Any] = _none
    as_numbers: Callable[[Any], Any] = _in_columns
    notes_on_new: Notes = _no_notes


#: The kinds, by their names in `superfactor.outcomes`.
KINDS = {
    "classes": KindOfTarget(labels.read, labels.read_new, labels.notes, "label", _identity, _no_columns),
    "numbers": KindOfTarget(measured.read, measured.read_new, measured.notes, "value"),
    "counts": KindOfTarget(measured.read_counts, measured.read_new_counts, _no_notes, "count"),
    "flags": KindOfTarget(flags.read, flags.read_new, flags.notes, "label"),
    "times": KindOfTarget(
        times.read, times.read_new, times.notes, "time", as_numbers=times.columns_of, notes_on_new=times.notes
    ),
}


def check_asked(roles: Columns, task: str | None, event_word: str | None, min_class: int) -> None:
    """Check that the parameters that name an outcome are consistent; raise a TableError if not."""
    if task is not None and task not in TASKS:
        raise _refusal(Setting("task", task), ": classes, regression, counts or labels is required")
    timed = roles.time is not None or roles.event is not None
    if timed and (roles.time is None or roles.event is None):
        there, lacks = ("event", "time") if roles.time is None else ("time", "event")
        what = "the column of times until which samples were observed"
        what = what if lacks == "time" else "the column that states whether the event was seen"
        raise _refusal(Setting(there), " needs ", Setting(lacks), f", {what}")
    if event_word is not None and not timed:
        line = (" is for survival times: ", Setting("time"), " and ", Setting("event"), " name their columns")
        raise _refusal(Setting("event_word"), *line)
    for name, given in (("target", bool(roles.target)), ("task", task is not None)):
        if timed and given:
            both = (Setting("time"), " and ", Setting("event"), " already are the outcome: leave out ")
            raise _refusal(*both, Setting(name))
    if roles.exposure is not None and task != "counts":
        raise _refusal(Setting("exposure"), " is for counts: ", Setting("task", "counts"))
    several = len(roles.target) > 1
    if several and task in ("classes", "counts"):
        raise _refusal(Setting("task", task), f": one target column is required, got {len(roles.target)}")
    if task == "labels" and len(roles.target) == 1:
        other = Setting("task", "classes")
        raise _refusal(Setting("task", task), " is for several yes/no columns; for one column use ", other)
    if min_class and (timed or several or task not in (None, "classes")):
        raise _refusal(Setting("min_class"), " is for one column of classes; leave it out")


def read(
    columns: TargetColumns, *, timed: bool = False, task: str | None = None, kind: str | None = None
) -> tuple[str, Any, list[Note]]:
    """Return the kind of outcome, given or detected, y of training samples, and notes on both.

    The only reader of outcomes: of files, and of AnnData in memory.
    """
    found: list[Note] = []
    if kind is None and timed:
        kind = "times"
    elif kind is None and task is not None:
        kind = TASKS[task]
    elif kind is None and len(columns.names) > 1:
        kind = _of_several(columns)
    elif kind is None:
        kind, found = _of_one(columns)
    y = KINDS[kind].read(columns)
    return kind, y, [*found, *KINDS[kind].notes(columns, y)]


def _of_one(columns: TargetColumns) -> tuple[str, list[Note]]:
    """Words and few distinct integers are classes; other numbers are measurements."""
    (name,) = columns.names
    cells = [cell for cell in columns.cells(name) if cell is not None]
    if not are_numbers(cells):
        refuse_dates(columns.where(name), cells)
        refuse_stray_text(columns.path, columns.frame, name, columns.ids, _MOST_NUMBERED)
        return "classes", []
    values = columns.numbers(name)
    values = values[~np.isnan(values)]
    different, whole = np.unique(values), bool(np.all(values == np.rint(values)))
    many = len(different) > _MOST_NUMBERED
    if columns.are_labels(name) and (whole or not many):
        return "classes", []
    counts = [", ", Setting("task", "counts"), " as counts"] if looks_like_counts(values) else []
    if not whole or many:
        line = f"column {name!r} holds {len(different)} different numbers, predicted as numbers: "
        others: list[Any] = [Setting("task", "regression"), " confirms this"]
        others += [", ", Setting("task", "counts"), " predicts counts"] if counts else []
        if len(different) <= columns.most_classes:
            others += [", ", Setting("task", "classes"), " makes each a class"]
        others += ["; times until an event are for ", Setting("time"), " and ", Setting("event")]
        kind = "whole numbers" if whole else "numbers"
        return "numbers", [note(kind, line, *others, column=name)]
    if len(different) < 3:
        return "classes", []
    line = (
        f"column {name!r} holds integers from {different[0]:g} to {different[-1]:g}, taken as "
        f"{len(different)} classes without an order: "
    )
    tasks: list[Any] = [Setting("task", "regression"), " predicts them as numbers", *counts]
    return "classes", [note("numbers as classes", line, *tasks, column=name)]


def _of_several(columns: TargetColumns) -> str:
    """The common kind of several columns: flags if all are yes/no, numbers if all are numeric."""
    sorts: dict[str, list[str]] = {"yes and no": [], "numbers": [], "words": []}
    for name in columns.names:
        cells = [cell for cell in columns.cells(name) if cell is not None]
        sort = "yes and no" if flags.are_flags(cells) else "numbers" if are_numbers(cells) else "words"
        sorts[sort].append(name)
    if len(sorts["yes and no"]) == len(columns.names):
        return "flags"
    if len(sorts["numbers"]) == len(columns.names):
        return "numbers"
    found = [f"{what} in {listed([repr(name) for name in names])}" for what, names in sorts.items() if names]
    wrong = sorts["words"]
    numeric = not wrong and all(_written_as_numbers(columns, name) for name in sorts["yes and no"])
    hint: tuple[Any, ...] = (f"; labels are {flags.ALLOWED}",) if wrong else ()
    if numeric:
        hint = (", or ", Setting("task", "regression"), " predicts all of them as numbers")
    raise _refusal(
        f"{columns.path}: ",
        Setting("target"),
        f": {', '.join(found)}; columns of one kind are required: fit the others separately",
        *hint,
    )


def _written_as_numbers(columns: TargetColumns, name: str) -> bool:
    return are_numbers([cell for cell in columns.cells(name) if cell is not None])


def notes_on_missing(kind: str, y: Any, unlabeled: str | None) -> list[Note]:
    """A note on the number of samples without a value."""
    gone, what = int(np.sum(~has_value(y))), KINDS[kind].lacking
    if gone:
        line = f"{gone} of {len(y)} samples have no {what}: they contribute to the factors and are predicted"
        return [note("unlabeled", line, samples=gone)]
    if unlabeled is not None:
        return [note("unlabeled", Setting("unlabeled", unlabeled), f": no {what} is {unlabeled!r}")]
    return []


def _refusal(*parts: Any) -> TableError:
    return TableError(*parts, kind="target")
