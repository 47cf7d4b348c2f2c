"""Π_r: the nearest matrix of rank at most r, for matrices that are not compressed."""

from __future__ import annotations

from superfactor._arrays import Array, namespace


def truncated_svd(theta: Array, rank: int) -> tuple[Array, Array, Array]:
    """U (a, r), σ (r,), Vᵀ (r, b) of the best rank-r approximation of θ (a, b)."""
    xp = namespace(theta)
    U, s, Vt = xp.linalg.svd(theta, full_matrices=False)
    return U[:, :rank], s[:rank], Vt[:rank, :]


def project_rank(theta: Array, rank: int) -> Array:
    """Π_r(θ): the nearest matrix of rank at most r (Eckart–Young)."""
    U, s, Vt = truncated_svd(theta, rank)
    return (U * s[None, :]) @ Vt
