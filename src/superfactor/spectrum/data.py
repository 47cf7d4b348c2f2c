"""The data matrix as an operator: weighted, scaled, dense or sparse, never copied."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import Array, cores, device, namespace, wide
from superfactor.spectrum.rows import shared

# Number of rows that are summed in the type of X; sums of these are in float64.
_GRAM_ROWS = 8192
# From this share of stored values on, products of a few dense rows at a time are faster than sparse ones.
_DENSE_SHARE, _DENSE_ROWS = 0.1, 128
# Number of values of a sparse X that are squared at a time.
_VALUES = 2**18


class DataMatrix:
    """X̃ = diag(√w)·X/s (n, p), an operator given by its products.

    `X` is n_samples × n_features, dense (any array-API library) or SciPy-sparse; `w` are the sample
    weights (None: all one). `s` makes ‖X̃‖ about 1, so that the solvers do not depend on the units of X.
    Scaling applies to the thin factor of each product; X is never copied.

    Attributes
    ----------
    shape : (n, p)
    scale : the factor s, a power of two, so that division by it is exact
    root_weight : √w of shape (n, 1), or None
    singular_values : σ (p,) if X̃ = UΣ in its own right singular vectors, otherwise None
    rounding : bounds of the rounding errors of UΣ (`spectrum.compression.Rounding`), otherwise None
    """

    is_sparse: bool
    xp: Any
    dtype: Any
    device: Any
    root_weight: Array | None
    _precise_root: Array | None
    scale: float

    def __init__(
        self,
        X: Array,
        sample_weight: Array | None = None,
        *,
        scale: float = 1.0,
        singular_values: Array | None = None,
        rounding: Any = None,
    ):
        self.singular_values: Array | None = singular_values
        self.rounding: Any = rounding
        self.is_sparse = sp.issparse(X)
        if self.is_sparse:
            X = sp.csr_array(X)
            if X.dtype.kind != "f":
                X = X.astype("float64")
            if not X.has_canonical_format:  # squares of values need each entry once
                X = X.copy()
                X.sum_duplicates()
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))
        sample = X.data if self.is_sparse else X
        self.xp = namespace(sample)
        self.dtype, self.device = sample.dtype, device(sample)
        self.root_weight = self._precise_root = None
        if sample_weight is not None:
            weight = self.xp.asarray(sample_weight, dtype=self.xp.float64, device=self.device)
            self._precise_root = self.xp.sqrt(weight)[:, None]
            self.root_weight = self.xp.astype(self._precise_root, self.dtype, copy=False)
        self._X = X
        self._factor, self.scale = 1 / scale, scale
        self._blocks: list[tuple[slice, Any, Any]] | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._turned: Any = None

    def threaded(self, least: int) -> DataMatrix:
        """Return the same matrix; a sparse X with more than `least` stored values uses all cores."""
        if not self.is_sparse or self.nnz <= least:
            return self
        other = copy.copy(self)
        other._split(cores())
        return other

    def _split(self, threads: int) -> None:
        """Divide rows into blocks with equal numbers of values; SciPy's sparse kernels release the GIL."""
        if threads < 2:
            return
        X, n = self._X, self.shape[0]
        cuts = np.searchsorted(X.indptr, np.linspace(0, X.nnz, threads + 1))
        cuts[0], cuts[-1] = 0, n
        self._blocks = []
        for a, b in pairwise(cuts):
            parts, shape = _between(X, a, b), (int(b - a), self.shape[1])
            block = shared(sp.csr_array, shape, parts), shared(sp.csc_array, shape[::-1], parts)
            self._blocks.append((slice(int(a), int(b)), *block))
        self._pool = ThreadPoolExecutor(threads)

    @property
    def nnz(self) -> int:
        """Number of stored values."""
        return int(self._X.nnz) if self.is_sparse else self.shape[0] * self.shape[1]

    def empty(self) -> Array:
        """Return an empty array of the library, type and device of X."""
        return self.xp.empty(0, dtype=self.dtype, device=self.device)

    def rows(self, start: int, stop: int) -> DataMatrix:
        """Return some of the rows, as views of the same X, for products only."""
        part = copy.copy(self)
        part.shape = stop - start, self.shape[1]
        part._blocks = part._pool = part._turned = None
        if self.root_weight is not None and self._precise_root is not None:
            part.root_weight = self.root_weight[start:stop, :]
            part._precise_root = self._precise_root[start:stop, :]
        if self.is_sparse:
            part._X = shared(sp.csr_array, part.shape, _between(self._X, start, stop))
        else:
            part._X = self._X[start:stop, :]
        return part

    def over(self, scale: float) -> DataMatrix:
        """Return X̃/scale."""
        if scale == 1.0:
            return self
        other = copy.copy(self)
        other.scale, other._factor = self.scale * scale, self._factor / scale
        return other

    def take(self, index: Any) -> Any:
        """Return some rows of X/s, in memory and without their weights."""
        if self.is_sparse:
            return self._X[index, :] * self._factor
        xp = self.xp
        return xp.take(self._X, xp.asarray(index, device=self.device), axis=0) * self._factor

    def dense(self) -> Array:
        """Return X̃ (n, p) as a float64 array."""
        X = wide(self._X.toarray() if self.is_sparse else self._X)
        return self._weighted(X * self._factor)

    def row_squares(self) -> Array:
        """Return ‖x̃_i‖² of every row (n,), in float64."""
        X, xp = self._X, self.xp
        with np.errstate(over="ignore", under="ignore"):  # an overflow gives infinity, which callers check
            if self.is_sparse:
                # Share the positions of X: SciPy's product of X with itself would copy them twice.
                squares = shared(sp.csr_array, X.shape, (X.data**2, X.indices, X.indptr))
                rows = wide(squares @ self.xp.ones(X.shape[1], dtype=X.dtype))
            else:
                rows = wide(xp.vecdot(X, X, axis=-1))
        if self._precise_root is not None:
            rows = rows * self._precise_root[:, 0] ** 2
        return rows * self._factor**2

    def column_sums(self) -> tuple[Array, Array]:
        """Return Σ_i √w_i·x̃_ij and Σ_i x̃_ij² of every column (p,), in float64, for means and variances."""
        X, xp, n = self._X, self.xp, self.shape[0]
        weight = None if self._precise_root is None else self._precise_root[:, 0] ** 2
        if self.is_sparse:
            each = np.ones(n) if weight is None else weight
            squares = shared(sp.csc_array, X.shape[::-1], (wide(X.data) ** 2, X.indices, X.indptr))
            columns = shared(sp.csc_array, X.shape[::-1], (X.data, X.indices, X.indptr))
            found = columns @ each, squares @ each
        elif type(X) is np.ndarray:  # without a temporary array; float32 is summed in float64
            each = np.ones(n) if weight is None else weight
            one_by_one = ("ij,ij->j", X, X) if weight is None else ("i,ij,ij->j", weight, X, X)
            sums = each @ X if X.dtype == np.float64 else np.einsum("i,ij->j", each, X)
            found = sums, np.einsum(*one_by_one, dtype=np.float64)
        else:
            found = (xp.zeros(X.shape[1], dtype=xp.float64, device=self.device),) * 2
            for start, stop in _stretches(n):
                block = wide(X[start:stop, :])
                weighted = block if weight is None else block * weight[start:stop, None]
                found = (found[0] + xp.sum(weighted, axis=0), found[1] + xp.sum(block * weighted, axis=0))
        return found[0] * self._factor, found[1] * self._factor**2

    def sum_of_squares(self) -> float:
        """Return ‖X̃‖², summed in float64; zero only if X is zero, even if its squares underflow."""
        X = self._X
        if type(X) is np.ndarray and X.dtype == np.float64 and self.root_weight is None:
            # A view of the contiguous memory, in any order: BLAS reads it once.
            flat = X.ravel(order="K")
            total = float(np.vdot(flat, flat)) * self._factor**2
        elif self.is_sparse and self.root_weight is None:
            parts = (wide(X.data[i : i + _VALUES]) for i in range(0, X.nnz, _VALUES))
            with np.errstate(over="ignore", under="ignore"):
                total = sum(float(np.vdot(part, part)) for part in parts) * self._factor**2
        else:
            total = float(self.xp.sum(self.row_squares()))
        if total == 0 and bool(self.xp.any((self._X.data if self.is_sparse else self._X) != 0)):
            return 5e-324
        return total

    def feature_gram(self) -> Array:
        """Return X̃ᵀX̃ (p, p) in float64, from sums over a few rows at a time in the type of X."""
        (n, p), X, weight, xp = self.shape, self._X, self.root_weight, self.xp
        if self.is_sparse and X.nnz < _DENSE_SHARE * n * p:
            X = X if weight is None else sp.csr_array(X.multiply(weight))
            return (X.T @ X).toarray().astype("float64") * self._factor**2
        total = xp.zeros((p, p), dtype=xp.float64, device=self.device)
        for start, stop in _stretches(n, _DENSE_ROWS if self.is_sparse else _GRAM_ROWS):
            block = X[start:stop, :].toarray() if self.is_sparse else X[start:stop, :]
            if weight is not None:
                block = block * weight[start:stop, :]
            total += wide(block.T @ block)
        return total * self._factor**2

    def times(self, T: Array) -> Array:
        """Return X̃T (n, k) for T (p, k)."""
        T = self.xp.astype(T, self.dtype, copy=False)
        if self._factor != 1.0:
            T = T * self._factor
        if self._blocks is not None and self._pool is not None:
            T = self.xp.ascontiguousarray(T)
            out = self.xp.concat(list(self._pool.map(lambda b: b[1] @ T, self._blocks)))
        elif self.is_sparse or self.shape[0] >= self.shape[1]:
            out = self._X @ T
        else:  # for long rows, BLAS computes the transposed product in half the time
            out = (T.T @ self._X.T).T
        return out if self.root_weight is None else out * self.root_weight

    def transpose_times(self, Z: Array) -> Array:
        """Return X̃ᵀZ (p, k) for Z (n, k)."""
        Z = self.xp.astype(Z, self.dtype, copy=False)
        if self.root_weight is not None:
            Z = Z * self.root_weight
        if self._blocks is not None and self._pool is not None:
            Z = self.xp.ascontiguousarray(Z)
            out = sum(self._pool.map(lambda b: b[2] @ Z[b[0]], self._blocks))
        elif self.is_sparse:
            if self._turned is None:  # SciPy's own transpose would copy a view of a larger X
                parts = self._X.data, self._X.indices, self._X.indptr
                self._turned = shared(sp.csc_array, self.shape[::-1], parts)
            out = self._turned @ Z
        else:  # X is stored by rows: BLAS needs half the time of Xᵀ @ Z
            out = (Z.T @ self._X).T
        return out * self._factor if self._factor != 1.0 else out

    def doubled(self, most: float) -> DataMatrix:
        """Return a float64 copy for several precise products, if it has at most `most` values."""
        if not self._single or self.is_sparse or self.shape[0] * self.shape[1] > most:
            return self
        other = copy.copy(self)
        other._X, other.dtype, other.root_weight = (wide(self._X), self.xp.float64, self._precise_root)
        return other

    def precise_times(self, T: Array) -> Array:
        """Return X̃T (n, k) in float64 for any type of X; T (p, k)."""
        if not self._single:
            return self.times(T)
        parts = (block @ T[start:stop, :] for start, stop, block in self._wide_columns())
        return self._weighted(sum(parts)) * self._factor

    def precise_transpose_times(self, Z: Array) -> Array:
        """Return X̃ᵀZ (p, k) in float64 for any type of X; Z (n, k)."""
        if not self._single:
            return self.transpose_times(Z)
        Z = self._weighted(Z) * self._factor
        return self.xp.concat([(Z.T @ block).T for _, _, block in self._wide_columns()])

    @property
    def _single(self) -> bool:
        return bool(self.dtype != self.xp.float64)

    def _weighted(self, Z: Array) -> Array:
        return Z if self._precise_root is None else Z * self._precise_root

    def _wide_columns(self) -> Iterator[tuple[int, int, Array]]:
        """Yield X in float64, some columns at a time, without a copy of the whole X."""
        columns = sp.csc_array(self._X) if self.is_sparse else self._X
        for start, stop in _stretches(self.shape[1]):
            block = columns[:, start:stop]
            yield start, stop, block.astype("float64") if self.is_sparse else wide(block)

    def gram(self) -> Array:
        """Return the smaller Gram matrix in float64: X̃X̃ᵀ (n, n) if n ≤ p, X̃ᵀX̃ (p, p) otherwise."""
        n, p = self.shape
        if n > p:
            return self.feature_gram()
        X, weight, xp = self._X, self._precise_root, self.xp
        if self.is_sparse:
            X = X.astype("float64", copy=False)
            K = (X @ X.T).toarray()
        elif self.dtype == xp.float64:
            K = X @ X.T
        else:  # in blocks along the long side, without a float64 copy of the whole X
            K = xp.zeros((n, n), dtype=xp.float64, device=self.device)
            for start, stop in _stretches(p):
                block = wide(X[:, start:stop])
                K += block @ block.T
        if weight is not None:
            K = K * weight * weight.T
        return K * self._factor**2


def power_of_two(x: float) -> float:
    """Return the largest power of two up to x."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1)


def _stretches(length: int, size: int = _GRAM_ROWS) -> Iterator[tuple[int, int]]:
    """Yield parts of a long side, so that only one part at a time is in float64, or dense."""
    return ((start, min(start + size, length)) for start in range(0, length, size))


def _between(X: Any, start: int, stop: int) -> tuple[Any, Any, Any]:
    """Return values, columns and row starts of some rows of a CSR matrix, as views."""
    first, last = X.indptr[start], X.indptr[stop]
    return X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first
