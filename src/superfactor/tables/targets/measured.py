"""Numeric targets: one or more columns of measurements, or one column of counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from superfactor._words import listed
from superfactor.tables.columns.numbers import place
from superfactor.tables.notes import Note, Setting, TableError, note
from superfactor.tables.targets.columns import TargetColumns

# At a larger ratio of standard deviations, the smaller target has less than 1 % of the loss.
_MOST_APART = 10.0


def read(columns: TargetColumns) -> Any:
    """Numbers (n,), or (n, k) for several columns; NaN for missing values."""
    y = read_new(columns, {})
    for name, values in zip(columns.names, y.reshape(len(y), -1).T, strict=True):
        _check_differ(columns, name, values)
    return y


def read_new(columns: TargetColumns, about: Mapping[str, Any]) -> Any:
    """Numbers of new samples, which may all be equal."""
    found = [columns.numbers(name) for name in columns.names]
    if len(found) == 1:
        return found[0]
    y = np.column_stack(found)
    gaps = np.isnan(y)
    some = gaps.any(axis=1) & ~gaps.all(axis=1)
    if some.any():
        raise TableError(
            f"{columns.path}: {int(some.sum())} of {len(y)} samples have some of the targets "
            f"{listed([repr(name) for name in columns.names])} and not others, the first at "
            f"{place(columns.frame, int(some.argmax()), columns.ids)}; all or none are required: fit them "
            "separately with ",
            Setting("target"),
            kind="target",
        )
    return y


def notes(columns: TargetColumns, y: Any) -> list[Note]:
    """A note if one target has a much larger standard deviation than another."""
    size = np.atleast_1d(np.nanstd(y, axis=0))
    if size.max() <= _MOST_APART * size.min():
        return []
    least, most = (columns.names[i] for i in (size.argmin(), size.argmax()))
    ratio = float(size.max() / size.min())
    line = (
        f"the standard deviation of {most!r} is {ratio:.3g} times that of {least!r}, so {least!r} has little "
        "weight in the sum of squared errors; divide targets of different units by their standard deviations"
    )
    return [note("units of targets", line, least=least, most=most, ratio=ratio)]


def read_counts(columns: TargetColumns) -> Any:
    """Counts (n,), integers from 0, NaN for missing values."""
    y = read_new_counts(columns, {})
    _check_differ(columns, columns.names[0], y)
    return y


def read_new_counts(columns: TargetColumns, about: Mapping[str, Any]) -> Any:
    """Counts of new samples, which may all be equal."""
    (name,) = columns.names
    y = columns.numbers(name)
    wrong = ~np.isnan(y) & ((y < 0) | (y != np.rint(y)))
    if wrong.any():
        i = int(wrong.argmax())
        raise TableError(
            f"{columns.where(name)} holds {y[i]:g} at {place(columns.frame, i, columns.ids)}; counts must be "
            "integers from 0: ",
            Setting("task", "regression"),
            " predicts other numbers",
            kind="target",
            column=name,
        )
    return y


def exposure(columns: TargetColumns) -> Any:
    """The exposure (n, 1), above 0 for every sample."""
    (name,) = columns.names
    values = columns.numbers(name)
    wrong = ~(values > 0)
    if wrong.any():
        i = int(wrong.argmax())
        what = "is empty" if np.isnan(values[i]) else f"holds {values[i]:g}"
        raise TableError(
            f"{columns.path}: ",
            Setting("exposure", name),
            f" {what} at {place(columns.frame, i, columns.ids)}; a number above 0 is required of all samples",
            kind="target",
            column=name,
        )
    return values[:, None]


def _check_differ(columns: TargetColumns, name: str, values: Any) -> None:
    given = values[~np.isnan(values)]
    if np.all(given == given[0]):
        raise TableError(
            f"{columns.where(name)} has only one value, {given[0]:g}, in all {len(given)} samples that have "
            "one; different numbers are required",
            kind="target",
            column=name,
        )
