"""What a solver declares of itself: its public name, and what it can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from superfactor.constraints import ConvexSet, WholeSpace
from superfactor.solution import Solution


@dataclass(frozen=True)
class Solver:
    """A way to minimise F of data in memory without constraint, and what it can do besides."""

    name: str  # what users call it
    solve: Callable[..., Solution]  # (problem, rank, *, tol, max_iter, random_state, callback, ...)
    takes: frozenset[str] = frozenset()  # options of `solve` that other solvers may not have
    in_passes: bool = False  # whether the rows of X may be read in passes or kept on a cluster
    constraints: tuple[type[ConvexSet], ...] = ()  # sets that its option `constraint` takes, if it has one

    def allows(self, constraint: ConvexSet) -> bool:
        """Whether it can keep to this set."""
        return isinstance(constraint, (WholeSpace, *self.constraints))
