"""From a point of the search to factors a user reads: a small rotation, applied to what is tall.

The table of docs/method.md §1: the singular vectors of θ are found by turning its r × r core, never by
decomposing θ, where a large B would drown A.
"""

from __future__ import annotations

from dataclasses import dataclass

from superfactor._arrays import Array, column_norms, namespace
from superfactor.models.factors import positive_peaks, principal_rotation


@dataclass(frozen=True)
class Turned:
    """Atoms, coefficients, and how to turn what stands for the samples.

    Attributes
    ----------
    components : (p, r), atoms as columns
    beta : (r, κ)
    codes_turn : M (r, r); the codes are (the samples' r columns)·M/√w
    code_sizes : (r,), the norms of the columns of codes·√w
    """

    components: Array
    beta: Array
    codes_turn: Array
    code_sizes: Array


def turn_filters(W: Array, beta: Array, codes_gram: Array, scale: float) -> Turned:
    """W = U, [β, H] = ΣVᵀ for θ = UΣVᵀ: orthonormal filters, most important first.

    W (p, r) nearly orthonormal, β (r, κ), codes_gram (r, r) = (X̃W)ᵀX̃W; the samples' columns are X̃W.
    """
    xp = namespace(W)
    # Ã = W·β stays as it is while W becomes orthonormal to the last digit.
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
    """[βᵀ ‖ W] = UΣ^½, H = Σ^½Vᵀ for θ = UΣVᵀ, most important factor first.

    loadings (p, r) = X̃ᵀ times the orthonormal r columns of the samples, β (r, κ).
    """
    xp, loadings = namespace(loadings), loadings * scale
    R, _ = principal_rotation(beta @ beta.T + loadings.T @ loadings)
    loadings, beta = loadings @ R, R.T @ beta
    # Σ^½ from the turned columns: next to a large B, or a large A, eigenvalues would be noise.
    root = xp.sqrt(xp.hypot(column_norms(loadings), column_norms(beta.T)))
    dead = root == 0
    down = xp.where(dead, xp.zeros_like(root), 1 / xp.where(dead, xp.ones_like(root), root))
    components = loadings * down[None, :]
    sign = positive_peaks(components)
    turn = R * (root * sign)[None, :]
    return Turned(components * sign[None, :], (down * sign)[:, None] * beta, turn, root)
