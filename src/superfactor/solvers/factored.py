"""Random starts and results of Algorithm 1 and block coordinate descent.

Both use factored points L (N, r), β (r, κ), P (other, r) with Ã = L·β and B̃ = L·Pᵀ, in the units of the
problem: L is W for the filter model and Hᵀ for the feature model (`LiftedArrays.split`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, random_like, zeros_like_of
from superfactor.models import Factors, LiftedArrays
from superfactor.problem import Problem
from superfactor.samples import Block
from superfactor.solution import Monitor, Solution
from superfactor.subspace import Basis, leading_basis


def random_factors(arrays: LiftedArrays, rank: int, rng: np.random.Generator) -> Factors:
    """Return Gaussian factors in the user's units with ‖WH‖ near ‖X‖, β of size one and γ = 0."""
    (n, p), like = arrays.data.shape, arrays.targets
    size = arrays.data.scale * math.sqrt(arrays.data.sum_of_squares())
    return Factors(
        random_like(like, rng, p, rank) / math.sqrt(p),
        random_like(like, rng, n, rank) * (size / math.sqrt(n * rank)),
        random_like(like, rng, rank, arrays.n_outputs) / math.sqrt(rank),
        zeros_like_of(like, arrays.n_covariates, arrays.n_outputs),
    )


def answer(
    problem: Problem,
    arrays: LiftedArrays,
    factors: Factors,
    rank: int,
    activations: Array,
    monitor: Monitor,
    **found: Any,
) -> Solution:
    """Return the `Solution` of a solver without a subspace.

    `activations` (n, κ) are those of its point, `found` further attributes of the solution.
    """
    factors = factors.padded(rank)
    signal = activations - arrays.covariates @ cast(factors.gamma, activations)

    def basis() -> Basis:
        size = 6 * rank + 20
        width = max(8, rank // 2)
        return leading_basis(problem.compact, size, size, np.random.default_rng(0), width)

    return Solution(
        factors=factors,
        code_sizes=arrays.code_sizes(factors),
        signal=problem.samples.keep(Block.given, signal),
        basis=basis,
        history=monitor.history,
        stopped_early=monitor.stopped_early,
        **found,
    )
