"""`CheckedY`: y after checks, and which samples have a value.

A sample without a label enters the reconstruction but not the loss: its ω is 0 (docs/method.md §13).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor.estimators.inputs import as_numpy
from superfactor.estimators.parameters import shown

#: The class number of a sample without a label.
UNLABELLED = -1


@dataclass(frozen=True)
class CheckedY:
    """Labels or targets, and which samples have one."""

    # (n,) labels, (n,) or (n, κ) real targets, or (n, κ) flags with NaN for missing entries; arbitrary for
    # samples without a value
    values: Any
    known: Any = None  # (n,) bool, or None if every sample has a value
    names: Any = None  # (κ,) names of the columns, if they have any
    strata: Any = None  # for survival times: the names of the strata, in order
    coded_as_r: bool = False  # for survival times: whether events are coded 1 and 2
    event_column: Any = None  # for survival times: the name of the column of events, or its position

    def among(self, kept: Any) -> CheckedY:
        """Return y of the samples at positions `kept`; None is all of them."""
        if kept is None:
            return self
        known = None if self.known is None else self.known[kept]
        return replace(self, values=self.values[kept], known=known)

    @property
    def labelled(self) -> Any:
        """Return the values of the samples that have one."""
        return self.of_labelled(self.values)

    def of_labelled(self, x: Any) -> Any:
        """Return the rows of x (n, …) of samples with a label; None stays None."""
        return x if x is None or self.known is None else x[self.known]

    def spread(self, x: Any, other: Any) -> Any:
        """Expand values x of the labelled samples to all samples, with `other` for the rest."""
        if self.known is None:
            return x
        out = np.full((len(self.known), *np.shape(x)[1:]), other, dtype=np.asarray(x).dtype)
        out[self.known] = x
        return out

    def of_some(self) -> CheckedY:
        """Return itself; raise a ValueError if no sample has a label."""
        if self.known is not None and not self.known.any():
            raise ValueError(no_label(len(self.known)))
        return self

    @property
    def marked(self) -> Any:
        """Return values for ``fit``, with None (labels) or NaN (real targets) where missing."""
        if self.known is None:
            return self.values
        if self.values.dtype.kind != "f":
            return np.where(self.known, self.values.astype(object), None)
        out = self.values.copy()
        if self.strata is None:
            out[~self.known] = np.nan
        else:  # a stratum is required of every sample
            out[~self.known, :2] = np.nan
        return out

    @property
    def loss_factor(self) -> Any:
        """Return 1.0 for samples with a label and 0.0 for others (n,); None if all have one."""
        return None if self.known is None else self.known.astype(float)


def no_label(n: int) -> str:
    """Return the message that none of n samples has a label."""
    return f"y: none of the {n} samples has a label; some are required"


def check_passed(y: Any, name: str) -> Any:
    """Return y, converted to NumPy from other libraries; raise an error if it cannot be a y."""
    if y is None:
        raise ValueError(f"y=None: {name} requires y to be passed, but the target y is None")
    if isinstance(y, str):
        raise ValueError(
            f"y={y!r}: one value per sample is required, not a name; pass the column, and X without it, as "
            f"in fit(table.drop(columns={y!r}), table[{y!r}])"
        )
    if sp.issparse(y):
        raise TypeError("y: Sparse data was passed for y, but dense data is required; use y.toarray()")
    return as_numpy(y)


def without_fields(y: Any, name: str) -> Any:
    """Return y unchanged; raise a ValueError for a structured array, as used by scikit-survival."""
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if fields is not None:
        raise ValueError(
            f"y: one value per sample is required by {name}, but it has the fields {shown(list(fields))}; "
            "pass one of them, or events and times to SMFSurvival"
        )
    return y
