"""Labels that are probably mistakes: two spellings of one class or level, and −1 for "no label"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from superfactor.estimators.targets.counts import looks_like_counts


class LabelWarning(UserWarning):
    """A warning about labels that are probably mistakes; tables are read with notes of their own on them."""


def two_spellings(labels: Iterable[Any]) -> str | None:
    """Return ``'Tumor' and 'tumor ' differ only in case or blanks`` for the first such labels, or None.

    Only strings are compared.
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


def label_warnings(classes: Any, times: Any) -> list[Warning]:
    """Return UserWarnings about classes (k,) with these numbers of samples (k,).

    They are about classes that differ only in spelling, about −1 among classes that are otherwise
    non-negative, and about classes that look like counts.
    """
    alike = two_spellings(classes.tolist())
    if alike is not None:
        said = f"y: {alike} and are fitted as different classes; if they are one, use one spelling, as in "
        return [LabelWarning(f"{said}[label.strip().lower() for label in y]")]
    if classes.dtype.kind not in "iuf" or len(classes) < 3:
        return []
    if looks_like_counts(np.repeat(classes, np.round(times).astype(int))):
        said = f"y looks like counts: its {len(classes)} different values are fitted as classes"
        return [LabelWarning(f"{said}; SMFRegressor(loss='poisson') models counts")]
    if classes[0] != -1 or np.any(classes[1:] < 0):  # classes are sorted
        return []
    said = "-1 among the labels is fitted as a class; if it marks samples without a label, set unlabeled=-1"
    return [LabelWarning(said)]
