"""Descent inside a subspace: Newton steps if their model is good, otherwise proximal steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from superfactor._arrays import frobenius2, namespace
from superfactor.problem import Problem
from superfactor.solution import Monitor
from superfactor.subspace import Inside, Point
from superfactor.subspace.newton_model import newton_step, rotation_curvature
from superfactor.subspace.step import NewtonStep

NO_MINIMUM = (
    "with lam=0 coefficients grow without bound if classes, or counts of 0, are separable: there is no "
    "minimum; use lam > 0"
)
# Number of consecutive steps that predict at most the goal, without a fully minimised model.
_BOUND_STEPS = 3
#: A start is stationary if its model predicts less than this share of the goal.
NOTHING = 1e-6
# A model of F is good if the decrease is the predicted one, up to this share.
_GOOD_MODEL = 0.1
# Most steps that lower the reconstruction if the loss has no minimum.
_LAST_STEPS = 25


@dataclass(frozen=True)
class Stride:
    """Lengths of steps: η of proximal steps, and the trust region of Newton steps.

    η increases while the objective decreases, up to 1/(2λ), where the step solves the eigenproblem of the
    certificate. It is reset to 1/L_A, where descent is guaranteed.
    """

    eta: float  # eta, shortest, longest: η and its limits
    shortest: float
    longest: float
    mapping: float = math.inf  # the gradient mapping of the last proximal step
    radius: float = math.inf  # of the trust region of truncated Newton steps; infinite before the first one

    @staticmethod
    def of(problem: Problem) -> Stride:
        """Return the initial lengths."""
        alpha = 1.0 if problem.steepest == math.inf else problem.steepest
        bend = alpha * problem.largest_weight * problem.model.feature_bound(problem.squared_norm)
        shortest = 1 / (2 * problem.lam + bend + 1e-300)
        longest = 1 / (2 * problem.lam) if problem.lam > 0 else 1e10 * shortest
        longest = max(longest, shortest)
        return Stride(min(8 * shortest, longest), shortest, longest)


@dataclass(frozen=True)
class Descended:
    """Result of a descent."""

    point: Point
    # Estimate of the remaining decrease: the last predicted one, or that of the last step
    left: float
    stride: Stride


def slack(inside: Inside, point: Point) -> float:
    """Return the rounding error of F."""
    return float(16 * inside.problem.epsilon * abs(point.F))


def proximal(
    inside: Inside, point: Point, stride: Stride, monitor: Monitor, polish: int = 8
) -> tuple[Point, Stride]:
    """Take a proximal step with the best (β, γ) for its subspace; the point stays if F does not fall."""
    gradient, A, eta = inside.gradient(point), point.W @ point.beta, stride.eta
    while True:
        W = inside.proximal_subspace(point, eta, gradient)
        new = inside.polish(W, W.T @ A, point.gamma, max_iter=polish, tol=1e-10)
        if point.F + slack(inside, point) >= new.F:
            break
        if eta <= 1.001 * stride.shortest / 64:
            break
        eta /= 4
    monitor.record(min(new.F, point.F), eta, "proximal")
    mapping = inside.mapping_norm(point, new, eta)  # of the trial step, even if F does not fall
    stride = replace(stride, eta=min(2 * eta, stride.longest), mapping=mapping)
    return (new if new.F <= point.F else point), stride


def newton(
    inside: Inside, point: Point, stride: Stride, monitor: Monitor
) -> tuple[Point, NewtonStep, float, Stride] | None:
    """Take a joint Newton step: return the new point, the step and its length; None if F does not fall."""
    step = newton_step(inside, point, stride.radius)
    if step is None:
        return None
    t = 1.0
    if step.length is None:  # an exact step has no trust region
        norm = math.sqrt(frobenius2(step.T))
        t = min(1.0, 1 / norm) if norm > 0 else 1.0
    for _ in range(4):
        new = step.apply(inside, point, t)
        if point.F + slack(inside, point) >= new.F:
            monitor.record(min(new.F, point.F), t, "newton")
            if step.length is not None:
                length, promised = t * float(step.length), float(step.decrease)
                radius = float(trusted(stride.radius, length, promised, point.F - new.F))
                stride = replace(stride, radius=radius if t == 1 else length)
            return (new if new.F <= point.F else point), step, t, stride
        t /= 3
    if step.length is None:
        return None
    return point, step, 0.0, replace(stride, radius=t * float(step.length))


def trusted(radius: Any, length: Any, promised: Any, fallen: Any) -> Any:
    """Return the next radius of a trust region, from how well the model predicts; infinite at first."""
    radius = np.where(np.isfinite(radius), radius, length)
    wider = np.where((fallen > 0.75 * promised) & (length > 0.8 * radius), 4.0 * radius, radius)
    return np.where(fallen >= 0.25 * promised, wider, 0.25 * length)


def escape(inside: Inside, point: Point, monitor: Monitor) -> Point:
    """Leave a saddle (docs/method.md §6): rotate a direction of W along negative curvature."""
    frame = inside.frame(point)
    if frame.rest.shape[0] == 0:
        return point
    curvature = rotation_curvature(inside, point, frame)
    xp = namespace(curvature)
    worst = int(xp.argmin(xp.reshape(curvature, (-1,))))
    j, i = divmod(worst, curvature.shape[1])
    if float(curvature[j, i]) >= 0:
        return point
    best = point
    for angle in (0.05, 0.2, 0.5, 1.0, 1.5):
        W = frame.rotated(i, j, angle)
        new = inside.polish(W, frame.beta, point.gamma, max_iter=8, tol=1e-10)
        if new.F < best.F:
            best = new
    monitor.record(best.F, 1.0, "escape")
    return best


def _left_after(step: NewtonStep, t: float, promised: float, fallen: float, noise: float) -> float:
    """Estimate the remaining decrease of F after a step: the predicted one, or less if its model was good.

    The model of a full exact step s omits the third derivative, F‴s³/6 = fallen − promised. The remaining
    slope is F‴s²/2. With a curvature of 2·promised/s², the decrease is (9/4)(fallen − promised)²/promised.
    """
    off = abs(promised - fallen)
    if step.length is not None or step.saddle or t < 1 or promised <= 0 or off > _GOOD_MODEL * promised:
        return promised
    return min(promised, 2.25 * off**2 / promised + noise)


def descend(
    inside: Inside,
    point: Point,
    stride: Stride,
    monitor: Monitor,
    goal: float,
    *,
    limit: int = 100,
    polish: int = 8,
    seen: bool = True,
    reached: Callable[[Point], None] | None = None,
) -> Descended:
    """Descend until what is left inside the subspace is below `goal`; `reached` is called with every point.

    With `seen`, the last step must predict no more than `goal`; otherwise the accuracy of the last model is
    used to estimate what is left.
    """
    begun, last, left, far, bound = point, math.inf, math.inf, 0, 0
    for _ in range(limit):
        if monitor.stopped:
            break
        far = far + 1 if inside.has_no_minimum(point) else 0
        if far > _LAST_STEPS:
            monitor.stop(NO_MINIMUM)
            break
        if reached is not None:
            reached(point)
        start = point
        moved = newton(inside, point, stride, monitor)
        if moved is not None:
            point, step, t, stride = moved
            promised, fallen = float(step.decrease), start.F - point.F
            left = promised if seen else _left_after(step, t, promised, fallen, slack(inside, point))
            # Products from a stationary point predict nothing, also if it is a saddle.
            nothing = start is begun and step.length is not None and promised <= NOTHING * goal
            if left <= goal and not step.saddle and not nothing:
                break
            # In a small trust region the prediction underestimates what is left.
            bound = bound + 1 if promised <= goal else 0
            slow = 0.1 * promised >= fallen
            if step.length is None:
                slow = slow or promised > 0.5 * last
            last = math.inf if slow or t < 1 else promised
            falling = not slow or (step.saddle and 0.01 * promised < fallen)
            if falling and bound <= _BOUND_STEPS and not nothing:
                continue
            stride, bound = replace(stride, radius=math.inf), 0
        # Newton steps fail or are slow: a proximal step resolves nearly degenerate directions.
        point, stride = proximal(inside, point, stride, monitor, polish)
        left = start.F - point.F
        if left <= 0.1 * goal:
            escaped = escape(inside, point, monitor)
            if 0.1 * goal >= point.F - escaped.F:
                break
            point = escaped
    return Descended(point, left, stride)
