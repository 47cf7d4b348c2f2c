"""y as the user brings it, as the solvers want it: class numbers or real values, and who has none.

A sample without a label takes part in the reconstruction and not in the loss: its ω is 0
(docs/method.md §13).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from superfactor._arrays import Array
from superfactor.estimators.inputs import as_numpy, check_length, check_numbers
from superfactor.estimators.parameters import shown
from superfactor.estimators.spelling import check_spelling
from superfactor.preprocessing.cells import is_missing

#: The class number of a sample without a label.
UNLABELLED = -1


@dataclass(frozen=True)
class Given:
    """Labels or targets, and which samples have one.

    Attributes
    ----------
    values : (n,) labels, or (n,) or (n, κ) real targets; those of samples without one mean nothing
    known : (n,) bool, or None where every sample has one
    """

    values: Any
    known: Any = None

    def among(self, kept: Any) -> Given:
        """Those of the samples at `kept`; None is all of them."""
        if kept is None:
            return self
        return Given(self.values[kept], None if self.known is None else self.known[kept])

    @property
    def labelled(self) -> Any:
        """The values of the samples that have one."""
        return self.of_labelled(self.values)

    def of_labelled(self, x: Any) -> Any:
        """Those rows of x (n, …) whose samples have a label; None stays None."""
        return x if x is None or self.known is None else x[self.known]

    def spread(self, x: Any, other: Any) -> Any:
        """Values x of the labelled samples among all of them, the others `other`."""
        if self.known is None:
            return x
        out = np.full((len(self.known), *np.shape(x)[1:]), other, dtype=np.asarray(x).dtype)
        out[self.known] = x
        return out

    def of_some(self) -> Given:
        """Itself; a ValueError where no sample at all has a label."""
        if self.known is not None and not self.known.any():
            raise ValueError(no_label(len(self.known)))
        return self

    @property
    def marked(self) -> Any:
        """The values with None (labels) or NaN (real targets) where there is none, as ``fit`` takes them."""
        if self.known is None:
            return self.values
        if self.values.dtype.kind != "f":
            return np.where(self.known, self.values.astype(object), None)
        out = self.values.copy()
        out[~self.known] = np.nan
        return out

    @property
    def loss_factor(self) -> Any:
        """1.0 for samples with a label and 0.0 for the others (n,); None where all have one."""
        return None if self.known is None else self.known.astype(float)


def no_label(n: int) -> str:
    """What is said where none of n samples has a label."""
    return f"y: none of the {n} samples has a label; some are required"


def check_labels(y: Any, X: Array, name: str, unlabeled: Any = None) -> Given:
    """Labels (n,) as NumPy, any kind that can be sorted.

    None, NaN, pandas' NA and the value `unlabeled` mean that a sample has none.
    """
    values = column_or_1d(_plain(_without_fields(check_passed(y, name), name)), warn=True)
    check_length("y", values, X)
    known = _known(values, unlabeled)
    given = Given(values, known)
    labels = given.labelled
    if values.dtype.kind == "O":
        labels = _of_one_kind(labels)
        values = given.spread(labels, labels[0] if len(labels) else 0)
        given = Given(values, known)
    if not len(labels):
        return given
    if labels.dtype.kind in "fO":
        labels = check_array(labels, ensure_2d=False, dtype=None, input_name="y", ensure_all_finite=True)
    if labels.dtype.kind == "O":
        _check_sortable(labels)
    # Integers are labels. What else it knows is a warning of classes as many as samples, for a dear search.
    if labels.dtype.kind not in "iu" or np.ptp(labels) > len(labels) // 4:
        check_classification_targets(labels)
    check_spelling(labels)
    return given


def check_real_targets(y: Any, X: Array, name: str, unlabeled: Any = None) -> Given:
    """Targets (n,) or (n, κ) as NumPy float64; NaN, None, NA and `unlabeled` mean that a sample has none."""
    values = _without_fields(check_passed(y, name), name)
    if np.asarray(values).dtype.kind == "O":  # pandas' NA is no number
        values = np.asarray(values, dtype=object)
        absent = np.vectorize(is_missing, otypes=[bool])(values)
        values = np.where(absent, np.nan, values)
    values = check_numbers("y", values, ensure_2d=False, allow_nd=True, ensure_all_finite="allow-nan")
    if values.ndim > 2:
        raise ValueError(
            f"y: one or two dimensions are required, got {values.ndim}; reshape it to samples x targets"
        )
    check_length("y", values, X)
    absent = np.isnan(values)
    if not is_missing(unlabeled):
        absent |= values == unlabeled
    if not absent.any():
        return Given(values)
    if values.ndim == 2:
        rows = absent.all(axis=1)
        if not np.array_equal(rows, absent.any(axis=1)):
            raise ValueError(
                f"y: {int((absent.any(axis=1) & ~rows).sum())} samples have some of their targets and not "
                "others; all or none are required: fit the targets one by one, or leave these samples out"
            )
        absent = rows
    return Given(np.where(absent.reshape(-1, *[1] * (values.ndim - 1)), 0.0, values), ~absent)


def _known(values: Any, unlabeled: Any) -> Any:
    """Which labels (n,) are there, as bool; None where all are."""
    if values.dtype.kind == "f":
        absent = np.isnan(values)
    elif values.dtype.kind == "O":
        absent = np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
    elif values.dtype.kind in "mM":
        absent = np.isnat(values)
    else:
        absent = np.zeros(len(values), dtype=bool)
    if not is_missing(unlabeled):
        # Of those that are there: NA says neither yes nor no.
        absent[~absent] = np.asarray(values[~absent] == unlabeled, dtype=bool)
    return ~absent if absent.any() else None


def _plain(y: Any) -> Any:
    """Columns of pandas' nullable numbers and booleans with gaps as objects: else they would be floats."""
    kind = str(getattr(y, "dtype", ""))
    if kind.startswith(("Int", "UInt", "boolean")) and y.isna().any():
        return y.to_numpy(dtype=object, na_value=None)
    return y


