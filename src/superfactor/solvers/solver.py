"""What a solver declares of itself: its public name, and what it can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from superfactor.constraints import ConvexSet, WholeSpace
from superfactor.solution import Solution


@dataclass(frozen=True)
class Solver:
    """A way to minimise F of data in memory without constraint, and what it can do besides.

    Attributes
    ----------
    name : str
        What users call it.
    solve : callable
        ``solve(problem, rank, *, tol, max_iter, random_state, callback, ...) -> Solution``.
    takes : frozenset of str
        Options of `solve` that other solvers may not have: "search", "step_size", "checkpoint", "codes".
    in_passes : bool
        Whether the rows of X may be read in passes or kept on a cluster.
    constraints : tuple of types
        Convex sets that ``solve(..., constraint=)`` takes; empty where it has no such option.
    """

    name: str
    solve: Callable[..., Solution]
    takes: frozenset[str] = frozenset()
    in_passes: bool = False
    constraints: tuple[type[ConvexSet], ...] = ()

    def allows(self, constraint: ConvexSet) -> bool:
        """Whether it can keep to this set."""
        return isinstance(constraint, (WholeSpace, *self.constraints))
