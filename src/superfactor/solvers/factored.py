"""In and out of factored points: from factors in the user's units to the search side and back.

A factored point is L (N, r), β (r, κ), P (other, r) with Ã = L·β and B̃ = L·Pᵀ, in the units of the
problem (see `LiftedProblem`): L is W for the filter model and Hᵀ for the feature model.
"""

from __future__ import annotations

import math

import numpy as np

from superfactor._arrays import Array, column_norms, namespace, zeros_like_of
from superfactor.lifting import Factors, LiftedProblem


def split(problem: LiftedProblem, factors: Factors) -> tuple[Array, Array, Array]:
    """L, β, P of factors in the user's units."""
    scale, root = problem.data.scale, problem.root_weight
    codes = factors.codes if root is None else factors.codes * root
    if problem.name == "filter":
        return factors.components, factors.beta * scale, codes / scale
    return codes, factors.beta, factors.components / scale


def unlift(
    problem: LiftedProblem,
    L: Array,
    beta: Array,
    P: Array,
    gamma: Array,
    rank: int,
    *,
    rotate: bool = True,
) -> Factors:
    """The factors of a point in the user's units, with zero components up to `rank`.

    With `rotate` they are the singular vectors of the lifted matrix (docs/method.md §1), whichever L and P
    gave it; without, the columns of L and P themselves, those of W with norm one.
    """
    if rotate:
        Q, R = namespace(L).linalg.qr(L)
        return _padded(problem.unlift(Q, R @ beta, gamma, R @ P.T), rank)
    xp, scale, root = namespace(L), problem.data.scale, problem.root_weight
    by_filter = problem.name == "filter"
    W, codes = (L, P * scale) if by_filter else (P * scale, L)
    norms = column_norms(W)
    norms = xp.where(norms > 0, norms, xp.ones_like(norms))
    if root is not None:
        codes = codes / root
    beta = beta * norms[:, None] / scale if by_filter else beta / norms[:, None]
    return _padded(Factors(W / norms[None, :], codes * norms[None, :], beta, gamma), rank)


def _padded(factors: Factors, rank: int) -> Factors:
    missing = rank - factors.beta.shape[0]
    if missing <= 0:
        return factors
    xp = namespace(factors.beta)

    def wider(x: Array) -> Array:
        return xp.concat([x, zeros_like_of(x, x.shape[0], missing)], axis=1)

    beta = xp.concat([factors.beta, zeros_like_of(factors.beta, missing, factors.beta.shape[1])])
    return Factors(wider(factors.components), wider(factors.codes), beta, factors.gamma)


def random_factors(problem: LiftedProblem, rank: int, rng: np.random.Generator) -> Factors:
    """Gaussian factors in the user's units with ‖WH‖ near ‖X‖, β of size one and γ = 0."""
    n, p = problem.data.shape
    size = problem.data.scale * math.sqrt(problem.data.squared_norm)
    return Factors(
        random_block(problem, p, rank, rng) / math.sqrt(p),
        random_block(problem, n, rank, rng) * (size / math.sqrt(n * rank)),
        random_block(problem, rank, problem.n_outputs, rng) / math.sqrt(rank),
        zeros_like_of(problem.targets, problem.covariates.shape[1], problem.n_outputs),
    )


def random_block(
    problem: LiftedProblem, rows: int, columns: int, rng: np.random.Generator
) -> Array:
    """Standard normal numbers (rows, columns) in the type and place of the data."""
    like, xp = problem.targets, problem.data.xp
    block = rng.standard_normal((rows, columns))
    return xp.asarray(block, dtype=like.dtype, device=problem.data.device)
