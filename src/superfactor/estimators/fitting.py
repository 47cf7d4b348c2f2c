"""Which solver runs, and what an estimator tells of its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from superfactor._arrays import Array, column_norms, namespace
from superfactor.constraints import ConvexSet, NonNegative, WholeSpace, resolve_constraint
from superfactor.models import Factors, Model
from superfactor.problem import Problem
from superfactor.solution import Solution


def solve(
    problem: Problem,
    rank: int,
    solver: str,
    *,
    constraint: ConvexSet | None,
    search: str,
    step_size: float | Literal["auto"],
    max_iter: int | None,
    tol: float,
    seed: int | np.random.Generator,
    callback: Callable[[int, float], bool] | None,
    checkpoint: Any = None,
    codes: bool = True,
) -> Solution:
    """The answer of one of the solvers by its public name; the default one may leave out codes."""
    options: dict[str, Any] = {"tol": tol, "random_state": seed, "callback": callback}
    options["max_iter"] = max_iter
    allowed = resolve_constraint(constraint)
    if solver == "lpgd":
        from superfactor.solvers import lpgd

        restricted = None if isinstance(allowed, WholeSpace) else allowed
        return lpgd.solve(problem, rank, step_size=step_size, constraint=restricted, **options)
    if solver == "bcd":
        from superfactor.solvers import bcd

        return bcd.solve(problem, rank, nonnegative=isinstance(allowed, NonNegative), **options)
    from superfactor.solvers import newton

    return newton.solve(problem, rank, search=search, checkpoint=checkpoint, codes=codes, **options)


def largest_entry(model: Model, factors: Factors) -> float:
    """About the largest entry of (A, B, γ): that of B = codes·Wᵀ by the norms of its factors' rows."""
    xp = namespace(factors.components)
    W, codes = factors.components, factors.codes
    B = _largest(column_norms(W.T)) * _largest(column_norms(codes.T))
    return max(_largest(xp.abs(model.lifted(factors))), B, _largest(xp.abs(factors.gamma)))


def _largest(x: Array) -> float:
    return float(namespace(x).max(x)) if 0 not in x.shape else 0.0


def shares(problem: Problem, solution: Solution) -> Array:
    """‖w_j‖²‖h_j‖²/‖X‖² (r,): the share of X's sum of squares that each factor reconstructs.

    They add up to that of all factors together, since atoms (filter model) or codes (feature model)
    are orthogonal; those of "bcd" are not, and share what they have in common.
    """
    norms = column_norms(solution.factors.components)
    sizes = norms * (solution.code_sizes / problem.scale)
    squared = problem.squared_norm
    return (sizes / squared**0.5) ** 2 if squared > 0 else sizes
