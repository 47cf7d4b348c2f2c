"""Passes over X, phase by phase, of whatever problem: one that reads a file, or one on a cluster."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from superfactor.estimators.fitted.scores import shown_factors
from superfactor.options import Options
from superfactor.problem import Problem
from superfactor.solution import Monitor, Solution
from superfactor.solvers.newton import solve
from superfactor.solvers.newton.beginning import Beginning, arrays, begin, fingerprint, random_state
from superfactor.solvers.newton.rounds import descended, residual, rounds, with_chains
from superfactor.solvers.newton.state import Run
from superfactor.theory import certify

N, P, RANK = 1200, 150, 3
# Of which the optimum is proven, far from where a round more or less is decided by rounding.
WEIGHTS = {"filter": {"xi": 0.2, "lam": 300.0}, "feature": {"xi": 0.2, "lam": 1.0}}
ALL = Options()
BY_BASIS = Options(exact_side=0)
SHARE = Options(fewest_subsample=100)
FEW = Options(whole_range=P)  # as 64 features are taken


def planted() -> tuple[np.ndarray, np.ndarray]:
    """X (N, P), three strong directions that tell four classes apart and noise."""
    rng = np.random.default_rng(0)
    codes = rng.standard_normal((N, RANK))
    X = codes @ rng.standard_normal((RANK, P)) + rng.standard_normal((N, P))
    scores = np.hstack([codes, np.zeros((N, 1))]) + 0.5 * rng.standard_normal((N, RANK + 1))
    return X, np.argmax(scores, axis=1)


def counted(stated: Callable[[Options], Problem], passes: Callable[[], int]) -> dict[str, int]:
    """Passes of every phase.

    Parameters
    ----------
    stated : states the planted problem with these options
    passes : how many there have been so far
    """
    found: dict[str, int] = {}

    def count(name: str, job: Callable[[], Any]) -> Any:
        before = passes()
        answer = job()
        found[name] = passes() - before
        return answer

    problem = count("stating the problem", lambda: stated(ALL))
    state = count("beginning, r = 3", lambda: begin(problem, 3, run()))
    count("beginning, r = 20", lambda: begin(problem, 20, run()))
    state = count("descent inside a subspace", lambda: descended(state, run(), 1e-3))
    residuals = count("residual of a round", lambda: residual(state.inside, state.point, 0.0))
    steps = 2
    basis, coef = state.basis, state.point.coef
    active, depth = np.arange(RANK), np.full(RANK, steps)
    grown = count("chains", lambda: with_chains(basis, coef, residuals, active, depth))
    assert grown.size == basis.size + steps * RANK
    assert found["chains"] % steps == 0
    found["Krylov step of a round"] = found.pop("chains") // steps
    certificates = {"certificate, Gram matrix summed": ALL, "certificate, through the basis": BY_BASIS}
    for name, options in certificates.items():
        posed = stated(options)
        solution = solve(posed, RANK)
        count(name, partial(certify, posed, RANK, solution))
    count("describing the factors", partial(_described, posed, solution))

    def resumed() -> None:
        fingerprint(problem, RANK)
        stored = arrays(state, random_state(run().rng))
        begin(problem, RANK, run(), Beginning.from_arrays(stored, problem))

    count("going on from a checkpoint", resumed)

    some = stated(SHARE)
    share = some.subsample_share()
    assert share is not None

    def from_some() -> None:
        fewer = some.subsampled(share)
        few = rounds(begin(fewer, RANK, run()), run())
        begin(some, RANK, run(), Beginning.of(few))

    count("beginning with a subsample", from_some)
    wholes = {"whole fit": ALL, "whole fit, begun with a subsample": SHARE, "whole fit, p ≤ 64": FEW}
    for name, options in wholes.items():
        count(name, partial(_fitted, stated, options))
    return found


def _fitted(stated: Callable[[Options], Problem], options: Options) -> None:
    problem = stated(options)
    solution = solve(problem, RANK)
    assert solution.converged
    _described(problem, solution)
    certify(problem, RANK, solution)


def _described(problem: Problem, solution: Solution) -> None:
    factors = solution.factors
    coding = problem.model.coding(factors, solution.code_sizes, *problem.users_weights)
    shown_factors(problem, factors, coding.weights, lambda effect: effect)


def run() -> Run:
    """A run to the default tolerance."""
    return Run(1e-8, np.random.default_rng(0), Monitor(500))


def budget(model: str) -> dict[str, int]:
    """The passes that docs/scaling.md states."""
    page = (Path(__file__).parents[1] / "docs/scaling.md").read_text()
    table = re.search(r"<!-- passes -->\n+(.*?)<!-- end -->", page, re.S)
    assert table is not None, "docs/scaling.md has no table of passes"
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in table[1].splitlines()
        if line.startswith("|")
    ]
    head, _, *body = rows
    column = head.index(model)
    return {row[0]: int(row[column]) for row in body}
