"""The data matrix as an operator: weighted, scaled, dense or sparse, never copied."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import scipy.sparse as sp

from superfactor._arrays import Array, cores, device, frobenius2, namespace, wide

# Below this many stored values a thread pool costs more than it gains.
NNZ_WORTH_THREADS = 200_000
# So many rows are summed in the type of X before float64 takes over.
_GRAM_ROWS = 8192
# Squares of entries beyond these magnitudes leave the range of float64 (or lose digits in sums).
_SAFE_SQUARED_NORM = (1e-200, 1e200)


class DataMatrix:
    """X̃ = diag(√w)·X/s, an n × p matrix known through its products.

    `X` is n_samples × n_features, dense (any array-API library) or SciPy-sparse; `w` are the sample
    weights (None: all one), and `s` makes ‖X̃‖ about 1, so that nothing in the solvers depends on
    the units of X. Scaling happens on the thin side of each product; X is copied only when its
    squares would overflow or underflow.

    Attributes
    ----------
    shape : (n, p)
    scale : the factor s (a power of two, so that dividing by it loses no digit)
    root_weight : √w of shape (n, 1), or None
    squared_norm : ‖X̃‖²
    singular_values : σ (p,) where X̃ is known to be UΣ in its own right singular vectors, else None
    """

    def __init__(
        self,
        X: Array,
        sample_weight: Array | None = None,
        *,
        rescale: bool = True,
        scale: float | None = None,
        singular_values: Array | None = None,
    ):
        """`scale` is s where that is known already, as for a block of rows of a larger matrix."""
        self.singular_values = singular_values
        self.is_sparse = sp.issparse(X)
        if self.is_sparse:
            X = sp.csr_array(X)
            if X.dtype.kind != "f":
                X = X.astype("float64")
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))
        sample = X.data if self.is_sparse else X
        self.xp = namespace(sample)
        self.dtype, self.device = sample.dtype, device(sample)
        self.root_weight = None
        if sample_weight is not None:
            weight = self.xp.asarray(sample_weight, dtype=self.dtype, device=self.device)
            self.root_weight = self.xp.sqrt(weight)[:, None]
        self._X = X
        self._blocks: list[tuple[slice, Any, Any]] | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._factor = 1.0
        self.scale = 1.0
        if scale is not None:
            self._factor, self.scale = 1 / scale, scale
            return
        squared = self._raw_squared_norm()
        low, high = _SAFE_SQUARED_NORM if "64" in str(self.dtype) else (1e-25, 1e25)
        if not low < squared < high:
            largest = float(self.xp.max(self.xp.abs(sample))) if sample.shape[0] else 0.0
            if largest > 0:
                self.scale = power_of_two(largest)
                # Two exact halves: at the ends of the range 1/s alone could overflow.
                self._X = X * (1 / self.scale)
                squared = self._raw_squared_norm()
        if rescale and squared > 0:
            factor = power_of_two(squared**0.5)
            self._factor = 1 / factor
            self.scale *= factor
            squared /= factor**2
        self.squared_norm = squared
        if self.is_sparse and self._X.nnz > NNZ_WORTH_THREADS:
            self._split(cores())

    def _raw_squared_norm(self) -> float:
        X, xp = self._X, self.xp
        if self.root_weight is None:
            return frobenius2(X.data if self.is_sparse else X)
        if self.is_sparse:
            cuts = sorted({0, *X.indptr.searchsorted(range(0, X.nnz, 2**16)).tolist(), X.shape[0]})
            rows = xp.concat([X[a:b].power(2).sum(axis=1) for a, b in pairwise(cuts)])
        else:
            rows = xp.vecdot(X, X, axis=-1)
        return float(xp.sum(rows * self.root_weight[:, 0] ** 2))

    def _split(self, threads: int) -> None:
        """Row blocks of equal fill: SciPy's sparse kernels release the GIL, so threads share them."""
        if threads < 2:
            return
        import numpy as np

        X, n = self._X, self.shape[0]
        cuts = np.searchsorted(X.indptr, np.linspace(0, X.nnz, threads + 1))
        cuts[0], cuts[-1] = 0, n
        self._blocks = []
        for a, b in pairwise(cuts):
            start, stop = X.indptr[a], X.indptr[b]
            parts = X.data[start:stop], X.indices[start:stop], X.indptr[a : b + 1] - start
            shape = (int(b - a), self.shape[1])
            block = _share(sp.csr_array, shape, parts), _share(sp.csc_array, shape[::-1], parts)
            self._blocks.append((slice(int(a), int(b)), *block))
        self._pool = ThreadPoolExecutor(threads)

    @property
    def nnz(self) -> int:
        """The number of stored values."""
        return int(self._X.nnz) if self.is_sparse else self.shape[0] * self.shape[1]

    def rows(self, start: int, stop: int) -> DataMatrix:
        """Some of the rows, as views of the same X; products alone are offered."""
        part = copy.copy(self)
        part.shape = stop - start, self.shape[1]
        part._blocks = part._pool = None
        if self.root_weight is not None:
            part.root_weight = self.root_weight[start:stop, :]
        X = self._X
        if self.is_sparse:
            first, last = X.indptr[start], X.indptr[stop]
            parts = X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first
            part._X = _share(sp.csr_array, part.shape, parts)
        else:
            part._X = X[start:stop, :]
        return part

    def over(self, scale: float) -> DataMatrix:
        """X̃/scale."""
        if scale == 1.0:
            return self
        other = copy.copy(self)
        other.scale, other._factor = self.scale * scale, self._factor / scale
        return other

    def take(self, index: Any) -> Any:
        """Some rows of X/s, in memory and without their weights."""
        if self.is_sparse:
            return self._X[index, :] * self._factor
        xp = self.xp
        return xp.take(self._X, xp.asarray(index, device=self.device), axis=0) * self._factor

    def row_squares(self) -> Array:
        """‖x̃_i‖² of every row (n,), in float64."""
        X, xp = self._X, self.xp
        if self.is_sparse:
            rows = wide(X.multiply(X).sum(axis=1))
        else:
            rows = wide(xp.vecdot(X, X, axis=-1))
        if self.root_weight is not None:
            rows = rows * wide(self.root_weight)[:, 0] ** 2
        return rows * self._factor**2

    def sum_of_squares(self) -> float:
        """‖X̃‖², added up in float64."""
        return float(self.xp.sum(self.row_squares()))

    def feature_gram(self) -> Array:
        """X̃ᵀX̃ (p, p) in float64, from sums over few rows at a time in the type of X."""
        X, weight, xp = self._X, self.root_weight, self.xp
        if self.is_sparse:
            X = X if weight is None else sp.csr_array(X.multiply(weight))
            return (X.T @ X).toarray().astype("float64") * self._factor**2
        total = xp.zeros((self.shape[1],) * 2, dtype=xp.float64, device=self.device)
        for start in range(0, self.shape[0], _GRAM_ROWS):
            stop = min(start + _GRAM_ROWS, self.shape[0])
            block = X[start:stop, :]
            if weight is not None:
                block = block * weight[start:stop, :]
            total += wide(block.T @ block)
        return total * self._factor**2

    def times(self, T: Array) -> Array:
        """X̃T for T of shape (p, k): (n, k)."""
        T = self.xp.astype(T, self.dtype, copy=False)
        if self._factor != 1.0:
            T = T * self._factor
        if self._blocks is not None and self._pool is not None:
            T = self.xp.ascontiguousarray(T)
            out = self.xp.concat(list(self._pool.map(lambda b: b[1] @ T, self._blocks)))
        else:
            out = self._X @ T
        return out if self.root_weight is None else out * self.root_weight

    def transpose_times(self, Z: Array) -> Array:
        """X̃ᵀZ for Z of shape (n, k): (p, k)."""
        Z = self.xp.astype(Z, self.dtype, copy=False)
        if self.root_weight is not None:
            Z = Z * self.root_weight
        if self._blocks is not None and self._pool is not None:
            Z = self.xp.ascontiguousarray(Z)
            out = sum(self._pool.map(lambda b: b[2] @ Z[b[0]], self._blocks))
        else:
            out = self._X.T @ Z
        return out * self._factor if self._factor != 1.0 else out

    def gram(self) -> Array:
        """The smaller Gram matrix in float64: X̃X̃ᵀ (n × n) when n ≤ p, X̃ᵀX̃ (p × p) otherwise."""
        n, p = self.shape
        if n > p:
            return self.feature_gram()
        X, weight, xp = self._X, self.root_weight, self.xp
        if self.is_sparse:
            K = (X @ X.T).toarray().astype("float64")
        elif self.dtype == xp.float64:
            K = X @ X.T
        else:  # in blocks along the long side: no float64 copy of X as a whole
            K = xp.zeros((n, n), dtype=xp.float64, device=self.device)
            for start in range(0, p, _GRAM_ROWS):
                block = wide(X[:, start : min(start + _GRAM_ROWS, p)])
                K += block @ block.T
        if weight is not None:
            K = K * wide(weight) * wide(weight).T
        return K * self._factor**2


def power_of_two(x: float) -> float:
    """The power of two nearest below x."""
    import math

    return math.ldexp(1.0, math.frexp(x)[1] - 1)


def _share(kind: Any, shape: tuple[int, int], parts: tuple[Any, Any, Any]) -> Any:
    """A sparse array on these very parts: constructors copy views of less than half an array."""
    out = kind(shape, dtype=parts[0].dtype)
    out.data, out.indices, out.indptr = parts
    return out
