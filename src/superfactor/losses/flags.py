"""Several yes/no labels at once: κ logistic losses, each with its own missing labels.

``Y`` contains 0, 1 and NaN. NaN is a missing label, which does not contribute to the loss. Over the known
labels ``c`` of a sample

    ``ℓ(y, a) = Σ_c log(1 + e^{a_c}) − y_c a_c,   ∇_c = σ(a_c) − y_c,   ∇²_cc = σ(a_c)(1 − σ(a_c))``,

and ∇² is diagonal. With ``p = g + y`` the conjugate is ``Σ_c p_c log p_c + (1 − p_c) log(1 − p_c)`` for ``p``
in [0, 1]. For a missing label it is 0 at ``g = 0`` and infinite elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from superfactor._arrays import Array, namespace
from superfactor.losses.base import Loss, check_radius
from superfactor.losses.classes.entropy import times_own_log
from superfactor.losses.curvature import Curvature


class FlagsLoss(Loss):
    """The sum of the logistic losses of κ yes/no labels; NaN in ``Y`` is a missing label.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import FlagsLoss
    >>> a, Y = np.array([[0.0, 2.0], [0.0, 2.0]]), np.array([[1.0, 1.0], [0.0, np.nan]])
    >>> FlagsLoss().value(a, Y).round(3)
    array([0.82 , 0.693])
    >>> FlagsLoss().residual(a, Y).round(3)
    array([[-0.5  , -0.119],
           [ 0.5  ,  0.   ]])
    """

    convex = True
    has_conjugate = True
    dispersion = 1.0
    # Measured on six tables: the ξ of classes gives reconstruction too much weight.
    feature_xi = 0.01
    feature_ridge = 0.1

    def __repr__(self) -> str:
        return "FlagsLoss()"

    # ---------------------------------------------------------------- primal side

    def value(self, a: Array, Y: Array) -> Array:
        return self.value_and_residual(a, Y)[0]

    def residual(self, a: Array, Y: Array) -> Array:
        return self.value_and_residual(a, Y)[1]

    def value_and_residual(self, a: Array, Y: Array) -> tuple[Array, Array]:
        # ℓ = log(1 + e^z), ∇ = ±1/(1 + e^{−z}), z the activation of the other label: accurate near 0.
        xp = namespace(a, Y)
        sign = _signs(Y)
        z = sign * a
        size = xp.abs(z)
        e = xp.exp(-size)
        value = xp.abs(sign) * (0.5 * (z + size) + xp.log1p(e))
        residual = sign * xp.where(z > 0, xp.ones_like(e), e) / (1.0 + e)
        return xp.sum(value, axis=-1), residual

    def curvature(self, a: Array, Y: Array) -> Curvature:
        xp = namespace(a, Y)
        e = xp.exp(-xp.abs(a))
        diagonal = xp.abs(_signs(Y)) * (e / (1.0 + e) / (1.0 + e))
        return Curvature(diagonal, xp.zeros_like(diagonal))

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        """``(0, ¼)``: a missing label has no curvature."""
        check_radius(radius)
        return 0.0, 0.25

    def informative(self, Y: Array) -> Array:
        """Return the share of its labels that is known."""
        xp = namespace(Y)
        return xp.mean(xp.abs(_signs(Y)), axis=-1, keepdims=True)

    # ---------------------------------------------------------------- dual side

    def conjugate(self, G: Array, Y: Array) -> Array:
        xp = namespace(G, Y)
        sign = _signs(Y)
        # The probability of the other label is ±g, without rounding; that of the own label is 1 − share.
        share = sign * G
        slack = 4.0 * float(xp.finfo(G.dtype).eps)
        inside = xp.where(sign != 0, (share >= -slack) & (share <= 1.0 + slack), G == 0)
        value = xp.abs(sign) * (times_own_log(share) + times_own_log(1.0 - share))
        value = xp.sum(value, axis=-1)
        return xp.where(xp.all(inside, axis=-1), value, xp.full_like(value, math.inf))

    def imbalance(self, G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
        """Return, for every label, the weight of samples with 1 and with 0, and ``Σ_i w_i g_i``."""
        xp = namespace(G, Y, weights)
        sign = _signs(Y)
        ones, zeros = (xp.where(sign == own, xp.ones_like(Y), xp.zeros_like(Y)) for own in (-1.0, 1.0))
        return xp.matmul(weights, ones), xp.matmul(weights, zeros), xp.matmul(weights, G)

    def rebalanced(self, G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
        """First ``p`` into [0, 1]; then scale all p of a label, or all 1 − p, until ``Σ_i w_i g_i = 0``."""
        for i, (ones, zeros, surplus) in enumerate(steps):
            G = _shrunk(G, Y, ones, zeros, surplus) if i else _inside(G, Y, ones, zeros)
        return G


def _signs(Y: Array) -> Array:
    """Return 1 for no, −1 for yes, 0 for a missing label."""
    xp = namespace(Y)
    return xp.where(xp.isnan(Y), xp.zeros_like(Y), 1.0 - 2.0 * Y)


def _inside(G: Array, Y: Array, ones: Array, zeros: Array) -> Array:
    """Return ``p = g + y`` in [0, 1]; if all samples have the same label, only that p is feasible."""
    xp = namespace(G, Y)
    # p is 0 for a label that no sample has, 1 for one that all samples have; without any weight, p is free.
    weighed = (ones + zeros) > 0
    highest = xp.where(weighed & (ones <= 0), xp.zeros_like(ones), xp.ones_like(ones))
    lowest = xp.where(weighed & (zeros <= 0), xp.ones_like(ones), xp.zeros_like(ones))
    moved = xp.maximum(xp.minimum(G, highest - Y), lowest - Y)
    return xp.where(xp.isnan(Y), xp.zeros_like(G), moved)


def _shrunk(G: Array, Y: Array, ones: Array, zeros: Array, surplus: Array) -> Array:
    """``p' = (1−t)p`` with ``1 − t = n₁/(n₁ + s)`` where the surplus ``s = Σwp − n₁`` is positive.

    If it is negative, the same for ``1 − p`` with ``n₀`` and ``−s``.
    """
    xp = namespace(G, Y)
    counts = xp.where(surplus > 0, ones, zeros)
    size = xp.abs(surplus)
    # A surplus below this, relative to Σw, counts as 0.
    uneven = size > 1e-30 * (ones + zeros)
    t = xp.where(uneven, size / xp.where(uneven, counts + size, xp.ones_like(size)), xp.zeros_like(size))
    end = xp.where(surplus > 0, xp.zeros_like(t), xp.ones_like(t))
    moved = (1.0 - t) * G + t * (end - Y)
    return xp.where(xp.isnan(Y), xp.zeros_like(G), moved)
