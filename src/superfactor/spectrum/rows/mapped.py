"""NumPy arrays on disk."""

from __future__ import annotations

import mmap
import os
import threading
from typing import Any

import numpy as np

from superfactor.spectrum.rows.source import RowSource, contiguous, require_numbers, two_dimensions


class _LastRead(threading.local):
    """The rows that this thread read last."""

    rows: slice | None = None


class MemmapRows(RowSource):
    """Rows of a memory-mapped array of any layout; blocks are views if that is possible.

    Pages that were read count as memory of this process until the system needs it. They are released when the
    same thread reads its next block, so one block per thread is resident.

    Parameters
    ----------
    array : array (n, p); it need not be mapped from a file
    """

    def __init__(self, array: Any):
        super().__init__(*two_dimensions(array.shape))
        self._array = np.asarray(array)
        self._held = _LastRead()
        self._map: Any = None
        self._path: str | None = None
        self._map_start = 0  # in the file, bytes
        # Mode "c" stores changes in private pages: releasing these would lose the changes.
        if is_mapped(array) and array.mode != "c":
            self._map = array._mmap
            if array.filename is not None:
                self._path = os.path.abspath(array.filename)
            # As NumPy does: a map begins at a multiple of the granularity, not at the array.
            self._map_start = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY

    def _stored_type(self, columns: list[int] | None) -> np.dtype[Any]:
        return require_numbers(self._array.dtype)

    def _stored(self, start: int, stop: int, columns: list[int] | None) -> np.ndarray:
        self._give_back()
        self._held.rows = slice(start, stop)
        block = self._array[start:stop]
        where = contiguous(columns)
        return block[:, columns if where is None else where]

    def _give_back(self) -> None:
        rows, self._held.rows = self._held.rows, None
        if rows is None or self._map is None or not hasattr(mmap, "MADV_DONTNEED"):
            return
        low, high = np.lib.array_utils.byte_bounds(self._array[rows])
        low, high = low - _address(self._map), high - _address(self._map)
        low -= low % mmap.PAGESIZE
        self._map.madvise(mmap.MADV_DONTNEED, low, high - low)

    # --- pickled by file and position ------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_held": None, "_map": None}
        if self._path is None or not os.path.exists(self._path):  # by value, as in NumPy
            state["_path"] = None
        else:
            first = self._array.__array_interface__["data"][0] - _address(self._map)
            kind, shape, strides = self._array.dtype, self._array.shape, self._array.strides
            state["_array"] = (kind, shape, strides, self._map_start + first)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _held=_LastRead())
        if self._path is not None:
            kind, shape, strides, first = state["_array"]
            whole = np.memmap(self._path, np.uint8, "r")
            self._map, self._map_start = whole._mmap, 0  # type: ignore[attr-defined]
            try:
                self._array = np.ndarray(shape, kind, whole, first, strides)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"{self._path}: {whole.nbytes} bytes are too few for the {kind} array of "
                    f"{shape[0]} x {shape[1]} that it held"
                ) from error


def is_mapped(array: Any) -> bool:
    """Return whether this is a view of a file; results of computations have the same type and are not."""
    return isinstance(array, np.memmap) and getattr(array, "_mmap", None) is not None


def _address(mapped: Any) -> int:
    """Return the address of the map in memory."""
    return int(np.frombuffer(mapped, np.uint8).__array_interface__["data"][0])
