"""Counts: the Poisson loss with the log link, half the deviance.

    ``ℓ(y, a) = Σ_c e^{a_c} − y_c a_c + (y_c log y_c − y_c) = Σ_c y_c (e^{z_c} − 1 − z_c),   z = a − log y``

is 0 where the expected count ``e^a`` is ``y``, and never below. A count of 0 costs ``e^a``. Its curvature
``e^a`` has no bound: near 0 it vanishes, and it grows with the counts themselves.

With ``m = g + y``, the expected counts behind a dual point,

    ``ℓ*(y, g) = Σ_c m_c log m_c − m_c − (y_c log y_c − y_c)`` for ``m ≥ 0``, ``+inf`` elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from superfactor._arrays import Array, namespace
from superfactor.losses.base import Loss, check_radius
from superfactor.losses.classes.entropy import times_own_log
from superfactor.losses.curvature import Curvature

# Activations beyond which the loss is straight; in single precision a share of the largest logarithm. e^a,
# its square and products of squares, which steps are made of, stay in range.
_FARTHEST, _SHARE = 120.0, 0.42
# Beyond this a power of e is no double.
_LARGEST_POWER = 709.0


class PoissonLoss(Loss):
    """``ℓ = Σ_c e^{a_c} − y_c a_c``, less what it is at best; gradient ``e^a − y``; Hessian ``diag(e^a)``.

    Targets are counts or rates, 0 or larger. Beyond ``a = 120``, 37 in single precision, the loss goes on
    as a straight line: no count is that large, but trial points of a line search may be there, and
    need a finite value that is worse.

    Examples
    --------
    Where three are expected, three cost nothing, and none cost three:

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
        # Relative to its best place, so that a loss near 0 is no difference of large numbers.
        z = a - xp.log(safe)
        # e^z − 1 only where it is small: elsewhere it may leave the range of floats.
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
        """``e·max e^a``, ``e^a = g + y``: within 1 of there it is no more than e times as large."""
        return math.e * max(float(namespace(Y).max(G + Y)), 0.0) if Y.shape[0] else 0.0

    def best_constant(self, slope: Array) -> Array:
        """The logarithm of the mean."""
        xp = namespace(slope)
        return xp.log(xp.clip(1.0 - slope, float(xp.finfo(slope.dtype).eps), None))

    def informative(self, Y: Array) -> Array:
        """The counts, on average over the outputs: with twice as many, twice as much is known."""
        return namespace(Y).mean(Y, axis=1, keepdims=True)

    # ---------------------------------------------------------------- dual side

    def conjugate(self, G: Array, Y: Array) -> Array:
        xp = namespace(G, Y)
        m = G + Y
        inside = xp.all(m >= -8.0 * float(xp.finfo(m.dtype).eps) * Y, axis=1)
        value = xp.sum(times_own_log(m) - times_own_log(Y) - G, axis=1)
        return xp.where(inside, value, xp.full_like(value, math.inf))

    def imbalance(self, G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
        """``Σw``, ``Σ_i w_i y_i`` and ``Σ_i w_i g_i``."""
        xp = namespace(G, Y, weights)
        return xp.sum(weights), xp.matmul(weights, Y), xp.matmul(weights, G)

    def rebalanced(self, G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
        """First ``m ≥ 0``; then all expected counts times one factor, until they add up to the counts."""
        xp = namespace(G, Y)
        for i, (total, counts, surplus) in enumerate(steps):
            if i and bool(total > 0):
                expected = counts + surplus
                some = expected > 0
                share = surplus / xp.where(some, expected, xp.ones_like(expected))
                # Where nothing is expected of anybody, the mean is.
                G = xp.where(some[None, :], G - share[None, :] * (G + Y), (counts / total)[None, :] - Y)
            G = xp.maximum(G, -Y)
        return G


def _expected(a: Array) -> tuple[Array, Array]:
    """``e^a``, and how far ``a`` is beyond where that is as large as it gets."""
    xp = namespace(a)
    farthest = min(_FARTHEST, _SHARE * math.log(float(xp.finfo(a.dtype).max)))
    within = xp.clip(a, max=farthest)
    return xp.exp(within), a - within
