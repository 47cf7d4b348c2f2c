"""Solutions of one problem at many weights (ξ, λ), each from the solution at the weights before.

The expensive parts of a fit depend on X only: its compression, the leading subspace, the products of the
basis. A path computes them once. Every pair of weights begins in the same basis, which grows where that pair
needs it, and starts from the solution at the weights before (docs/method.md §8).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from superfactor._arrays import one_blas_thread
from superfactor.problem import Problem
from superfactor.samples import Vectors
from superfactor.solution import Monitor, Solution
from superfactor.solvers.newton.beginning import begin
from superfactor.solvers.newton.descent import Stride
from superfactor.solvers.newton.rounds import descended, rounds
from superfactor.solvers.newton.solve import DEFAULT_ITERATIONS, solution
from superfactor.solvers.newton.starts import effort_named, other_starts, ridge_subspace
from superfactor.solvers.newton.state import GROWING, HeldState, Run, State
from superfactor.subspace.newton_model import elimination_pays

# Most steps from the ridge solution; fewer if it becomes clear that F gets no lower.
_STEPS = 6


def solve_path(
    problem: Problem,
    rank: int,
    weights: Iterable[tuple[float, float]],
    *,
    tol: float = 1e-8,
    max_iter: int | None = None,
    random_state: int | np.random.Generator | None = 0,
    search: str = "auto",
    shared: Vectors | None = None,
) -> Iterator[Solution]:
    """Yield the solutions of `problem` at each pair (ξ, λ) of `weights`, in this order.

    Parameters
    ----------
    problem : Problem
        A problem with any ξ and λ > 0.
    rank : int
        Number of factors.
    weights : iterable of pairs (ξ, λ)
        In the user's units. Neighbours should be similar; large λ first is fastest.
    tol : float, default=1e-8
        As in `solve`.
    max_iter : int, optional
        As in `solve`, for each pair.
    random_state : int, Generator or None, default=0
        Source of random numbers.
    search : {"off", "auto", "thorough"}, default="auto"
        As in `solve`.
    shared : directions, optional
        Directions of the compact problem, as from `ridge_directions`, that the basis of every pair contains.

    Yields
    ------
    solution : Solution
        One per pair. A solution that is not proven optimal is yielded after the next pair is solved: the
        subspace of the next pair may lead to a lower objective.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import resolve_link
    >>> from superfactor.problem import state
    >>> from superfactor.solvers import newton
    >>> X, y = np.random.default_rng(0).standard_normal((20, 5)), np.arange(20) % 2
    >>> problem = state("filter", X, y, resolve_link("logistic", 1), xi=1.0, lam=5.0)
    >>> weights = [(1.0, 10.0), (1.0, 5.0), (1.0, 2.0)]
    >>> [round(found.objective, 2) for found in newton.solve_path(problem, 2, weights)]
    [44.38, 44.33, 44.26]
    """
    rng = np.random.default_rng(random_state)
    state: State | None = None
    waiting: Waiting | None = None
    last_row: dict[float, HeldState] = {}  # the state reached at the same λ and the ξ before
    effort = effort_named(search)
    home: State | None = None  # the first state, whose basis every pair begins with
    for xi, lam in weights:
        here = problem.compact.restated(xi, lam)
        monitor = Monitor(DEFAULT_ITERATIONS if max_iter is None else max_iter)
        run = Run(tol, rng, monitor, here.samples.operations)
        with one_blas_thread:
            if state is None or home is None:
                home = with_directions(begin(here, rank, run), shared)
                state = rounds(home, run)
            else:
                state = from_neighbour(reweighted(state, home, here), run)
            unproven = not run.monitor.stopped and not state.proven(tol)
            if unproven and lam in last_row and elimination_pays(state.inside):
                state = lower_from(state, state.back_to(last_row[lam]), run)
            if effort is not None and unproven:
                state = other_starts(state, run, effort)
            last_row[lam] = state.held()
            earlier = None if waiting is None else waiting.compared(problem, rank, state, home)
            waiting = Waiting(state, run) if unproven and elimination_pays(state.inside) else None
            found = None if waiting is not None else solution(problem, rank, state, monitor)
        if earlier is not None:
            yield earlier
        if found is not None:
            yield found
    if waiting is not None:
        with one_blas_thread:
            found = solution(problem, rank, waiting.state, waiting.run.monitor)
        yield found


@dataclass(frozen=True)
class Waiting:
    """A state that is not proven optimal, kept until the next pair of the path is solved."""

    state: State
    run: Run

    def compared(self, problem: Problem, rank: int, later: State, home: State) -> Solution:
        """Return the solution, from the neighbour's subspace if that gives a lower F."""
        state = self.state
        state = lower_from(state, reweighted(later, home, state.problem), self.run)
        return solution(problem, rank, state, self.run.monitor)


def lower_from(state: State, neighbour: State, run: Run) -> State:
    """Return a state, or one from a neighbour's subspace at the same weights if its F is lower."""
    inside, old = neighbour.inside, neighbour.point
    if run.monitor.stopped:
        return state
    point = inside.polish(old.W, old.beta, old.gamma, max_iter=3, tol=1e-3)
    if state.point.F - state.goal(run.tol) <= point.F:
        return state
    better = rounds(replace(neighbour, point=point), run)
    return better if better.point.F < state.point.F else state


def with_directions(state: State, shared: Vectors | None) -> State:
    """Return a first state in a basis extended by these directions; its capacity grows by as many."""
    if shared is None or state.whole:
        return state
    basis, _ = state.basis.extended(shared)
    capacity = state.capacity + basis.size - state.basis.size
    return replace(state.in_basis(basis), capacity=capacity)


def reweighted(state: State, home: State, problem: Problem) -> State:
    """Return the subspace and point at other weights, where the point is not evaluated yet.

    If the basis has lost vectors or gained many, the first basis of the path is used: directions that one
    pair needed would slow down the others.
    """
    began, now = home.basis.size, state.basis.size
    if not began <= now <= began + 2 * state.rank:
        state = home.back_to(state.held())
    inside = state.inside.at_weights(problem)
    return replace(state, inside=inside, stride=Stride.of(problem), floor=inside.pca_value, phase=GROWING)


def from_neighbour(state: State, run: Run) -> State:
    """Return the result from the point of other weights; if not proven, also from the ridge solution."""
    inside, old = state.inside, state.point
    if not elimination_pays(inside):
        return rounds(replace(state, point=inside.at(old.W, old.beta, old.gamma)), run)
    point = inside.polish(old.W, old.beta, old.gamma, max_iter=30, tol=1e-4)
    state = rounds(replace(state, point=point), run)
    if state.proven(run.tol) or run.monitor.stopped:
        return state
    first = state.held()
    W, A, gamma = ridge_subspace(state.inside, state.point, state.problem.lam)
    start = state.inside.polish(W, W.T @ A, gamma, max_iter=10, tol=1e-10)
    goal = state.goal(run.tol)
    state = replace(state, point=start)
    for _ in range(_STEPS):
        state = descended(state, run, 0.1 * goal, limit=1)
        if first.F - goal <= state.point.F - 10 * state.left:  # F cannot get lower than that
            return state.back_to(first)
    state = rounds(state, run)
    return state.back_to(first) if first.F <= state.point.F else state
