"""The default solver: joint Newton in a growing subspace, with several starts where nothing is proven.

A `Search` goes from where its checkpoint ends, from where a search among some of the samples led, or from the
beginning.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from superfactor._arrays import blas_threads
from superfactor.lifting import LiftedProblem, SampledProblem, subsample_share, subsampled
from superfactor.solvers.checkpoint import Checkpoint
from superfactor.solvers.resuming import Beginning, fingerprint
from superfactor.solvers.search import Search
from superfactor.solvers.solution import Monitor, Solution

# A search among some of the samples only has to be as good as they are …
_SAMPLE_TOL = 1e-4
# … and tries other starts unless a Newton step takes so many operations.
_DEAR_STARTS = 2e9


def solve(
    problem: LiftedProblem,
    rank: int,
    *,
    tol: float = 1e-8,
    max_iter: int | None = None,
    random_state: int | np.random.Generator | None = 0,
    starts: bool = True,
    callback: Callable[[int, float], bool] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Solution:
    """Minimise F over rank ≤ `rank`.

    `tol` is relative to F − ξΣ_{i>r}σ_i², the part of the objective that supervision can change.
    With `starts`, an answer that the duality gap does not prove optimal is compared with other starts.
    The state of the search is written to the file `checkpoint` from time to time; where it is there already,
    the search goes on from it.
    """
    small, expand = problem.compact
    monitor = Monitor(500 if max_iter is None else max_iter, callback)
    rng = np.random.default_rng(random_state)
    with blas_threads(1):
        search = _searched(small.sampled(), rank, tol, rng, monitor, checkpoint, starts)
        return search.solution(problem, expand)


def solve_sampled(
    problem: SampledProblem,
    rank: int,
    *,
    tol: float = 1e-8,
    max_iter: int | None = None,
    random_state: int | np.random.Generator | None = 0,
    starts: bool = True,
    callback: Callable[[int, float], bool] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    codes: bool = True,
) -> Solution:
    """The same for a problem that is known by its samples alone; without their codes if not wanted.

    Where samples are many, a share of them in memory is searched first, from other starts too, and all of
    them from where that ended.
    """
    monitor = Monitor(500 if max_iter is None else max_iter, callback)
    rng = np.random.default_rng(random_state)
    with blas_threads(1):
        search = _searched(problem, rank, tol, rng, monitor, checkpoint, starts)
        return search.sampled_solution(codes)


def _searched(
    problem: SampledProblem,
    rank: int,
    tol: float,
    rng: np.random.Generator,
    monitor: Monitor,
    path: str | os.PathLike[str] | None,
    starts: bool,
) -> Search:
    """A search from where its checkpoint ends, from where some of the samples lead, or from the beginning."""
    checkpoint = None if path is None else Checkpoint(path, fingerprint(problem, rank))
    state = None if checkpoint is None else checkpoint.load()
    share, begin = subsample_share(problem), None
    if state is not None:
        begin = Beginning.from_arrays(state, problem)
    elif share is not None:
        begin = _beginning_of_some(subsampled(problem, share), rank, rng, monitor, starts)
    search = Search(problem, rank, tol, rng, monitor, begin, checkpoint)
    search.run(starts and share is None)
    return search


def _beginning_of_some(
    problem: SampledProblem, rank: int, rng: np.random.Generator, monitor: Monitor, starts: bool
) -> Beginning:
    """Where a search among some of the samples leads; they are not kept beyond it."""
    # Whoever wants to stop is heard here too; its iterations do not count.
    asked = Monitor(100, lambda _, objective: monitor.poll(objective))
    few = Search(problem, rank, _SAMPLE_TOL, rng, asked)
    few.run(starts and few.work(problem.n_outputs) < _DEAR_STARTS)
    return few.beginning()
