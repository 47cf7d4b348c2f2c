"""The description of a solver: its public name and what it supports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from superfactor.constraints import ConvexSet, WholeSpace
from superfactor.solution import Solution


@dataclass(frozen=True)
class Solver:
    """A solver of F. Every solver supports data in memory without a constraint; fields list more."""

    name: str  # public name
    solve: Callable[..., Solution]  # (problem, rank, *, tol, max_iter, random_state, callback, ...)
    takes: frozenset[str] = frozenset()  # options of `solve` that not every solver has
    in_passes: bool = False  # whether the rows of X may be read in passes or stored on a cluster
    constraints: tuple[type[ConvexSet], ...] = ()  # sets that its option `constraint` takes, if it has one

    def allows(self, constraint: ConvexSet) -> bool:
        """Return whether the solver supports this set."""
        return isinstance(constraint, (WholeSpace, *self.constraints))
