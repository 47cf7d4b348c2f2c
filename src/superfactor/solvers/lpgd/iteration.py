"""The loop of Algorithm 1, for any state that can take a step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from superfactor.solution import Monitor

# A run whose objective has grown this much will not come back.
_DIVERGED = 1e30


class State(Protocol):
    """A point Z = (θ, γ) with rank θ ≤ r."""

    @property
    def value(self) -> float:
        """F(Z)."""

    @property
    def size(self) -> float:
        """‖Z‖."""

    def advance(self, tau: float) -> tuple[Self, float]:
        """The next point Z' and ‖Z' − Z‖."""


S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class Outcome(Generic[S]):
    """Where the loop ended and why; `mapping` is ‖Z_t − Z_{t+1}‖/τ of the last step taken."""

    state: S
    reason: str
    converged: bool
    mapping: float


def iterate(state: S, tau: float, tol: float, monitor: Monitor) -> Outcome[S]:
    """Steps of size `tau` until two in a row move Z by at most `tol`·‖Z‖.

    With `tol` = 0 exactly `monitor.max_iter` steps are taken. A diverging run ends at its last
    finite point.
    """
    calm, mapping = 0, math.nan
    limit = _DIVERGED * (1 + abs(state.value))
    for _ in range(monitor.max_iter):
        new, moved = state.advance(tau)
        if not abs(new.value) <= limit:
            reason = f"diverged: the step size {tau:.3g} is too large for the curvature"
            return Outcome(state, reason, False, mapping)
        state, mapping = new, moved / tau
        monitor.record(state.value, tau, "lpgd")
        calm = calm + 1 if tol > 0 and moved <= tol * state.size else 0
        if calm == 2:
            reason = "the gradient mapping is below the tolerance"
            return Outcome(state, reason, True, mapping)
        if monitor.stopped:
            break
    reason = monitor.stop_reason or f"reached the limit of {monitor.max_iter} iterations"
    return Outcome(state, reason, False, mapping)
