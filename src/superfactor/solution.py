"""The result of a solver, and the history of its iterations."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from superfactor._arrays import Array
from superfactor.models import Factors
from superfactor.samples import Tall
from superfactor.subspace import Basis


@dataclass
class History:
    """One entry per iteration: objective F, seconds since the start, length and kind of the step."""

    objective: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    step: list[float] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.objective)


class Monitor:
    """Counts iterations, stores the history, and calls a callback that may stop the solver.

    `callback(iteration, objective)` returns True to stop early. With `best_so_far`, for solvers with several
    starts, the recorded objective is the lowest so far.
    """

    history: History
    best_so_far: bool
    stopped_early: bool

    def __init__(
        self,
        max_iter: int = 10**9,
        callback: Callable[[int, float], bool] | None = None,
        best_so_far: bool = False,
    ) -> None:
        self.history = History()
        self.max_iter = max_iter
        self.stop_reason: str | None = None
        self.stopped_early = False
        self._callback, self.best_so_far = callback, best_so_far
        self._start = time.perf_counter()

    def record(self, objective: float, step: float, kind: str) -> None:
        """Record an iteration."""
        h = self.history
        if self.best_so_far and h.objective:
            objective = min(objective, h.objective[-1])
        h.objective.append(objective)
        h.seconds.append(time.perf_counter() - self._start)
        h.step.append(step)
        h.kind.append(kind)
        if self.stop_reason is None:
            if self._callback is not None and self._callback(len(h), objective):
                self._stop_early()
            elif len(h) >= self.max_iter:
                self.stop_reason = f"reached the limit of {self.max_iter} iterations"

    def poll(self, objective: float) -> bool:
        """Call the callback without recording an iteration; return whether to stop."""
        ask = self._callback if not self.stopped else None
        if ask is not None and ask(len(self.history), objective):
            self._stop_early()
        return self.stopped

    def stop(self, reason: str) -> None:
        """Stop for a reason that the solver gives."""
        self.stop_reason = self.stop_reason or reason

    def _stop_early(self) -> None:
        self.stop_reason = "stopped early by a callback"
        self.stopped_early = True

    @property
    def stopped(self) -> bool:
        """Whether the solver, the callback or the limit of iterations stopped the fit."""
        return self.stop_reason is not None


@dataclass(frozen=True)
class OtherStarts:
    """Number of other starts that a solution was compared with, and how many ended at the same value."""

    starts: int = 0
    agreed: int = 0


@dataclass(frozen=True)
class Solution:
    """The result of a solver.

    Attributes
    ----------
    factors : Factors
        W, H, β, γ in the user's units, of as many components as were requested; no H if it was not
        requested.
    code_sizes : array of shape (r,)
        The norms of the codes' columns, samples in units of √w.
    objective : float
        F at the factors.
    signal : array of shape (n, κ)
        The activations without the covariates' part, stored with the samples.
    basis : callable
        Returns a basis of the search side that nearly contains its leading eigenvectors. The certificate
        needs one for data too large to decompose, and the solver may have one already.
    history : History
        One entry per iteration.
    reason : str
        Why the solver stopped, in words.
    converged : bool
        Whether the tolerance was reached.
    stopped_early : bool
        Whether a callback stopped it.
    gradient_mapping : float
        ‖Z − Π(Z − η∇F)‖/η, the measure of stationarity.
    searched : OtherStarts, optional
        Other starts that the solution was compared with; None without such a search.
    violation : float
        The largest entry of Z − Π_Θ(Z), the distance of the point from its constraint set.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import resolve_link
    >>> from superfactor.problem import state
    >>> from superfactor.solvers import newton
    >>> X, y = np.random.default_rng(0).standard_normal((20, 5)), np.arange(20) % 2
    >>> problem = state("filter", X, y, resolve_link("logistic", 1), xi=1.0, lam=5.0)
    >>> solution = newton.solve(problem, rank=2)
    >>> solution.factors.components.shape, solution.factors.beta.shape
    ((5, 2), (2, 1))
    >>> solution.n_iter == len(solution.history.objective)
    True
    """

    factors: Factors
    code_sizes: Array
    objective: float
    signal: Tall
    basis: Callable[[], Basis]
    history: History
    reason: str
    converged: bool
    stopped_early: bool
    gradient_mapping: float
    violation: float = 0.0
    searched: OtherStarts | None = None

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return len(self.history)
