"""What is computed sample by sample, block by block where X is not in memory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from superfactor._arrays import Array
from superfactor.spectrum import RowSource, rows_per_block


def block_cuts(source: RowSource) -> list[int]:
    """0 = c_0 < … < c_B = n: the blocks of a source that working memory has room for."""
    return source.cuts(rows_per_block(source.values_a_row, source.dtype.itemsize))


def by_blocks(
    function: Callable[..., tuple[Array, ...]], X: Array | RowSource, *along: Array | None
) -> tuple[Array, ...]:
    """``function(X, *along)``, whose answers have a row for every row of X (n, p).

    A `RowSource` is read block by block, and the answers to the blocks are put one below the other.

    Parameters
    ----------
    along : arrays (n, ...) that are cut with X, or None
    """
    if not isinstance(X, RowSource):
        return function(X, *along)
    parts = [
        function(X.read_finite(a, b), *(None if x is None else x[a:b] for x in along))
        for a, b in pairwise(block_cuts(X))
    ]
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))
