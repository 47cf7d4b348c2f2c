"""A lifted problem as the default solver sees it: sizes, weights, and samples that answer with sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, device, eps, namespace, zeros_like_of
from superfactor.lifting.samples import Samples
from superfactor.losses import Loss
from superfactor.spectrum.data import power_of_two


def in_own_units(model: str, scale: float, xi: float, lam: float) -> tuple[float, float]:
    """ξ and λ for X̃ = X/s: B̃ = B/s in both models, Ã = sA in the filter model, Ã = A in the other."""
    return float(xi) * scale**2, float(lam) / scale**2 if model == "filter" else float(lam)


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
    scale : the factor s of X̃ = diag(√w)X/s
    squared_norm : ‖X̃‖²
    smallest_weight, largest_weight : the extremes of ω_i/w_i, which multiplies the loss's curvature in Ã
    null_loss : Σ_i ω_i ℓ(y_i, 0)
    like : an array in the floating type and place in which the blocks compute
    smaller_gram : gives the Gram matrix of X̃'s smaller side in float64; None where nobody can
    row_size : the number of stored values in a row of X, on average; None for all p of them
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
    scale: float
    squared_norm: float
    smallest_weight: float
    largest_weight: float
    null_loss: float
    like: Array
    smaller_gram: Callable[[], Array] | None
    row_size: float | None = None
    singular_values: Array | None = None

    @classmethod
    def of(
        cls,
        samples: Samples,
        *,
        model: str,
        shape: tuple[int, int],
        n_outputs: int,
        loss: Loss,
        xi: float,
        lam: float,
        n_covariates: int,
        fit_intercept: bool,
        like: Array,
        row_size: float | None = None,
    ) -> SampledProblem:
        """The problem `model` of samples that are in the user's units, by one pass over X.

        Parameters
        ----------
        xi, lam : ξ > 0 and λ ≥ 0 of the paper's F
        n_covariates : the intercept not counted
        like, row_size : see the attributes
        """
        (squared,) = samples.sum("squared_norm")
        tiny = float(namespace(like).finfo(like.dtype).smallest_normal) ** 0.75
        if not (squared == 0 or tiny < squared < 1 / tiny):
            raise ValueError(
                f"X: its sum of squares is {float(squared):.0e}, which {like.dtype} cannot do justice "
                "to; rescale X"
            )
        scale = power_of_two(math.sqrt(float(squared))) if squared > 0 else 1.0
        samples.tell("rescale", scale)
        ranges = samples.gather("weight_range")
        xp = namespace(like)
        ridge = [lam] * n_covariates + [0.0] * int(fit_intercept)
        ridge = xp.asarray(ridge, dtype=xp.float64, device=device(like))
        null = samples.sum("evaluate", zeros_like_of(ridge, len(ridge), n_outputs))[0]
        own_xi, own_lam = in_own_units(model, scale, xi, lam)
        n, p = shape
        return cls(
            name=model,
            samples=samples,
            shape=shape,
            n_outputs=n_outputs,
            loss=loss,
            covariate_ridge=ridge,
            xi=own_xi,
            lam=own_lam,
            scale=scale,
            squared_norm=float(squared) / scale**2,
            smallest_weight=min(low for low, _ in ranges),
            largest_weight=max(high for _, high in ranges),
            null_loss=float(null),
            like=like,
            row_size=row_size,
            smaller_gram=(lambda: samples.sum("gram")[0]) if p <= n else None,
        )

    @property
    def epsilon(self) -> float:
        """The precision of the blocks' floating type."""
        return eps(self.like)

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
