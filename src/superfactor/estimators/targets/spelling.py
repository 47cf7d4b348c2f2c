"""Words that are probably a slip of the pen: two spellings of one class or level, and −1 for "no label"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from superfactor.estimators.targets.counts import looks_like_counts


def two_spellings(labels: Iterable[Any]) -> str | None:
    """``'Tumor' and 'tumor ' differ only in case or blanks``, of the first such labels; None without any.

    Only strings are looked at.
    """
    written: dict[str, set[str]] = {}
    for label in set(labels):
        if isinstance(label, str):
            written.setdefault("".join(label.split()).casefold(), set()).add(label)
    alike = [sorted(words) for words in written.values() if len(words) > 1]
    if not alike:
        return None
    *first, last = map(repr, min(alike))
    return f"{', '.join(first)} and {last} differ only in case or blanks"


def check_spelling(labels: Any) -> None:
    """Raise a ValueError where two of the labels (n,), a NumPy array, are spellings of one."""
    if labels.dtype.kind not in "OUT":
        return
    alike = two_spellings(labels.tolist())
    if alike is not None:
        raise ValueError(
            f"y: {alike}; if they are one class write them alike, as in "
            "[label.strip().lower() for label in y], else give them names that differ more"
        )


def doubts_of_labels(classes: Any, times: Any) -> list[Warning]:
    """UserWarnings of classes (k,), of which there are so many samples each (k,).

    Where −1 stands among those that are counted from 0 or 1, and where they look like counts.
    """
    if classes.dtype.kind not in "iuf" or len(classes) < 3:
        return []
    if looks_like_counts(np.repeat(classes, np.round(times).astype(int))):
        said = f"y looks like counts, of {len(classes)} different values, and each is a class of its own here"
        return [UserWarning(f"{said}; SMFRegressor(loss='poisson') models counts")]
    if classes[0] != -1 or np.any(classes[1:] < 0):  # classes are sorted
        return []
    said = "-1 among the labels is a class of its own here; if it marks samples without a label, say "
    return [UserWarning(f"{said}unlabeled=-1")]
