"""What every solver returns, and how it keeps its history."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from superfactor._arrays import Array
from superfactor.lifting import Factors, GrowingBasis


@dataclass
class History:
    """One entry per iteration: objective F, seconds since the start, length of the step."""

    objective: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    step: list[float] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.objective)


class Monitor:
    """Counts iterations, keeps the history, and asks a caller's callback whether to go on.

    `callback(iteration, objective)` returns True to stop early.
    """

    def __init__(
        self, max_iter: int = 10**9, callback: Callable[[int, float], bool] | None = None
    ) -> None:
        self.history = History()
        self.max_iter = max_iter
        self.stop_reason: str | None = None
        self.stopped_early = False
        self._callback = callback
        self._start = time.perf_counter()

    def record(self, objective: float, step: float, kind: str) -> None:
        h = self.history
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
        """Ask the callback between iterations that are not recorded; whether to stop."""
        ask = self._callback if not self.stopped else None
        if ask is not None and ask(len(self.history), objective):
            self._stop_early()
        return self.stopped

    def _stop_early(self) -> None:
        self.stop_reason = "stopped early by a callback"
        self.stopped_early = True

    @property
    def stopped(self) -> bool:
        return self.stop_reason is not None


@dataclass(frozen=True)
class Solution:
    """The answer of a solver.

    Attributes
    ----------
    factors : W, H, β, γ in the user's units; no H where nobody asked for it
    objective : F at the factors
    activations : a (n, κ) at the solution; None where the samples know them alone
    history : what happened at each iteration
    reason : why the solver stopped, in words
    converged : whether it stopped because its tolerance was met
    gradient_mapping : ‖Z − Π(Z − η∇F)‖/η, the measure of stationarity
    basis : where the solver has one, a basis of the compact problem's search side that nearly holds
        the top of its spectrum; it makes the certificate cheap on data too large to decompose
    violation : the largest entry of Z − Π_Θ(Z): by how much the point lies outside its constraint
    theta : coefficients (k + q, κ) of the solution in that basis
    codes_turn : M (k, r) such that the samples' question "codes" has H as its answer, where it has
    code_sizes : (r,), the norms of the codes in units of √w, where H may not be there to tell
    stopped_early : whether a callback asked it to stop
    """

    factors: Factors
    objective: float
    activations: Array
    history: History
    reason: str
    converged: bool
    gradient_mapping: float
    basis: GrowingBasis | None = None
    theta: Array | None = None
    codes_turn: Array | None = None
    code_sizes: Array | None = None
    violation: float = 0.0
    stopped_early: bool = False

    @property
    def n_iter(self) -> int:
        return len(self.history)
