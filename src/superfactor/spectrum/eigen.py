"""Leading eigenpairs of a matrix, or of a diagonal plus low rank, and error bounds of Ritz values."""

from __future__ import annotations

from superfactor._arrays import (
    Array,
    column_norms,
    diagonal,
    eigh_descending,
    eps,
    eye_like,
    namespace,
    zeros_like_of,
)
from superfactor.options import Options


def truncated_svd(theta: Array, rank: int) -> tuple[Array, Array, Array]:
    """Return U (a, r), σ (r,), Vᵀ (r, b) of the best rank-r approximation of θ (a, b)."""
    xp = namespace(theta)
    U, s, Vt = xp.linalg.svd(theta, full_matrices=False)
    return U[:, :rank], s[:rank], Vt[:rank, :]


def project_rank(theta: Array, rank: int) -> Array:
    """Return Π_r(θ), the nearest matrix of rank at most r (Eckart–Young)."""
    U, s, Vt = truncated_svd(theta, rank)
    return (U * s[None, :]) @ Vt


def top_eigenpairs(
    d: Array, G: Array, rank: int, core: Array | None = None, tol: float | None = None
) -> tuple[Array, Array, Array]:
    """Return the `rank` largest eigenpairs of M = diag(d) + G·core·Gᵀ.

    Parameters
    ----------
    d : (m,), in descending order
    G : (m, k)
    core : (k, k) symmetric, not necessarily positive; None means the identity
    tol : residual allowed, relative to the largest eigenvalue in size

    Returns
    -------
    values (rank,) in descending order, vectors (m, rank), residuals (rank,) = ‖Mv − λv‖

    Eigenvectors are v = (λ − D)⁻¹G·x. The basis contains the leading coordinates, where λ − D is nearly
    singular. In the tail (λ − D)⁻¹ is a smooth function of D, so a short block Krylov basis of G_tail,
    D·G_tail, … approximates it. No m × m matrix is formed unless m is small.
    """
    xp = namespace(d, G)
    m, k = G.shape
    if core is None:
        core = eye_like(G, k)
    tol = 4 * eps(d) if tol is None else tol
    head = min(m, 2 * rank + 2 * k + 10)
    if m <= max(Options.dense_eigen, head + 3 * k):
        values, vectors = eigh_descending(diagonal(d) + G @ core @ G.T)
        return values[:rank], vectors[:, :rank], zeros_like_of(d, rank)
    d_head, d_tail, G_head, G_tail = d[:head], d[head:], G[:head, :], G[head:, :]
    Q, block = zeros_like_of(G, m - head, 0), G_tail
    while True:
        block = _orthonormal_outside(Q, block)
        Q = xp.concat([Q, block], axis=1)
        g = xp.concat([G_head, Q.T @ G_tail])
        DQ = d_tail[:, None] * Q
        inside = Q.T @ DQ
        corner = zeros_like_of(G, head, Q.shape[1])
        T = xp.concat([xp.concat([diagonal(d_head), corner], axis=1), xp.concat([corner.T, inside], axis=1)])
        values, V = eigh_descending(T + g @ core @ g.T)
        values, V = values[:rank], V[:, :rank]
        # M maps the basis into itself, except for the part of D·Q outside Q.
        residuals = column_norms((DQ - Q @ inside) @ V[head:, :])
        size = float(xp.max(xp.abs(values))) if rank else 0.0
        exhausted = block.shape[1] == 0 or Q.shape[1] >= m - head
        if exhausted or float(xp.max(residuals)) <= tol * size:
            return values, xp.concat([V[:head, :], Q @ V[head:, :]]), residuals
        block = d_tail[:, None] * block


def ritz_corrections(gap: Array, size: Array) -> Array:
    """Return by how much the sum of leading eigenvalues of M may exceed that of Ritz values (r,).

    c_i = |R_i|²/(ritz_i − rest₁), or 2|R_i| − (ritz_i − rest₁) if that gap is smaller than |R_i|
    (docs/method.md §11).

    Parameters
    ----------
    gap : ritz_i − rest₁ (r,), rest₁ the largest eigenvalue outside the Ritz vectors
    size : |R_i| (r,), the norms of their residuals
    """
    xp = namespace(gap)
    wide_gap = gap > size
    safe = xp.where(wide_gap, gap, xp.ones_like(gap))
    return xp.where(wide_gap, size**2 / safe, 2 * size - gap)


def _orthonormal_outside(Q: Array, block: Array) -> Array:
    """Return an orthonormal basis of the part of `block` outside the orthonormal columns of Q."""
    xp = namespace(block)
    norms = column_norms(block)
    block = _columns(block, norms > 0) / norms[norms > 0][None, :]
    for _ in range(2):
        block = block - Q @ (Q.T @ block)
        block, R = xp.linalg.qr(block)
        block = _columns(block, xp.abs(xp.linalg.diagonal(R)) > 1e-10)
    return block


def _columns(block: Array, mask: Array) -> Array:
    xp = namespace(block)
    return xp.take(block, xp.nonzero(mask)[0], axis=1)
