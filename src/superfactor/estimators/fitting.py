"""Which solver runs, and its answer with exactly as many components as asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, column_norms, namespace, zeros_like_of
from superfactor.constraints import ConvexSet, NonNegative, WholeSpace, resolve_constraint
from superfactor.lifting import Factors, LiftedProblem, SampledProblem
from superfactor.spectrum.compression import LARGEST_FULL_SIDE

# So many stored numbers make X large.
_LARGE = 20_000_000


def solve(
    problem: LiftedProblem | SampledProblem,
    rank: int,
    solver: str,
    *,
    constraint: ConvexSet | None,
    step_size: float | str,
    max_iter: int | None,
    tol: float,
    seed: int | np.random.Generator,
    callback: Callable[[int, float], bool] | None,
    checkpoint: Any = None,
    codes: bool = True,
) -> Any:
    """The `Solution` of one of the solvers by its public name; `codes=False` may leave out its codes."""
    module = import_module("superfactor.solvers." + solver.replace("-", "_"))
    options: dict[str, Any] = {"tol": tol, "random_state": seed, "callback": callback}
    if max_iter is not None:
        options["max_iter"] = max_iter
    if checkpoint is not None:
        options["checkpoint"] = checkpoint
    if isinstance(problem, SampledProblem):
        return module.solve_sampled(problem, rank, codes=codes, **options)
    theta = resolve_constraint(constraint)
    if solver == "lpgd":
        options["step_size"] = step_size
        if not isinstance(theta, WholeSpace):
            options["constraint"] = theta
    if solver == "bcd" and isinstance(theta, NonNegative):
        options["nonnegative"] = True
    return module.solve(problem, rank, **options)


def is_large(X: Any) -> bool:
    """Whether X (n, p) is better known through sums over its samples than through arrays."""
    size = X.nnz if hasattr(X, "nnz") else X.shape[0] * X.shape[1]
    return bool(size >= _LARGE) and X.shape[0] > LARGEST_FULL_SIDE


def certify(
    problem: LiftedProblem | SampledProblem, rank: int, solution: Any, method: str | None
) -> Any:
    """The certificate of a solution, or None where nobody asked."""
    if method is None:
        return None
    from superfactor.theory import certificate

    if isinstance(problem, SampledProblem):
        return certificate.certify_sampled(
            problem, rank, solution.theta, solution.objective, solution.basis, method=method
        )
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


def code_sizes(solution: Any) -> Array:
    """The norms of the columns of the codes (r,)."""
    if solution.code_sizes is None:
        return column_norms(solution.factors.codes)
    return cast(solution.code_sizes, solution.factors.components)


def shares(problem: LiftedProblem | SampledProblem, solution: Any) -> Array:
    """‖w_j‖²‖h_j‖²/‖X‖² (r,): the share of X's sum of squares that each factor reconstructs.

    They add up to that of all factors together, since atoms (filter model) or codes (feature model)
    are orthogonal; those of "bcd" are not, and share what they have in common.
    """
    factors = solution.factors
    if isinstance(problem, SampledProblem):
        sizes, scale, squared = code_sizes(solution), problem.scale, problem.squared_norm
    else:
        codes, root = factors.codes, problem.root_weight
        sizes = column_norms(codes if root is None else codes * root)
        scale, squared = problem.data.scale, problem.data.squared_norm
    sizes = column_norms(factors.components) * (sizes / scale)
    return (sizes / squared**0.5) ** 2 if squared > 0 else sizes


def padded(solution: Any, rank: int) -> Any:
    """The same solution with zero components up to `rank`: X may have a smaller rank than that."""
    factors = solution.factors
    missing = rank - int(factors.components.shape[1])
    if missing <= 0:
        return solution
    more = Factors(
        components=_more_columns(factors.components, missing),
        codes=_more_columns(factors.codes, missing) if factors.codes.ndim == 2 else factors.codes,
        beta=_more_columns(factors.beta.T, missing).T,
        gamma=factors.gamma,
    )
    sizes = solution.code_sizes
    if sizes is not None:
        sizes = _more_columns(sizes[None, :], missing)[0, :]
    return replace(solution, factors=more, code_sizes=sizes)


def _more_columns(x: Array, count: int) -> Array:
    return namespace(x).concat([x, zeros_like_of(x, x.shape[0], count)], axis=1)
