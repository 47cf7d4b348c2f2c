"""Missing values of a table: their number, empty columns, and samples with few values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array
from superfactor.preprocessing.cells import listed


@dataclass(frozen=True)
class MissingValues:
    """The missing values (NaN) of a table (n, p).

    Attributes
    ----------
    n_missing, n_values : int
        Number of missing entries, and of all entries, both without empty columns.
    empty_columns : list
        Names of the columns without any value.
    keep : ndarray (p,) of bool
        The other columns.
    row_shares : ndarray (n,)
        The share of missing entries of each sample, without empty columns.
    ids : list
        Names of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.preprocessing import describe_missing
    >>> gaps = describe_missing(np.array([[1.0, np.nan], [2.0, 3.0]]))
    >>> bool(gaps), gaps.n_missing
    (True, 1)
    >>> gaps.sentences()
    ['1 of 4 values are missing (25 %).']
    """

    n_missing: int
    n_values: int
    empty_columns: list[Any]
    keep: Array
    row_shares: Array
    ids: list[Any]

    def __bool__(self) -> bool:
        return self.n_missing > 0 or bool(self.empty_columns)

    @property
    def share(self) -> float:
        """Return the share of missing entries."""
        return self.n_missing / self.n_values if self.n_values else 0.0

    def rows_above(self, share: float = 0.5) -> list[Any]:
        """Return names of the samples with more than this share of missing entries."""
        return [self.ids[i] for i in np.flatnonzero(self.row_shares > share)]

    def sentences(self, share: float = 0.5) -> list[str]:
        """Return a description in sentences; empty for a table without missing values."""
        said = []
        if self.n_missing:
            said.append(f"{self.n_missing} of {self.n_values} values are missing ({_percent(self.share)}).")
        if self.empty_columns:
            said.append(
                f"{len(self.empty_columns)} column(s) without any value left out: "
                f"{listed(self.empty_columns)}."
            )
        few = self.rows_above(share)
        if few:
            said.append(
                f"{len(few)} sample(s) with more than {_percent(share)} of their values missing: "
                f"{listed(few)}."
            )
        return said


def describe_missing(
    X: Any, names: Sequence[Any] | None = None, ids: Sequence[Any] | None = None
) -> MissingValues:
    """Describe the missing values of a table X (n, p) of numbers, NaN where missing.

    Parameters
    ----------
    X : DataFrame or ndarray (n, p)
    names : sequence, optional
        Names of the columns; by default those of a DataFrame, or positions.
    ids : sequence, optional
        Names of the samples; by default the index of a DataFrame, or positions.

    Returns
    -------
    gaps : MissingValues
        Their number and positions, and sentences about them.

    Examples
    --------
    >>> import pandas as pd
    >>> from superfactor.preprocessing import describe_missing
    >>> X = pd.DataFrame({"a": [1.0, None, 3.0], "b": None, "c": [None, None, 1.0]}, index=["s", "t", "u"])
    >>> gaps = describe_missing(X.astype(float))
    >>> gaps.share, gaps.empty_columns, gaps.rows_above(0.5)
    (0.5, ['b'], ['t'])
    """
    columns = getattr(X, "columns", range(np.shape(X)[1])) if names is None else names
    samples = getattr(X, "index", range(np.shape(X)[0])) if ids is None else ids
    gone = np.isnan(np.asarray(X, dtype=None if isinstance(X, np.ndarray) else float))
    keep = ~gone.all(axis=0)
    by_row = gone.sum(axis=1) - (len(keep) - keep.sum())
    shares = by_row / max(int(keep.sum()), 1)
    empty = [name for name, kept in zip(columns, keep, strict=True) if not kept]
    n_values = int(len(gone) * keep.sum())
    return MissingValues(int(by_row.sum()), n_values, empty, keep, shares, list(samples))


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"
