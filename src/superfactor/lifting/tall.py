"""Where a block keeps its rows of the tall matrices of a search: in memory, or in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from superfactor._arrays import Array, namespace


class TallStore(Protocol):
    """Matrices (n_b, k) by name; columns are added to them."""

    in_memory: bool

    def __contains__(self, name: str) -> bool: ...

    def get(self, name: str) -> Array:
        """The matrix of this name."""

    def set(self, name: str, matrix: Array) -> None:
        """Keep a matrix in the place of the one before."""

    def append(self, name: str, columns: Array) -> None:
        """Add columns on the right."""

    def drop(self, name: str) -> None:
        """Forget a matrix, if it is there."""


class InMemory:
    """Plain arrays."""

    in_memory = True

    def __init__(self) -> None:
        self._matrices: dict[str, Array] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._matrices

    def get(self, name: str) -> Array:
        return self._matrices[name]

    def set(self, name: str, matrix: Array) -> None:
        self._matrices[name] = matrix

    def append(self, name: str, columns: Array) -> None:
        if name in self._matrices:
            columns = namespace(columns).concat([self._matrices[name], columns], axis=1)
        self._matrices[name] = columns

    def drop(self, name: str) -> None:
        self._matrices.pop(name, None)


class InFiles:
    """One file a matrix, column after column, read as a whole whenever it is asked for.

    Not memory-mapped: pages of a map stay resident, and these files are as tall as the data.

    Parameters
    ----------
    folder : of this block alone
    rows : n_b
    """

    in_memory = False

    def __init__(self, folder: Path, rows: int):
        self._folder, self._rows = folder, rows
        self._types: dict[str, np.dtype[Any]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.columns"

    def __contains__(self, name: str) -> bool:
        return name in self._types

    def get(self, name: str) -> Array:
        return np.fromfile(self._path(name), self._types[name]).reshape(-1, self._rows).T

    def set(self, name: str, matrix: Array) -> None:
        self._write(name, matrix, "wb")

    def append(self, name: str, columns: Array) -> None:
        # A file of this name may be left from a block before, whose folder this was.
        self._write(name, columns, "ab" if name in self else "wb")

    def _write(self, name: str, columns: Array, mode: str) -> None:
        try:
            with open(self._path(name), mode) as file:
                np.ascontiguousarray(columns.T).tofile(file)
        except OSError as error:  # of a full disk NumPy says "4096 requested and 512 written"
            raise OSError(
                f"temporary file {self._path(name)}: cannot be written ({error}); "
                "TMPDIR names a folder that has more room"
            ) from error
        self._types[name] = columns.dtype

    def drop(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)
        self._types.pop(name, None)
