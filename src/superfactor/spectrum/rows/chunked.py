"""Zarr arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from superfactor.spectrum.rows.source import RowSource, contiguous, require_numbers, two_dimensions


class ZarrRows(RowSource):
    """Rows of a Zarr array, format 2 or 3.

    Parameters
    ----------
    array : zarr.Array (n, p)
    """

    def __init__(self, array: Any):
        super().__init__(*two_dimensions(array.shape))
        self._array = array

    def _stored_type(self, columns: list[int] | None) -> np.dtype[Any]:
        return require_numbers(np.dtype(self._array.dtype))

    def _stored(self, start: int, stop: int, columns: list[int] | None) -> np.ndarray:
        where = contiguous(columns)
        if where is not None:
            return np.asarray(self._array[start:stop, where])
        return np.asarray(self._array.oindex[start:stop, columns])

    def _edges(self) -> Sequence[int]:
        # A shard is one file of several chunks, read best as a whole.
        height = (getattr(self._array, "shards", None) or self._array.chunks)[0]
        n = self.shape[0]
        return [*range(0, n, height), n]
