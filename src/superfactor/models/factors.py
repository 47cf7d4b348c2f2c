"""The factors in the user's units, and the small rotation that computes them from a point of the search.

See the table of docs/method.md §1. The singular vectors of θ come from its r × r core. A decomposition of θ
itself would lose the digits of A next to a large B.
"""

from __future__ import annotations

from dataclasses import dataclass

from superfactor._arrays import Array, column_norms, eigh_descending, eye_like, namespace, zeros_like_of


@dataclass(frozen=True)
class Factors:
    """X ≈ codes·componentsᵀ in the user's units."""

    components: Array  # W (p, r), atoms as columns
    codes: Array  # Hᵀ (n, r); None if they were not requested
    beta: Array  # (r, κ)
    gamma: Array  # (q, κ), the intercept (if any) in the last row

    def padded(self, rank: int) -> Factors:
        """Return the factors with zero components up to `rank`, since the rank of X may be smaller."""
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
    """Return x (m, k) with `count` columns of zeros appended."""
    return namespace(x).concat([x, zeros_like_of(x, int(x.shape[0]), count)], axis=1)


def principal_rotation(core_gram: Array) -> tuple[Array, Array]:
    """Return R (r, r) orthogonal and σ² (r,) ≥ 0, descending, with core_gram = R·diag(σ²)·Rᵀ."""
    xp = namespace(core_gram)
    # Scaling by a power of two avoids overflow and underflow in eigh for any unit of X.
    largest = float(xp.max(xp.abs(core_gram))) if core_gram.shape[0] else 0.0
    if largest == 0:
        return eye_like(core_gram, core_gram.shape[0]), xp.linalg.diagonal(core_gram)
    values, R = eigh_descending(core_gram / largest)
    return R, xp.where(values > 0, values, xp.zeros_like(values)) * largest


def positive_peaks(components: Array) -> Array:
    """Return signs (r,) that make the entry of largest size in each column of (p, r) positive."""
    xp = namespace(components)
    high, low = xp.max(components, axis=0), xp.min(components, axis=0)
    one = xp.ones_like(high)
    return xp.where(high >= -low, one, -one)


@dataclass(frozen=True)
class Turned:
    """Atoms and coefficients after a rotation, and the matrix that rotates the samples' columns."""

    components: Array  # (p, r), atoms as columns
    beta: Array  # (r, κ)
    codes_turn: Array  # M (r, r); the codes are (the samples' r columns)·M/√w
    code_sizes: Array  # (r,), the norms of the columns of codes·√w


def turn_filters(W: Array, beta: Array, codes_gram: Array, scale: float) -> Turned:
    """Return W = U, [β, H] = ΣVᵀ for θ = UΣVᵀ: orthonormal filters, most important first.

    W (p, r) nearly orthonormal, β (r, κ), codes_gram (r, r) = (X̃W)ᵀX̃W; the samples' columns are X̃W.
    """
    xp = namespace(W)
    # Make W orthonormal to the last digit without changing Ã = W·β.
    T = xp.linalg.cholesky(W.T @ W)
    inverse = xp.linalg.inv(T).T
    W, beta, codes_gram = W @ inverse, T.T @ beta, inverse.T @ codes_gram @ inverse
    R, _ = principal_rotation(beta @ beta.T / scale**2 + codes_gram * scale**2)
    W = W @ R
    sign = positive_peaks(W)
    turn = inverse @ (R * (sign * scale)[None, :])
    sizes = xp.sqrt(xp.clip(xp.linalg.diagonal(R.T @ codes_gram @ R), 0.0, None)) * scale
    return Turned(W * sign[None, :], (R * sign[None, :]).T @ (beta / scale), turn, sizes)


def turn_features(loadings: Array, beta: Array, scale: float) -> Turned:
    """Return [βᵀ ‖ W] = UΣ^½, H = Σ^½Vᵀ for θ = UΣVᵀ, most important factor first.

    loadings (p, r) = X̃ᵀ times the orthonormal r columns of the samples, β (r, κ).
    """
    xp, loadings = namespace(loadings), loadings * scale
    R, _ = principal_rotation(beta @ beta.T + loadings.T @ loadings)
    loadings, beta = loadings @ R, R.T @ beta
    # Σ^½ from the rotated columns: next to a large B or A, eigenvalues would be rounding errors.
    root = xp.sqrt(xp.hypot(column_norms(loadings), column_norms(beta.T)))
    dead = root == 0
    down = xp.where(dead, xp.zeros_like(root), 1 / xp.where(dead, xp.ones_like(root), root))
    components = loadings * down[None, :]
    sign = positive_peaks(components)
    turn = R * (root * sign)[None, :]
    return Turned(components * sign[None, :], (down * sign)[:, None] * beta, turn, root)
