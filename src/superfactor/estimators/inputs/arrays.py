"""Arrays of any library, sparse matrices and sources of rows: conversion, selection, reading in blocks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from array_api_compat import is_array_api_obj, is_dask_namespace, is_numpy_array

from superfactor._arrays import Array, device, namespace, to_numpy
from superfactor.spectrum import RowSource, rows_per_block


def is_foreign(X: Any) -> bool:
    """Return whether X is an array of a library other than NumPy, which computes with it."""
    if is_numpy_array(X) or sp.issparse(X) or not is_array_api_obj(X):
        return False
    return not is_dask_namespace(namespace(X))


def as_numpy(x: Any) -> Any:
    """Convert arrays of any library to NumPy; return other objects unchanged."""
    return to_numpy(x) if is_foreign(x) else x


def dense(X: Array) -> Array:
    """Convert a sparse matrix to an array."""
    return X.toarray() if sp.issparse(X) else X


def take(X: Array, indices: Any, *, axis: int) -> Array:
    """Return rows or columns of X by position, for arrays of any library."""
    if sp.issparse(X):
        return X[indices, :] if axis == 0 else X[:, indices]
    xp = namespace(X)
    return xp.take(X, xp.asarray(np.asarray(indices), device=device(X)), axis=axis)


def like(values: Any, X: Array) -> Array:
    """Convert `values` (NumPy) to the library, type and device of X; NumPy for sparse X and sources."""
    if isinstance(X, RowSource):
        return np.asarray(values, dtype=X.dtype)
    sample = X.data if sp.issparse(X) else X
    return namespace(sample).asarray(values, dtype=sample.dtype, device=device(sample))


def among(values: Any, kept: Any, n: int) -> Any:
    """Expand values of the samples `kept` to n samples, with ones for the others."""
    if values is None:
        return None
    out = np.ones((n, *values.shape[1:]), dtype=values.dtype)
    out[kept] = values
    return out


def block_cuts(source: RowSource) -> list[int]:
    """Return 0 = c_0 < … < c_B = n, the limits of blocks of a source that fit into working memory."""
    return source.cuts(rows_per_block(source.values_a_row, source.dtype.itemsize))


def by_blocks(
    function: Callable[..., tuple[Array, ...]], X: Array | RowSource, *along: Array | None
) -> tuple[Array, ...]:
    """Return ``function(X, *along)``, a tuple of arrays with a row for every row of X (n, p).

    A `RowSource` is read in blocks, and the results are concatenated. Arrays `along` (n, ...), or None, are
    divided in the same way.
    """
    if not isinstance(X, RowSource):
        return function(X, *along)
    parts = [
        function(X.read_finite(a, b), *(None if x is None else x[a:b] for x in along))
        for a, b in pairwise(block_cuts(X))
    ]
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))
