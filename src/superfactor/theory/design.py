"""Extreme eigenvalues of the design: how strongly the data let the loss bend.

The Hessian of Σ_i ω_i ℓ(y_i, a_i) in the coefficients U = [A ‖ γ] of a linear activation a = ΦU
lies between α⁻·ΦᵀΩΦ and α⁺·ΦᵀΩΦ, Ω = diag(ω). The paper calls the extreme eigenvalues of that
matrix nδ⁻ and nδ⁺.
"""

from __future__ import annotations

import numpy as np

from superfactor._arrays import (
    Array,
    device,
    diagonal,
    eps,
    eye_like,
    frobenius2,
    namespace,
)
from superfactor.lifting import LiftedProblem

# Work, as n·N², below which the Gram matrix is cheaper than some twenty products with X.
_SMALL_WORK = 1e7
# Largest N whose smallest eigenvalue is worth a decomposition; beyond it the bound is 0.
_LARGEST_GRAM = 1500
_COLUMNS = 64
# Lanczos: the top Ritz value plus its residual, once that is this small.
_RELATIVE_RESIDUAL = 1e-2
_LEAST_STEPS, _MOST_STEPS = 6, 40


def covariate_gram(problem: LiftedProblem) -> Array:
    """X'ᵀΩX' (q, q)."""
    return problem.covariates.T @ (problem.loss_weight * problem.covariates)


def largest_eigenvalue(matrix: Array) -> float:
    """λ_max of a symmetric positive semi-definite matrix (q, q), rounded up; 0 when it is empty."""
    if matrix.shape[0] == 0:
        return 0.0
    top = float(namespace(matrix).linalg.eigvalsh(matrix)[-1])
    return max(top, 0.0) * (1 + int(matrix.shape[0]) * eps(matrix))


def filter_extremes(
    problem: LiftedProblem, *, covariates: bool, lower: bool, softening: Array
) -> tuple[float, float]:
    """(nδ⁻, nδ⁺) of the filter model, Φ = [X, X'], in the user's units.

    Parameters
    ----------
    covariates : with X' in Φ (joint in A and γ); without, γ is minimised over: nδ⁺ is then that
        of X alone, and nδ⁻ that of X after its regression on the covariates, since what they
        explain of a feature bends the profiled objective no more
    lower : whether nδ⁻ is needed; 0 is returned where it is not, or where it would cost too much
    softening : 2ρ/α⁻ (q,), the ridge of that regression

    Both ends are safe: nδ⁻ is never too large, nδ⁺ never too small but for the chance that a random
    start of the Lanczos iteration, used for large data, is orthogonal to the leading direction.
    """
    n, p = problem.data.shape
    q = int(problem.covariates.shape[1]) if covariates else 0
    small, scale = problem.compact[0], problem.data.scale
    N = small.side
    lower = lower and p + q <= n and p == N and N <= _LARGEST_GRAM  # else ΦᵀΩΦ is singular
    if not lower and N > _COLUMNS and n * N**2 > _SMALL_WORK:
        return 0.0, _lanczos_bound(small, scale, q)
    xp = namespace(small.targets)
    G = _gram(small) * (scale * scale)
    C = small.covariates
    cross = small.pull(small.loss_weight * C) * scale  # XᵀΩX' (N, q)
    if q:
        corner = covariate_gram(small)
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
        explained = cross @ xp.linalg.pinv(covariate_gram(small) + ridge) @ cross.T
        bottom = float(xp.linalg.eigvalsh(G - (explained + explained.T) / 2)[0])
    return max(bottom - slack * top, 0.0), top * (1 + slack)


def _gram(problem: LiftedProblem) -> Array:
    """X̃ᵀΩX̃/w in the problem's own units (N, N), by blocks of columns: no dense copy of X."""
    xp, N = namespace(problem.targets), problem.side
    identity = eye_like(problem.targets, N)
    return xp.concat(
        [
            _product(problem, identity[:, start : min(start + _COLUMNS, N)])
            for start in range(0, N, _COLUMNS)
        ],
        axis=1,
    )


def _product(problem: LiftedProblem, T: Array) -> Array:
    return problem.pull(problem.loss_weight * problem.features(T, problem.image(T)))


def _lanczos_bound(problem: LiftedProblem, scale: float, q: int) -> float:
    """An upper bound of λ_max(ΦᵀΩΦ), Φ = [s·X̃, X'] with the first q covariates (all or none)."""
    xp, N, C = namespace(problem.targets), problem.side, problem.covariates
    rng = np.random.default_rng(0)
    like = problem.targets
    v = xp.asarray(rng.standard_normal((N + q, 1)), dtype=like.dtype, device=device(like))
    v = v / frobenius2(v) ** 0.5
    Q, bound = v, 0.0
    on: list[float] = []
    off: list[float] = []
    for step in range(1, min(_MOST_STEPS, N + q) + 1):
        a = problem.features(v[:N, :], problem.image(v[:N, :])) * scale
        if q:
            a = a + C @ v[N:, :]
        a = problem.loss_weight * a
        u = problem.pull(a) * scale
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


def class_weight_range(problem: LiftedProblem) -> tuple[float, float]:
    """Smallest and largest ω_i/w_i: what class weights alone do to the loss of a sample."""
    ratio = problem.loss_weight
    if problem.root_weight is not None:
        ratio = ratio / problem.root_weight**2
    xp = namespace(ratio)
    return float(xp.min(ratio)), float(xp.max(ratio))
