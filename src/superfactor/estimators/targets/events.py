"""Codings of events (TRUE, 1, R's 2, text), and which of two columns holds events or times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from superfactor.estimators.parameters import shown
from superfactor.preprocessing.cells import is_missing, words

_TRUE, _FALSE = {"true", "t", "yes", "y"}, {"false", "f", "no", "n"}
#: Parts of names that identify columns.
_EVENT = r"event|status|stat|death|dead|died|deceased|delta|relapse|recurrence|progression"
_TIME = r"time|duration|days?|weeks?|months?|years?|follow.?up|futime|tte|lenfol"
_R_CODES = (
    "events are coded 1 and 2: 2 is used as an event and 1 as none, as in R; write 1 and 0 if it is the "
    "other way round"
)
_SWAPPED = "the column of events holds times and that of times events: they are used the other way round"
# Most values that a message names.
_MOST = 6


def survival_y(event: Any, time: Any, event_word: str | Sequence[str] | None = None) -> tuple[Any, list[str]]:
    """Return y for `superfactor.SMFSurvival` from two columns of a table.

    Parameters
    ----------
    event : (n,)
        0 and 1, TRUE and FALSE, yes and no, R's 1 and 2, or any text together with `event_word`.
    time : (n,)
        Time of the event or end of observation; numbers, also as text.
    event_word : the value, or values, that mean an event; all other values mean none

    Returns
    -------
    y : structured array (n,) with the fields "event" (bool) and "time" (float)
        As in scikit-survival. If event or time is missing, the time is NaN and there is no outcome.
    notes : list of sentences about the coding, without their full stop
    """
    notes: list[str] = []
    if event_word is None and _are_swapped(event, time):
        event, time = time, event
        notes.append(_SWAPPED)
    happened, said = coded_events(event, event_word)
    notes += said
    until = _times(time)
    lost = np.isnan(happened) != np.isnan(until)
    if lost.any():
        notes.append(
            f"{int(lost.sum())} of {len(lost)} samples have a time without an event status, or the reverse: "
            "they count as samples without an outcome"
            + ("; if an empty cell means no event, write a value there" if event_word is not None else "")
        )
    y = np.zeros(len(until), dtype=[("event", "?"), ("time", "f8")])
    y["time"] = np.where(np.isnan(happened), np.nan, until)
    y["event"] = (happened == 1) & ~np.isnan(until)
    return y, notes


def coded_events(
    event: Any, event_word: str | Sequence[str] | None = None, name: str = "event", as_r: bool = False
) -> tuple[Any, list[str]]:
    """Return events as 1.0 and 0.0 (n,), NaN where missing, and notes; a ValueError names other values.

    `as_r`: events are coded 1 and 2, as in R, even if only one of them occurs.
    """
    if event_word is not None:
        return _by_word(event, [event_word] if isinstance(event_word, str) else list(event_word))
    numbers = event_numbers(event, as_r)
    if numbers is None:
        raise ValueError(
            f"{name}: 0 and 1, TRUE and FALSE, yes and no, or R's 1 and 2 are required, got {_found(event)}; "
            f"for text, name the value that means an event (event_word)"
        )
    if np.any(numbers == 2) or (as_r and not np.any(numbers == 0)):
        return numbers - 1, [_R_CODES]
    return numbers, []


def event_numbers(column: Any, as_r: bool = False) -> Any:
    """Return a column of events as numbers (n,), NaN where missing; None if it contains anything else.

    Numbers are 0 and 1, or R's 1 and 2. For R's coding both must occur, unless `as_r`.
    """
    cells = np.asarray(column)
    if cells.dtype.kind in "mM":
        return None
    if cells.dtype.kind not in "biuf":
        cells = np.array([_event_number(cell) for cell in cells.tolist()])
    numbers = cells.astype(np.float64)
    values = set(numbers[~np.isnan(numbers)].tolist())
    known = values <= {0.0, 1.0} or values == {1.0, 2.0} or (as_r and values <= {1.0, 2.0})
    return numbers if known else None


def told_apart(
    columns: Sequence[Any], names: Sequence[str], event: int | str | None = None
) -> tuple[Any, Any, list[str]]:
    """Return the column of events, that of times, and a note if only the contents determine them.

    Their order varies. The column that can be events is used; if both can, the boolean one, the one with the
    name of an event, or the first. `event` is the name of the column of events, or its position without
    names, in the y of a fit: if both columns of another y can be events, it is read in the same way.
    """
    can_be = [event_numbers(column) is not None for column in columns]
    true_or_false = [str(getattr(column, "dtype", "")).lower().startswith("bool") for column in columns]
    named = event_by_name(names)
    if can_be[0] != can_be[1]:
        k = can_be.index(True)
    elif true_or_false[0] != true_or_false[1]:
        k = true_or_false.index(True)
    else:
        k = named or 0
        if isinstance(event, str) and event in names:
            k = named = list(names).index(event)
        elif isinstance(event, int) and not any(names):
            k = named = event
    clear = k == 0 or true_or_false[k] or named == k
    return columns[k], columns[1 - k], [] if clear else [_SWAPPED]


def event_by_name(names: Sequence[str]) -> int | None:
    """Return which of two names is that of the event, if the other is that of the time; None if unclear."""
    events = [_like(_EVENT, name) and not _like(_TIME, name) for name in names]
    times = [_like(_TIME, name) for name in names]
    for k in (0, 1):
        if (events[k] and not events[1 - k]) or (times[1 - k] and not times[k]):
            return k
    return None


def _are_swapped(event: Any, time: Any) -> bool:
    """Return whether names or contents show that the two columns are swapped."""
    if event_numbers(time) is None:
        return False
    if event_numbers(event) is None:
        return _are_times(event)
    # Both could be events, so only their names decide.
    return event_by_name([str(getattr(c, "name", "")) for c in (event, time)]) == 1


def _are_times(column: Any) -> bool:
    try:
        _times(column)
    except ValueError:
        return False
    return True


def _times(column: Any) -> Any:
    """Return numbers (n,), NaN where missing."""
    cells = np.asarray(column)
    if cells.dtype.kind in "mM":
        raise ValueError("time: numbers are required, got dates; use days between two dates")
    if cells.dtype.kind not in "biuf":
        try:
            cells = np.array([np.nan if _blank(cell) else float(cell) for cell in cells.tolist()])
        except (TypeError, ValueError):
            strange = [cell for cell in cells.tolist() if not _blank(cell) and not _is_number(cell)]
            raise ValueError(f"time: numbers are required, got {_found(strange)}") from None
    times = cells.astype(np.float64)
    bad = (times < 0) | np.isinf(times)
    if bad.any():
        raise ValueError(f"time: finite numbers >= 0 are required, got {shown(float(times[bad][0]))}")
    return times


def _event_number(cell: Any) -> float:
    """Return the event code of a cell; −1 if it is none."""
    if _blank(cell):
        return np.nan
    if isinstance(cell, str | bytes):
        word = (cell.decode() if isinstance(cell, bytes) else cell).strip().lower()
        if word in _TRUE | _FALSE:
            return float(word in _TRUE)
    return float(cell) if _is_number(cell) else -1.0


def _by_word(event: Any, meant: Sequence[str]) -> tuple[Any, list[str]]:
    """Return 1.0 for the given values, 0.0 for others, NaN where missing; and a note on several others."""
    found = [None if word is None or _blank(word) else word.strip().lower() for word in words(event)]
    asked = [str(word).strip().lower() for word in meant]
    for word, as_given in zip(asked, meant, strict=True):
        if word not in found:
            raise ValueError(f"event_word={shown(as_given)}: no sample has it; values are {_found(event)}")
    others = {word for word in found if word is not None and word not in asked}
    notes = [f"no event: {_found(sorted(others))}"] if len(others) > 1 else []
    return np.array([np.nan if word is None else float(word in asked) for word in found]), notes


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _blank(cell: Any) -> bool:
    return is_missing(cell) or (isinstance(cell, str) and not cell.strip())


def _found(column: Any) -> str:
    """Return the first few values of a column as text."""
    seen = sorted({word for word in words(column) if word is not None})
    return ", ".join(map(shown, seen[:_MOST])) + (", …" if len(seen) > _MOST else "")


def _like(pattern: str, name: str) -> bool:
    """Return whether a part of the name matches the pattern."""
    return any(re.fullmatch(f"({pattern})s?", part) for part in re.split(r"[^a-z]+", name.lower()))
