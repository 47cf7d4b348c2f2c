"""y, and who has one.

A sample without a label takes part in the reconstruction and not in the loss: its ω is 0
(docs/method.md §13).
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

    # (n,) labels, (n,) or (n, κ) real targets, or (n, κ) flags with NaN for a gap; those of samples without
    # one mean nothing
    values: Any
    known: Any = None  # (n,) bool, or None where every sample has one
    names: Any = None  # (κ,) of the columns, where they have any
    strata: Any = None  # of survival times: the names of their strata, in order
    coded_as_r: bool = False  # of survival times: whether events are 1 and 2

    def among(self, kept: Any) -> CheckedY:
        """Those of the samples at `kept`; None is all of them."""
        if kept is None:
            return self
        known = None if self.known is None else self.known[kept]
        return replace(self, values=self.values[kept], known=known)

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

    def of_some(self) -> CheckedY:
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


def without_fields(y: Any, name: str) -> Any:
    """y as it is; a ValueError for a structured array, as scikit-survival has them."""
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if fields is not None:
        raise ValueError(
            f"y: one value a sample is required by {name}, but it has the fields {shown(list(fields))}; pass "
            "one of them, or events and times to SMFSurvival"
        )
    return y
