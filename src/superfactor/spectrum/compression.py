"""Exact compression: when features outnumber samples, X enters through X̃ = U·Σ·Qᵀ only."""

from __future__ import annotations

from dataclasses import dataclass

from superfactor._arrays import Array, eigh_descending, eps, namespace
from superfactor.options import Options
from superfactor.spectrum.data import DataMatrix

# A Gram matrix squares the condition number: below σ₁·1e-5 fewer than six digits of σ survive.
_LEAST_RELATIVE_VALUE = 1e-5


@dataclass(frozen=True)
class Compression:
    """X̃ᵀ = Q·(UΣ)ᵀ with orthonormal Q (p, m): the rows of UΣ (n, m) stand for the samples.

    Attributes
    ----------
    values : σ (m,), descending, all positive
    rows : U (n, m)
    data : the n × m matrix UΣ as a DataMatrix
    """

    original: DataMatrix
    values: Array
    rows: Array
    data: DataMatrix

    def expand(self, T: Array) -> Array:
        """Q·T (p, k) for T (m, k), by one product with X: Q = X̃ᵀUΣ⁻¹ is never formed."""
        thin = self.rows @ (T / self.values[:, None])
        xp = self.original.xp
        return self.original.transpose_times(xp.astype(thin, self.original.dtype))


def compress(data: DataMatrix, largest_side: int = Options.compressed_side) -> Compression | None:
    """The compression of wide data, or None where it would not pay or would lose digits.

    `largest_side` : samples at most (`Options.compressed_side`)
    """
    n, p = data.shape
    # Products with X̃ are p/n times cheaper than with X: below twice that does not repay the decomposition.
    if p < 2 * n or n > largest_side:
        return None
    values, U = eigh_descending(data.gram())
    xp = namespace(values)
    largest = float(values[0])
    if largest <= 0:
        return None
    noise = 8 * n * eps(values) * largest
    rank = int(xp.sum(xp.astype(values > noise, xp.int64)))
    if float(values[rank - 1]) < _LEAST_RELATIVE_VALUE**2 * largest:
        return None
    sigma, U = xp.sqrt(values[:rank]), U[:, :rank]
    rows = DataMatrix(U * sigma[None, :], singular_values=sigma)
    return Compression(data, sigma, U, rows)
