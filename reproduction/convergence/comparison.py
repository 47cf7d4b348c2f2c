"""Every solver on the same problem from the same starts, ours and the release's.

======================== =====================================================================================
name                     what runs
======================== =====================================================================================
default solver           that of the estimators; it has a start of its own
our LPGD                 Algorithm 1, at τ = 0.01 or at 1/L, whichever ends lower
our BCD                  block coordinate descent
released LPGD            Algorithm 1 as the authors wrote it, at the same τ
released BCD             their block coordinate descent with free signs, tuned (`GRID`)
released BCD as it comes the same with its defaults, W and H ≥ 0 among them
======================== =====================================================================================

A clock runs from the raw data for ours, during iterations only for theirs. F of the released BCD is taken at
the better of its own coefficients and the best ones for its factors (`ReleasedBCD.objective`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reproduction.convergence.curves import RESOLUTION, Curve, follow
from reproduction.convergence.released import ReleasedBCD, ReleasedLPGD
from reproduction.convergence.study import PAPER, SAFE, TAU, Study, descend
from reproduction.fits import solve, theorem_constants

__all__ = [
    "DEFAULT",
    "OUR_BCD",
    "OUR_LPGD",
    "SOLVERS",
    "THEIR_BCD",
    "THEIR_LPGD",
    "UNTUNED",
    "Comparison",
    "Length",
    "compare_solvers",
]

DEFAULT, OUR_LPGD, OUR_BCD = "default solver", "our LPGD", "our BCD"
THEIR_LPGD, THEIR_BCD, UNTUNED = "released LPGD", "released BCD", "released BCD as it comes"
SOLVERS = (DEFAULT, OUR_LPGD, OUR_BCD, THEIR_LPGD, THEIR_BCD, UNTUNED)

# What is tuned for the released BCD, one after the other, each at the best of those before; its own defaults
# come first. How often it repeats its inner steps cannot be chosen.
GRID: dict[str, tuple[Any, ...]] = {
    "xi_factor": (1.0, 0.25, 0.5, 2.0),
    "shrinkage": (0.0, 0.1),
    "radius": (1000.0, None),
    "ridge": (0.5, 2.0, 50.0),
}


@dataclass(frozen=True)
class Length:
    """Numbers of iterations: of LPGD (ours), of the release's solvers, of a trial in tuning."""

    lpgd: int
    released: int
    trial: int


@dataclass
class Comparison:
    """What came of one model at one ξ.

    Attributes
    ----------
    curves : one a start, by solver
    step, tau : of LPGD, the better of two
    lpgd : curves of LPGD at both steps, by step
    settings : of the tuned BCD
    trials : every trial in tuning: its settings and the F it ended at
    """

    model: str
    xi: float
    step: str
    tau: float
    lpgd: dict[str, list[Curve]]
    curves: dict[str, list[Curve]]
    settings: dict[str, Any] = field(
        default_factory=lambda: {name: values[0] for name, values in GRID.items()}
    )
    trials: list[dict[str, Any]] = field(default_factory=list)

    @property
    def best(self) -> float:
        """The least F any solver has seen."""
        every = [curve for curves in (*self.curves.values(), *self.lpgd.values()) for curve in curves]
        return min(float(np.nanmin(curve.objective)) for curve in every)

    def final(self, solver: str) -> float:
        """F at the end, mean over starts."""
        return float(np.mean([curve.end for curve in self.curves[solver]]))

    def seconds(self, solver: str) -> float:
        """Seconds in all, median over starts."""
        return float(np.median([curve.seconds[-1] for curve in self.curves[solver]]))

    def share_of_time(self, solver: str, *, until_there: bool = False) -> float:
        """Seconds until the default solver is where `solver` ends, as a share of the time that one takes.

        That is the time of all its iterations or, with `until_there`, only of those until it is there first.
        """
        pairs = zip(self.curves[DEFAULT], self.curves[solver], strict=True)
        shares = [
            one.reaches(other.end) / (other.reaches(other.end) if until_there else other.seconds[-1])
            for one, other in pairs
        ]
        return float(np.median(shares))


def compare_solvers(
    study: Study, model: str, xi: float, length: Length, *, released: bool, step: Callable[[], None]
) -> Comparison:
    """One after the other in this process; `step` is called after each solver."""
    starts = range(study.starts)

    def state() -> Any:
        return study.problem(model, xi)

    taus = {PAPER: TAU, SAFE: 1 / theorem_constants(state()).L}
    lpgd = {name: [descend(study, model, xi, tau, number) for number in starts] for name, tau in taus.items()}
    lowest = min(curve.end for curves in lpgd.values() for curve in curves)
    better = min(taus, key=lambda name: _rank(lpgd[name], lowest))
    step()
    curves = {
        DEFAULT: [follow(state, lambda problem: solve(problem, study.rank)) for _ in starts],
        OUR_LPGD: lpgd[better],
        OUR_BCD: [_bcd(study, model, xi, number) for number in starts],
    }
    step()
    comparison = Comparison(model, xi, better, taus[better], lpgd, curves)
    if released:
        _run_released(comparison, study, length, step)
    return comparison


def _rank(curves: list[Curve], lowest: float) -> tuple[float, float]:
    """What makes a step better: where it ends, and of two that end together when it got there."""
    ends = float(np.mean([curve.end for curve in curves]))
    level = ends <= lowest + RESOLUTION * abs(lowest)
    return (-np.inf if level else ends, max(curve.reaches(lowest) for curve in curves))


def _bcd(study: Study, model: str, xi: float, number: int) -> Curve:
    start = study.start(number)
    return follow(
        lambda: study.problem(model, xi),
        lambda problem: solve(problem, study.rank, "bcd", start=start),
        study.objective(model, xi, start),
    )


def _run_released(comparison: Comparison, study: Study, length: Length, step: Callable[[], None]) -> None:
    problem = (study.X, study.y, study.rank, comparison.model, comparison.xi, study.lam, study.covariates)
    starts = [study.start(number) for number in range(study.starts)]
    # Evenly spread on a logarithmic clock: evaluating F costs as much as an iteration.
    looks = set(np.geomspace(1, length.released, 80).astype(int).tolist())

    comparison.curves[THEIR_LPGD] = [
        ReleasedLPGD(*problem, step_size=comparison.tau, start=start).run(length.released, looks)
        for start in starts
    ]
    step()

    def descent(start: Any, iterations: int, **settings: Any) -> Curve:
        return ReleasedBCD(*problem, start=start, **settings).run(iterations, looks)

    comparison.curves[UNTUNED] = [descent(start, length.released, nonnegative=True) for start in starts]
    step()
    for name, values in GRID.items():
        ends = []
        for value in values:
            settings = comparison.settings | {name: value}
            ends.append(float(descent(starts[0], length.trial, **settings).objective[-1]))
            comparison.trials.append({**settings, "objective": ends[-1]})
        ends = [end if np.isfinite(end) else np.inf for end in ends]
        comparison.settings[name] = values[int(np.argmin(ends))]
    step()
    comparison.curves[THEIR_BCD] = [
        descent(start, length.released, **comparison.settings) for start in starts
    ]
    step()
