"""Zarr and HDF5: dense arrays in chunks, and sparse matrices stored by rows, as in backed AnnData."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor.spectrum.rows.source import (
    RowSource,
    contiguous,
    is_a,
    require_numbers,
    shared,
    two_dimensions,
)


class ZarrRows(RowSource):
    """Rows of a Zarr array (n, p), format 2 or 3."""

    def __init__(self, array: Any):
        super().__init__(*two_dimensions(array.shape))
        self._array = array

    def _stored_type(self, columns: list[int] | None) -> np.dtype[Any]:
        return require_numbers(np.dtype(self._array.dtype))

    def _stored(self, start: int, stop: int, columns: list[int] | None) -> np.ndarray:
        where = contiguous(columns)
        if where is not None:
            return np.asarray(self._array[start:stop, where])
        return self._gathered(start, stop, columns)

    def _gathered(self, start: int, stop: int, columns: list[int] | None) -> np.ndarray:
        return np.asarray(self._array.oindex[start:stop, columns])

    def _edges(self) -> Sequence[int]:
        n = self.shape[0]
        # A shard is one file with several chunks, and is best read as a whole.
        height = (getattr(self._array, "shards", None) or self._array.chunks or (n,))[0]
        return [*range(0, n, height), n]


class HDF5Rows(ZarrRows):
    """Rows of a dense h5py.Dataset (n, p)."""

    def _gathered(self, start: int, stop: int, columns: list[int] | None) -> np.ndarray:
        # HDF5 reads selected columns one by one, which takes longer than reading all of them.
        return np.asarray(self._array[start:stop])[:, columns]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_array": _place(self._array)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _array=_at(state["_array"]))


class SparseRows(RowSource):
    """Rows of a CSR matrix, whose blocks are CSR again.

    Parameters
    ----------
    data, indices : (stored values,), NumPy arrays or datasets of HDF5 or Zarr, read in slices
    indptr : (n + 1,), position where each row begins; in memory
    shape : (n, p)
    """

    def __init__(self, data: Any, indices: Any, indptr: Any, shape: tuple[int, int]):
        super().__init__(*two_dimensions(shape))
        self._data, self._indices, self._indptr = data, indices, np.asarray(indptr[:])
        self._width = self.shape[1]  # of the storage, before columns are selected
        self.row_size: float = float(self._indptr[-1]) / max(self.shape[0], 1)

    def _stored_type(self, columns: list[int] | None) -> np.dtype[Any]:
        return require_numbers(np.dtype(self._data.dtype))

    def _stored(self, start: int, stop: int, columns: list[int] | None) -> Any:
        first, last = int(self._indptr[start]), int(self._indptr[stop])
        indices = np.asarray(self._indices[first:last])
        # A block is small, so its positions fit into the type of the column indices.
        begins = (self._indptr[start : stop + 1] - first).astype(indices.dtype)
        parts = np.asarray(self._data[first:last]), indices, begins
        block = shared(sp.csr_array, (stop - start, self._width), parts)
        return block if columns is None else block[:, columns]

    def __getstate__(self) -> dict[str, Any]:
        places = {"_data": _place(self._data), "_indices": _place(self._indices)}
        return {**self.__dict__, **places}

    def __setstate__(self, state: dict[str, Any]) -> None:
        places = {name: _at(state[name]) for name in ("_data", "_indices")}
        self.__dict__.update(state, **places)


def _place(array: Any) -> Any:
    """Return the file and name of an HDF5 dataset, for pickling; other arrays unchanged."""
    if is_a(array, "h5py", "Dataset"):
        return _InFile(array.file.filename, array.name)
    return array


def _at(array: Any) -> Any:
    return array.opened() if isinstance(array, _InFile) else array


@dataclass(frozen=True)
class _InFile:
    """A file and the name of a dataset in it."""

    file: str
    name: str

    def opened(self) -> Any:
        import h5py

        return h5py.File(self.file, "r")[self.name]
