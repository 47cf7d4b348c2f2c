"""Arrays of any library, sparse matrices and sources of rows: which one it is, and parts of it."""

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
    """Is X an array of another library than NumPy, to be computed with as it is?"""
    if is_numpy_array(X) or sp.issparse(X) or not is_array_api_obj(X):
        return False
    return not is_dask_namespace(namespace(X))


def as_numpy(x: Any) -> Any:
    """Arrays of any library as NumPy; whatever is no array stays as it is."""
    return to_numpy(x) if is_foreign(x) else x


def dense(X: Array) -> Array:
    """A sparse matrix as an array."""
    return X.toarray() if sp.issparse(X) else X


def take(X: Array, indices: Any, *, axis: int) -> Array:
    """Rows or columns of X by position, for any kind of array."""
    if sp.issparse(X):
        return X[indices, :] if axis == 0 else X[:, indices]
    xp = namespace(X)
    return xp.take(X, xp.asarray(np.asarray(indices), device=device(X)), axis=axis)


def like(values: Any, X: Array) -> Array:
    """`values` (NumPy) in the library, type and place of X; sparse X and sources stand for NumPy."""
    if isinstance(X, RowSource):
        return np.asarray(values, dtype=X.dtype)
    sample = X.data if sp.issparse(X) else X
    return namespace(sample).asarray(values, dtype=sample.dtype, device=device(sample))


def among(values: Any, kept: Any, n: int) -> Any:
    """Values of the samples `kept` among n, ones for all others."""
    if values is None:
        return None
    out = np.ones((n, *values.shape[1:]), dtype=values.dtype)
    out[kept] = values
    return out


def block_cuts(source: RowSource) -> list[int]:
    """0 = c_0 < … < c_B = n: the blocks of a source that working memory has room for."""
    return source.cuts(rows_per_block(source.values_a_row, source.dtype.itemsize))


def by_blocks(
    function: Callable[..., tuple[Array, ...]], X: Array | RowSource, *along: Array | None
) -> tuple[Array, ...]:
    """``function(X, *along)``, whose answers have a row for every row of X (n, p).

    A `RowSource` is read block by block, and the answers to the blocks are put one below the other; arrays
    `along` (n, ...), or None, are cut with it.
    """
    if not isinstance(X, RowSource):
        return function(X, *along)
    parts = [
        function(X.read_finite(a, b), *(None if x is None else x[a:b] for x in along))
        for a, b in pairwise(block_cuts(X))
    ]
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))
