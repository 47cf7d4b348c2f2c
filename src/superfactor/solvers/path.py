"""Solutions of one problem at many weights (ξ, λ), each from where the one before ended.

What is dear about a fit depends on X alone: its compression, the leading subspace, the products of the basis.
Along a path all of it is kept, the basis grows by what new weights ask for, and the solution of the weights
before is the start (docs/method.md §8).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from superfactor._arrays import blas_threads
from superfactor.lifting import LiftedProblem, restate
from superfactor.solvers.search import Search
from superfactor.solvers.solution import Monitor, Solution


def solve_path(
    problem: LiftedProblem,
    rank: int,
    weights: Iterable[tuple[float, float]],
    *,
    tol: float = 1e-8,
    max_iter: int | None = None,
    random_state: int | np.random.Generator | None = 0,
    starts: bool = True,
) -> Iterator[Solution]:
    """The solutions of `problem` at each pair (ξ, λ) of `weights`, in their order.

    Parameters
    ----------
    problem : stated at any ξ and at a λ > 0
    weights : pairs in the user's units; neighbours should be alike, and large λ first is easiest
    starts : compare an answer that is not proven optimal with other starts
    """
    rng = np.random.default_rng(random_state)
    limit = 500 if max_iter is None else max_iter
    search: Search | None = None
    for xi, lam in weights:
        here = restate(problem, xi, lam)
        small, expand = here.compact
        monitor = Monitor(limit)
        with blas_threads(1):
            if search is None:
                search = Search(small.sampled(), rank, tol, rng, monitor)
                search.grow()
            else:
                search.weigh(small, monitor)
                search.resume()
            if starts and not search.proven and not monitor.stopped:
                search.restart()
            solution = search.solution(here, expand)
        yield solution
