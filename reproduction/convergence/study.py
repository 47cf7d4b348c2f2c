"""Algorithm 1 from random starts, at the paper's step size and at one that is small enough.

For each model and ξ three steps τ are of interest, in the theorem's constants for F as it is:

========= ==================================================================================================
τ         why
========= ==================================================================================================
0.01      the paper's. Below the theorem's window (1/(2μ), 3/(2L)) whatever the data, since μ ≤ 2ξ ≤ 40 for
          the paper's ξ; and where L is large, so large that the loss rises.
1/L       the largest for which the loss is bound to fall.
2/(μ+L)   in the middle of the window, where there is one (L/μ < 3).
========= ==================================================================================================

What the fitted rates are to be compared with is not only the theorem's ρ: from a random start nearly all of
the loss is ξ‖X − B‖², and the gradient step alone takes B to X + (1 − 2ξτ)(B − X), whatever the labels are.
That makes a rate of −2·log|1 − 2ξτ| an iteration, which grows with ξ by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.convergence.curves import (
    Curve,
    Decay,
    Optimum,
    fit_decay,
    follow,
    objective_at,
    optimum,
    rises,
)
from reproduction.convergence.released import random_start
from reproduction.fits import Problem, TheoremConstants, solve, state, theorem_constants

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["MODELS", "PAPER", "SAFE", "WINDOW", "Runs", "Study", "rates_table", "run_study"]

MODELS = ("filter", "feature")
XI = (0.1, 1.0, 5.0, 10.0, 20.0)
LAM, TAU = 2.0, 0.01
PAPER, SAFE, WINDOW = f"{TAU:g}", "1/L", "2/(μ+L)"


@dataclass(frozen=True)
class Study:
    """Data and how it is run.

    Attributes
    ----------
    X : (n, p), dense or sparse
    y : (n,) of 0 and 1
    covariates : (n, q) or None; penalised as in the paper, and no intercept besides
    rank : r
    xis : the values of ξ
    starts, iterations : of Algorithm 1
    method : of the certificate, see `curves.optimum`
    """

    X: Any
    y: Any
    covariates: Any
    rank: int
    xis: Sequence[float]
    starts: int
    iterations: int
    method: str = "residual"
    lam: float = LAM
    seed: int = 0

    def problem(self, model: str, xi: float) -> Problem:
        """The problem, from the raw data."""
        Y = np.asarray(self.y, dtype=float)[:, None]
        return state(model, self.X, Y, xi=xi, lam=self.lam, covariates=self.covariates)

    def start(self, number: int) -> Any:
        """Random factors, the same for every model, ξ and solver."""
        n, p = self.X.shape
        q = 0 if self.covariates is None else self.covariates.shape[1]
        return random_start(n, p, self.rank, q, seed=self.seed + number)

    def objective(self, model: str, xi: float, factors: Any) -> float:
        """F at factors."""
        data = (self.X, self.y, self.covariates)
        return objective_at(model, *data, factors, xi=xi, lam=self.lam)


@dataclass(frozen=True)
class Known:
    """What is known about a model at ξ before Algorithm 1 runs."""

    model: str
    xi: float
    optimum: Optimum
    constants: TheoremConstants

    @property
    def steps(self) -> dict[str, float]:
        """The values of τ to run, by name."""
        steps = {PAPER: TAU, SAFE: 1 / self.constants.L}
        return steps | {WINDOW: self.constants.best_step} if self.constants.applies else steps


@dataclass(frozen=True)
class Runs:
    """Algorithm 1 at one setting, from every start.

    Attributes
    ----------
    known : model, ξ, F*, μ and L
    step : `PAPER`, `SAFE` or `WINDOW`
    curves : one a start
    best : the least F known
    """

    known: Known
    step: str
    curves: list[Curve]
    best: float

    @property
    def model(self) -> str:
        return self.known.model

    @property
    def xi(self) -> float:
        return self.known.xi

    @property
    def tau(self) -> float:
        return self.known.steps[self.step]

    @cached_property
    def decays(self) -> list[Decay]:
        """The exponential through each curve, where there is one."""
        found = (fit_decay(curve, self.best) for curve in self.curves)
        return [decay for decay in found if decay is not None]

    @property
    def share_of_rises(self) -> float:
        """Share of all iterations at which F rises."""
        return float(np.mean([rises(c.objective) / c.iterations for c in self.curves]))

    @property
    def monotone(self) -> bool:
        """Whether F falls at every iteration from every start."""
        return self.share_of_rises == 0

    @property
    def rate(self) -> float:
        """Mean fitted rate an iteration; nan where nothing could be fitted."""
        return _mean(decay.per_iteration for decay in self.decays)

    @property
    def contraction(self) -> float:
        """Mean fitted contraction an iteration; nan where nothing could be fitted."""
        return _mean(decay.contraction for decay in self.decays)

    @property
    def r2(self) -> float:
        """The smallest R² of the fits."""
        return min((decay.r2 for decay in self.decays), default=math.nan)

    @property
    def final(self) -> float:
        """F − F* at the end (`Curve.end`), mean over starts."""
        return _mean(curve.end - self.best for curve in self.curves)

    @property
    def reconstruction_rate(self) -> float:
        """−2·log|1 − 2ξτ|: what the gradient step does to ξ‖X − B‖² by itself."""
        left = abs(1 - 2 * self.xi * self.tau)
        return -2 * math.log(left) if left > 0 else math.inf

    @property
    def in_window(self) -> bool:
        """Whether the theorem covers this step."""
        window = self.known.constants.step_window
        return window is not None and window[0] < self.tau < window[1]


def run_study(study: Study, progress: Callable[[int, int], None]) -> list[Runs]:
    """All settings, models outermost; `progress` is called after each start."""
    warm_up(study)
    known = [known_at(study, model, xi) for model in MODELS for xi in study.xis]
    done, total, found = 0, sum(len(each.steps) for each in known) * study.starts, []
    progress(done, total)
    for each in known:
        sets: dict[str, list[Curve]] = {}
        for step, tau in each.steps.items():
            sets[step] = []
            for number in range(study.starts):
                sets[step].append(descend(study, each.model, each.xi, tau, number))
                progress(done := done + 1, total)
        lowest = min(float(curve.objective.min()) for curves in sets.values() for curve in curves)
        best = min(lowest, each.optimum.value)
        for step, curves in sets.items():
            found.append(Runs(each, step, curves, best))
    return found


def known_at(study: Study, model: str, xi: float) -> Known:
    """The optimum by the default solver, and the constants of the theorem."""
    problem = study.problem(model, xi)
    return Known(model, xi, optimum(problem, study.rank, study.method), theorem_constants(problem))


def descend(study: Study, model: str, xi: float, tau: float, number: int) -> Curve:
    """Algorithm 1 from one of the starts."""
    start = study.start(number)
    options: dict[str, Any] = {"step_size": tau, "max_iter": study.iterations, "tol": 0}
    return follow(
        lambda: study.problem(model, xi),
        lambda problem: solve(problem, study.rank, "lpgd", start=start, **options),
        study.objective(model, xi, start),
    )


def warm_up(study: Study) -> None:
    """A few iterations that are not timed: imports and the first call of BLAS."""
    for model in MODELS:
        problem = study.problem(model, study.xis[0])
        options: dict[str, Any] = {"step_size": TAU, "max_iter": 2, "tol": 0}
        solve(problem, study.rank, "lpgd", start=study.start(0), **options)


def rates_table(runs: Sequence[Runs]) -> DataFrame:
    """One row a setting: fitted rates, what theory says, where it ended."""
    import pandas as pd

    return pd.DataFrame([_row(each) for each in runs])


def _row(runs: Runs) -> dict[str, Any]:
    decays, constants = runs.decays, runs.known.constants
    rates = [decay.per_iteration for decay in decays]
    return {
        "model": runs.model,
        "xi": runs.xi,
        "step": runs.step,
        "tau": runs.tau,
        "starts": len(runs.curves),
        "iterations": runs.curves[0].iterations,
        "share_of_rises": runs.share_of_rises,
        "fit_from": _mean(decay.first for decay in decays),
        "fit_to": _mean(decay.last for decay in decays),
        "rate_per_iteration": runs.rate,
        "rate_sd_over_starts": float(np.std(rates)) if rates else math.nan,
        "rate_per_second": _mean(decay.per_second for decay in decays),
        "smallest_r2": runs.r2,
        "reconstruction_rate": runs.reconstruction_rate,
        "contraction": runs.contraction,
        "mu": constants.mu,
        "L": constants.L,
        "in_window": runs.in_window,
        "rho": constants.rate(runs.tau) if runs.in_window else math.nan,
        "seconds_per_iteration": _mean(c.seconds[-1] / c.iterations for c in runs.curves),
        "final_excess": runs.final,
        "best_objective": runs.best,
        "certificate_gap": runs.known.optimum.gap,
        "proven_global": runs.known.optimum.proven,
        "global_by_estimate": runs.known.optimum.is_global and not runs.known.optimum.exact,
    }


def _mean(values: Any) -> float:
    values = list(values)
    return float(np.mean(values)) if values else math.nan
