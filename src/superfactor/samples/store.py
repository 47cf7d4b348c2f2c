"""Where a block keeps its rows of the tall matrices of a search: in memory, or in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from superfactor._arrays import Array, namespace


class TallStore(Protocol):
    """Matrices (n_b, k) by key; columns are added to them."""

    def get(self, key: int, columns: int) -> Array:
        """The first columns of a matrix."""

    def set(self, key: int, matrix: Array) -> None:
        """Keep a matrix in the place of the one before."""

    def append(self, key: int, columns: Array) -> None:
        """Add columns on the right."""

    def drop(self, key: int) -> None:
        """Forget a matrix, if it is there."""


class InMemory:
    """Plain arrays."""

    def __init__(self) -> None:
        self._matrices: dict[int, Array] = {}

    def get(self, key: int, columns: int) -> Array:
        matrix = self._matrices[key]
        return matrix if matrix.shape[1] == columns else matrix[:, :columns]

    def set(self, key: int, matrix: Array) -> None:
        self._matrices[key] = matrix

    def append(self, key: int, columns: Array) -> None:
        if key in self._matrices:
            columns = namespace(columns).concat([self._matrices[key], columns], axis=1)
        self._matrices[key] = columns

    def drop(self, key: int) -> None:
        self._matrices.pop(key, None)


class InFiles:
    """One file a matrix, column after column, read as a whole whenever it is asked for.

    Not memory-mapped: pages of a map stay resident, and these files are as tall as the data.

    Parameters
    ----------
    folder : of this block alone
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._types: dict[int, tuple[np.dtype[Any], int]] = {}  # and the number of rows
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, key: int) -> Path:
        return self._folder / f"{key}.columns"

    def get(self, key: int, columns: int) -> Array:
        dtype, rows = self._types[key]
        return np.fromfile(self._path(key), dtype, columns * rows).reshape(-1, rows).T

    def set(self, key: int, matrix: Array) -> None:
        self._write(key, matrix, "wb")

    def append(self, key: int, columns: Array) -> None:
        # A file of this key may be left from a block before, whose folder this was.
        self._write(key, columns, "ab" if key in self._types else "wb")

    def _write(self, key: int, columns: Array, mode: str) -> None:
        try:
            with open(self._path(key), mode) as file:
                np.ascontiguousarray(columns.T).tofile(file)
        except OSError as error:  # of a full disk NumPy says "4096 requested and 512 written"
            raise OSError(
                f"temporary file {self._path(key)}: cannot be written ({error}); "
                "TMPDIR names a folder that has more room"
            ) from error
        self._types[key] = columns.dtype, int(columns.shape[0])

    def drop(self, key: int) -> None:
        self._path(key).unlink(missing_ok=True)
        self._types.pop(key, None)
