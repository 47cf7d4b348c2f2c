"""Sums of a loss's curvature over samples."""

from __future__ import annotations

from superfactor._arrays import Array, namespace
from superfactor.losses import Loss

# Up to this many entries the outer products of all rows may be formed.
_OUTER = 1_000_000


def curvature_gram(J: Array, H: Array, convex: bool) -> Array:
    """Σ_i H_i ⊗ j_i j_iᵀ for rows j_i of J (n, k) and H (n, κ, κ): (κk, κk), class-major."""
    xp = namespace(J)
    (n, k), kappa = J.shape, H.shape[1]
    if kappa > 1 and n * k * k <= _OUTER:  # all blocks in one product: Σ_i vec(H_i)·vec(j_i j_iᵀ)ᵀ
        outer = xp.reshape(J[:, :, None] * J[:, None, :], (n, k * k))
        gram = xp.reshape(xp.reshape(H, (n, kappa * kappa)).T @ outer, (kappa, kappa, k, k))
        return xp.reshape(xp.permute_dims(gram, (0, 2, 1, 3)), (kappa * k, kappa * k))
    blocks: list[list[Array]] = [[None] * kappa for _ in range(kappa)]
    chunk = max(512, 2**18 // max(k, 1))  # row blocks that stay in the cache
    for start in range(0, n, chunk):
        stop = min(start + chunk, n)
        j, h = J[start:stop, :], H[start:stop, :, :]
        for c in range(kappa):
            for d in range(c, kappa):
                if c == d and convex:  # one triangle only: t.T @ t is a symmetric product
                    t = j * xp.sqrt(xp.clip(h[:, c, c], 0.0, None))[:, None]
                    part = t.T @ t
                else:
                    part = j.T @ (j * h[:, c, d][:, None])
                blocks[c][d] = part if blocks[c][d] is None else blocks[c][d] + part
    for c in range(kappa):
        for d in range(c):
            blocks[c][d] = blocks[d][c]  # symmetric blocks: h_cd = h_dc
    return xp.concat([xp.concat(row, axis=1) for row in blocks])


def directional_curvature(loss: Loss, a: Array, targets: Array, directions: Array) -> Array:
    """b_jᵀ∇²ℓ(y_i, a_i)b_j for every sample i and row b_j of directions (r, κ): (n, r).

    By products, so that the work is linear in κ.
    """
    diagonal, outer = loss.curvature(a, targets)
    squares = (directions**2).T
    if directions.shape[1] == 1:
        return diagonal @ squares
    return (diagonal + outer**2) @ squares - (outer @ directions.T) ** 2
