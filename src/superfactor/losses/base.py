"""The interface of a loss ``ℓ(y, a)``.

Notation, used in every file of this folder:

====== ============ ==========================================================================
symbol shape        meaning
====== ============ ==========================================================================
``a``  ``(n, κ)``   activations, one row per sample
``Y``  ``(n, κ)``   targets: one-hot without class 0 (classification), real (regression), 0 or 1 (flags);
                    NaN is a missing target, for losses that allow it
``G``  ``(n, κ)``   dual points, one ``g`` per sample; ``G = ∇ℓ(y, a)`` is the residual
``v``  ``(n, κ)``   a direction in activation space
====== ============ ==========================================================================

On the primal side ``a`` and ``v`` may have leading dimensions, several points at once, which
the results share: ``(…, n, κ)``.

Everything is per sample and unweighted: the caller applies the weights in the sum. A loss may couple its
samples (``couples_samples``): it is then made for given samples with their weights, and its value for one
sample depends on the activations of all. All arrays of a call come from one array-API namespace and share
one floating dtype, which the result keeps.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from superfactor._arrays import Array, namespace
from superfactor.losses.curvature import AnyCurvature, Curvature

#: Number of steps of `Loss.rebalanced` that balance weighted dual points up to rounding.
BALANCING_STEPS = 3


class Loss(ABC):
    """A twice differentiable loss per sample, with its curvature and its convex conjugate.

    Examples
    --------
    All losses have the same methods:

    >>> import numpy as np
    >>> from superfactor.losses import Loss, SquaredError
    >>> loss, a, Y = SquaredError(), np.array([[1.0], [3.0]]), np.array([[0.0], [3.0]])
    >>> isinstance(loss, Loss), loss.convex
    (True, True)
    >>> loss.value(a, Y), loss.residual(a, Y)
    (array([1., 0.]), array([[2.],
           [0.]]))
    """

    #: Whether ``ℓ(y, ·)`` is convex for every ``y``.
    convex: bool
    #: Whether ``conjugate``, ``imbalance`` and ``rebalanced`` can be evaluated; otherwise they raise a
    #: TypeError.
    has_conjugate: bool
    #: Whether the value for a sample depends on other samples. All samples must then be evaluated together.
    couples_samples: bool = False
    #: Whether adding a constant to all activations changes nothing. There is then no intercept.
    ignores_constants: bool = False
    #: Whether λ = "auto" of the filter model is estimated from the data. Otherwise it is a share of σ₁(X)².
    estimates_ridge: bool = True
    #: Variance of the residuals in units of the curvature, if it is known: 1 for a likelihood without a
    #: scale parameter. None: it is estimated with λ.
    dispersion: float | None = None
    #: Factors of ξ = "auto" and λ = "auto" of the feature model, relative to classes.
    feature_xi: float = 1.0
    feature_ridge: float = 1.0

    def dispersions(self, n_outputs: int) -> list[float | None]:
        """Return the `dispersion` of each output."""
        return [self.dispersion] * n_outputs

    @abstractmethod
    def value(self, a: Array, Y: Array) -> Array:
        """Return ``ℓ(y_i, a_i)``, shape ``(n,)``."""

    @abstractmethod
    def residual(self, a: Array, Y: Array) -> Array:
        """Return ``∇_a ℓ(y_i, a_i)``, shape ``(n, κ)``."""

    def value_and_residual(self, a: Array, Y: Array) -> tuple[Array, Array]:
        """Return `value` and `residual`, in one pass if the loss can do so."""
        return self.value(a, Y), self.residual(a, Y)

    @abstractmethod
    def curvature(self, a: Array, Y: Array) -> AnyCurvature:
        """Return ``∇²_a ℓ(y_i, a_i)``, represented by ``2κ`` numbers per sample."""

    def curvature_of(self, numbers: tuple[Array, Array]) -> AnyCurvature:
        """Return the curvature that has these `numbers`, with its weights."""
        return Curvature(*numbers)

    def hessian(self, a: Array, Y: Array) -> Array:
        """Return ``∇²_a ℓ(y_i, a_i)``, shape ``(n, κ, κ)``."""
        return self.curvature(a, Y).matrices()

    def hessian_action(self, a: Array, Y: Array, v: Array) -> Array:
        """Return ``∇²_a ℓ(y_i, a_i) · v_i``, shape ``(n, κ)``, without the ``(n, κ, κ)`` array."""
        return self.curvature(a, Y).times(v)

    @abstractmethod
    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        """Return ``(α⁻, α⁺)``: ``α⁻ I ≼ ∇²ℓ(y, a) ≼ α⁺ I`` for every ``y`` and ``‖a‖ ≤ radius``."""

    def steepest(self, G: Array, Y: Array) -> float:
        """Return an upper bound on ``∇²ℓ`` within distance 1 of the activations whose residuals are ``G``.

        By default ``α⁺``. Losses whose ``α⁺`` is infinite return a finite bound if they know one.
        """
        return self.curvature_bounds(int(Y.shape[-1]))[1]

    def best_constant(self, slope: Array) -> Array | None:
        """Return the activations (κ,) of the best constant, from the mean residual at 0 (κ,).

        None if the null model is activation 0, as for classes.
        """
        return None

    def informative(self, Y: Array) -> Array:
        """Return the informative share of each sample's weight, shape ``(n, 1)``: by default all of it."""
        return namespace(Y).ones_like(Y[:, :1])

    def digest(self, n_outputs: int) -> list[float]:
        """Return some of its values, which identify the loss: a user's link has no name."""
        a = np.linspace(-1.5, 1.0, 3 * n_outputs).reshape(3, n_outputs)
        return [float(x) for x in self.value(a, np.eye(3, n_outputs))]

    @abstractmethod
    def conjugate(self, G: Array, Y: Array) -> Array:
        """Return ``ℓ*(y, g) = sup_a ⟨g, a⟩ − ℓ(y, a)``, shape ``(n,)``; ``+inf`` outside the domain."""

    @abstractmethod
    def imbalance(self, G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
        """Return sums over the samples that determine how far ``Σ_i weights_i g_i`` is from zero.

        With an unpenalised intercept, the dual bound is ``−inf`` unless the weighted dual points sum to
        zero. A sum below a solver's tolerance is not enough: it must be zero up to rounding.

        ``weights`` has shape ``(n,)`` and is non-negative.
        """

    @abstractmethod
    def rebalanced(self, G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
        """Return ``G`` after steps towards balance, each given by the imbalance of *all* samples before it.

        The first step moves ``G`` into the conjugate's domain. The second balances it in exact arithmetic.
        The third removes the rounding error of the second.
        """


def check_radius(radius: float) -> float:
    """Return ``radius`` as a float; raise if it is not a non-negative number."""
    radius = float(radius)
    # In this form NaN fails too.
    if not radius >= 0.0:
        raise ValueError(f"radius={radius!r}: a non-negative number (or inf) is required")
    return radius
