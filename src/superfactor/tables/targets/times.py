"""Survival targets: a column of times and a column of events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from superfactor.estimators.targets import survival_y
from superfactor.estimators.targets.events import event_numbers
from superfactor.tables.columns.numbers import refuse_stray_text, with_points
from superfactor.tables.notes import Note, Part, Setting, TableError, note, shortened
from superfactor.tables.targets.columns import TargetColumns, are_numbers, has_value

# Words for events, used only to suggest `event_word`.
_EVENT = re.compile(r"dead|death|died|deceased|event|relapse|recurr|progress|metasta|fail", re.IGNORECASE)


def read(columns: TargetColumns) -> Any:
    """Events and times (n,) as scikit-survival's structured array; NaN for missing times."""
    y = read_new(columns, {})
    if not y["event"].any():
        event = columns.names[1]
        what = _words(columns, event)
        raise _refusal(
            columns,
            f": none of the {int(has_value(y).sum())} samples with a time has an event, {event!r} holds "
            f"{shortened(what)}; some are required: ",
            Setting("event_word"),
            " is the word that means an event",
        )
    return y


def read_new(columns: TargetColumns, about: Mapping[str, Any]) -> Any:
    """Events and times of new samples; none needs an event."""
    return _read(columns)[0]


def notes(columns: TargetColumns, y: Any) -> list[Note]:
    """Notes on how the columns were read, and on times of 0."""
    result = [note("times", *_both(columns), f": {line}") for line in _read(columns)[1]]
    zero = int(np.sum(y["time"] == 0))
    if zero:
        line = f": {zero} sample{'s' * (zero > 1)} with time 0; leave the cell empty if the time is unknown"
        result.append(note("times", *_both(columns), line))
    return result


def columns_of(y: Any) -> Any:
    """Times and events (n, 2), in the order of the columns; NaN for missing times."""
    return np.column_stack([y["time"], np.where(np.isnan(y["time"]), np.nan, y["event"])])


def _read(columns: TargetColumns) -> tuple[Any, list[str]]:
    import pandas as pd

    time, event = columns.names
    cells = {
        name: pd.Series(with_points(columns.cells(name)), name=name, dtype=object) for name in (time, event)
    }
    word, swapped = columns.event_word, []
    if word is not None and _is_among(word, cells[time]) and not _is_among(word, cells[event]):
        time, event = event, time
        swapped = [f"{word!r} is in the column of times: the two columns are swapped"]
    if word is not None and not _is_among(word, cells[event]):
        line = f": no sample has it; column {event!r} holds {shortened(_words(columns, event))}"
        raise TableError(f"{columns.path}: ", Setting("event_word", word), line, kind="target", column=event)
    if word is None and event_numbers(cells[event]) is None and event_numbers(cells[time]) is None:
        raise _no_codes(columns, time, event)
    try:
        y, lines = survival_y(cells[event], cells[time], word)
    except ValueError as error:
        for name in columns.names:
            refuse_stray_text(columns.path, columns.frame, name, columns.ids)
        raise _refusal(columns, f": {error}") from error
    return y, swapped + lines


def _no_codes(columns: TargetColumns, time: str, event: str) -> TableError:
    """Return the error if neither column holds known codes of events."""
    found = _words(columns, event)
    if are_numbers(found) and not are_numbers(_words(columns, time)):
        other = (Setting("time", event), " ", Setting("event", time))
        line = f": {event!r} holds numbers and {time!r} words; swap them: "
        return _refusal(
            columns, line, *other, ", and give the word for an event with ", Setting("event_word")
        )
    if are_numbers(found):
        line = f": {event!r} holds {len(found)} different numbers; 0 and 1, or R's 1 and 2, are required"
        return _refusal(
            columns, line, " for events, or FALSE and TRUE, or words with ", Setting("event_word")
        )
    likely = [word for word in found if _EVENT.search(word)]
    word = Setting("event_word", likely[0]) if len(likely) == 1 else Setting("event_word")
    line = f": {event!r} holds the words {shortened(found)}; give the word that means an event with "
    return _refusal(columns, line, word)


def _is_among(word: str, cells: Any) -> bool:
    return any(cell is not None and cell.strip().lower() == word.strip().lower() for cell in cells)


def _words(columns: TargetColumns, name: str) -> list[str]:
    return sorted({cell for cell in columns.cells(name) if cell is not None})


def _both(columns: TargetColumns) -> tuple[Part, ...]:
    time, event = columns.names
    return Setting("time", time), " ", Setting("event", event)


def _refusal(columns: TargetColumns, *parts: Part) -> TableError:
    return TableError(f"{columns.path}: ", *_both(columns), *parts, kind="target")
