"""The interface of a storage of rows."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

# Largest share of scikit-learn's `working_memory` for a block: several exist at once, with arrays computed
# from them.
_SHARE = 1 / 16
# With fewer rows at a time, the overhead of calls exceeds the benefit.
_LEAST_ROWS = 256
# Number of values of a sparse matrix that are scaled at a time.
_VALUES_AT_A_TIME = 2**18


def working_memory() -> float:
    """Return scikit-learn's ``working_memory`` in bytes: the limit of all temporary arrays together."""
    from sklearn import get_config

    return float(get_config()["working_memory"]) * 2**20


def rows_per_block(p: float, itemsize: int) -> int:
    """Return how many rows of p numbers make a block, from scikit-learn's ``working_memory``."""
    return max(_LEAST_ROWS, int(_SHARE * working_memory() / max(p * itemsize, 1)))


class RowSource(ABC):
    """X (n, p), read in blocks of rows.

    Sources can be pickled if their storage can: by its path, without its content.

    Attributes
    ----------
    shape : (n, p)
    dtype : float32 or float64, the type of the blocks
    names : of the p columns, if the storage has names
    row_size : mean number of stored values in a row if blocks are sparse, otherwise None
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: list[str] | None
    row_size: float | None = None

    def __init__(self, n: int, p: int, names: Sequence[str] | None = None):
        self.shape = (int(n), int(p))
        self.names = None if names is None else list(names)
        # Positions of the p columns in the storage; None for all columns.
        self._columns: list[int] | None = None
        # Factors of the p columns; None for ones.
        self._factors: np.ndarray | None = None

    # --- methods of a storage --------------------------------------------------------------------

    @abstractmethod
    def _stored(self, start: int, stop: int, columns: list[int] | None) -> Any:
        """Return rows start..stop−1 of these columns in any numeric type and layout, or as CSR."""

    @abstractmethod
    def _stored_type(self, columns: list[int] | None) -> np.dtype[Any]:
        """Return the type of these columns; raise a TypeError if they are not real numbers."""

    def _edges(self) -> Sequence[int]:
        """Return 0 = e_0 < … < n: reading between two of these reads nothing that is not needed."""
        return [0, self.shape[0]]

    # --- methods for readers ---------------------------------------------------------------------

    @property
    def stored_type(self) -> np.dtype[Any]:
        """Type of the numbers in the storage; blocks are read as `dtype`."""
        return self._stored_type(self._columns)

    @property
    def values_a_row(self) -> float:
        """Number of values that a row takes in memory, including positions in a sparse row."""
        return self.shape[1] if self.row_size is None else 2 * self.row_size

    def read(self, start: int, stop: int) -> Any:
        """Return rows start..stop−1 (stop−start, p), C-contiguous or CSR, in `dtype`. Do not write to them.

        A block is valid only until the same thread reads the next one, which may use the same memory.
        """
        if not 0 <= start < stop <= self.shape[0]:
            raise ValueError(f"rows {start} to {stop}: X has rows 0 to {self.shape[0]}")
        stored = self._stored(start, stop, self._columns)
        with np.errstate(over="ignore"):  # overflow of float32 gives infinity, which is reported
            if sp.issparse(stored):
                return scaled_columns(stored, self._factors, self.dtype)
            block = np.require(stored, self.dtype, ["C", "ALIGNED", "ENSUREARRAY"])
            if self._factors is not None:
                block = block * self._factors
        block.flags.writeable = False
        return block

    def read_finite(self, start: int, stop: int) -> Any:
        """Like `read`, but raise a ValueError with the row and column of a NaN or an infinity."""
        block = self.read(start, stop)
        values = block.data if sp.issparse(block) else block
        # If all entries are finite, so is the sum, unless it overflows: one pass, no boolean array.
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.sum(values)
        if np.isfinite(total) or np.isfinite(values).all():
            return block
        if sp.issparse(block):
            block = block.toarray()
        rows, columns = np.nonzero(~np.isfinite(block))
        j = int(columns[0])
        kind = "NaN" if np.isnan(block[rows[0], j]) else "infinity"
        stored = j if self._columns is None else self._columns[j]
        column = stored if self.names is None else repr(self.names[j])
        raise ValueError(
            f"X: Input X contains {kind} in row {start + int(rows[0])}, column {column} "
            f"({len(set(rows.tolist()))} of the rows {start} to {stop - 1} are affected); finite "
            "numbers are required"
        )

    def cuts(self, rows: int) -> list[int]:
        """Return 0 = c_0 < … < c_B = n: blocks of about `rows` rows, on edges of the storage if possible.

        Chunks of the storage are joined up to `rows` rows; only those above 1.5 · `rows` are divided.
        """
        cuts = [0]
        last = 0
        for low, high in pairwise(self._edges()):
            if high - cuts[-1] > rows and low > cuts[-1]:
                cuts.append(low)
            parts = max(1, round((high - low) / rows)) if low == cuts[-1] else 1
            cuts += [low + (high - low) * i // parts for i in range(1, parts)]
            last = high
        return [*cuts, last] if last > cuts[-1] else cuts

    def select(self, columns: Sequence[int]) -> Self:
        """Return the same rows with the columns at these positions."""
        chosen = [int(j) for j in columns]
        stored = chosen if self._columns is None else [self._columns[j] for j in chosen]
        names = None if self.names is None else [self.names[j] for j in chosen]
        factors = None if self._factors is None else self._factors[chosen]
        size = None if self.row_size is None else self.row_size * len(chosen) / self.shape[1]
        shape = self.shape[0], len(chosen)
        return self._but(shape=shape, names=names, row_size=size, _columns=stored, _factors=factors)

    def scaled(self, factors: Any) -> Self:
        """Return the same rows with columns multiplied by factors (p,) when a block is read."""
        factors = np.asarray(factors, dtype=self.dtype)
        return self._but(_factors=factors if self._factors is None else self._factors * factors)

    def settled(self, dtype: Any = None) -> Self:
        """Return the source with this `dtype`; None is float64, or float32 if the storage is float32."""
        stored = self.stored_type
        if dtype is None:
            dtype = np.float32 if stored == np.float32 else np.float64
        elif not _is_float(dtype):
            raise ValueError(f"dtype={dtype!r}: 'float32', 'float64' or None is required")
        return self._but(dtype=np.dtype(dtype))

    def _but(self, **changes: Any) -> Self:
        """Return the same storage with other attributes."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **changes)
        return other

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.shape[0]} x {self.shape[1]}, {self.dtype}>"


