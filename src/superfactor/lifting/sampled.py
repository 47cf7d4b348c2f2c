"""A lifted problem as the default solver sees it: sizes, weights, and samples that answer with sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, device, namespace, zeros_like_of
from superfactor.lifting.samples import Samples
from superfactor.losses import Loss


@dataclass(frozen=True)
class SampledProblem:
    """F(W, β, γ) of `LiftedProblem`, without an array that has one entry a sample.

    Attributes
    ----------
    name : "filter" or "feature"
    samples : whoever holds them
    shape : (n, p)
    n_outputs : κ
    loss : ℓ
    covariate_ridge : ρ (q,), λ for covariates and 0 for the intercept
    xi, lam : ξ and λ in the units of X̃ and Ã
    squared_norm : ‖X̃‖²
    largest_weight : max_i ω_i/w_i, what multiplies the loss's curvature in the units of Ã
    null_loss : Σ_i ω_i ℓ(y_i, 0)
    epsilon : precision of the blocks' floating type
    smaller_gram : gives the Gram matrix of X̃'s smaller side, in float64
    singular_values : σ (p,) where X̃ is known to be UΣ in its own right singular vectors, else None
    """

    name: str
    samples: Samples
    shape: tuple[int, int]
    n_outputs: int
    loss: Loss
    covariate_ridge: Array
    xi: float
    lam: float
    squared_norm: float
    largest_weight: float
    null_loss: float
    epsilon: float
    smaller_gram: Callable[[], Array]
    singular_values: Array | None = None

    @property
    def n_samples(self) -> int:
        return self.shape[0]

    @property
    def side(self) -> int:
        """N, the dimension of the search side: features of the filter model, samples of the feature model."""
        return self.shape[1] if self.name == "filter" else self.shape[0]

    @property
    def n_covariates(self) -> int:
        return int(self.covariate_ridge.shape[0])

    # --- arrays in the solver's own type and place -----------------------------------------------------

    @property
    def xp(self) -> Any:
        return namespace(self.covariate_ridge)

    def zeros(self, *shape: int) -> Array:
        return zeros_like_of(self.covariate_ridge, *shape)

    def random(self, rng: np.random.Generator, rows: int, columns: int) -> Array:
        """Standard normal numbers."""
        block, like = rng.standard_normal((rows, columns)), self.covariate_ridge
        return self.xp.asarray(block, dtype=like.dtype, device=device(like))

    # --- the parts of F that need no sample --------------------------------------------------------------

    def covariate_penalty(self, gamma: Array) -> float:
        """Σ_j ρ_j‖γ_j‖²."""
        return float(self.xp.sum(self.covariate_ridge[:, None] * gamma**2))

    def covariate_conjugate(self, pulled: Array) -> float:
        """Σ_j ‖g_j‖²/(4ρ_j) over the penalised covariates, g = X'ᵀG (q, κ); the others see no residual."""
        xp, ridge = self.xp, self.covariate_ridge
        safe = xp.where(ridge > 0, ridge, xp.full_like(ridge, math.inf))
        return float(xp.sum(pulled**2 / (4 * safe[:, None])))
