"""Dual points g (n_b, κ), in float64: a bound must hold to the last digit of a sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from superfactor._arrays import Array, cast, namespace, wide
from superfactor.samples.block.design import Design, DesignMethods
from superfactor.samples.block.state import Place


class DualMethods(DesignMethods):
    """Dual points, their balance, and their part of the dual bound."""

    def dual_points(self, design: Design, coef: Array) -> Array:
        """Return g = ∇ℓ (n_b, κ); 0 for samples without a loss, where ∇ℓ may overflow."""
        known = self._annotations()
        a = wide(self._activations(design, known, coef))
        g = self.loss.residual(a, wide(known.targets))
        xp = namespace(g)
        return xp.where(known.loss_weight > 0, g, xp.zeros_like(g))

    def imbalance(self, dual: Place, steps: Sequence[Any]) -> tuple[Any, ...]:
        """Return the sums that the next balancing step needs, see `Loss.imbalance`."""
        known = self._annotations()
        targets = wide(known.targets)
        g = self.loss.rebalanced(self._tall(dual), targets, steps)
        return self.loss.imbalance(g, targets, wide(known.loss_weight)[:, 0])

    def rebalanced(self, dual: Place, steps: Sequence[Any]) -> Array:
        """Return the dual points after these steps (n_b, κ)."""
        return self.loss.rebalanced(self._tall(dual), wide(self._annotations().targets), steps)

    def dual_terms(self, dual: Place) -> tuple[float, Array]:
        """Return Σ_i ω_i ℓ*(y_i, g_i) and X'ᵀ(ω∘g) (q, κ)."""
        known = self._annotations()
        weight, g = wide(known.loss_weight), self._tall(dual)
        total = namespace(g).sum(self.loss.conjugate(g, wide(known.targets)) * weight[:, 0])
        return float(total), wide(known.covariates).T @ (g * weight)

    def dual_sizes(self, dual: Place) -> tuple[float, Array]:
        """Return the sums of the absolute values of the terms of `dual_terms`, for rounding errors.

        Σ_i ω_i(|ℓ*(y_i, g_i)| + |g_i||y_i|) and |X'|ᵀ(ω∘|g|) (q, κ).
        """
        known = self._annotations()
        weight, g, Y = wide(known.loss_weight), self._tall(dual), wide(known.targets)
        xp = namespace(g)
        known_part = xp.where(xp.isnan(Y), xp.zeros_like(Y), xp.abs(g * Y))  # g is 0 for missing targets
        terms = xp.abs(self.loss.conjugate(g, Y)) + xp.sum(known_part, axis=1)
        return float(xp.sum(terms * weight[:, 0])), xp.abs(wide(known.covariates)).T @ (xp.abs(g) * weight)

    def weighted_dual(self, dual: Place) -> Array:
        """Return ω∘g/√w (n_b, κ) in the type of the block; `pulled` is the same for residuals."""
        known = self._annotations()
        return known.over_root(cast(self._tall(dual), known.targets) * known.loss_weight)
