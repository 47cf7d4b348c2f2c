"""Columns of numbers: measurements, one column or several; and one column of counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from superfactor._words import listed
from superfactor.tables.columns.numbers import place
from superfactor.tables.notes import Note, Setting, TableError, note
from superfactor.tables.targets.columns import TargetColumns

# Standard deviations that differ by more leave less than a hundredth of the loss to the smaller one.
_MOST_APART = 10.0


def read(columns: TargetColumns) -> Any:
    """Numbers (n,), of several columns (n, k), NaN where a sample has none."""
    y = again(columns, {})
    for name, values in zip(columns.names, y.reshape(len(y), -1).T, strict=True):
        _check_differ(columns, name, values)
    return y


def again(columns: TargetColumns, about: Mapping[str, Any]) -> Any:
    """The same of new samples, which may be alike."""
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
            "one by one with ",
            Setting("target"),
            kind="target",
        )
    return y


def notes(columns: TargetColumns, y: Any) -> list[Note]:
    """Targets in units so different that one of them hardly counts: squared errors are summed."""
    size = np.atleast_1d(np.nanstd(y, axis=0))
    if size.max() <= _MOST_APART * size.min():
        return []
    least, most = (columns.names[i] for i in (size.argmin(), size.argmax()))
    ratio = float(size.max() / size.min())
    line = (
        f"the standard deviation of {most!r} is {ratio:.3g} times that of {least!r}, which hardly counts: "
        "errors are squared and summed; divide targets of different units by their standard deviations"
    )
    return [note("units of targets", line, least=least, most=most, ratio=ratio)]


def read_counts(columns: TargetColumns) -> Any:
    """Counts (n,), whole numbers from 0, NaN where a sample has none."""
    y = counts_again(columns, {})
    _check_differ(columns, columns.names[0], y)
    return y


def counts_again(columns: TargetColumns, about: Mapping[str, Any]) -> Any:
    """The same of new samples, which may be alike."""
    (name,) = columns.names
    y = columns.numbers(name)
    wrong = ~np.isnan(y) & ((y < 0) | (y != np.rint(y)))
    if wrong.any():
        i = int(wrong.argmax())
        raise TableError(
            f"{columns.where(name)} holds {y[i]:g}, at {place(columns.frame, i, columns.ids)}; counts are "
            "whole numbers from 0: ",
            Setting("task", "regression"),
            " predicts other numbers",
            kind="target",
            column=name,
        )
    return y


def exposure(columns: TargetColumns) -> Any:
    """What counts are out of (n, 1), above 0 and known of every sample."""
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
            f"{columns.where(name)} has one value only, {given[0]:g}, in all {len(given)} samples that have "
            "one; numbers that differ are required",
            kind="target",
            column=name,
        )
