"""Sparse X and what cannot be done with it."""

from __future__ import annotations

from typing import Any

from superfactor.tables.errors import TableError

# Values that are made dense without asking: a gigabyte.
MOST = 1 << 27


def is_sparse(X: Any) -> bool:
    """Whether X is of SciPy's sparse kinds; a look that imports nothing."""
    return hasattr(X, "tocsr")


def as_dense(path: Any, X: Any, what: str) -> Any:
    """X (n, p) as an array; sparse X only where that is no more than a gigabyte.

    Parameters
    ----------
    path : the file, for messages
    what : what cannot be done with zeros left out
    """
    if not is_sparse(X):
        return X
    if X.shape[0] * X.shape[1] > MOST:
        raise TableError(
            f"{path}: sparse values can only be {what} once zeros are written out, and {X.shape[0]:,} x "
            f"{X.shape[1]:,} of them are too many; choose features first"
        )
    return X.toarray()


def zeros_written_out(X: Any, why: str) -> str:
    """A note about an array X (n, p) that was sparse."""
    return f"sparse values were {why}: their zeros are written out, {max(1, round(X.nbytes / 1e6)):,} MB"
