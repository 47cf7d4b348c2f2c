"""The immutable state of a search. Every phase of the solver takes one and returns another."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from superfactor._arrays import eye_like, namespace
from superfactor.problem import Problem
from superfactor.samples import Vectors
from superfactor.solution import Monitor, OtherStarts
from superfactor.solvers.newton.descent import Stride
from superfactor.subspace import Basis, Inside, Point

# Phases of a search, as stored in a checkpoint.
GROWING, RESTARTING, FINISHED = "growing", "restarting", "finished"


@dataclass(frozen=True)
class Run:
    """Settings of a search."""

    tol: float  # relative to what supervision can change
    rng: np.random.Generator  # draws starts
    monitor: Monitor  # stores the history and decides when to stop
    begun: float = 0.0  # operation count of the samples when the search began
    # Called with each state, and whether it must be stored in any case
    observe: Callable[[State, bool], None] = lambda state, important: None


@dataclass(frozen=True)
class State:
    """State of a search."""

    inside: Inside  # the problem inside the current subspace
    point: Point  # the best one there
    stride: Stride  # current lengths of steps
    floor: float  # bound(0) inside the subspace, the lowest cost of reconstruction alone
    whole: bool  # whether the subspace is the whole range of X
    capacity: int  # largest dimension of the subspace
    phase: str = GROWING  # current phase of the search
    searched: OtherStarts | None = None  # other starts that the point has been compared with
    # left, reason, converged: estimate of the remaining decrease of F inside the subspace, why the rounds
    # ended, and whether the tolerance was reached
    left: float = math.inf
    reason: str = ""
    converged: bool = False

    @property
    def problem(self) -> Problem:
        return self.inside.problem

    @property
    def basis(self) -> Basis:
        return self.inside.basis

    @property
    def rank(self) -> int:
        return self.inside.rank

    @property
    def supervised(self) -> float:
        """F − bound(0), what supervision can change; at least a small positive number."""
        change = float(self.point.F - self.floor)
        return max(change, self.inside.least_change(change))

    def goal(self, tol: float) -> float:
        """Return tol times what supervision can change, but at least the rounding error of F."""
        return float(max(tol * self.supervised, 16 * self.problem.epsilon * abs(self.point.F)))

    def proven(self, tol: float) -> bool:
        """Return whether the duality gap inside the subspace proves the point optimal up to tol."""
        return self._gap <= 10 * self.goal(tol) + 5e-7 * self.supervised

    @cached_property
    def _gap(self) -> float:
        return self.inside.duality_gap(self.point)

    # --- the same search in another subspace ----------------------------------------------------------------

    def in_basis(self, basis: Basis) -> State:
        """Return the same point in an extended basis."""
        if basis is self.basis:
            return self
        inside = Inside(basis, self.rank)
        return replace(
            self,
            inside=inside,
            floor=min(self.floor, inside.pca_value),
            point=inside.embedded(self.point),
            stride=replace(self.stride, radius=math.inf),  # the metric depends on the subspace
        )

    def restarted(self, keep: int) -> State:
        """Return the point in `keep` directions: its own, and the leading ones of its complement."""
        frame = self.inside.frame(self.point)
        V = namespace(frame.W).concat([frame.W, frame.complement[:, : max(keep - self.rank, 0)]], axis=1)
        inside = Inside(self.basis.turned(V), self.rank)
        point = inside.at(eye_like(V, V.shape[1], self.rank), frame.beta, self.point.gamma)
        return replace(self, inside=inside, point=point)

    def held(self) -> HeldState:
        """Return the point with W as vectors, independent of the basis."""
        return HeldState(self, self.basis.S.combined(self.point.W))

    def back_to(self, held: HeldState) -> State:
        """Return an earlier state in the current basis, which is extended if necessary."""
        basis, _ = self.basis.extended(held.W)
        inside = self.inside if basis is self.basis else Inside(basis, self.rank)
        old = held.state
        point = inside.at(basis.coordinates(held.W), old.point.beta, old.point.gamma)
        return replace(
            self, inside=inside, point=point, left=old.left, reason=old.reason, converged=old.converged
        )


@dataclass(frozen=True)
class HeldState:
    """A state with the subspace of its point as vectors of the search side."""

    state: State
    W: Vectors

    @property
    def F(self) -> float:
        return float(self.state.point.F)
