"""The objective on its way down: runs of a solver, their mean on a common clock, and how fast they fall."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reproduction.fits import Factors, Problem, Solution, certify, solve

__all__ = ["Curve", "Decay", "Optimum", "fit_decay", "follow", "objective_at", "on_clock", "optimum", "rises"]

Floats = NDArray[np.float64]

# Two values of F that agree this well are the same: what rounding leaves of differences of large numbers.
RESOLUTION = 1e-11


@dataclass(frozen=True)
class Curve:
    """F against time.

    Attributes
    ----------
    seconds, objective : (k,) each, at the start and after iterations, all of them or some
    iterations : how many there were
    """

    seconds: Floats
    objective: Floats
    iterations: int

    @property
    def end(self) -> float:
        """F at the end; where it still swings, its mean over the last tenth of the time, not by chance."""
        tail = self.objective[self.seconds >= 0.9 * self.seconds[-1]]
        return float(tail.mean() if rises(tail) else tail[-1])

    def reaches(self, value: float) -> float:
        """Seconds until F is at `value`, but for rounding; inf where it never is."""
        there = self.objective <= value + RESOLUTION * abs(value)
        return float(self.seconds[there.argmax()]) if there.any() else np.inf


def follow(
    state: Callable[[], Problem], solve: Callable[[Problem], Solution], first: float | None = None
) -> Curve:
    """Run a solver with the clock on from the raw data: stating the problem is part of it.

    With `first`, F at the start, the curve begins there at zero seconds; without, with the first iteration.
    """
    begin = time.perf_counter()
    problem = state()
    stated = time.perf_counter() - begin
    history = solve(problem).history
    seconds, values = stated + np.array(history.seconds), np.array(history.objective)
    if first is not None:
        seconds, values = np.append(0.0, seconds), np.append(first, values)
    return Curve(seconds, values, len(history))


def objective_at(
    model: str, X: Any, y: Any, covariates: Any, factors: Factors, *, xi: float, lam: float
) -> float:
    """F from its definition, for X (n, p) dense or sparse, y (n,) of 0 and 1, covariates (n, q) or None."""
    W, H, beta, gamma = factors.components, factors.codes, factors.beta, factors.gamma
    A = (W if model == "filter" else H) @ beta
    a = X @ A if model == "filter" else A
    if covariates is not None:
        a = a + covariates @ gamma
    loss = np.sum(np.logaddexp(0, a)) - np.asarray(y) @ a[:, 0]
    # ‖X − HWᵀ‖² without a matrix of the size of X.
    squares = X.multiply(X).sum() if sp.issparse(X) else np.sum(X**2)
    apart = squares - 2 * np.sum((X @ W) * H) + np.sum((W.T @ W) * (H.T @ H))
    return float(loss + xi * apart + lam * (np.sum(A**2) + np.sum(gamma**2)))


@dataclass(frozen=True)
class Optimum:
    """The least F known, and what is known about it.

    Attributes
    ----------
    value : F* as the default solver finds it
    gap : no point of this rank has F below value − gap
    is_global : whether the certificate calls that nothing
    exact : whether that is a proof; else one singular value in it was estimated
    """

    value: float
    gap: float
    is_global: bool
    exact: bool = True

    @property
    def proven(self) -> bool:
        """Whether it is global without an estimate."""
        return self.is_global and self.exact


def optimum(problem: Problem, rank: int, method: str = "residual") -> Optimum:
    """The default solver's answer with its certificate; `method` "ascent" works harder for the bound."""
    found = solve(problem, rank)
    proof = certify(problem, rank, found, method=method)
    return Optimum(found.objective, proof.gap, proof.is_global, proof.exact)


def on_clock(curves: Sequence[Curve], points: int = 200) -> tuple[Floats, Floats]:
    """Times (points,) that all curves cover, and F of each curve there (curves, points)."""
    end = min(curve.seconds[-1] for curve in curves)
    times = np.linspace(max(curve.seconds[0] for curve in curves), end, points)
    values = [np.interp(times, curve.seconds, curve.objective) for curve in curves]
    return times, np.array(values)


def rises(objective: Floats) -> int:
    """How many iterations end higher than they began, by more than rounding."""
    return int(np.sum(np.diff(objective) > RESOLUTION * np.abs(objective[1:])))


@dataclass(frozen=True)
class Decay:
    """An exponential e^(−rate·t) through F − F*.

    Attributes
    ----------
    per_iteration, per_second : the rates
    r2 : share of the variance of log(F − F*) that the line through its iterations explains
    first, last : the iterations it covers
    """

    per_iteration: float
    per_second: float
    r2: float
    first: int
    last: int

    @property
    def contraction(self) -> float:
        """The factor by which the distance to the optimum shrinks an iteration, F − F* being its square."""
        return float(np.exp(-self.per_iteration / 2))


def fit_decay(curve: Curve, best: float) -> Decay | None:
    """Fit a line to log(F − best) over the longest stretch on which F falls at each iteration.

    What lies within rounding of `best` is left out; None where less than four points are left.
    """
    excess = curve.objective - best
    above = excess > 100 * RESOLUTION * abs(best)
    falling = (np.diff(curve.objective) < 0) & above[1:] & above[:-1]
    first, length = _longest_run(falling)
    if length < 3:
        return None
    stretch = slice(first, first + length + 1)
    height = np.log(excess[stretch])
    slope, r2 = _line(np.arange(len(height), dtype=float), height)
    per_second, _ = _line(curve.seconds[stretch], height)
    return Decay(-slope, -per_second, r2, first, first + length)


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Slope of the least-squares line through (x, y), and R²."""
    x, y = x - x.mean(), y - y.mean()
    across, up = float(x @ y), float(y @ y)
    return across / float(x @ x), across**2 / (float(x @ x) * up) if up > 0 else 1.0


def _longest_run(flags: NDArray[np.bool_]) -> tuple[int, int]:
    """Where the longest run of True begins, and its length."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    begins, lengths = edges[::2], edges[1::2] - edges[::2]
    if not len(lengths):
        return 0, 0
    longest = int(lengths.argmax())
    return int(begins[longest]), int(lengths[longest])
