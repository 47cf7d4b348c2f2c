"""The dual side of a convex loss of one activation, by inverting its residual numerically.

For one output and a convex link the residual ``ℓ'(y, ·)`` is increasing and keeps one sign:
positive for ``y = 0``, negative for ``y = 1``. With ``s = 1 − 2y``, ``x = s·a`` and ``t = s·g``
both labels give the same equation ``ρ(x) = t``, ``ρ(x) = s·ℓ'(y, s·x) > 0`` increasing, and

    ``ℓ*(y, g) = g·a − ℓ(y, a)`` at its solution;   0 at ``g = 0``;   ``+inf`` at the wrong sign.

All computations are in float64, because ``g·a − ℓ`` loses digits by cancellation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from superfactor._arrays import Array, namespace
from superfactor.losses.base import Loss

_LARGEST = 1e150  # squares of activations must stay finite
_MAX_STEPS = 200
# Smaller residuals lose digits by underflow and count as 0. ℓ* is convex with ℓ*(0) = 0 and negative for
# slightly larger g, so the value 0 is an upper bound, as a certificate needs.
_SMALLEST = 1e-300


def _asinh_midpoint(low: Array, high: Array) -> Array:
    """Bisect on the scale of ``asinh``: linear near 0, logarithmic far from 0."""
    xp = namespace(low, high)
    return xp.sinh(0.5 * (xp.asinh(low) + xp.asinh(high)))


def _grow(end: Array, rho: Callable[[Array], Array], target: Array) -> Array:
    """Multiply the bracket ends ``end`` (all of one sign) by 4 until they pass the target."""
    xp = namespace(end, target)
    outward = xp.sign(end)
    while True:
        short = (outward * (rho(end) - target) < 0) & (xp.abs(end) < _LARGEST)
        if not bool(xp.any(short)):
            return end
        end = xp.where(short, 4.0 * end, end)


def solve_residual(loss: Loss, G: Array, Y: Array) -> tuple[Array, Array]:
    """Return activations ``a`` with ``ℓ'(y, a) = g``, and whether one was found; both ``(n, 1)``.

    ``G`` and ``Y`` are float64 of shape ``(n, 1)`` with ``s·g > 0``. Newton's method inside a
    bracket that only shrinks: on ``log ρ``, which is almost linear over hundreds of orders of
    magnitude, and on ``ρ`` itself in the last steps from above. For a convex and log-concave ``ρ``,
    such as the normal hazard, these do not overshoot. Bisection replaces a step that leaves the
    bracket or follows a step that did not halve the error, so any increasing ``ρ`` is solved.
    """
    xp = namespace(G, Y)
    sign = 1.0 - 2.0 * Y
    target = sign * G
    ones = xp.ones_like(G)
    eps = float(xp.finfo(G.dtype).eps)

    def rho(x: Array) -> Array:
        return sign * loss.residual(sign * x, Y)

    low = _grow(-ones, rho, target)
    high = _grow(ones, rho, target)
    x = _asinh_midpoint(low, high)
    last_error = xp.full_like(G, math.inf)
    done = x != x
    for _ in range(_MAX_STEPS):
        value = rho(x)
        slope = loss.hessian_action(sign * x, Y, ones)
        below = value < target
        low = xp.where(below, x, low)
        high = xp.where(value > target, x, high)
        usable = (value > 0) & (slope > 0)
        log_ratio = xp.log(xp.where(usable, value, target)) - xp.log(target)
        error = xp.abs(log_ratio)
        step = xp.where(below | (error > 0.5), value * log_ratio, value - target)
        step = step / xp.where(usable, slope, ones)
        # Stop when the equation or x is accurate to rounding; near x = 0 only the equation can be.
        met = usable & ((error <= 4.0 * eps) | (xp.abs(step) <= 2.0 * eps * xp.abs(x)))
        closed = high - low <= 2.0 * eps * (xp.abs(low) + xp.abs(high))
        done = done | met | closed
        if bool(xp.all(done)):
            break
        candidate = x - step
        trusted = usable & (error <= 0.5 * last_error) & (candidate > low) & (candidate < high)
        following = xp.where(trusted, candidate, _asinh_midpoint(low, high))
        # Bisection may increase the error, so the next Newton step is not compared with it.
        last_error = xp.where(trusted, error, xp.full_like(error, math.inf))
        x = xp.where(done, x, following)
    found = xp.abs(rho(x) - target) <= 1e-8 * target
    return sign * x, found


def _prepare(loss: Loss, G: Array, Y: Array) -> tuple[Array, Array, Array, Array]:
    """Return ``(G, Y, t, interior)`` in float64; a ``g`` that is not interior is replaced by one that is."""
    xp = namespace(G, Y)
    G, Y = xp.astype(G, xp.float64), xp.astype(Y, xp.float64)
    t = (1.0 - 2.0 * Y) * G
    interior = (t >= _SMALLEST) & xp.isfinite(t)
    return xp.where(interior, G, loss.residual(xp.zeros_like(G), Y)), Y, t, interior


def conjugate(loss: Loss, G: Array, Y: Array) -> Array:
    """Return ``ℓ*(y, g)``, shape ``(n,)``."""
    xp = namespace(G, Y)
    safe, labels, t, interior = _prepare(loss, G, Y)
    a, found = solve_residual(loss, safe, labels)
    value = xp.reshape(safe * a, (-1,)) - loss.value(a, labels)
    outside = xp.full_like(value, math.inf)
    value = xp.where(xp.reshape(interior & found, (-1,)), value, outside)
    vanishing = xp.reshape((t >= 0) & (t < _SMALLEST), (-1,))
    value = xp.where(vanishing, xp.zeros_like(value), value)
    return xp.astype(value, G.dtype)


def imbalance(G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
    """Return the weighted sums of ``|g|`` over samples of label 1 and of label 0, shape ``(1,)`` each."""
    xp = namespace(G, Y, weights)
    t = xp.clip((1.0 - 2.0 * Y) * G, min=0.0)
    return xp.matmul(weights, t * Y), xp.matmul(weights, t * (1.0 - Y))


def rebalanced(G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
    """Scale down the heavier of the two signs (labels) until ``Σ_i w_i g_i = 0``.

    For each label the domain is an interval that begins at 0, so scaling down never leaves it.
    """
    xp = namespace(G, Y)
    sign = 1.0 - 2.0 * Y
    for mass_one, mass_zero in steps:
        t = xp.clip(sign * G, min=0.0)
        lighter = xp.minimum(mass_one, mass_zero)
        ones = xp.ones_like(lighter)
        scale_one = lighter / xp.where(mass_one > 0, mass_one, ones)
        scale_zero = lighter / xp.where(mass_zero > 0, mass_zero, ones)
        G = sign * t * (Y * scale_one[None, :] + (1.0 - Y) * scale_zero[None, :])
    return G
