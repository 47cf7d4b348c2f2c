"""Several yes/no labels at once: 0 and 1; each entry may be missing."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import Array
from superfactor.estimators.inputs import check_length
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets.checked import CheckedY, check_passed
from superfactor.preprocessing.cells import is_missing


def has_several_columns(y: Any) -> bool:
    """Return whether y has two columns or more, which are then yes/no labels."""
    shape = getattr(y, "shape", None)
    if shape is None:
        if not isinstance(y, list | tuple) or not all(np.ndim(row) == 1 for row in y[:1]):
            return False
        shape = np.asarray(y, dtype=object).shape
    return len(shape) == 2 and shape[1] > 1


def check_flags(y: Any, X: Array, name: str, unlabeled: Any = None) -> CheckedY:
    """Return labels (n, κ) as NumPy float64: 0, 1, and NaN for missing entries.

    None, NaN, pandas' NA and the value `unlabeled` are missing. A sample without any entry has no label.
    """
    columns = getattr(y, "columns", None)
    values = y.toarray() if sp.issparse(y) else np.asarray(_cells(check_passed(y, name)))
    if values.ndim != 2:
        raise ValueError(
            f"y: one column for each yes/no label is required, samples x labels, got shape {values.shape}"
        )
    check_length("y", values, X)
    names = np.arange(values.shape[1]) if columns is None else np.asarray(list(columns))
    absent = np.zeros(values.shape, dtype=bool)
    plain = values.dtype.kind in "biuf"
    if not plain:
        values = values.astype(object)
        absent |= np.vectorize(is_missing, otypes=[bool])(values)
    if not is_missing(unlabeled):  # comparisons with pandas' NA return NA
        absent[~absent] = np.asarray(values[~absent] == unlabeled, dtype=bool)
    if not plain:
        strange = ~absent & ~np.vectorize(lambda cell: isinstance(cell, Real | np.bool_), otypes=[bool])(
            values
        )
        _refuse(values, strange, names)
        values = np.where(absent, np.nan, values)
    values = values.astype(np.float64)
    absent |= np.isnan(values)
    _refuse(values, ~absent & (values != 0) & (values != 1), names)
    known = ~absent.all(axis=1)
    return CheckedY(np.where(absent, np.nan, values), None if known.all() else known, names)


def flags_in_order(given: CheckedY, labels: Any, name: str = "y") -> CheckedY:
    """Return the columns in the order of a model's labels (κ,); raise a ValueError if they differ."""
    own = given.names
    if len(own) == len(labels) and (own.dtype.kind in "iu" or labels.dtype.kind in "iu"):
        return given  # matched by position, because one of the two has no names
    if sorted(map(str, own)) != sorted(map(str, labels)):
        raise ValueError(
            f"{name}: the columns {shown(own.tolist())} are not the labels of the model, "
            f"{shown(labels.tolist())}; the same are required"
        )
    place = {str(label): c for c, label in enumerate(own)}
    order = [place[str(label)] for label in labels]
    return CheckedY(given.values[:, order], given.known, labels)


def _cells(y: Any) -> Any:
    """Return a table as objects, the only common type of columns of different types."""
    return np.asarray(y, dtype=object) if hasattr(y, "columns") else y


def _refuse(values: Any, strange: Any, names: Any) -> None:
    if not strange.any():
        return
    i, c = np.argwhere(strange)[0]
    raise ValueError(
        f"y: {shown(values[i, c])} in column {shown(names[c])}; each of several columns is a yes/no label, "
        "and 0, 1, True, False or a missing value is required (one column of labels may have any classes)"
    )


def check_both_values(values: Any, names: Any, where: str = "y") -> None:
    """Raise a ValueError that names the first label whose known values (n, κ) are all the same."""
    for label, column in zip(names, values.T, strict=True):
        found = np.unique(column[~np.isnan(column)])
        if len(found) < 2:
            said = f"only {int(found[0])}" if len(found) else "no value at all"
            raise ValueError(
                f"{where}: label {shown(label)} has {said}; samples with 0 and samples with 1 are required"
            )
