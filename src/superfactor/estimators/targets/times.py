"""Check survival times: events, times and strata of the samples; concordance."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from superfactor._arrays import Array
from superfactor.estimators.inputs import check_length
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets.checked import CheckedY, check_passed
from superfactor.estimators.targets.events import coded_events, event_numbers, told_apart
from superfactor.preprocessing.cells import is_missing

# Risks that differ by less are tied.
_TIE = 1e-8
# Most pairs that are compared at once.
_BLOCK = 2_000_000
_FORMS = (
    "event (0 or 1) and time are required: two columns in this order, a DataFrame of columns with these "
    "names, or scikit-survival's structured array"
)
#: Other fields of y: samples are compared within a stratum only; entry times are not supported.
_STRATUM, _ENTRY = "stratum", "entry"


def check_survival(
    y: Any, X: Array, name: str, as_r: bool = False, event_column: int | str | None = None
) -> CheckedY:
    """Return events and times (n, 2) as NumPy float64 from a structured array, DataFrame or two columns.

    A sample without an event and without a time (None, NaN, NA) has no outcome. If y has strata (a field
    "stratum" or a third column), the result is (n, 3) with their numbers, starting at 0. `as_r`: events are
    coded 1 and 2, as in R, even if only one of them occurs. `event_column`: the name or position of the
    column of events in the y of a fit, which is read in the same way.
    """
    y = check_passed(y, name)
    event, time, notes, stratum, column_of_events = _columns(y, event_column)
    check_length("y", event, X)
    found = event_numbers(event, as_r)
    if found is None:
        event = _numbers("events", event)
        _refuse(np.isin(event, (0.0, 1.0)) | np.isnan(event), event, "events of 0 and 1")
    event, said = coded_events(event, name="y", as_r=as_r)
    for note in [*notes, *said]:
        warnings.warn(f"y: {note}", UserWarning, stacklevel=4)
    time = _numbers("times", time)
    absent = np.isnan(time)
    _refuse(~np.isnan(event) | absent, event, "events of 0 and 1")
    _refuse(~(absent & (event == 1)), time, "times of all events")
    _refuse(absent | ((time >= 0) & np.isfinite(time)), time, "finite times >= 0")
    columns, strata = [event, time], None
    if stratum is not None:
        strata, codes = _strata(stratum)
        columns.append(codes.astype(np.float64))
    values = np.column_stack(columns)
    of_r = found is not None and bool(np.any(found == 2))
    known = ~absent if absent.any() else None
    values = values if known is None else np.where(absent[:, None], 0.0, values)
    return CheckedY(values, known, strata=strata, coded_as_r=of_r, event_column=column_of_events)


def time_name(y: Any) -> str:
    """Return the name of the column or field of times in y; "time" if it has none."""
    names = _fields(y)
    if len(names) != 2:
        return "time"
    columns = [y[name] for name in names]
    time = told_apart(columns, [str(name) for name in names])[1]
    return str(names[1] if time is columns[1] else names[0])


def strata_of(truth: Any) -> Any:
    """Return the strata (n,) of a truth of events, times and optionally strata (n, 2 or 3), or None."""
    return truth[:, 2] if truth.shape[1] > 2 else None


def _strata(column: Any) -> tuple[Any, Any]:
    """Return the strata in order, and the stratum number of each sample (n,)."""
    cells = np.asarray(column)
    missing = np.fromiter(map(is_missing, cells.tolist()), dtype=bool, count=len(cells))
    if missing.any():
        raise ValueError(f"y: a stratum of every sample is required, but sample {missing.argmax()} has none")
    names, codes = np.unique(cells.astype(str) if cells.dtype.kind == "O" else cells, return_inverse=True)
    return names, codes.ravel()


def check_tells_something(given: CheckedY, weight: Any) -> None:
    """Raise a ValueError if no two samples of positive weight (n,) can be compared."""
    truth = given.values[weight > 0]
    if len(truth) < 2:
        raise ValueError("y: one sample; survival times of at least 2 samples are required, to compare them")
    if not np.any(truth[:, 0]):
        n = len(given.values)
        raise ValueError(f"y: none of the {n} samples has an event; some are required")
    if not is_comparable(truth):
        said = "no sample was observed longer"
        if truth.shape[1] == 2:
            first = float(np.min(truth[truth[:, 0] == 1, 1]))
            said = f"all events are at the last time, {shown(first)}, and {said}"
        else:
            said = f"all events are at the last times of their strata, and {said} there"
        raise ValueError(f"y: {said}; an event while another sample is still under observation is required")


def is_comparable(truth: Any) -> bool:
    """Return whether any two samples of the same stratum can be compared; truth (n, 2 or 3)."""
    strata = strata_of(truth)
    parts = [truth] if strata is None else [truth[strata == s] for s in np.unique(strata)]
    for event, time in (part[:, :2].T for part in parts):
        first = np.min(time[event > 0], initial=np.inf)
        if np.any((time > first) | ((time == first) & (event == 0))):
            return True
    return False


def _columns(y: Any, event: int | str | None) -> tuple[Any, Any, list[str], Any, int | str]:
    """Return events, times, notes on how they were found, strata or None, and the column of events."""
    names = _names(y)
    if not names:
        table = np.asarray(y)
        if table.ndim != 2 or table.shape[1] not in (2, 3):
            raise ValueError(f"y: an array of shape {table.shape}; {_FORMS}")
        columns = list(table.T)
        found = told_apart(columns[:2], ("", ""), event)
        return *found, columns[2] if len(columns) > 2 else None, int(found[0] is not columns[0])
    if _ENTRY in names:
        raise ValueError(
            f"y: a field {_ENTRY!r}: late entry (left truncation) is not supported; only event, time and "
            "stratum are allowed"
        )
    both = _fields(y)
    if len(both) != 2:
        raise ValueError(f"y: fields {shown(both)}; {_FORMS}")
    columns = [y[name] for name in both]
    found = told_apart(columns, [str(name) for name in both], event)
    name = str(both[int(found[0] is not columns[0])])
    return *found, y[_STRATUM] if _STRATUM in names else None, name


def _names(y: Any) -> list[Any]:
    """Return the names of fields or columns of y; [] if two are equal."""
    names = list(getattr(getattr(y, "dtype", None), "names", None) or getattr(y, "columns", []))
    return names if len(set(names)) == len(names) else []


def _fields(y: Any) -> list[Any]:
    """Return the names of events and times, in the order of y."""
    return [name for name in _names(y) if name != _STRATUM]


def _numbers(name: str, values: Any) -> Any:
    """Return a column as float64, NaN where missing."""
    values = np.asarray(values)
    if values.dtype.kind in "mM":
        raise ValueError(
            f"y: numbers are required for {name}, got dates; use days between two dates; {_FORMS}"
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
            "time; both are missing for a sample without an outcome"
        )


def concordance(event: Any, time: Any, risk: Any, weight: Any = None, strata: Any = None) -> float:
    """Return Harrell's concordance: the share of comparable pairs with the higher risk first.

    A pair is comparable if one sample had an event while the other was still under observation, in the same
    stratum. Ties of risks count one half. All arrays are NumPy arrays (n,).
    """
    event, weight = event > 0, np.ones(len(time)) if weight is None else weight
    first = np.flatnonzero(event)
    right, total = concordant_pairs(event, time, risk, first, weight[first], weight, strata)
    if total == 0:
        raise ValueError(
            "y: no two samples can be compared: an event while another sample is still under observation is "
            "required"
        )
    return right / total


def concordant_pairs(
    event: Any, time: Any, risk: Any, first: Any, own: Any, weight: Any, strata: Any = None
) -> tuple[float, float]:
    """Return the weight of the pairs with the higher risk first, ties one half, and that of all pairs.

    `first` (m,) are the samples with the earlier event, which have weights `own` (m,) in their pairs; the
    other sample of a pair has `weight` (n,). `event` (n,) is boolean.
    """
    right = total = 0.0
    rows = max(1, _BLOCK // max(1, len(time)))
    for start in range(0, len(first), rows):
        at, part = first[start : start + rows, None], own[start : start + rows]
        outlived = (time > time[at]) | ((time == time[at]) & ~event)
        if strata is not None:
            outlived &= strata == strata[at]
        ahead = risk[at] - risk
        ordered = np.where(np.abs(ahead) <= _TIE, 0.5, ahead > 0)
        right += float(part @ ((ordered * outlived) @ weight))
        total += float(part @ (outlived @ weight))
    return right, total
