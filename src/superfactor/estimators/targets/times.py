"""Survival times as the user brings them: events and times of the samples, and who has none."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor._arrays import Array
from superfactor.estimators.inputs import check_length
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets.given import Given, check_passed
from superfactor.preprocessing.cells import is_missing

# Risks this close are the same.
_TIE = 1e-8
_FORMS = (
    "event (0 or 1) and time are required: two columns in this order, a DataFrame of columns with these "
    "names, or scikit-survival's structured array"
)


def check_survival(y: Any, X: Array, name: str) -> Given:
    """Events and times (n, 2) as NumPy float64, of structured arrays, DataFrames and arrays of two columns.

    A sample without an event that has no time (None, NaN, NA) has no outcome at all.
    """
    event, time = _columns(check_passed(y, name))
    check_length("y", event, X)
    event, time = _numbers("events", event), _numbers("times", time)
    absent = np.isnan(time)
    _refuse(np.isin(event, (0.0, 1.0)) | (absent & np.isnan(event)), event, "events of 0 and 1")
    _refuse(~(absent & (event == 1)), time, "times of all events")
    _refuse(absent | ((time >= 0) & np.isfinite(time)), time, "finite times >= 0")
    values = np.column_stack([event, time])
    return Given(np.where(absent[:, None], 0.0, values), ~absent) if absent.any() else Given(values)


def check_tells_something(given: Given, weight: Any) -> None:
    """A ValueError where no event, of samples that count, could have been that of another; weights (n,)."""
    event, time = given.values[weight > 0].T
    if not np.any(event):
        n = len(given.values)
        raise ValueError(f"y: none of the {n} samples has an event; some are required")
    first = np.min(time[event == 1])
    if not np.any((time > first) | ((time == first) & (event == 0))):
        raise ValueError(
            f"y: all events are at the last time, {shown(float(first))}, and nobody was observed any longer; "
            "an event while another sample is still under observation is required"
        )


def _columns(y: Any) -> tuple[Any, Any]:
    """The column of events and that of times."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None:
        if len(names) != 2:
            raise ValueError(f"y: fields {shown(list(names))}; {_FORMS}")
        # Which one comes first differs; which one is a boolean does not.
        first, second = names if y.dtype[names[1]].kind != "b" else reversed(names)
        return y[first], y[second]
    columns = [str(column) for column in getattr(y, "columns", [])]
    if sorted(columns) == ["event", "time"]:
        return y["event"], y["time"]
    table = np.asarray(y)
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(f"y: an array of shape {table.shape}; {_FORMS}")
    return table[:, 0], table[:, 1]


def _numbers(name: str, values: Any) -> Any:
    """A column as float64, NaN where it has nothing."""
    values = np.asarray(values)
    if values.dtype.kind in "mM":
        raise ValueError(
            f"y: numbers are required for {name}, got dates: days between two of them, say; {_FORMS}"
        )
    if values.dtype.kind == "O":
        values = np.where(np.vectorize(is_missing, otypes=[bool])(values), np.nan, values)
    for value in values if values.dtype.kind in "OUS" else ():
        if isinstance(value, str | bytes):
            raise ValueError(f"y: numbers are required for {name}, got {shown(value)}; {_FORMS}")
    return values.astype(np.float64)


def _refuse(good: Any, values: Any, required: str) -> None:
    if not np.all(good):
        bad = np.flatnonzero(~good)
        raise ValueError(
            f"y: {required} are required, but sample {bad[0]} has {shown(values[bad[0]])}; y is event, then "
            "time, and neither is known of a sample without an outcome"
        )


def concordance(event: Any, time: Any, risk: Any, weight: Any = None) -> float:
    """Harrell's: the share of comparable pairs whose higher risk had its event first; ties count one half.

    A pair is comparable where one had an event while the other was still under observation. All arrays are
    NumPy's, (n,).
    """
    event, weight = event > 0, np.ones(len(time)) if weight is None else weight
    right = total = 0.0
    for i in np.flatnonzero(event):
        outlived = (time > time[i]) | ((time == time[i]) & ~event)
        ahead, pair = risk[i] - risk[outlived], weight[i] * weight[outlived]
        right += pair @ np.where(np.abs(ahead) <= _TIE, 0.5, ahead > 0)
        total += pair.sum()
    if total == 0:
        raise ValueError(
            "y: no two samples can be compared: an event while another sample is still under observation is "
            "required"
        )
    return float(right / total)
