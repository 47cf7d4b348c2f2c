"""Exact compression: when features outnumber samples, X enters through X̃ = U·Σ·Qᵀ only.

The eigenvalues of X̃X̃ᵀ give U and Σ for the price of one product, but they square the condition number: a
direction that is 1e-8 times as large as the first one is lost in rounding, and may carry the whole label. So
directions that X̃X̃ᵀ cannot tell from rounding are measured by a product with X̃ itself. Where they hold more
than rounding, all that is small is decomposed once more, from X̃.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from superfactor._arrays import Array, column_norms, eigh_descending, frobenius2, namespace
from superfactor.options import Options
from superfactor.spectrum.data import DataMatrix
from superfactor.spectrum.rounding import eigen_rounding, product_rounding

# Below σ₁·1e-4 fewer than eight digits of σ² survive in the Gram matrix.
_LEAST_RELATIVE_VALUE = 1e-4
# Where some are, all directions below σ₁·1e-2 are decomposed once more.
_LARGE = 1e-2
# Of ‖X̃‖: directions that hold less than this are dropped. The certificate allows for what they hold.
_DROPPED = 1e-10
# Sums in float32 whose terms are so much larger than themselves are computed in float64.
_MUCH = 50.0
# So many values of small directions of a sparse X, which are dense, may be formed.
_MOST_DENSE = 2e7


@dataclass(frozen=True)
class Compression:
    """X̃ᵀ = Q·(UΣ)ᵀ with orthonormal Q (p, m): the rows of UΣ (n, m) stand for the samples.

    Q is not formed: Q = X̃ᵀL, L = UΣ⁻¹, and where that would lose digits, Q = X̃ᵀL + Q₂V₂.
    """

    original: DataMatrix  # X̃ (n, p)
    values: Array  # σ (m,), descending, all positive
    rows: Array  # U (n, m)
    data: DataMatrix  # the n × m matrix UΣ as a DataMatrix, which knows its rounding (`Rounding`)
    combined: Array  # L (n, m)
    small: tuple[Array, Array] | None = None  # Q₂ (p, j) and V₂ (j, m), where there are small directions

    def expand(self, T: Array) -> Array:
        """Q·T (p, k) for T (m, k), by one product with X."""
        data, xp, rows = self.original, self.original.xp, self.combined @ T
        # Of large rows that cancel, float32 would keep few digits.
        cancel = float(xp.max(column_norms(rows))) * float(self.values[0]) > _MUCH if T.shape[1] else False
        found = data.precise_transpose_times(rows) if cancel else data.transpose_times(rows)
        if self.small is not None:
            Q, V = self.small
            found = found + Q @ (V @ T)
        return xp.astype(found, data.dtype)

    def coordinates(self, X: Any, products: Callable[[], Array]) -> Array:
        """X·Q (k, m) of other samples X (k, p): all that a model of these samples can see of them.

        `products` gives XX̃ᵀ (k, n).
        """
        found = products() @ self.combined
        if self.small is None:
            return found
        Q, V = self.small
        return found + (X @ Q) @ V


@dataclass(frozen=True)
class Rounding:
    """How far UΣ may be from the samples it stands for."""

    rows: float  # a bound of ‖X̃ − UΣQᵀ‖, dropped directions included
    gram: float  # a bound of ‖X̃X̃ᵀ − UΣ²Uᵀ‖


def compress(
    data: DataMatrix, options: Options | None = None, gram: Array | None = None
) -> Compression | None:
    """The compression of wide data; None where it would not pay, or small directions would take much room.

    Parameters
    ----------
    options : which say when it pays (`Options.compression_pays`)
    gram : X̃X̃ᵀ (n, n), where it is known
    """
    options = Options() if options is None else options
    if not options.compression_pays(data.shape, data.nnz if data.is_sparse else None):
        return None
    values, U = eigh_descending(data.gram() if gram is None else gram)
    if float(values[0]) <= 0:
        return None
    return _decomposed(data, values, U)


def _decomposed(data: DataMatrix, values: Array, U: Array) -> Compression | None:
    """From the eigenvalues (n,) and eigenvectors (n, n) of X̃X̃ᵀ, and from X̃ itself what these lack."""
    xp, (n, p) = namespace(values), data.shape
    squared = float(xp.sum(values))
    size, rank = math.sqrt(squared), _above(values, _LEAST_RELATIVE_VALUE)
    # UΣ²Uᵀ = X̃X̃ᵀ + Δ is the Gram matrix of (I + ½ΔG⁺)X̃, to first order.
    gram = (product_rounding(p) + eigen_rounding(n)) * squared
    lost = gram / math.sqrt(float(values[rank - 1]))
    if rank < n:
        if data.is_sparse and (n - _above(values, _LARGE)) * p > _MOST_DENSE:
            return None
        dropped = math.sqrt(frobenius2(data.precise_transpose_times(U[:, rank:])))
        if dropped > _DROPPED * size:
            return _with_small_directions(data, values, U)
        lost, gram = lost + dropped, gram + 2 * dropped * size
    sigma, U = xp.sqrt(values[:rank]), U[:, :rank]
    rows = DataMatrix(U * sigma[None, :], singular_values=sigma, rounding=Rounding(lost, gram))
    return Compression(data, sigma, U, rows, U / sigma[None, :])


def _with_small_directions(data: DataMatrix, values: Array, U: Array) -> Compression:
    """Large directions from the eigenvalues of X̃X̃ᵀ, small ones from X̃: all digits that X̃ has.

    With U = [U₁, U₂], Q₁ = X̃ᵀU₁Σ₁⁻¹ and the rest X̃ᵀU₂ = Q₁C + Q₂R,

        X̃ᵀ = [Q₁, Q₂]·T,    T = [Σ₁U₁ᵀ + CU₂ᵀ; RU₂ᵀ] = VΣUᵀ  (m, n).
    """
    xp, (n, p) = namespace(values), data.shape
    large = _above(values, _LARGE)
    first, rest = U[:, :large], U[:, large:]
    sigma = xp.sqrt(values[:large])
    double = data.doubled(_MOST_DENSE)
    left = double.precise_transpose_times(rest)  # (p, n − m₁)
    C = (first / sigma[None, :]).T @ double.precise_times(left)
    Q, R = xp.linalg.qr(left - double.precise_transpose_times((first / sigma[None, :]) @ C))
    T = xp.concat([sigma[:, None] * first.T + C @ rest.T, R @ rest.T])
    V, found, Ut = xp.linalg.svd(T, full_matrices=False)
    size = math.sqrt(frobenius2(found[:, None]))
    rank = _above(found, eigen_rounding(n) * size / float(found[0]), power=1)
    dropped = math.sqrt(frobenius2(found[rank:, None]))
    V, found, U = V[:, :rank], found[:rank], Ut.T[:, :rank]
    gram = (product_rounding(p) + eigen_rounding(n)) * size**2
    lost = dropped + gram / float(sigma[-1]) + (3 * product_rounding(n) + 2 * eigen_rounding(n)) * size
    rounding = Rounding(lost, 2 * lost * size)
    rows = DataMatrix(U * found[None, :], singular_values=found, rounding=rounding)
    combined = (first / sigma[None, :]) @ V[:large, :]
    return Compression(data, found, U, rows, combined, (Q, V[large:, :]))


def _above(values: Array, share: float, power: int = 2) -> int:
    """How many of these values, in descending order, are above a share (its square) of the first one."""
    xp = namespace(values)
    return int(xp.sum(xp.astype(values > share**power * values[0], xp.int64)))