def scaled_columns(X: Any, factors: np.ndarray | None, dtype: Any) -> Any:
    """Return a CSR matrix with columns multiplied by factors (p,), in `dtype`; positions are shared."""
    if factors is None:
        return X if X.dtype == dtype else X.astype(dtype)
    factors = np.asarray(factors, dtype=dtype)
    data = np.empty(X.data.shape, dtype)
    # Some at a time, since NumPy needs eight bytes per position for the lookup.
    for start in range(0, len(data), _VALUES_AT_A_TIME):
        some = slice(start, start + _VALUES_AT_A_TIME)
        np.multiply(factors[X.indices[some]], X.data[some], out=data[some], casting="unsafe")
    return shared(sp.csr_array, X.shape, (data, X.indices, X.indptr))


def shared(kind: Any, shape: tuple[int, int], parts: tuple[Any, Any, Any]) -> Any:
    """Return a sparse array of these parts without copies; constructors copy views of small parts."""
    out = kind(shape, dtype=parts[0].dtype)
    out.data, out.indices, out.indptr = parts
    return out


def _is_float(dtype: Any) -> bool:
    try:
        return np.dtype(dtype) in (np.float32, np.float64)
    except TypeError:
        return False


def is_a(X: Any, module: str, name: str) -> bool:
    """Return whether X is an object of this class, without importing its library."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(X, getattr(loaded, name))


def contiguous(columns: list[int] | None) -> slice | None:
    """Return these positions as a slice, if they are one: a storage reads it faster; otherwise None."""
    if columns is None:
        return slice(None)
    if columns and columns == list(range(columns[0], columns[0] + len(columns))):
        return slice(columns[0], columns[0] + len(columns))
    return None


def two_dimensions(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the shape (n, p); raise a ValueError for any other."""
    if len(shape) != 2:
        raise ValueError(f"X: an array of 2 dimensions is required, got shape {tuple(shape)}")
    return shape[0], shape[1]


def require_numbers(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type of real numbers or booleans; raise a TypeError for any other."""
    if dtype.kind not in "biuf":
        raise TypeError(f"X: real numbers are required, got dtype {dtype}")
    return dtype
