"""The factors a user reads, and the small rotation that fixes them."""

from __future__ import annotations

from dataclasses import dataclass

from superfactor._arrays import Array, eigh_descending, eye_like, namespace, zeros_like_of


@dataclass(frozen=True)
class Factors:
    """X ≈ codes·componentsᵀ in the user's units.

    Attributes
    ----------
    components : W (p, r), atoms as columns
    codes : Hᵀ (n, r); None where nobody asked for them
    beta : (r, κ)
    gamma : (q, κ), the intercept (if any) in the last row
    """

    components: Array
    codes: Array
    beta: Array
    gamma: Array

    def padded(self, rank: int) -> Factors:
        """The same with zero components up to `rank`: X may have a smaller rank than that."""
        missing = rank - int(self.beta.shape[0])
        if missing <= 0:
            return self
        return Factors(
            more_columns(self.components, missing),
            None if self.codes is None else more_columns(self.codes, missing),
            more_columns(self.beta.T, missing).T,
            self.gamma,
        )


def more_columns(x: Array, count: int) -> Array:
    """x (m, k) with so many columns of zeros on its right."""
    return namespace(x).concat([x, zeros_like_of(x, int(x.shape[0]), count)], axis=1)


def principal_rotation(core_gram: Array) -> tuple[Array, Array]:
    """R (r, r) orthogonal and σ² (r,) ≥ 0, descending, with core_gram = R·diag(σ²)·Rᵀ."""
    xp = namespace(core_gram)
    # Symmetric scaling by a power of two keeps eigh inside its range at any unit of X.
    largest = float(xp.max(xp.abs(core_gram))) if core_gram.shape[0] else 0.0
    if largest == 0:
        return eye_like(core_gram, core_gram.shape[0]), core_gram[:, 0]
    values, R = eigh_descending(core_gram / largest)
    return R, xp.where(values > 0, values, xp.zeros_like(values)) * largest


def positive_peaks(components: Array) -> Array:
    """Signs (r,) that make the entry largest in size of each column of `components` (p, r) positive."""
    xp = namespace(components)
    high, low = xp.max(components, axis=0), xp.min(components, axis=0)
    one = xp.ones_like(high)
    return xp.where(high >= -low, one, -one)
