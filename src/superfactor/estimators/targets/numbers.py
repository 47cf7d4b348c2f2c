"""Real targets, one or several."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor._arrays import Array
from superfactor.estimators.inputs import check_length, check_numbers, column_names
from superfactor.estimators.targets.checked import CheckedY, check_passed, without_fields
from superfactor.preprocessing.cells import is_missing

# Sums of squares of larger numbers, and their products, overflow.
_LARGEST = 1e70


def check_real_targets(y: Any, X: Array, name: str, unlabeled: Any = None, *, called: str = "y") -> CheckedY:
    """Return targets (n,) or (n, κ) as NumPy float64; NaN, None, NA and `unlabeled` mean no target."""
    names = column_names(y)
    values = without_fields(check_passed(y, name), name)
    if np.asarray(values).dtype.kind == "O":  # may contain pandas' NA
        values = np.asarray(values, dtype=object)
        absent = np.vectorize(is_missing, otypes=[bool])(values)
        values = np.where(absent, np.nan, values)
    values = check_numbers(called, values, ensure_2d=False, allow_nd=True, ensure_all_finite="allow-nan")
    if values.ndim > 2:
        raise ValueError(
            f"{called}: one or two dimensions are required, got {values.ndim}; reshape it to samples x "
            "targets"
        )
    check_length(called, values, X)
    absent = np.isnan(values)
    if not is_missing(unlabeled):
        absent |= values == unlabeled
    if np.max(np.abs(values), where=~absent, initial=0.0) > _LARGEST:
        raise ValueError(f"{called}: numbers of at most {_LARGEST:.0e} in size are required; rescale it")
    if not absent.any():
        return CheckedY(values, names=names)
    if values.ndim == 2:
        rows = absent.all(axis=1)
        if not np.array_equal(rows, absent.any(axis=1)):
            raise ValueError(
                f"y: {int((absent.any(axis=1) & ~rows).sum())} samples have only some of their targets; all "
                "or none are required: use SMFMixed, or leave these samples out"
            )
        absent = rows
    return CheckedY(np.where(absent.reshape(-1, *[1] * (values.ndim - 1)), 0.0, values), ~absent, names)
