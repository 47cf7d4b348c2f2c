"""The outcome of cells: its columns of ``obs``, its kind, and y for an estimator."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from superfactor.anndata.reading import cells
from superfactor.tables.files.annotated import about_cells
from superfactor.tables.grids.grid import about_samples
from superfactor.tables.notes import Setting, TableError
from superfactor.tables.targets import kinds
from superfactor.tables.targets.columns import TargetColumns
from superfactor.tables.targets.kinds import TASKS


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
    """Return the requested outcome, of this kind if it is known, read as from a file; notes are warnings."""
    import pandas as pd

    asked.check()
    names, timed = asked.columns, asked.time is not None
    said = ["time", "event"] if timed else ["label"] * len(names)
    obs = {
        name: cells.column(data, adata, name, argument) for name, argument in zip(names, said, strict=True)
    }
    columns = TargetColumns(
        "adata.obs",
        about_samples(adata.n_obs, about_cells(pd.DataFrame(obs)), names=adata.obs_names),
        tuple(names),
        None if asked.unlabeled is None else str(asked.unlabeled),
        asked.event_word,
        np.asarray(adata.obs_names),
        math.inf,
    )
    try:
        kind, y, notes = kinds.read(columns, timed=timed, task=asked.task, kind=kind)
    except TableError as error:
        raise ValueError(error.said(_argument)) from error
    for line in notes:
        if line.kind != "numbers":  # a column of floats is as expected
            warnings.warn(f"adata.obs: {line.said(_argument)}", UserWarning, stacklevel=3)
    first = obs[names[0]]
    if kind == "classes":
        y = _in_own_type(first, y)
    elif y.ndim > 1:
        y = pd.DataFrame(y, columns=names)
    return CellOutcome(kind, names, y, first)


def _argument(setting: Setting) -> str:
    """Write a parameter of `read_study` as that of a call."""
    return str(replace(setting, name="label" if setting.name == "target" else setting.name))


def _in_own_type(column: Any, y: Any) -> Any:
    """Return labels (n,) as ``obs`` holds them, because results are compared with it; None where missing."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(column) and not is_bool_dtype(column):
        return y
    own = cells.labels(column)
    if y.dtype.kind != "O":
        return own
    return np.array([None if a is None else b for a, b in zip(y, own, strict=True)], dtype=object)
