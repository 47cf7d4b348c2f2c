"""Class labels: checks, class numbers and class weights."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from superfactor._arrays import Array
from superfactor.estimators.inputs import check_length
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets.checked import CheckedY, check_passed, without_fields
from superfactor.preprocessing.cells import is_missing


def check_labels(y: Any, X: Array, name: str, unlabeled: Any = None) -> CheckedY:
    """Check labels (n,) of any sortable type and return them as NumPy.

    None, NaN, pandas' NA and the value `unlabeled` mean that a sample has no label.
    """
    values = column_or_1d(_plain(without_fields(check_passed(y, name), name)), warn=True)
    check_length("y", values, X)
    known = _known(values, unlabeled)
    given = CheckedY(values, known)
    labels = given.labelled
    if values.dtype.kind == "O":
        labels = _of_one_kind(labels)
        values = given.spread(labels, labels[0] if len(labels) else 0)
        given = CheckedY(values, known)
    if not len(labels):
        return given
    if labels.dtype.kind in "fO":
        labels = check_array(labels, ensure_2d=False, dtype=None, input_name="y", ensure_all_finite=True)
    if labels.dtype.kind == "O":
        _check_sortable(labels)
    # Integers are always labels. The check is expensive; for integers it only warns of too many classes.
    if labels.dtype.kind not in "iu" or np.ptp(labels) > len(labels) // 4:
        check_classification_targets(labels)
    return given


def _known(values: Any, unlabeled: Any) -> Any:
    """Return which labels (n,) are not missing, as bool; None if all are present."""
    if values.dtype.kind == "f":
        absent = np.isnan(values)
    elif values.dtype.kind == "O":
        absent = np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
    elif values.dtype.kind in "mM":
        absent = np.isnat(values)
    else:
        absent = np.zeros(len(values), dtype=bool)
    if not is_missing(unlabeled):
        # Only for labels that are present, because comparisons with NA return NA.
        absent[~absent] = np.asarray(values[~absent] == unlabeled, dtype=bool)
    return ~absent if absent.any() else None


def _plain(y: Any) -> Any:
    """Convert pandas' nullable columns with missing values to objects; otherwise they become floats."""
    kind = str(getattr(y, "dtype", ""))
    if kind.startswith(("Int", "UInt", "boolean")) and y.isna().any():
        return y.to_numpy(dtype=object, na_value=None)
    return y


def _of_one_kind(labels: Any) -> Any:
    """Convert objects (n,) that are all integers, booleans or floats to that type."""
    if not len(labels):
        return labels
    for kind, dtype in ((bool | np.bool_, bool), (Integral, int), (float | np.floating, float)):
        if all(isinstance(label, kind) for label in labels):
            return np.array(labels.tolist(), dtype=dtype)
    return labels


def classes_of(labels: Any) -> tuple[Any, Any]:
    """Return the sorted classes, and the class number of each label (n,)."""
    if labels.dtype.kind in "iu" and labels.dtype != np.uint64 and len(labels):
        numbers = labels.astype(np.int64)
        least = int(numbers.min())
        span = int(numbers.max()) - least
        if span <= len(labels):  # counting takes a tenth of the time of sorting
            present = np.bincount(numbers - least, minlength=span + 1) > 0
            codes = (np.cumsum(present) - 1)[numbers - least]
            return (np.flatnonzero(present) + least).astype(labels.dtype), codes
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes


def _check_sortable(labels: Any) -> None:
    try:
        np.unique(labels)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise TypeError(
            f"y: labels of one sortable type are required, got {', '.join(kinds)}; convert them, as in "
            "[str(label) for label in y]"
        ) from error


def check_class_weight(class_weight: Any, classes: Any, codes: Any, weight: Any) -> Any:
    """Return the factor of each sample's loss (n,), or None.

    "balanced" gives every class the same total weight. Sample weights are included, so that a weight of two
    is equivalent to two copies of the sample.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.bincount(codes, weights=weight, minlength=len(classes))
        return (total.sum() / (len(classes) * total))[codes]
    if not isinstance(class_weight, dict):
        kind = ValueError if isinstance(class_weight, str) else TypeError
        raise kind(
            f"class_weight={shown(class_weight)}: None, 'balanced' or a dict from class to weight is required"
        )
    known = list(classes)
    factors = np.ones(len(known))
    for label, factor in class_weight.items():
        if label not in known:
            raise ValueError(
                f"class_weight={shown(class_weight)}: {shown(label)} is no class of y, {shown(known)}; "
                "leave it out"
            )
        if not isinstance(factor, Real) or not 0 <= float(factor) < np.inf:
            raise ValueError(f"class_weight={shown(class_weight)}: finite numbers >= 0 are required")
        factors[known.index(label)] = float(factor)
    if np.count_nonzero(factors) < 2:
        raise ValueError(f"class_weight={shown(class_weight)}: at least 2 classes need a weight above 0")
    return factors[codes]
