"""Exact compression: when features outnumber samples, X enters through X̃ = U·Σ·Qᵀ only.

The eigenvalues of X̃X̃ᵀ give U and Σ for the price of one product, but they square the condition number: a
direction that is 1e-8 times as large as the first one is lost in rounding, and may carry the whole label. So
directions that X̃X̃ᵀ cannot tell from rounding are measured by a product with X̃ itself. Where they hold more
than rounding, or the smallest direction that is kept has lost too many digits, X̃ᵀ = QR is decomposed instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from superfactor._arrays import (
    Array,
    eigh_descending,
    eps,
    eye_like,
    frobenius2,
    namespace,
    wide,
)
from superfactor.options import Options
from superfactor.spectrum.data import DataMatrix
from superfactor.spectrum.rounding import eigen_rounding, product_rounding

# Below σ₁·1e-4 fewer than eight digits of σ² survive in the Gram matrix.
_LEAST_RELATIVE_VALUE = 1e-4
# Of ‖X̃‖: directions that hold less than this are dropped. The certificate allows for what they hold.
_DROPPED = 1e-10
# A sparse X of more entries than this is not made dense for a QR decomposition.
_MOST_DENSE = 2e7


@dataclass(frozen=True)
class Compression:
    """X̃ᵀ = Q·(UΣ)ᵀ with orthonormal Q (p, m): the rows of UΣ (n, m) stand for the samples.

    Attributes
    ----------
    values : σ (m,), descending, all positive
    rows : U (n, m)
    data : the n × m matrix UΣ as a DataMatrix, which knows its rounding (`Rounding`)
    vectors : Q, where it is known
    """

    original: DataMatrix
    values: Array
    rows: Array
    data: DataMatrix
    vectors: Array | None = None

    def expand(self, T: Array) -> Array:
        """Q·T (p, k) for T (m, k), by one product with X where Q = X̃ᵀUΣ⁻¹ was not formed."""
        xp = self.original.xp
        if self.vectors is not None:
            return xp.astype(self.vectors @ T, self.original.dtype)
        thin = self.rows @ (T / self.values[:, None])
        return self.original.transpose_times(xp.astype(thin, self.original.dtype))

    def coordinates(self, X: Any, products: Callable[[], Array]) -> Array:
        """X·Q (k, m) of other samples X (k, p): all that a model of these samples can see of them.

        `products` gives XX̃ᵀ (k, n), and is asked where Q = X̃ᵀUΣ⁻¹ was not formed.
        """
        if self.vectors is not None:
            return X @ self.vectors
        return products() @ (self.rows / self.values[None, :])


@dataclass(frozen=True)
class Rounding:
    """How far UΣ may be from the samples it stands for.

    Attributes
    ----------
    rows : a bound of ‖X̃ − UΣQᵀ‖, dropped directions included
    gram : a bound of ‖X̃X̃ᵀ − UΣ²Uᵀ‖
    """

    rows: float
    gram: float


def compress(
    data: DataMatrix, largest_side: int = Options.compressed_side, gram: Array | None = None
) -> Compression | None:
    """The compression of wide data, or None where it would not pay or would lose digits.

    Parameters
    ----------
    largest_side : samples at most (`Options.compressed_side`)
    gram : X̃X̃ᵀ (n, n), where it is known
    """
    n, p = data.shape
    # Products with X̃ are p/n times cheaper than with X: below twice that does not repay the decomposition.
    if p < 2 * n or n > largest_side:
        return None
    values, U = eigh_descending(data.gram() if gram is None else gram)
    if float(values[0]) <= 0:
        return None
    return _from_gram(data, values, U) or _from_triangle(data)


def _from_gram(data: DataMatrix, values: Array, U: Array) -> Compression | None:
    """From the eigenvalues (n,) and eigenvectors (n, n) of X̃X̃ᵀ; None where these lack digits."""
    xp, (n, p) = namespace(values), data.shape
    largest, squared = float(values[0]), float(xp.sum(values))
    noise = 8 * n * eps(values) * largest
    rank = int(xp.sum(xp.astype(values > noise, xp.int64)))
    if float(values[rank - 1]) < _LEAST_RELATIVE_VALUE**2 * largest:
        return None
    dropped = 0.0
    if rank < n:
        left = data.transpose_times(xp.astype(U[:, rank:], data.dtype))
        dropped = math.sqrt(frobenius2(wide(left)))
    if dropped > _DROPPED * math.sqrt(squared):
        return None
    sigma, U = xp.sqrt(values[:rank]), U[:, :rank]
    gram = (product_rounding(p) + eigen_rounding(n)) * squared
    # UΣ²Uᵀ = X̃X̃ᵀ + Δ is the Gram matrix of (I + ½ΔG⁺)X̃, to first order.
    rounding = Rounding(dropped + gram / float(sigma[-1]), gram + dropped * math.sqrt(squared))
    rows = DataMatrix(U * sigma[None, :], singular_values=sigma, rounding=rounding)
    return Compression(data, sigma, U, rows)


def _from_triangle(data: DataMatrix) -> Compression | None:
    """From X̃ᵀ = QR and the singular value decomposition of R (n, n): all digits that X̃ has."""
    if data.is_sparse and math.prod(data.shape) > _MOST_DENSE:
        return None
    X = wide(data.dense())
    xp = namespace(X)
    Q, R = xp.linalg.qr(X.T, mode="reduced")
    V, sigma, Ut = xp.linalg.svd(R, full_matrices=False)
    size = math.sqrt(frobenius2(X))
    noise = eigen_rounding(data.shape[0]) * size
    rank = int(xp.sum(xp.astype(sigma > noise, xp.int64)))
    if rank == 0:
        return None
    sigma, U, Q = sigma[:rank], Ut.T[:, :rank], Q @ V[:, :rank]
    scores = U * sigma[None, :]
    residual = math.sqrt(frobenius2(X - scores @ Q.T))
    skew = math.sqrt(frobenius2(Q.T @ Q - eye_like(Q, rank)))
    # The residual and the skew are themselves rounded.
    row_error = residual + size * (skew + product_rounding(rank))
    rounding = Rounding(row_error, 2 * row_error * size)
    return Compression(
        data, sigma, U, DataMatrix(scores, singular_values=sigma, rounding=rounding), Q
    )
