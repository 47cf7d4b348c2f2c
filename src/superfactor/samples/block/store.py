"""Storage of the rows that a block has of tall matrices: in memory, or in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from superfactor._arrays import Array, zeros_like_of


class TallStore(Protocol):
    """Matrices (n_b, k) by key, to which columns can be added."""

    def get(self, key: int, columns: int) -> Array:
        """Return the first columns of a matrix."""

    def set(self, key: int, matrix: Array) -> None:
        """Store a matrix; it replaces an earlier one with this key."""

    def append(self, key: int, columns: Array) -> None:
        """Add columns on the right."""

    def drop(self, key: int) -> None:
        """Delete a matrix, if there is one."""


class InMemory:
    """Plain arrays; those that grow reserve memory for more columns, so that appending seldom copies."""

    def __init__(self) -> None:
        self._matrices: dict[int, Array] = {}
        self._used: dict[int, int] = {}

    def get(self, key: int, columns: int) -> Array:
        matrix, columns = self._matrices[key], min(columns, self._used[key])
        return matrix if matrix.shape[1] == columns else matrix[:, :columns]

    def set(self, key: int, matrix: Array) -> None:
        self._matrices[key], self._used[key] = matrix, int(matrix.shape[1])

    def append(self, key: int, columns: Array) -> None:
        if key not in self._matrices:
            self.set(key, columns)
            return
        old, used = self._matrices[key], self._used[key]
        total = used + int(columns.shape[1])
        if total > old.shape[1]:
            # Stored by columns, so that new columns follow the old ones in memory.
            room = zeros_like_of(columns, total + total // 2, int(columns.shape[0])).T
            room[:, :used] = old[:, :used]
            self._matrices[key] = room
        self._matrices[key][:, used:total] = columns
        self._used[key] = total

    def drop(self, key: int) -> None:
        self._matrices.pop(key, None)
        self._used.pop(key, None)


class InFiles:
    """One file per matrix, stored by columns, read as a whole each time.

    Files are not memory-mapped: pages of a map stay resident, and these files have as many rows as the data.

    Parameters
    ----------
    folder : used by this block only
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._types: dict[int, tuple[np.dtype[Any], int]] = {}  # dtype and number of rows
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, key: int) -> Path:
        return self._folder / f"{key}.columns"

    def get(self, key: int, columns: int) -> Array:
        dtype, rows = self._types[key]
        return np.fromfile(self._path(key), dtype, columns * rows).reshape(-1, rows).T

    def set(self, key: int, matrix: Array) -> None:
        self._write(key, matrix, "wb")

    def append(self, key: int, columns: Array) -> None:
        # An earlier block with the same folder may have left a file with this key.
        self._write(key, columns, "ab" if key in self._types else "wb")

    def _write(self, key: int, columns: Array, mode: str) -> None:
        try:
            with open(self._path(key), mode) as file:
                np.ascontiguousarray(columns.T).tofile(file)
        except OSError as error:  # for a full disk NumPy reports "4096 requested and 512 written"
            raise OSError(
                f"temporary file {self._path(key)}: cannot be written ({error}); "
                "set TMPDIR to a folder with more space"
            ) from error
        self._types[key] = columns.dtype, int(columns.shape[0])

    def drop(self, key: int) -> None:
        self._path(key).unlink(missing_ok=True)
        self._types.pop(key, None)
