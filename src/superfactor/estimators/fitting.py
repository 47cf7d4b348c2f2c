"""Run a solver, and compute quantities from its solution."""

from __future__ import annotations

from typing import Any

from superfactor._arrays import Array, column_norms, namespace
from superfactor.constraints import ConvexSet, resolve_constraint
from superfactor.models import Factors, Model
from superfactor.problem import Problem
from superfactor.solution import Solution
from superfactor.solvers import SOLVERS, Solver
from superfactor.theory.certificate import METHOD_IN_PASSES

# Options that only some solvers take.
SOLVER_OPTIONS = frozenset().union(*(solver.takes for solver in SOLVERS.values()))


def solve(
    problem: Problem, rank: int, solver: Solver, *, constraint: ConvexSet | None, **options: Any
) -> Solution:
    """Return the solution; the solver receives common options and those it declares."""
    if solver.constraints:
        options["constraint"] = resolve_constraint(constraint)
    undeclared = SOLVER_OPTIONS - solver.takes
    return solver.solve(problem, rank, **{k: v for k, v in options.items() if k not in undeclared})


def reads_passes(solver: Solver, certify: str | None) -> bool:
    """Return whether a fit can read rows in passes or from a cluster; others require arrays."""
    return solver.in_passes and (certify is None or METHOD_IN_PASSES[certify])


def largest_entry(model: Model, factors: Factors) -> float:
    """Return an upper estimate of the largest entry of (A, B, γ); for B = codes·Wᵀ it uses row norms."""
    xp = namespace(factors.components)
    W, codes = factors.components, factors.codes
    B = _largest(column_norms(W.T)) * _largest(column_norms(codes.T))
    return max(_largest(xp.abs(model.lifted(factors))), B, _largest(xp.abs(factors.gamma)))


def _largest(x: Array) -> float:
    return float(namespace(x).max(x)) if 0 not in x.shape else 0.0


def shares(problem: Problem, solution: Solution) -> Array:
    """Return ‖w_j‖²‖h_j‖²/‖X‖² (r,): the share of X's sum of squares that each factor reconstructs.

    The shares add up to that of all factors together, because atoms (filter model) or codes (feature model)
    are orthogonal. With "bcd" they are not orthogonal, and the shares overlap.
    """
    norms = column_norms(solution.factors.components)
    sizes = norms * (solution.code_sizes / problem.scale)
    squared = problem.squared_norm
    return (sizes / squared**0.5) ** 2 if squared > 0 else sizes
