"""Dual points g (n_b, κ), kept in float64: a bound must hold to the last digit of a sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from superfactor._arrays import Array, cast, namespace, wide
from superfactor.samples.block.design import Design, DesignQuestions
from superfactor.samples.block.state import Place


class DualQuestions(DesignQuestions):
    """Dual points, their balance, and their part of the dual bound."""

    def dual_points(self, design: Design, coef: Array) -> Array:
        """g = ∇ℓ (n_b, κ); 0 for samples without a loss, where it may be larger than floats are."""
        known = self._annotations()
        a = wide(self._activations(design, known, coef))
        g = self.loss.residual(a, wide(known.targets))
        xp = namespace(g)
        return xp.where(known.loss_weight > 0, g, xp.zeros_like(g))

    def imbalance(self, dual: Place, steps: Sequence[Any]) -> tuple[Any, ...]:
        """What the next balancing step must know of the dual points of all samples."""
        known = self._annotations()
        targets = wide(known.targets)
        g = self.loss.rebalanced(self._tall(dual), targets, steps)
        return self.loss.imbalance(g, targets, wide(known.loss_weight)[:, 0])

    def rebalanced(self, dual: Place, steps: Sequence[Any]) -> Array:
        """The dual points moved by these steps (n_b, κ)."""
        return self.loss.rebalanced(self._tall(dual), wide(self._annotations().targets), steps)

    def dual_terms(self, dual: Place) -> tuple[float, Array]:
        """Σ_i ω_i ℓ*(y_i, g_i) and X'ᵀ(ω∘g) (q, κ)."""
        known = self._annotations()
        weight, g = wide(known.loss_weight), self._tall(dual)
        total = namespace(g).sum(self.loss.conjugate(g, wide(known.targets)) * weight[:, 0])
        return float(total), wide(known.covariates).T @ (g * weight)

    def dual_sizes(self, dual: Place) -> tuple[float, Array]:
        """Of the terms that `dual_terms` adds up the sizes: Σ_i ω_i(|ℓ*(y_i, g_i)| + |g_i||y_i|) and
        |X'|ᵀ(ω∘|g|) (q, κ).
        """
        known = self._annotations()
        weight, g, Y = wide(known.loss_weight), self._tall(dual), wide(known.targets)
        xp = namespace(g)
        known_part = xp.where(xp.isnan(Y), xp.zeros_like(Y), xp.abs(g * Y))  # g is 0 at gaps
        terms = xp.abs(self.loss.conjugate(g, Y)) + xp.sum(known_part, axis=1)
        return float(xp.sum(terms * weight[:, 0])), xp.abs(wide(known.covariates)).T @ (xp.abs(g) * weight)

    def weighted_dual(self, dual: Place) -> Array:
        """ω∘g/√w (n_b, κ), in the type of the block: what `pulled` is at residuals."""
        known = self._annotations()
        return known.over_root(cast(self._tall(dual), known.targets) * known.loss_weight)
