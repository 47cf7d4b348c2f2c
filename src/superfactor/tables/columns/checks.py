"""Data checks: identifiers, copies of the target, intensities without a logarithm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from superfactor.tables.notes import Note, Part, Setting, note

# Matches id, patient_id, PatientID, "sample no.", patient and Unnamed: 0, but not ID1, which is a gene.
_IDENTIFIER = re.compile(
    r"(.*[\W_])?(id|ids|idx|identifier|barcode|accession|uuid)"
    r"|.*(?-i:[a-z]I[Dd])"
    r"|index|unnamed: ?\d+|row|rownames?"
    r"|(sample|patient|subject|participant|donor|record|specimen|row)s?"
    r"([\W_]*(no|nr|num|number|name|code|index)\.?)?",
    re.I,
)
# Quantiles of so many rows and columns are accurate enough.
_MOST_ROWS, _MOST_COLUMNS = 1000, 2000
# With fewer samples, integers may be consecutive by chance.
_FEWEST = 10
# Entries per chunk.
_ENTRIES = 1 << 22
# A feature whose correlation with the target is so near to 1 is a copy of it.
_ALIKE = 1e-9


def identifiers(names: Sequence[str], values: Any) -> list[str]:
    """Names of columns of values (n, p) that look like identifiers.

    Such a column holds integers. Either they are a..a+n−1 in any order, or the name is that of an identifier
    and at least n/4 values are distinct: patients may occur several times, counts and codes repeat.
    """
    n = len(values)
    if n < _FEWEST:
        return []
    named_so = np.array([_IDENTIFIER.fullmatch(name.strip()) is not None for name in names])
    in_range = values.max(axis=0) - values.min(axis=0) == n - 1
    found = []
    for j in np.flatnonzero(named_so | in_range).tolist():
        column = values[:, j]
        different = len(np.unique(column))
        if np.all(column == np.rint(column)) and (
            (in_range[j] and different == n) or (named_so[j] and 4 * different >= n)
        ):
            found.append(names[j])
    return found


def about_identifiers(names: Sequence[str], values: Any, id_is_given: bool) -> list[Note]:
    """Return a note on each identifier, with a remedy."""
    notes = []
    for name in identifiers(names, values):
        line = f"column {name!r} looks like an identifier and is used as a feature: "
        instead: list[Part] = [", ", Setting("id", name), " uses it as sample names"]
        parts = (line, Setting("drop", name), " leaves it out", *([] if id_is_given else instead))
        notes.append(note("identifier", *parts, column=name))
    return notes


def about_copies(names: Sequence[str], values: Any, y: Any, targets: Sequence[str]) -> list[Note]:
    """Return a note on each feature of values (n, p) that is a linear function of a column of y (n, m)."""
    notes = []
    for target, column in zip(targets, y.T, strict=False):
        there = ~np.isnan(column)
        own = column[there] - column[there].mean()
        if len(own) < 3 or not own.any():
            continue
        alike = np.concatenate([_correlations(own, part[there]) for part in _column_chunks(values)])
        for j in np.flatnonzero(alike > 1 - _ALIKE).tolist():
            line = f"feature {names[j]!r} is the same as the target {target!r}, perhaps in another unit: "
            parts = (line, Setting("drop", names[j]), " leaves it out")
            notes.append(note("copy", *parts, column=names[j]))
    return notes


def _column_chunks(values: Any) -> Iterator[Any]:
    """Values (n, p) in chunks of columns, to limit the memory of copies."""
    width = max(1, _ENTRIES // len(values))
    return (values[:, start : start + width] for start in range(0, values.shape[1], width))


def _correlations(own: Any, values: Any) -> Any:
    """Absolute correlations (p,) of values (n, p) with centered numbers (n,)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = values - values.mean(axis=0)
        return np.abs(own @ centred) / np.sqrt((own @ own) * (centred**2).sum(axis=0))


def about_intensities(values: Any) -> list[Note]:
    """Return a note if values (n, p) look like raw expression data.

    Such data have many columns in one unit, long right tails, no values far below zero and few zeros. Pixels
    and word counts are mostly zero, centered values are half negative, and clinical columns differ in units.
    """
    if values.shape[1] < 200:
        return []
    some = values[:: max(1, len(values) // _MOST_ROWS), :: max(1, values.shape[1] // _MOST_COLUMNS)]
    if np.isnan(some.sum()):
        some = some[:, ~np.isnan(some).all(axis=0)]
    low, middle, high = np.nanquantile(some, [0.05, 0.5, 0.999])
    long_tail = high > 100 and high - middle > 10 * (middle - low) and -low < 0.1 * high
    if not long_tail or middle <= 0 or np.mean(some == 0) > 0.25:
        return []
    size = np.nanmean(np.abs(some), axis=0)
    some, size = some[:, size > 0], size[size > 0]
    one_unit = np.std(np.log2(size)) < 2.5
    # The tail must occur within columns, not only between them.
    if one_unit and np.nanquantile(some / size, 0.99) > 3:
        line = f"values reach {np.nanmax(values):,.0f} with a long tail: "
        return [note("intensities", line, Setting("log2", True), " may help")]
    return []
