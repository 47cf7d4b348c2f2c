"""The outcome of cells: its columns of ``obs``, its kind, and y for an estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor.anndata.reading import cells
from superfactor.estimators.targets import looks_like_counts, survival_y

#: Values of `task`, and the corresponding kinds of `superfactor.outcomes`.
TASKS = {"classes": "classes", "regression": "numbers", "counts": "counts", "labels": "flags"}
# Most different whole numbers that are classes; with more they are measurements or counts.
_MOST_NUMBERED = 20
_YES, _NO = frozenset(["1", "1.0", "true", "yes"]), frozenset(["0", "0.0", "false", "no"])


@dataclass(frozen=True)
class OutcomeRequest:
    """The outcome as the parameters of a call: columns, or time and event, and the task."""

    label: str | Sequence[str] | None = None
    time: str | None = None
    event: str | None = None
    event_word: str | None = None
    task: str | None = None
    unlabeled: Any = None

    @property
    def columns(self) -> list[str]:
        """Return the columns of ``obs``; for survival, those of time and event."""
        if self.time is not None and self.event is not None:
            return [self.time, self.event]
        return [self.label] if isinstance(self.label, str) else list(self.label or ())

    def check(self) -> None:
        """Raise a ValueError if the parameters do not fit together."""
        if self.task is not None and self.task not in TASKS:
            allowed = ", ".join(map(repr, TASKS))
            raise ValueError(f"task={self.task!r}: one of {allowed} is required, or None to infer it")
        if (self.time is None) != (self.event is None):
            there, lacks = ("event", "time") if self.time is None else ("time", "event")
            raise ValueError(f"{lacks}=None: {there}= requires it, another column of adata.obs")
        if self.time is not None and (self.label is not None or self.task is not None):
            both = "label" if self.label is not None else "task"
            raise ValueError(f"{both}: with time= and event= it must be None")
        if self.event_word is not None and self.time is None:
            raise ValueError("event_word: it is for survival times; time= and event= name their columns")
        names = self.columns
        if not names:
            raise ValueError(
                "label: a column of adata.obs is required, or several, or time= and event= for survival"
            )
        if self.time is None and len(names) > 1 and self.task in ("classes", "counts"):
            raise ValueError(f"task={self.task!r}: one column is required as label, got {len(names)}")

    def stored(self) -> dict[str, Any]:
        """Return the request in types that a file can store."""
        label = self.label if isinstance(self.label, str | None) else np.array(self.columns, dtype=object)
        return {
            "label": label,
            "time": self.time,
            "event": self.event,
            "event_word": self.event_word,
            "task": self.task,
        }


@dataclass(frozen=True)
class CellOutcome:
    """y of the cells.

    Attributes
    ----------
    kind : name of the kind in `superfactor.outcomes`
    columns : columns of ``obs``
    y : y as the estimator requires it
    first : the first of the columns, a Series
    """

    kind: str
    columns: list[str]
    y: Any
    first: Any


def read(data: Any, adata: Any, asked: OutcomeRequest, kind: str | None = None) -> CellOutcome:
    """Return the requested outcome, of this kind if it is known; notes become warnings."""
    asked.check()
    names = asked.columns
    said = "label" if asked.time is None else "time"
    columns = [
        cells.column(data, adata, name, said if k == 0 else "event" if asked.time else "label")
        for k, name in enumerate(names)
    ]
    if asked.time is not None:
        time, event = (column.astype(object) if hasattr(column, "cat") else column for column in columns)
        y, notes = survival_y(event, time, asked.event_word)
        for line in notes:
            _warn(f"time={asked.time!r}, event={asked.event!r}: {line}")
        return CellOutcome("times", names, y, columns[0])
    if kind is None:
        kind = TASKS[asked.task] if asked.task is not None else _kind(columns, names, asked.unlabeled)
    return CellOutcome(kind, names, _READERS[kind](columns, names), columns[0])


# --- which kind -----------------------------------------------------------------------------------


def _kind(columns: list[Any], names: list[str], unlabeled: Any) -> str:
    if len(columns) == 1:
        return _of_one(columns[0], names[0], unlabeled)
    if all(_flags(column) is not None for column in columns):
        return "flags"
    words = [name for name, column in zip(names, columns, strict=True) if not _is_numeric(column)]
    if words:
        raise ValueError(
            f"label: {words[0]!r} holds neither numbers nor yes and no; several columns must be all 0/1, or "
            "all numbers, and a column of text must be the only label"
        )
    return "numbers"


def _of_one(column: Any, name: str, unlabeled: Any) -> str:
    """Return the kind of one column: text, categories and few whole numbers are classes."""
    if not _is_numeric(column):
        return "classes"
    values = _floats(column)
    if isinstance(unlabeled, int | float):
        values = values[values != unlabeled]
    values = values[~np.isnan(values)]
    different = np.unique(values)
    whole = bool(np.all(values == np.rint(values)))
    counts = looks_like_counts(values)
    as_counts = ", task='counts' as counts" if counts else ""
    if not whole or len(different) > _MOST_NUMBERED:
        if counts:
            _warn(
                f"label={name!r}: {len(different)} different whole numbers are fitted as numbers; "
                "task='counts' fits counts"
            )
        return "numbers"
    if len(different) > 2:
        _warn(
            f"label={name!r}: whole numbers from {different[0]:g} to {different[-1]:g} are fitted as "
            f"{len(different)} classes without an order; task='regression' predicts them as "
            f"numbers{as_counts}, task='classes' confirms classes"
        )
    return "classes"


def _is_numeric(column: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return not hasattr(column, "cat") and is_numeric_dtype(column) and not is_bool_dtype(column)


# --- y --------------------------------------------------------------------------------------------


def _floats(column: Any) -> Any:
    """Return numbers (n,), NaN where missing."""
    try:
        return column.astype(object).where(column.notna(), np.nan).to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"label={column.name!r}: numbers are required; {error}") from error


def _flags(column: Any) -> Any:
    """Return 0.0, 1.0, or NaN where missing (n,); None if the column contains anything else."""
    found = np.full(len(column), np.nan)
    words = column.astype(object).astype(str).str.strip().str.lower().to_numpy()
    known = column.notna().to_numpy()
    found[known & np.isin(words, list(_NO))] = 0.0
    found[known & np.isin(words, list(_YES))] = 1.0
    return None if np.isnan(found[known]).any() else found


def _read_numbers(columns: list[Any], names: list[str]) -> Any:
    import pandas as pd

    values = [_floats(column) for column in columns]
    return values[0] if len(values) == 1 else pd.DataFrame(dict(zip(names, values, strict=True)))


def _read_flags(columns: list[Any], names: list[str]) -> Any:
    import pandas as pd

    found = {name: _flags(column) for name, column in zip(names, columns, strict=True)}
    wrong = [name for name, values in found.items() if values is None]
    if wrong:
        raise ValueError(f"label: {wrong[0]!r} is not yes and no; 0/1, False/True or no/yes are required")
    return pd.DataFrame(found)


def _read_classes(columns: list[Any], names: list[str]) -> Any:
    return cells.labels(columns[0])


_READERS = {"classes": _read_classes, "numbers": _read_numbers, "counts": _read_numbers, "flags": _read_flags}


def _warn(line: str) -> None:
    warnings.warn(line, UserWarning, stacklevel=5)
