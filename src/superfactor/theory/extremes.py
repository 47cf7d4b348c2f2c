"""Extreme eigenvalues of the design: how strongly the data let the loss bend.

The Hessian of Σ_i ω_i ℓ(y_i, a_i) in the coefficients U = [A ‖ γ] of a linear activation a = ΦU
lies between α⁻·ΦᵀΩΦ and α⁺·ΦᵀΩΦ, Ω = diag(ω). The paper calls the extreme eigenvalues of that
matrix nδ⁻ and nδ⁺.
"""

from __future__ import annotations

import numpy as np

from superfactor._arrays import Array, device, diagonal, eps, eye_like, frobenius2, namespace
from superfactor.models import LiftedArrays
from superfactor.options import Options

_COLUMNS = 64
# Lanczos: the top Ritz value plus its residual, once that is this small.
_RELATIVE_RESIDUAL = 1e-2
_LEAST_STEPS, _MOST_STEPS = 6, 40


def largest_eigenvalue(matrix: Array) -> float:
    """λ_max of a symmetric positive semi-definite matrix (q, q), rounded up; 0 when it is empty."""
    if matrix.shape[0] == 0:
        return 0.0
    top = float(namespace(matrix).linalg.eigvalsh(matrix)[-1])
    return max(top, 0.0) * (1 + int(matrix.shape[0]) * eps(matrix))


def design_extremes(
    small: LiftedArrays,
    n_features: int,
    scale: float,
    options: Options,
    *,
    covariates: bool,
    lower: bool,
    softening: Array,
) -> tuple[float, float]:
    """(nδ⁻, nδ⁺) of Φ = [X, X'], in the user's units.

    Parameters
    ----------
    small : the arrays of the compact problem; X has `n_features` and is `scale` times larger
    covariates : with X' in Φ (joint in A and γ); without, γ is minimised over: nδ⁺ is then that
        of X alone, and nδ⁻ that of X after its regression on the covariates, since what they
        explain of a feature bends the profiled objective no more
    lower : whether nδ⁻ is needed; 0 is returned where it is not, or where it would cost too much
    softening : 2ρ/α⁻ (q,), the ridge of that regression

    Both ends are safe: nδ⁻ is never too large, nδ⁺ never too small but for the chance that a random
    start of the Lanczos iteration, used for large data, is orthogonal to the leading direction.
    """
    (n, N), p = small.data.shape, n_features
    q = small.n_covariates if covariates else 0
    # Else ΦᵀΩΦ is singular, or its smallest eigenvalue too dear.
    lower = lower and p + q <= n and p == N and options.largest_gram >= N
    if not lower and N > _COLUMNS and n * N**2 > options.gram_operations:
        return 0.0, _lanczos_bound(small, scale, q)
    xp = namespace(small.targets)
    G = _gram(small) * (scale * scale)
    C = small.covariates
    cross = small.pull(small.loss_weight * C) * scale  # XᵀΩX' (N, q)
    if q:
        corner = C.T @ (small.loss_weight * C)
        G = xp.concat([xp.concat([G, cross], axis=1), xp.concat([cross.T, corner], axis=1)], axis=0)
    size = int(G.shape[0])
    values = xp.linalg.eigvalsh((G + G.T) / 2)
    slack = size * eps(G)
    top = max(float(values[-1]), 0.0)
    bottom = float(values[0])
    if not lower:
        return 0.0, top * (1 + slack)
    if not covariates and C.shape[1]:
        ridge = diagonal(xp.astype(softening, G.dtype))
        explained = cross @ xp.linalg.pinv(C.T @ (small.loss_weight * C) + ridge) @ cross.T
        bottom = float(xp.linalg.eigvalsh(G - (explained + explained.T) / 2)[0])
    return max(bottom - slack * top, 0.0), top * (1 + slack)


def _gram(arrays: LiftedArrays) -> Array:
    """X̃ᵀΩX̃/w in the problem's own units (N, N), by blocks of columns: no dense copy of X."""
    xp, N = namespace(arrays.targets), arrays.side
    identity = eye_like(arrays.targets, N)
    return xp.concat(
        [_product(arrays, identity[:, start : min(start + _COLUMNS, N)]) for start in range(0, N, _COLUMNS)],
        axis=1,
    )


def _product(arrays: LiftedArrays, T: Array) -> Array:
    return arrays.pull(arrays.loss_weight * arrays.features(T, arrays.image(T)))


def _lanczos_bound(arrays: LiftedArrays, scale: float, q: int) -> float:
    """An upper bound of λ_max(ΦᵀΩΦ), Φ = [s·X̃, X'] with the first q covariates (all or none)."""
    xp, N, C = namespace(arrays.targets), arrays.side, arrays.covariates
    rng = np.random.default_rng(0)
    like = arrays.targets
    v = xp.asarray(rng.standard_normal((N + q, 1)), dtype=like.dtype, device=device(like))
    v = v / frobenius2(v) ** 0.5
    Q, bound = v, 0.0
    on: list[float] = []
    off: list[float] = []
    for step in range(1, min(_MOST_STEPS, N + q) + 1):
        a = arrays.features(v[:N, :], arrays.image(v[:N, :])) * scale
        if q:
            a = a + C @ v[N:, :]
        a = arrays.loss_weight * a
        u = arrays.pull(a) * scale
        if q:
            u = xp.concat([u, C.T @ a])
        on.append(float((v.T @ u)[0, 0]))
        for _ in range(2):
            u = u - Q @ (Q.T @ u)
        beta = frobenius2(u) ** 0.5
        T = np.diag(on) + np.diag(off, 1) + np.diag(off, -1)
        values, vectors = np.linalg.eigh(T)
        top, residual = float(values[-1]), beta * abs(float(vectors[-1, -1]))
        bound = top + residual
        enough = step >= _LEAST_STEPS and residual <= _RELATIVE_RESIDUAL * top
        if enough or beta <= (N + q) * eps(u) * abs(top):
            break
        off.append(beta)
        v = u / beta
        Q = xp.concat([Q, v], axis=1)
    return max(bound, 0.0) * (1 + (N + q) * eps(v))
