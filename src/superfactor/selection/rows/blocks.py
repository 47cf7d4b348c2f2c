"""Folds of tall tables: rows are taken from X and scaled block by block.

scikit-learn's scaler needs two copies of the rows of a fold. Here there is one. It has single precision for
large tables, since products then read it in half the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from superfactor.selection.rows.range import LONGEST, longest_in, shortened

# A block of rows has about so many values, a few megabytes.
_VALUES = 1_000_000
#: Dense tables of at least so many values have folds in single precision, if standardized and tall.
LARGE = 10_000_000


def fold_type(X: Any, preprocess: str | None) -> Any:
    """Return the type of the folds of dense X (n, p).

    Single precision needs standardized columns, whose unit no longer matters, and n ≥ p. Folds of wide tables
    are compressed, which needs all digits.
    """
    single = preprocess == "standardize" and has_large_folds(X.shape)
    return np.dtype(np.float32) if single else X.dtype


def has_large_folds(shape: tuple[int, int]) -> bool:
    """Return whether dense X (n, p) has folds that keep its columns, and many values."""
    n, p = shape
    return n >= p and n * p >= LARGE


def taken(X: Any, train: Any, test: Any, scaler: Any, weight: Any, dtype: Any) -> tuple[Any, Any]:
    """Return copies of the rows of dense X (n, p) at `train` and at `test`, scaled by those at `train`.

    Parameters
    ----------
    scaler : a StandardScaler that is not fitted; None leaves the rows as they are
    weight : sample weights (n,), or None
    dtype : of the result
    """
    if scaler is not None:
        # scikit-learn refuses rows whose weights are all zero, as those of a block may be.
        counted = train if weight is None else train[weight[train] > 0]
        for at in _blocks(counted if len(counted) else train, X.shape[1]):
            scaler.partial_fit(X[at], sample_weight=None if weight is None else weight[at])
    return _scaled(X, train, scaler, dtype), _scaled(X, test, scaler, dtype, LONGEST)


def _scaled(X: Any, positions: Any, scaler: Any, dtype: Any, longest: float | None = None) -> Any:
    """Return scaled rows at these positions, shortened before and after scaling if there is a limit."""
    found = np.empty((len(positions), X.shape[1]), dtype)
    start = 0
    for at in _blocks(positions, X.shape[1]):
        rows = X[at]
        if longest is not None:
            rows = shortened(rows, longest)
        if scaler is not None:
            rows = scaler.transform(rows, copy=False)
        if longest is not None:
            rows = shortened(rows, longest_in(found))
        found[start : start + len(at)] = rows
        start += len(at)
    return found


def _blocks(positions: Any, n_columns: int) -> Iterator[Any]:
    """Return parts of these positions, whose rows have about `_VALUES` values."""
    size = max(1, _VALUES // max(1, n_columns))
    return (positions[start : start + size] for start in range(0, len(positions), size))
