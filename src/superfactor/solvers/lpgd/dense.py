"""Algorithm 1 with a dense θ: any smooth f(θ, γ), and any convex Θ given by its projection."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Generic, Protocol, Self, TypeAlias, TypeVar

from superfactor._arrays import Array, frobenius2, namespace
from superfactor.solution import History, Monitor
from superfactor.spectrum import project_rank

# A run whose objective has grown by this factor has diverged.
_DIVERGED = 1e30


class Iterate(Protocol):
    """A point Z = (θ, γ) with rank θ ≤ r."""

    @property
    def value(self) -> float:
        """Objective F(Z)."""

    @property
    def size(self) -> float:
        """Norm ‖Z‖."""

    def advance(self, tau: float) -> tuple[Self, float]:
        """Return the next point Z' and ‖Z' − Z‖."""


S = TypeVar("S", bound=Iterate)


@dataclass(frozen=True)
class Ended(Generic[S]):
    """Last point of the loop and reason of its end; `mapping` is ‖Z_t − Z_{t+1}‖/τ of the last step."""

    state: S
    reason: str
    converged: bool
    mapping: float


def iterate(state: S, tau: float, tol: float, monitor: Monitor) -> Ended[S]:
    """Take steps of size `tau` until two in a row move Z by at most `tol`·‖Z‖.

    With `tol` = 0 only the monitor stops the loop. A diverging run ends at its last finite point.
    """
    calm, mapping = 0, math.nan
    limit = _DIVERGED * (1 + abs(state.value))
    for _ in range(monitor.max_iter):
        new, moved = state.advance(tau)
        if not abs(new.value) <= limit:
            reason = f"diverged: the step size {tau:.3g} is too large for the curvature"
            return Ended(state, reason, False, mapping)
        state, mapping = new, moved / tau
        monitor.record(state.value, tau, "lpgd")
        calm = calm + 1 if tol > 0 and moved <= tol * state.size else 0
        if calm == 2:
            reason = "the gradient mapping is below the tolerance"
            return Ended(state, reason, True, mapping)
        if monitor.stopped:
            break
    reason = monitor.stop_reason or f"reached the limit of {monitor.max_iter} iterations"
    return Ended(state, reason, False, mapping)


#: (θ, γ) -> f, ∇_θf, ∇_γf; γ and its gradient may be None.
Objective: TypeAlias = Callable[[Array, Array | None], tuple[float, Array, Array | None]]
#: (θ, γ) -> the nearest point of Θ.
Projection: TypeAlias = Callable[[Array, Array | None], tuple[Array, Array | None]]


@dataclass(frozen=True)
class DenseState:
    """θ (a, b) of rank at most r and γ (any shape, or None), with f and its gradients."""

    theta: Array
    gamma: Array | None
    rank: int
    objective: Objective
    project: Projection | None
    value: float = field(init=False)
    gradients: tuple[Array, Array | None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        value, *gradients = self.objective(self.theta, self.gamma)
        object.__setattr__(self, "value", float(value))
        object.__setattr__(self, "gradients", tuple(gradients))

    @property
    def size(self) -> float:
        return _norm(self.theta, self.gamma)

    def advance(self, tau: float) -> tuple[Self, float]:
        slope, slope_gamma = self.gradients
        theta, gamma = self.theta - tau * slope, self.gamma
        if gamma is not None and slope_gamma is not None:
            gamma = gamma - tau * slope_gamma
        if self.project is not None:
            theta, gamma = self.project(theta, gamma)
        theta = project_rank(theta, self.rank)
        new = type(self)(theta, gamma, self.rank, self.objective, self.project)
        change = None if gamma is None else gamma - self.gamma
        return new, _norm(theta - self.theta, change)

    @property
    def violation(self) -> float:
        """Return the largest entry of Z − Π_Θ(Z), the distance from Θ after Π_r."""
        if self.project is None:
            return 0.0
        theta, gamma = self.project(self.theta, self.gamma)
        worst = _largest(theta - self.theta)
        return worst if gamma is None else max(worst, _largest(gamma - self.gamma))


@dataclass(frozen=True)
class LowRankSolution:
    """The result of `minimize`.

    Attributes
    ----------
    theta : array of shape (a, b)
        θ of rank at most r.
    gamma : array, optional
        γ in the shape of the start, or None.
    objective : float
        f(θ, γ).
    history : History
        Objective, seconds and step of every iteration.
    reason : str
        Why the iteration stopped, in words.
    converged : bool
        Whether the tolerance was reached.
    gradient_mapping : float
        ‖Z_t − Z_{t+1}‖/τ of the last step.
    violation : float
        The largest entry of Z − Π_Θ(Z); Π_r is the last operation of a step and may leave Θ.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.solvers.lpgd import minimize
    >>> def distance(theta, gamma):  # to a matrix of rank 2
    ...     return np.sum((theta - np.diag([2.0, 1.0])) ** 2), 2 * (theta - np.diag([2.0, 1.0])), None
    >>> found = minimize(distance, 1, np.zeros((2, 2)), step_size=0.5)
    >>> found.theta.round(6)
    array([[2., 0.],
           [0., 0.]])
    >>> found.objective, found.converged
    (1.0, True)
    """

    theta: Array
    gamma: Array | None
    objective: float
    history: History
    reason: str
    converged: bool
    gradient_mapping: float
    violation: float

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.history)


def minimize(
    objective: Objective,
    rank: int,
    start: Array | tuple[Array, Array | None],
    *,
    step_size: float,
    max_iter: int = 1000,
    tol: float = 1e-8,
    project: Projection | None = None,
    callback: Callable[[int, float], bool] | None = None,
) -> LowRankSolution:
    """Minimise a smooth f(θ, γ) over rank θ ≤ `rank` and (θ, γ) ∈ Θ by Algorithm 1.

    Parameters
    ----------
    objective : callable
        (θ, γ) -> (f, ∇_θf, ∇_γf), with γ = ∇_γf = None if there is no γ.
    rank : int
        r ≥ 1.
    start : array of shape (a, b), or a pair
        θ_0 of any rank, or the pair (θ_0, γ_0).
    step_size : float
        τ. If the curvature of f is at most L, 1/L never increases f. If L/μ < 3 and f has a stationary point
        of rank r, 2/(μ + L) gives the best rate.
    max_iter : int, default=1000
        Most iterations.
    tol : float
        Stop when two steps in a row move (θ, γ) by less than this, relative to its norm; 0 runs exactly
        `max_iter` iterations.
    project : callable, optional
        (θ, γ) -> Π_Θ(θ, γ); None for no constraint.
    callback : callable, optional
        (iteration, objective) -> True to stop.

    Returns
    -------
    solution : LowRankSolution
        A matrix θ of rank at most r, γ, history and reason of the end.

    Examples
    --------
    Matrix completion: f = ‖mask·(θ − D)‖², L = 2.

    >>> import numpy as np
    >>> D = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0])
    >>> mask = np.ones((3, 3))
    >>> mask[0, 0] = 0
    >>> def squares(theta, gamma):
    ...     R = mask * (theta - D)
    ...     return np.sum(R**2), 2 * R, None
    >>> found = minimize(squares, 1, mask * D, step_size=0.5, max_iter=5000, tol=1e-12)
    >>> bool(abs(found.theta[0, 0] - 1.0) < 1e-6)
    True
    """
    theta, gamma = start if isinstance(start, tuple) else (start, None)
    _check(rank, step_size, theta, gamma)
    state = DenseState(theta, gamma, rank, objective, project)
    monitor = Monitor(max_iter, callback)
    end = iterate(state, step_size, tol, monitor)
    return LowRankSolution(
        theta=end.state.theta,
        gamma=end.state.gamma,
        objective=end.state.value,
        history=monitor.history,
        reason=end.reason,
        converged=end.converged,
        gradient_mapping=end.mapping,
        violation=end.state.violation,
    )


def _check(rank: int, step_size: float, theta: Array, gamma: Array | None) -> None:
    if not isinstance(rank, Integral) or isinstance(rank, bool) or rank < 1:
        raise ValueError(f"rank={rank!r}: an integer >= 1 is required")
    number = isinstance(step_size, Real) and not isinstance(step_size, bool)
    if not number or not 0 < step_size < math.inf:
        raise ValueError(f"step_size={step_size!r}: a finite number > 0 is required")
    if getattr(theta, "ndim", None) != 2:
        raise ValueError(
            "start: a matrix θ or a pair (θ, γ) is required, but θ is "
            f"{type(theta).__name__} of shape {tuple(getattr(theta, 'shape', ()))}"
        )
    for name, part in (("θ", theta), ("γ", gamma)):
        if part is not None and not bool(namespace(part).all(namespace(part).isfinite(part))):
            raise ValueError(f"start: {name} contains NaN or infinity; finite numbers are required")


def _norm(theta: Array, gamma: Array | None) -> float:
    return math.sqrt(frobenius2(theta) + (0.0 if gamma is None else frobenius2(gamma)))


def _largest(x: Array) -> float:
    xp = namespace(x)
    return float(xp.max(xp.abs(x))) if math.prod(x.shape) else 0.0
