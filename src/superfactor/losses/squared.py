"""The squared error ``ℓ(y, a) = ‖y − a‖²`` of the regression model (no factor 1/2)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from superfactor._arrays import Array, namespace
from superfactor.losses.base import Loss, check_radius
from superfactor.losses.curvature import Curvature


class SquaredError(Loss):
    """``ℓ = Σ_c (y_c − a_c)²``; gradient ``2(a − y)``; Hessian ``2I``; ``ℓ* = ⟨g, y⟩ + ‖g‖²/4``.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import SquaredError
    >>> SquaredError().value_and_residual(np.array([[1.0, 2.0]]), np.array([[0.0, 2.0]]))
    (array([1.]), array([[2., 0.]]))
    """

    convex = True
    has_conjugate = True
    # Measured on fourteen tables: its curvature is eight times that of the logistic loss, and noise is
    # larger.
    feature_ridge = 100.0

    def __repr__(self) -> str:
        return "SquaredError()"

    def value(self, a: Array, Y: Array) -> Array:
        return self.value_and_residual(a, Y)[0]

    def residual(self, a: Array, Y: Array) -> Array:
        return 2.0 * (a - Y)

    def value_and_residual(self, a: Array, Y: Array) -> tuple[Array, Array]:
        xp = namespace(a, Y)
        difference = a - Y
        return xp.sum(difference * difference, axis=-1), 2.0 * difference

    def curvature(self, a: Array, Y: Array) -> Curvature:
        zero = 0.0 * a
        return Curvature(zero + 2.0, zero)

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        check_radius(radius)
        return 2.0, 2.0

    def best_constant(self, slope: Array) -> Array:
        """Return the mean."""
        return -0.5 * slope

    def conjugate(self, G: Array, Y: Array) -> Array:
        xp = namespace(G, Y)
        return xp.sum(G * (Y + 0.25 * G), axis=1)

    def imbalance(self, G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
        xp = namespace(G, Y, weights)
        return xp.sum(weights), xp.matmul(weights, G)

    def rebalanced(self, G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
        """Subtract the weighted mean; the domain is the whole space."""
        for total, surplus in steps:
            G = G - (surplus / total)[None, :] if bool(total > 0) else G
        return G
