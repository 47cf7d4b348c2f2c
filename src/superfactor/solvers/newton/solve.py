"""The default solver: joint Newton in a growing subspace, with other starts if optimality is not proven.

    begin → rounds → other starts → finish → solution

A search starts from its checkpoint, from the result of a search among some of the samples, or from PCA.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from superfactor._arrays import cast, moved, namespace, one_blas_thread, wide
from superfactor.models import Factors
from superfactor.models.factors import more_columns
from superfactor.problem import Problem
from superfactor.samples import Block
from superfactor.solution import Monitor, Solution
from superfactor.solvers.newton.beginning import Beginning, begin, fingerprint, writing_to
from superfactor.solvers.newton.checkpoint import Checkpoint
from superfactor.solvers.newton.descent import newton, proximal, slack
from superfactor.solvers.newton.rounds import rounds
from superfactor.solvers.newton.starts import Effort, effort_named, other_starts
from superfactor.solvers.newton.state import FINISHED, Run, State
from superfactor.subspace.newton_model import elimination_pays, newton_step

DEFAULT_ITERATIONS = 500
# Accuracy of a search among some of the samples: limited by the sampling error.
_SUBSAMPLE_TOL, _SUBSAMPLE_ITERATIONS = 1e-4, 100
# Additional truncated steps at the end.
_LAST_STEPS = 2
# Relative to what supervision can change; W then has about half as many digits.
_LAST_TOL = 1e-12


def solve(
    problem: Problem,
    rank: int,
    *,
    tol: float = 1e-8,
    max_iter: int | None = None,
    random_state: int | np.random.Generator | None = 0,
    search: str = "auto",
    callback: Callable[[int, float], bool] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    codes: bool = True,
) -> Solution:
    """Minimise F over all points of low rank, by joint Newton steps in a growing subspace.

    Parameters
    ----------
    problem : Problem
        The problem to minimise.
    rank : int
        Number of factors.
    tol : float, default=1e-8
        Tolerance relative to F − ξΣ_{i>r}σ_i², the part of the objective that supervision can change.
    max_iter : int, optional
        500 if None.
    random_state : int, Generator or None, default=0
        Source of random numbers.
    search : {"off", "auto", "thorough"}, default="auto"
        Effort for other starts, if the duality gap does not prove the first answer optimal. "auto" takes
        about as long as the first answer, "thorough" many times as long, "off" tries none. With many samples,
        the search begins with a subsample, and tries other starts on this subsample only.
    callback : callable, optional
        ``(iteration, objective) -> True`` to stop.
    checkpoint : path, optional
        The search writes its state to this file from time to time. If the file exists, the search continues
        from it.
    codes : bool, default=True
        Whether the solution includes the codes of the samples.

    Returns
    -------
    solution : Solution
        Factors in the user's units, history and reason of the end.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import resolve_link
    >>> from superfactor.problem import state
    >>> from superfactor.solvers import newton
    >>> X, y = np.random.default_rng(0).standard_normal((20, 5)), np.arange(20) % 2
    >>> problem = state("filter", X, y, resolve_link("logistic", 1), xi=1.0, lam=5.0)
    >>> solution = newton.solve(problem, rank=2)
    >>> solution.converged, solution.factors.components.shape
    (True, (5, 2))
    """
    monitor = Monitor(DEFAULT_ITERATIONS if max_iter is None else max_iter, callback, True)
    rng = np.random.default_rng(random_state)
    compact = problem.compact  # one large product, which uses all threads of BLAS
    with one_blas_thread:
        run = Run(tol, rng, monitor, compact.samples.operations)
        state = searched(compact, rank, run, effort_named(search), checkpoint)
        return solution(problem, rank, state, monitor, codes)


def searched(
    problem: Problem, rank: int, run: Run, effort: Effort | None, path: str | os.PathLike[str] | None = None
) -> State:
    """Return the final state of the search; without an effort, from one start."""
    checkpoint = None if path is None else Checkpoint(path, fingerprint(problem, rank))
    stored = None if checkpoint is None else checkpoint.load()
    share, beginning = problem.subsample_share(), None
    if stored is not None:
        beginning = Beginning.from_arrays(stored, problem)
    elif share is not None:
        beginning = _beginning_of_some(problem.subsampled(share), rank, run, effort)
    if checkpoint is not None:
        run = replace(run, observe=writing_to(checkpoint, run.rng))
    # Polished before the gap is computed, which needs exact residuals to be tight.
    state = _polished(rounds(begin(problem, rank, run, beginning), run), run)
    done = beginning is not None and beginning.phase == FINISHED
    ended = done or run.monitor.stopped or share is not None
    if effort is not None and not ended and not state.proven(run.tol):
        state = _polished(other_starts(state, run, effort), run)
    state = finish(state, run)
    run.observe(state, True)
    return state


def _beginning_of_some(problem: Problem, rank: int, run: Run, effort: Effort | None) -> Beginning:
    """Return the result of a search among some of the samples, which are not kept."""
    # The callback may stop this search too; its iterations are not counted.
    asked = Monitor(_SUBSAMPLE_ITERATIONS, lambda _, objective: run.monitor.poll(objective))
    few = Run(_SUBSAMPLE_TOL, run.rng, asked, problem.samples.operations)
    state = rounds(begin(problem, rank, few), few)
    if effort is not None and not asked.stopped and not state.proven(few.tol):
        state = other_starts(state, few, effort)
    return Beginning.of(state)


def finish(state: State, run: Run) -> State:
    """Return a polished state with W accurate to the last digits, beyond the accuracy of F."""
    inside, point = state.inside, state.point
    if run.monitor.stopped:
        return state
    if not elimination_pays(inside):
        W = inside.proximal_subspace(point, state.stride.eta, inside.gradient(point))
        mapping = inside.projected_mapping(point, W, state.stride.eta)
        return replace(state, stride=replace(state.stride, mapping=mapping), phase=FINISHED)
    noise = slack(inside, point)
    last, stride = proximal(inside, point, state.stride, run.monitor)
    point = last if point.F - noise > last.F else point
    # One more step squares the remaining error of W.
    step = newton_step(inside, point)
    sharpened = replace(state, point=point, stride=stride)
    if step is not None and not step.saddle and step.decrease <= sharpened.goal(run.tol):
        sharper = step.apply(inside, point, 1.0)
        point = sharper if point.F + noise >= sharper.F else point
    return replace(sharpened, point=point, phase=FINISHED)


def _polished(state: State, run: Run) -> State:
    """Return the state with the best β and γ for its subspace, if Newton systems are cheap.

    Otherwise after more truncated steps, each of which reduces the error to a tenth, unless the last one
    predicted next to nothing.
    """
    inside, point, stride, left = state.inside, state.point, state.stride, state.left
    if elimination_pays(inside):
        return replace(state, point=inside.polish(point.W, point.beta, point.gamma, max_iter=10))
    for _ in range(_LAST_STEPS):
        small = left <= _LAST_TOL * state.supervised
        moved = None if small or run.monitor.stopped else newton(inside, point, stride, run.monitor)
        if moved is None:
            break
        point, step, _, stride = moved
        left = float(step.decrease)
    return replace(state, point=point, stride=stride, left=left)


def solution(problem: Problem, rank: int, state: State, monitor: Monitor, codes: bool = True) -> Solution:
    """Return the solution in the user's units, from the state of a search in the compact problem."""
    point, basis, samples = state.point, state.basis, state.problem.samples
    atoms = wide(problem.expand(basis.loadings @ point.W))
    gram = point.W.T @ basis.D @ point.W
    turned = problem.model.turned(atoms, point.beta, gram, problem.scale)
    rows = None
    if codes:
        turn = point.W @ turned.codes_turn
        rows = cast(samples.stack(Block.codes, basis.features.place, turn), problem.like)
    parts = (turned.components, turned.beta, point.gamma, turned.code_sizes)
    like = problem.like  # results are in the user's library and on the user's device
    components, beta, gamma, sizes = (cast(moved(x, like), like) for x in parts)
    sizes = more_columns(sizes[None, :], rank - int(sizes.shape[0]))[0, :]
    alone = namespace(point.W).concat([point.W @ point.beta, 0 * point.gamma])
    return Solution(
        factors=Factors(components, rows, beta, gamma).padded(rank),
        code_sizes=sizes,
        objective=point.F,
        signal=samples.keep(Block.activations, basis.design, alone),
        basis=lambda: basis,
        history=monitor.history,
        reason=state.reason,
        converged=state.converged,
        stopped_early=monitor.stopped_early,
        gradient_mapping=state.stride.mapping,
        searched=state.searched,
    )
