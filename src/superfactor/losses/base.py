"""What a loss ``ℓ(y, a)`` has to offer to the rest of the package.

Notation, used in every file of this folder:

====== ============ ==========================================================================
symbol shape        meaning
====== ============ ==========================================================================
``a``  ``(n, κ)``   activations, one row a sample
``Y``  ``(n, κ)``   targets: one-hot without class 0 (classification), real (regression), 0 or 1 (flags);
                    NaN is a gap, of losses that know gaps
``G``  ``(n, κ)``   dual points, one ``g`` a sample; ``G = ∇ℓ(y, a)`` is the residual
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

#: How many steps of `Loss.rebalanced` put weighted dual points in balance, rounding included.
BALANCING_STEPS = 3


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
    #: Does what it says of a sample depend on other samples? Then they must be asked all together.
    couples_samples: bool = False
    #: Does a constant added to all activations change nothing? Then there is no intercept.
    ignores_constants: bool = False
    #: Is λ = "auto" of the filter model estimated from the data? Otherwise it is a fixed share of σ₁(X)².
    estimates_ridge: bool = True
    #: Variance of the residuals in units of the curvature, where it is known: 1 of a likelihood without a
    #: scale of its own. None: it is estimated with λ.
    dispersion: float | None = None
    #: ξ and λ = "auto" of the feature model, in those of classes: how much reconstruction weighs against this
    #: loss, and what activations cost.
    feature_xi: float = 1.0
    feature_ridge: float = 1.0

    def dispersions(self, n_outputs: int) -> list[float | None]:
        """`dispersion` of each output."""
        return [self.dispersion] * n_outputs

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
    def curvature(self, a: Array, Y: Array) -> AnyCurvature:
        """``∇²_a ℓ(y_i, a_i)``, by ``2κ`` numbers a sample."""

    def curvature_of(self, numbers: tuple[Array, Array]) -> AnyCurvature:
        """A curvature from its own `numbers`, weighted as it was."""
        return Curvature(*numbers)

    def hessian(self, a: Array, Y: Array) -> Array:
        """``∇²_a ℓ(y_i, a_i)``, shape ``(n, κ, κ)``."""
        return self.curvature(a, Y).matrices()

    def hessian_action(self, a: Array, Y: Array, v: Array) -> Array:
        """``∇²_a ℓ(y_i, a_i) · v_i``, shape ``(n, κ)``, without the ``(n, κ, κ)`` array."""
        return self.curvature(a, Y).times(v)

    @abstractmethod
    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        """``(α⁻, α⁺)`` with ``α⁻ I ≼ ∇²ℓ(y, a) ≼ α⁺ I`` for every ``y`` and ``‖a‖ ≤ radius``."""

    def steepest(self, G: Array, Y: Array) -> float:
        """No eigenvalue of ``∇²ℓ`` is larger within 1 of the activations whose residuals are ``G``.

        ``α⁺``; of use where that is infinite, and infinite too where nothing is known.
        """
        return self.curvature_bounds(int(Y.shape[-1]))[1]

    def best_constant(self, slope: Array) -> Array | None:
        """Activations (κ,) of the best constant, by the mean residual at 0 (κ,).

        None where 0 itself is what knows nothing, as of classes.
        """
        return None

    def informative(self, Y: Array) -> Array:
        """The share of each sample's weight that tells something, shape ``(n, 1)``: all of it."""
        return namespace(Y).ones_like(Y[:, :1])

    def digest(self, n_outputs: int) -> list[float]:
        """Some of its values, which tell it from others: a link of the user's has no name."""
        a = np.linspace(-1.5, 1.0, 3 * n_outputs).reshape(3, n_outputs)
        return [float(x) for x in self.value(a, np.eye(3, n_outputs))]

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
