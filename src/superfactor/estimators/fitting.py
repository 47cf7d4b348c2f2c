"""Which solver runs, and its answer with exactly as many components as asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from superfactor._arrays import Array, column_norms, namespace, zeros_like_of
from superfactor.constraints import ConvexSet, NonNegative, WholeSpace, resolve_constraint
from superfactor.lifting import Factors, LiftedProblem


def solve(
    problem: LiftedProblem,
    rank: int,
    solver: str,
    *,
    constraint: ConvexSet | None,
    step_size: float | str,
    max_iter: int | None,
    tol: float,
    seed: int | np.random.Generator,
    callback: Callable[[int, float], bool] | None,
) -> Any:
    """The `Solution` of one of the solvers by its public name."""
    module = import_module("superfactor.solvers." + solver.replace("-", "_"))
    options: dict[str, Any] = {"tol": tol, "random_state": seed, "callback": callback}
    if max_iter is not None:
        options["max_iter"] = max_iter
    theta = resolve_constraint(constraint)
    if solver == "lpgd":
        options["step_size"] = step_size
        if not isinstance(theta, WholeSpace):
            options["constraint"] = theta
    if solver == "bcd" and isinstance(theta, NonNegative):
        options["nonnegative"] = True
    return module.solve(problem, rank, **options)


def certify(problem: LiftedProblem, rank: int, solution: Any, method: str | None) -> Any:
    """The certificate of a solution, or None where nobody asked."""
    if method is None:
        return None
    from superfactor.theory import certificate

    return certificate.certify(
        problem,
        rank,
        solution.activations,
        solution.factors.gamma,
        solution.objective,
        method=method,
        basis=solution.basis,
    )


def largest_entry(model: str, factors: Factors) -> float:
    """About the largest entry of (A, B, γ): that of B = codes·Wᵀ by the norms of its factors' rows."""
    xp = namespace(factors.components)
    W, codes = factors.components, factors.codes
    A = (W if model == "filter" else codes) @ factors.beta
    B = _largest(column_norms(W.T)) * _largest(column_norms(codes.T))
    return max(_largest(xp.abs(A)), B, _largest(xp.abs(factors.gamma)))


def _largest(x: Array) -> float:
    return float(namespace(x).max(x)) if 0 not in x.shape else 0.0


def shares(problem: LiftedProblem, factors: Factors) -> Array:
    """‖w_j‖²‖h_j‖²/‖X‖² (r,): the share of X's sum of squares that each factor reconstructs.

    They add up to that of all factors together, since atoms (filter model) or codes (feature model)
    are orthogonal; those of "bcd" are not, and share what they have in common.
    """
    codes = factors.codes if problem.root_weight is None else factors.codes * problem.root_weight
    total = problem.data.squared_norm**0.5
    sizes = column_norms(factors.components) * (column_norms(codes) / problem.data.scale)
    return (sizes / total) ** 2 if total > 0 else sizes


def padded(factors: Factors, rank: int) -> Factors:
    """The same factors with zero components up to `rank`: X may have a smaller rank than that."""
    missing = rank - int(factors.components.shape[1])
    if missing <= 0:
        return factors
    return Factors(
        components=_more_columns(factors.components, missing),
        codes=_more_columns(factors.codes, missing),
        beta=_more_columns(factors.beta.T, missing).T,
        gamma=factors.gamma,
    )


def _more_columns(x: Array, count: int) -> Array:
    return namespace(x).concat([x, zeros_like_of(x, x.shape[0], count)], axis=1)
