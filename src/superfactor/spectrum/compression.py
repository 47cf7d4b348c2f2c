"""Exact compression: if there are more features than samples, the problem depends on X only by X̃ = U·Σ·Qᵀ.

The eigenvalues of X̃X̃ᵀ give U and Σ for the cost of one product, but they square the condition number: a
direction that is 1e-8 times as large as the first one is lost to rounding, and may predict the label. So
directions near the rounding error of X̃X̃ᵀ are measured by a product with X̃ itself. If they are larger than
rounding errors, all small directions are computed again, from X̃.
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

# Below σ₁·1e-4 the Gram matrix has fewer than eight digits of σ².
_LEAST_RELATIVE_VALUE = 1e-4
# If some are, all directions below σ₁·1e-2 are computed again.
_LARGE = 1e-2
# Directions smaller than this share of ‖X̃‖ are dropped. The certificate takes them into account.
_DROPPED = 1e-10
# Sums whose terms are larger than the sum by this factor are computed in float64.
_MUCH = 50.0
# Largest number of values in the dense matrix of small directions of a sparse X.
_MOST_DENSE = 2e7


@dataclass(frozen=True)
class Compression:
    """X̃ᵀ = Q·(UΣ)ᵀ with orthonormal Q (p, m): the rows of UΣ (n, m) represent the samples.

    Q is not formed: Q = X̃ᵀL, L = UΣ⁻¹, or Q = X̃ᵀL + Q₂V₂ if the first would lose digits.
    """

    original: DataMatrix  # X̃ (n, p)
    values: Array  # σ (m,), descending, all positive
    rows: Array  # U (n, m)
    data: DataMatrix  # UΣ (n, m) with its `Rounding`
    combined: Array  # L (n, m)
    small: tuple[Array, Array] | None = None  # Q₂ (p, j) and V₂ (j, m), if there are small directions

    def expand(self, T: Array) -> Array:
        """Return Q·T (p, k) for T (m, k), by one product with X."""
        data, xp, rows = self.original, self.original.xp, self.combined @ T
        # If large rows cancel, float32 would keep few digits.
        cancel = float(xp.max(column_norms(rows))) * float(self.values[0]) > _MUCH if T.shape[1] else False
        found = data.precise_transpose_times(rows) if cancel else data.transpose_times(rows)
        if self.small is not None:
            Q, V = self.small
            found = found + Q @ (V @ T)
        return xp.astype(found, data.dtype)

    def coordinates(self, X: Any, products: Callable[[], Array]) -> Array:
        """Return X·Q (k, m) of other samples X (k, p): a model of these samples depends on no more.

        `products` returns XX̃ᵀ (k, n).
        """
        found = products() @ self.combined
        if self.small is None:
            return found
        Q, V = self.small
        return found + (X @ Q) @ V


@dataclass(frozen=True)
class Rounding:
    """Bounds of the rounding errors of UΣ."""

    rows: float  # a bound of ‖X̃ − UΣQᵀ‖, dropped directions included
    gram: float  # a bound of ‖X̃X̃ᵀ − UΣ²Uᵀ‖


def compress(
    data: DataMatrix, options: Options | None = None, gram: Array | None = None
) -> Compression | None:
    """Return the compression of wide data; None if it is too expensive, or small directions need much memory.

    Parameters
    ----------
    options : with the rule when compression pays (`Options.compression_pays`)
    gram : X̃X̃ᵀ (n, n), if it is known
    """
    options = Options() if options is None else options
    if not options.compression_pays(data.shape, data.nnz if data.is_sparse else None):
        return None
    values, U = eigh_descending(data.gram() if gram is None else gram)
    if float(values[0]) <= 0:
        return None
    return _decomposed(data, values, U)


def _decomposed(data: DataMatrix, values: Array, U: Array) -> Compression | None:
    """Compress by the eigenvalues (n,) and eigenvectors (n, n) of X̃X̃ᵀ, and small directions by X̃."""
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
    """Compute large directions from the eigenvalues of X̃X̃ᵀ and small ones from X̃, to all digits.

    With U = [U₁, U₂], Q₁ = X̃ᵀU₁Σ₁⁻¹ and the remainder X̃ᵀU₂ = Q₁C + Q₂R,

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
    """Return how many of these descending values exceed a share, to this power, of the first one."""
    xp = namespace(values)
    return int(xp.sum(xp.astype(values > share**power * values[0], xp.int64)))