def _of_one_kind(labels: Any) -> Any:
    """Objects (n,) that are all whole numbers, booleans or floats as such: gaps make them objects."""
    if not len(labels):
        return labels
    for kind, dtype in ((bool | np.bool_, bool), (Integral, int), (float | np.floating, float)):
        if all(isinstance(label, kind) for label in labels):
            return np.array(labels.tolist(), dtype=dtype)
    return labels


def classes_of(labels: Any) -> tuple[Any, Any]:
    """The classes, sorted, and which of them each label (n,) is."""
    if labels.dtype.kind in "iu" and labels.dtype != np.uint64 and len(labels):
        numbers = labels.astype(np.int64)
        least = int(numbers.min())
        span = int(numbers.max()) - least
        if span <= len(labels):  # counted, not sorted: a tenth of the time
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
            f"y: labels of one kind that can be sorted are required, got {', '.join(kinds)}; make them one, "
            "as in [str(label) for label in y]"
        ) from error


def check_passed(y: Any, name: str) -> Any:
    """y as it is, arrays of other libraries as NumPy; a ValueError or TypeError where it is no y at all."""
    if y is None:
        raise ValueError(f"y=None: {name} requires y to be passed, but the target y is None")
    if isinstance(y, str):
        raise ValueError(
            f"y={y!r}: one value a sample is required, not a name; pass the column, and X without it, as in "
            f"fit(table.drop(columns={y!r}), table[{y!r}])"
        )
    if sp.issparse(y):
        raise TypeError("y: Sparse data was passed for y, but dense data is required; y.toarray() is")
    return as_numpy(y)


def _without_fields(y: Any, name: str) -> Any:
    """y as it is; a ValueError for a structured array, as scikit-survival has them."""
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if fields is not None:
        raise ValueError(
            f"y: one value a sample is required by {name}, but it has the fields {shown(list(fields))}; pass "
            "one of them, or events and times to SMFSurvival"
        )
    return y


def check_class_weight(class_weight: Any, classes: Any, codes: Any, weight: Any) -> Any:
    """The factor of each sample's loss (n,), or None.

    "balanced" gives every class the same total, counted with sample weights, so that a weight of
    two stays the same as the sample twice.
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
        if not isinstance(factor, Real) or not 0 < float(factor) < np.inf:
            raise ValueError(f"class_weight={shown(class_weight)}: positive finite numbers are required")
        factors[known.index(label)] = float(factor)
    return factors[codes]
