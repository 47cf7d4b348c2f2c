"""Counts: the Poisson loss with the log link, half the deviance.

    ``ℓ(y, a) = Σ_c e^{a_c} − y_c a_c + (y_c log y_c − y_c) = Σ_c y_c (e^{z_c} − 1 − z_c),   z = a − log y``

has its minimum 0 at the expected count ``e^a = y``. For a count of 0 it is ``e^a``. Its curvature ``e^a`` is
neither bounded above nor away from 0.

With the expected counts ``m = g + y`` of a dual point,

    ``ℓ*(y, g) = Σ_c m_c log m_c − m_c − (y_c log y_c − y_c)`` for ``m ≥ 0``, ``+inf`` elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from superfactor._arrays import Array, namespace
from superfactor.losses.base import Loss, check_radius
from superfactor.losses.classes.entropy import times_own_log
from superfactor.losses.curvature import Curvature

# Activations beyond which the loss is linear; in single precision a share of the largest logarithm. e^a,
# its square and products of squares, which solvers compute, do not overflow.
_FARTHEST, _SHARE = 120.0, 0.42
# exp overflows in double precision beyond this.
_LARGEST_POWER = 709.0


class PoissonLoss(Loss):
    """``ℓ = Σ_c e^{a_c} − y_c a_c`` minus its minimum; gradient ``e^a − y``; Hessian ``diag(e^a)``.

    Targets are counts or rates, 0 or larger. Beyond ``a = 120``, 37 in single precision, the loss is
    linear. No count is that large, but trial points of a line search may be, and need a finite, larger
    value.

    Examples
    --------
    If the expected count is 3, the loss of a count of 3 is 0, and the loss of a count of 0 is 3:

    >>> import numpy as np
    >>> from superfactor.losses import PoissonLoss
    >>> a, Y = np.log([[3.0], [3.0]]), np.array([[3.0], [0.0]])
    >>> PoissonLoss().value(a, Y).round(12)
    array([0., 3.])
    >>> PoissonLoss().residual(a, Y).round(12)
    array([[0.],
           [3.]])
    """

    convex = True
    has_conjugate = True

    def __repr__(self) -> str:
        return "PoissonLoss()"

    # ---------------------------------------------------------------- primal side

    def value(self, a: Array, Y: Array) -> Array:
        return self.value_and_residual(a, Y)[0]

    def residual(self, a: Array, Y: Array) -> Array:
        return _expected(a)[0] - Y

    def value_and_residual(self, a: Array, Y: Array) -> tuple[Array, Array]:
        xp = namespace(a, Y)
        expected, beyond = _expected(a)
        some = Y > 0
        safe = xp.where(some, Y, xp.ones_like(Y))
        # Relative to the minimum, so that a loss near 0 is not a difference of large numbers.
        z = a - xp.log(safe)
        # e^z − 1 only where z is small; elsewhere it may overflow.
        small = xp.expm1(xp.clip(z, -1.0, 1.0)) * safe
        excess = xp.where(xp.abs(z) < 1.0, small, expected - Y) - safe * z
        each = xp.where(some, excess, expected) + expected * beyond
        return xp.sum(each, axis=-1), expected - Y

    def curvature(self, a: Array, Y: Array) -> Curvature:
        expected, _ = _expected(a)
        return Curvature(expected, 0.0 * expected)

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        radius = check_radius(radius)
        return math.exp(-radius), math.exp(radius) if radius <= _LARGEST_POWER else math.inf

    def steepest(self, G: Array, Y: Array) -> float:
        """Return ``e·max e^a``, ``e^a = g + y``: within distance 1 it is at most e times as large."""
        return math.e * max(float(namespace(Y).max(G + Y)), 0.0) if Y.shape[0] else 0.0

    def best_constant(self, slope: Array) -> Array:
        """Return the logarithm of the mean."""
        xp = namespace(slope)
        return xp.log(xp.clip(1.0 - slope, float(xp.finfo(slope.dtype).eps), None))

    def informative(self, Y: Array) -> Array:
        """Return the mean count over the outputs: information is proportional to the counts."""
        return namespace(Y).mean(Y, axis=1, keepdims=True)

    # ---------------------------------------------------------------- dual side

    def conjugate(self, G: Array, Y: Array) -> Array:
        xp = namespace(G, Y)
        m = G + Y
        inside = xp.all(m >= -8.0 * float(xp.finfo(m.dtype).eps) * Y, axis=1)
        value = xp.sum(times_own_log(m) - times_own_log(Y) - G, axis=1)
        return xp.where(inside, value, xp.full_like(value, math.inf))

    def imbalance(self, G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
        """Return ``Σw``, ``Σ_i w_i y_i`` and ``Σ_i w_i g_i``."""
        xp = namespace(G, Y, weights)
        return xp.sum(weights), xp.matmul(weights, Y), xp.matmul(weights, G)

    def rebalanced(self, G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
        """First ``m ≥ 0``; then scale all expected counts by one factor, until they sum to the counts."""
        xp = namespace(G, Y)
        for i, (total, counts, surplus) in enumerate(steps):
            if i and bool(total > 0):
                expected = counts + surplus
                some = expected > 0
                share = surplus / xp.where(some, expected, xp.ones_like(expected))
                # If all expected counts are 0, use the mean count.
                G = xp.where(some[None, :], G - share[None, :] * (G + Y), (counts / total)[None, :] - Y)
            G = xp.maximum(G, -Y)
        return G


def _expected(a: Array) -> tuple[Array, Array]:
    """Return ``e^a``, at most its largest value, and how far ``a`` lies beyond that value."""
    xp = namespace(a)
    farthest = min(_FARTHEST, _SHARE * math.log(float(xp.finfo(a.dtype).max)))
    within = xp.clip(a, max=farthest)
    return xp.exp(within), a - within
