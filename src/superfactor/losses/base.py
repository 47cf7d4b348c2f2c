"""What a loss ``ℓ(y, a)`` has to offer to the rest of the package.

Notation, used in every file of this folder:

====== ============ ==========================================================================
symbol shape        meaning
====== ============ ==========================================================================
``a``  ``(n, κ)``   activations, one row a sample
``Y``  ``(n, κ)``   targets: one-hot without class 0 (classification), real (regression)
``G``  ``(n, κ)``   dual points, one ``g`` a sample; ``G = ∇ℓ(y, a)`` is the residual
``v``  ``(n, κ)``   a direction in activation space
====== ============ ==========================================================================

On the primal side ``a`` and ``v`` may have leading dimensions, several points side by side, which
the results share: ``(…, n, κ)``.

Everything is per sample and unweighted: weights belong to whoever takes the sum. All arrays of a
call come from one array-API namespace and share one floating dtype, which the result keeps.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from superfactor._arrays import Array, eye_like, namespace

#: How many steps of `Loss.rebalanced` put weighted dual points in balance, rounding included.
BALANCING_STEPS = 3


class Curvature(NamedTuple):
    """``∇²ℓ`` of every sample: ``diagonal`` on its diagonal, ``−outer_c·outer_d`` off it.

    Attributes
    ----------
    diagonal : array of shape (n, κ)
        The diagonals.
    outer : array of shape (n, κ)
        What makes up the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import Curvature
    >>> curvature = Curvature(diagonal=np.array([[2.0, 2.0]]), outer=np.array([[0.5, 1.0]]))
    >>> curvature.matrices()
    array([[[ 2. , -0.5],
            [-0.5,  2. ]]])
    >>> curvature.times(np.array([[1.0, 0.0]]))
    array([[ 2. , -0.5]])
    """

    diagonal: Array
    outer: Array

    def times(self, v: Array) -> Array:
        """``∇²ℓ_i · v_i``, shape ``(n, κ)``."""
        diagonal, outer = self
        if diagonal.shape[-1] == 1:
            return diagonal * v
        inner = outer * v
        total = namespace(v).sum(inner, axis=-1, keepdims=True)
        return diagonal * v - outer * (total - inner)

    def matrices(self) -> Array:
        """``∇²ℓ_i``, shape ``(n, κ, κ)``."""
        diagonal, outer = self
        identity = eye_like(diagonal, diagonal.shape[-1])
        crossed = outer[..., :, None] * outer[..., None, :]
        return diagonal[..., :, None] * identity - crossed * (1.0 - identity)


class Loss(ABC):
    """A twice differentiable loss per sample, with its curvature and its convex conjugate.

    Examples
    --------
    Every loss is asked the same questions:

    >>> import numpy as np
    >>> from superfactor.losses import Loss, SquaredError
    >>> loss, a, Y = SquaredError(), np.array([[1.0], [3.0]]), np.array([[0.0], [3.0]])
    >>> isinstance(loss, Loss), loss.convex
    (True, True)
    >>> loss.value(a, Y), loss.residual(a, Y)
    (array([1., 0.]), array([[2.],
           [0.]]))
    """

    #: Is ``ℓ(y, ·)`` convex for every ``y``?
    convex: bool
    #: Can ``conjugate``, ``imbalance`` and ``rebalanced`` be evaluated? Else: TypeError.
    has_conjugate: bool

    @abstractmethod
    def value(self, a: Array, Y: Array) -> Array:
        """``ℓ(y_i, a_i)``, shape ``(n,)``."""

    @abstractmethod
    def residual(self, a: Array, Y: Array) -> Array:
        """``∇_a ℓ(y_i, a_i)``, shape ``(n, κ)``."""

    def value_and_residual(self, a: Array, Y: Array) -> tuple[Array, Array]:
        """Both of the above, in one pass where the loss knows how."""
        return self.value(a, Y), self.residual(a, Y)

    @abstractmethod
    def curvature(self, a: Array, Y: Array) -> Curvature:
        """``∇²_a ℓ(y_i, a_i)``, by ``2κ`` numbers a sample."""

    def hessian(self, a: Array, Y: Array) -> Array:
        """``∇²_a ℓ(y_i, a_i)``, shape ``(n, κ, κ)``."""
        return self.curvature(a, Y).matrices()

    def hessian_action(self, a: Array, Y: Array, v: Array) -> Array:
        """``∇²_a ℓ(y_i, a_i) · v_i``, shape ``(n, κ)``, without the ``(n, κ, κ)`` array."""
        return self.curvature(a, Y).times(v)

    @abstractmethod
    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        """``(α⁻, α⁺)`` with ``α⁻ I ≼ ∇²ℓ(y, a) ≼ α⁺ I`` for every ``y`` and ``‖a‖ ≤ radius``."""

    @abstractmethod
    def conjugate(self, G: Array, Y: Array) -> Array:
        """``ℓ*(y, g) = sup_a ⟨g, a⟩ − ℓ(y, a)``, shape ``(n,)``; ``+inf`` outside the domain."""

    @abstractmethod
    def imbalance(self, G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
        """Sums over the samples that say how far ``Σ_i weights_i g_i`` is from zero.

        An unpenalised intercept makes the dual bound ``−inf`` unless the weighted dual points sum
        to zero, so the sum has to vanish to rounding and not just to a solver's tolerance.

        ``weights`` has shape ``(n,)`` and is non-negative.
        """

    @abstractmethod
    def rebalanced(self, G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
        """``G`` after steps towards balance, each given by the imbalance of *all* samples before it.

        The first step moves ``G`` into the conjugate's domain, the second balances it exactly on paper,
        and the third removes what rounding left over.
        """


def check_radius(radius: float) -> float:
    """Return ``radius`` as a float; raise if it is not a non-negative number."""
    radius = float(radius)
    # Written so that NaN fails as well.
    if not radius >= 0.0:
        raise ValueError(f"radius={radius!r}: a non-negative number (or inf) is required")
    return radius
