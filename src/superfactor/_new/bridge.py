"""The new solver behind the old interface, while both exist."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor._arrays import cast, moved
from superfactor._new.certificate import bounded
from superfactor._new.rows import Rows
from superfactor._new.solve import EFFORT, Search, minimise
from superfactor._new.tall import dot, here, pull
from superfactor.models import Factors
from superfactor.models.factors import more_columns
from superfactor.problem import Problem
from superfactor.samples import Block
from superfactor.solution import Monitor, OtherStarts, Solution

FOUND: dict[int, Any] = {}


def rows_of(problem: Problem) -> Rows:
    data, known = problem.whole.data, problem.whole.known
    from superfactor._arrays import wide, namespace, device
    weight = None if data._precise_root is None else data._precise_root**2
    ratio = wide(known.weight_ratio)
    rows = Rows(
        data._X, known.targets, problem.loss, known.covariates, here(problem.covariate_ridge),
        weight=weight, loss_weight=ratio if weight is None else ratio * weight, scale=data.scale,
    )
    return rows


def solve(problem: Problem, rank: int, *, tol=1e-8, max_iter=None, random_state=0, search="auto", callback=None, checkpoint=None, codes=True) -> Solution:
    rows = rows_of(problem)
    monitor = Monitor(max_iter or 500, callback)

    def record(F: float, kind: str) -> bool:
        monitor.record(F, 1.0, kind)
        return monitor.stopped

    found = minimise(rows, problem.model.name, rank, problem.xi, problem.lam, Search(tol, EFFORT[search], np.random.default_rng(random_state), record))
    W, beta, gamma = found.W, found.at.beta, found.at.gamma
    filters = problem.model.name == "filter"
    image = rows.times(W) if filters else rows.back(W)
    atoms, tall = (W, image) if filters else (image, W)
    turned = problem.model.turned(here(atoms), beta, pull(image, image), problem.scale)
    like = problem.like
    components, b, g, sizes = (cast(moved(x, like), like) for x in (turned.components, turned.beta, gamma, turned.code_sizes))
    sizes = more_columns(sizes[None, :], rank - int(sizes.shape[0]))[0, :]
    signal = dot(rows.unrooted(tall), beta)
    solution = Solution(
        factors=Factors(components, cast(dot(rows.unrooted(tall), turned.codes_turn), like) if codes else None, b, g).padded(rank),
        code_sizes=sizes, objective=float(found.at.F), signal=problem.samples.keep(Block.given, signal),
        basis=lambda: None, history=monitor.history, reason=monitor.stop_reason or "converged", converged=found.converged,
        stopped_early=monitor.stopped_early, gradient_mapping=0.0,
        searched=OtherStarts(found.starts, found.agreed),
    )
    object.__setattr__(solution, "found", found)
    return solution


def certify(problem, rank, solution, *, method="residual", max_iter=300):
    from superfactor.theory import certificate as old

    b = bounded(solution.found, ascent=max_iter if method == "ascent" else 0)
    is_global = b.relative <= 1e-6 and problem.loss.convex
    none = old.theorem_constants(problem)
    return old.Certificate(
        objective=b.objective, lower_bound=b.lower, gap=b.gap, rounding=b.rounding, relative_gap=b.relative,
        is_global=is_global, method=method, exact=b.exact, constants=none, profiled=none,
        statement="", lost_to_rounding=b.over(b.rounding) > 1e-6,
    )


def install() -> None:
    import superfactor.estimators.base as base
    from superfactor.solvers import SOLVERS, newton, Solver
    import superfactor.solvers as solvers

    base.certify = certify
    SOLVERS["lifted-newton"] = Solver("lifted-newton", solve, takes=frozenset({"search", "checkpoint", "codes"}), in_passes=False)
