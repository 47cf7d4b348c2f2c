"""The state of a search: a value. Every phase of the solver takes one and returns another."""

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

# Phases of a search, as a checkpoint names them.
GROWING, RESTARTING, FINISHED = "growing", "restarting", "finished"


@dataclass(frozen=True)
class Run:
    """What a search is run with."""

    tol: float  # relative to what supervision can change
    rng: np.random.Generator  # draws starts
    monitor: Monitor  # keeps the history, and says when to stop
    begun: float = 0.0  # operations that had been asked of the samples when the search began
    # Called with each state, and whether it must be stored in any case
    observe: Callable[[State, bool], None] = lambda state, important: None


@dataclass(frozen=True)
class State:
    """Where a search stands."""

    inside: Inside  # the problem inside the current subspace
    point: Point  # the best one there
    stride: Stride  # how long proximal steps are by now
    floor: float  # bound(0) inside the subspace, what reconstruction alone must cost
    whole: bool  # whether the subspace is the whole range of X
    capacity: int  # how many it may have
    phase: str = GROWING  # how far the search has come
    searched: OtherStarts | None = None  # other starts that it has been compared with
    # left, reason, converged: about how much lower F can get inside the subspace, why the rounds ended, and
    # whether their tolerance was met
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
        """F − bound(0), what supervision can change; separable classes may send it to zero, so not quite."""
        change = float(self.point.F - self.floor)
        return max(change, self.inside.least_change(change))

    def goal(self, tol: float) -> float:
        """tol times what supervision can change, but not below the noise of F itself."""
        return float(max(tol * self.supervised, 16 * self.problem.epsilon * abs(self.point.F)))

    def proven(self, tol: float) -> bool:
        """Whether the duality gap inside the subspace says that nothing lower is there."""
        return self._gap <= 10 * self.goal(tol) + 5e-7 * self.supervised

    @cached_property
    def _gap(self) -> float:
        return self.inside.duality_gap(self.point)

    # --- the same search, seen in another subspace ----------------------------------------------------------

    def in_basis(self, basis: Basis) -> State:
        """The same point in a basis that has grown."""
        if basis is self.basis:
            return self
        inside = Inside(basis, self.rank)
        return replace(
            self,
            inside=inside,
            floor=min(self.floor, inside.pca_value),
            point=inside.embedded(self.point),
            stride=replace(self.stride, radius=math.inf),  # another subspace, another metric
        )

    def restarted(self, keep: int) -> State:
        """The same point in so many directions: its own, and the leading ones of its complement."""
        frame = self.inside.frame(self.point)
        V = namespace(frame.W).concat([frame.W, frame.complement[:, : max(keep - self.rank, 0)]], axis=1)
        inside = Inside(self.basis.turned(V), self.rank)
        point = inside.at(eye_like(V, V.shape[1], self.rank), frame.beta, self.point.gamma)
        return replace(self, inside=inside, point=point)

    def held(self) -> HeldState:
        """The point with its W in full coordinates, to outlive changes of the basis."""
        return HeldState(self, self.basis.S.combined(self.point.W))

    def back_to(self, held: HeldState) -> State:
        """An earlier point in today's basis, which grows where it must, with what was known of it."""
        basis, _ = self.basis.extended(held.W)
        inside = self.inside if basis is self.basis else Inside(basis, self.rank)
        old = held.state
        point = inside.at(basis.coordinates(held.W), old.point.beta, old.point.gamma)
        return replace(
            self, inside=inside, point=point, left=old.left, reason=old.reason, converged=old.converged
        )


@dataclass(frozen=True)
class HeldState:
    """A state, and the subspace of its point as vectors of the search side."""

    state: State
    W: Vectors

    @property
    def F(self) -> float:
        return float(self.state.point.F)
