"""Sums that a problem is stated with, and subsamples."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, device, namespace, wide
from superfactor.samples.annotations import Annotations
from superfactor.samples.block.state import BlockState, reads_rows


class FactMethods(BlockState):
    """Sizes and weights, moments of the covariates, and rows."""

    @reads_rows
    def squared_norm(self) -> float:
        """Return ‖X̃‖² of these rows."""
        return self._rows().sum_of_squares()

    def weight_range(self) -> tuple[float, float]:
        """Return the smallest and the largest ω_i/w_i: to gather."""
        ratio = self._annotations().weight_ratio
        xp = namespace(ratio)
        return float(xp.min(ratio)), float(xp.max(ratio))

    def roots(self) -> Array:
        """Return √w of these samples (n_b, 1): rows."""
        known = self._annotations()
        root = known.root_weight
        return namespace(known.loss_weight).ones_like(known.loss_weight) if root is None else root

    def total_weights(self) -> tuple[float, float, float]:
        """Return Σ_i ω_i, the same of the informative share (`Loss.informative`), and Σ_i w_i."""
        known = self._annotations()
        xp, root, weight = namespace(known.targets), known.root_weight, wide(known.loss_weight)
        of_samples = self.n_samples if root is None else float(xp.sum(wide(root) ** 2))
        telling = xp.sum(weight * self.loss.informative(wide(known.targets)))
        return float(xp.sum(weight)), float(telling), float(of_samples)

    @reads_rows
    def digest(self) -> tuple[Array, Array, float]:
        """Return Σ_i √i·ω_i·y_i (κ,), Σ_i √i·ω_i·x'_i (q,) and Σ_i √i·‖x̃_i‖².

        The sums identify the samples and their order. A missing y counts as −1.
        """
        known, squares = self._annotations(), self._rows().row_squares()
        place = np.sqrt(np.arange(self._start + 1, self._start + self.n_samples + 1))
        xp, Y = namespace(known.targets), wide(known.targets)
        place = xp.asarray(place, dtype=Y.dtype, device=device(Y))
        Y = xp.where(xp.isnan(Y), -xp.ones_like(Y), Y)
        weighted = place * wide(known.loss_weight)[:, 0]
        return weighted @ Y, weighted @ wide(known.covariates), float(place @ squares)

    def covariate_moments(self, mean: Array | None) -> tuple[float, Array]:
        """Return Σ_i ω_i and Σ_i ω_i·x'_i (q,); with a mean (q,), Σ_i ω_i·(x'_i − mean)² instead."""
        known = self._annotations()
        x, weight = wide(known.covariates), wide(known.loss_weight)
        if mean is not None:
            x = (x - cast(mean, x)[None, :]) ** 2
        xp = namespace(x)
        return float(xp.sum(weight)), xp.sum(weight * x, axis=0)

    def covariate_gram(self) -> Array:
        """Return X'ᵀΩX' (q, q)."""
        known = self._annotations()
        return known.covariates.T @ (known.loss_weight * known.covariates)

    @reads_rows
    def some_rows(self, share: float) -> tuple[Any, Annotations]:
        """Return a share of the rows of X̃, without weights, and their annotations: to gather."""
        known, index = self._chosen(share)
        return self._rows().take(index), known
