"""A loss that ignores constants, with a term that determines the intercept and changes nothing else.

Cox's partial likelihood does not change if a constant is added to all activations, so an intercept would be
undetermined. With ``ā = Σ_i ω_i a_i/N``, ``N = Σ_i ω_i``,

    ``Σ_i ω_i ℓ_i(a) + N·ā²``

has one minimum in the constant, at ``ā = 0``, where the term is zero. With an unpenalised intercept, the
minimum and all differences between samples are therefore those of the loss alone. Dual points of such a
problem sum to zero, and for these the conjugate is that of the loss alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, moved, namespace
from superfactor.losses.base import Loss
from superfactor.losses.curvature import AnyCurvature


class Anchored(Loss):
    """``loss`` of one output plus ``N·ā²``, for problems with an intercept.

    Parameters
    ----------
    loss : Loss
        One that ignores constants and couples its samples.
    weights : array of shape (n,)
        ω, the weights that the loss was made with.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import Anchored, CoxPartialLikelihood
    >>> events = np.array([1.0, 1.0, 0.0])
    >>> cox = CoxPartialLikelihood(np.array([2.0, 5.0, 7.0]), events)
    >>> a = np.ones((3, 1))
    >>> Anchored(cox, np.ones(3)).value(a, events[:, None]) - cox.value(a, events[:, None])
    array([1., 1., 1.])
    """

    couples_samples = True

    def __init__(self, loss: Loss, weights: Any) -> None:
        self.loss = loss
        self.weights: Any = np.asarray(weights, dtype=float)
        self.convex: bool = loss.convex
        self.has_conjugate: bool = loss.has_conjugate
        self.feature_xi: float = loss.feature_xi
        self.feature_ridge: float = loss.feature_ridge

    def __repr__(self) -> str:
        return f"Anchored({self.loss!r})"

    def value(self, a: Array, Y: Array) -> Array:
        return self.value_and_residual(a, Y)[0]

    def residual(self, a: Array, Y: Array) -> Array:
        return self.value_and_residual(a, Y)[1]

    def value_and_residual(self, a: Array, Y: Array) -> tuple[Array, Array]:
        value, residual = self.loss.value_and_residual(a, Y)
        mean = weighted_mean(self.weights, a)  # (…, 1, 1)
        return value + mean[..., 0] ** 2, residual + 2 * mean

    def curvature(self, a: Array, Y: Array) -> AnchoredCurvature:
        return AnchoredCurvature(self.loss.curvature(a, Y), self.weights)

    def curvature_of(self, numbers: tuple[Array, Array]) -> AnchoredCurvature:
        return AnchoredCurvature(self.loss.curvature_of(numbers), self.weights)

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        lowest, highest = self.loss.curvature_bounds(n_outputs, radius)
        return lowest, highest + 2.0

    def informative(self, Y: Array) -> Array:
        return self.loss.informative(Y)

    def digest(self, n_outputs: int) -> list[float]:
        return self.loss.digest(n_outputs)

    def conjugate(self, G: Array, Y: Array) -> Array:
        """Return the conjugate of the loss alone: dual points of a problem with an intercept sum to zero."""
        return self.loss.conjugate(G, Y)

    def imbalance(self, G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
        xp = namespace(G)
        return xp.sum(weights), xp.matmul(weights, G)

    def rebalanced(self, G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
        """Subtract the weighted mean, which is only a rounding error where the intercept is optimal."""
        for total, surplus in steps:
            G = G - (surplus / total)[None, :] if bool(total > 0) else G
        return G


@dataclass(frozen=True)
class AnchoredCurvature:
    """``∇² + 2ωωᵀ/N``, see `superfactor.losses.AnyCurvature`.

    The second of the `numbers` of ``inner`` is the factor of each row: ω if it is weighted, otherwise 1.
    """

    inner: AnyCurvature
    weights: Any  # (n,), NumPy

    @property
    def numbers(self) -> tuple[Array, Array]:
        return self.inner.numbers

    def weighted(self, weights: Array) -> AnchoredCurvature:
        return AnchoredCurvature(self.inner.weighted(weights), self.weights)

    def times(self, v: Array) -> Array:
        return self.inner.times(v) + 2 * self._factor * weighted_mean(self.weights, v)

    def matrices(self) -> Array:
        return self.inner.matrices()

    def total(self) -> Array:
        return self.inner.total() + 2 * weighted_mean(self.weights, self._factor)

    def take(self, index: Array) -> AnyCurvature:
        return self.inner.take(index)

    def by_row(self, directions: Array) -> Array:
        return self.inner.by_row(directions)

    def row_matrices(self, directions: Array) -> Array:
        return self.inner.row_matrices(directions)

    def row_solve(self, v: Array) -> Array:
        return self.inner.row_solve(v)

    def gram(self, J: Array, convex: bool) -> Array:
        return self.inner.gram(J, convex) + 2 * (J.T @ self._factor) @ weighted_mean(self.weights, J)

    def forms(self, J: Array, directions: Array) -> Array:
        own = (J.T @ self._factor) * weighted_mean(self.weights, J).T
        return self.inner.forms(J, directions) + 2 * own * (directions**2).T

    def along(self, Z: Array, directions: Array) -> Array:
        own = self._factor * weighted_mean(self.weights, Z)
        return self.inner.along(Z, directions) + 2 * own * (directions**2).T

    @property
    def _factor(self) -> Array:
        return self.inner.numbers[1]


def weighted_mean(weights: Any, x: Array) -> Array:
    """Return the mean over the samples of x (…, n, k) with weights (n,) in NumPy: (…, 1, k)."""
    xp = namespace(x)
    share = cast(moved(weights / weights.sum(), x), x)
    return xp.sum(share[:, None] * x, axis=-2, keepdims=True)
