"""Weights in units of the data: what "auto" means (docs/method.md §12).

ξ and λ have units, so that no fixed number suits all data: on standardised genes ξ = 1 is plain PCA, and a λ
for genes shrinks the effect of an age, which shares it, to nothing. With t a number without unit:

    ξ = t·ℓ₀/‖X‖²          ℓ₀ the loss of no model: Σω·log(c) with c classes; in regression Σω‖y − ȳ‖², but
                           Σω‖y‖² without an intercept; that of equal hazards for survival times (§16)
    λ = t·σ₁(X)²·Σω/Σw     filter model: activations of size 1 along the first factor cost about t·Σω, n where
                           all samples have a label; Σω counts events only for survival times. σ₁ of X without
                           its mean, which is the intercept's; of X itself where there is none
    λ = t                  feature model: the price of the activations themselves, whatever the units of X
    ρ_j = 0.08·Var(x'_j)   a covariate: a normal prior with s.d. 2.5 on the log-odds per standard deviation

‖X‖² and σ₁ count a sample as often as it weighs, w; ω is its weight in the loss, class weights included.

The unit of X does not matter, nor that of a covariate. Every sample twice, or with weight 2, leaves ξ and
doubles λ of the filter model, so that F is twice what it was and the model the same. This holds without
covariates: their prior ρ does not grow with the samples, and against twice the loss it weighs half as much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from superfactor._arrays import Array
from superfactor.losses import Loss
from superfactor.models import Model
from superfactor.samples import Block, Design, Samples

# 1/(2·2.5²): the ridge of a covariate of variance 1. The prior does not grow with n.
_COVARIATE_RIDGE = 0.08
# σ₁² is a unit, not a result: a block Krylov space of this width, grown until it changes by less than this.
_WIDTH, _PASSES, _CHANGE = 16, 8, 1e-3
# A variance below this share of the mean square is rounding: the covariate is constant.
_NO_VARIANCE = 1e-24

Auto = Literal["auto"]


@dataclass(frozen=True)
class Weights:
    """ξ, λ and the ridge ρ on covariates as a user gives them: numbers of the paper's F, or "auto".

    For ρ, None is the paper's own choice: the same λ.
    """

    xi: float | Auto
    lam: float | Auto
    lam_covariates: float | Auto | None = None

    def of_factors(
        self, model: Model, squared_norm: float, null_loss: float, largest: Callable[[], float]
    ) -> tuple[float, float]:
        """ξ and λ, by ‖X‖², ℓ₀ and σ₁(X)²·Σω/Σw of the data; the last is computed only where needed."""
        xi, lam = self.xi, self.lam
        if xi == "auto":
            unit = null_loss / squared_norm if squared_norm > 0 and null_loss > 0 else 1.0
            xi = model.usual_xi * unit
        if lam == "auto":
            lam = model.usual_lam * (model.natural_ridge(largest) or 1.0)
        return float(xi), float(lam)

    def of_covariates(self, samples: Samples, n_covariates: int, lam: float) -> Array:
        """ρ of every covariate but the intercept (q,), NumPy; λ is known by now."""
        given = self.lam_covariates
        if given == "auto":
            return covariate_ridges(samples)[:n_covariates] if n_covariates else np.zeros(0)
        return np.full(n_covariates, float(lam if given is None else given))


@dataclass(frozen=True)
class Nothing:
    """What no model costs: Σ_i ω_i ℓ(y_i, 0), and ℓ₀."""

    at_zero: float
    at_best: float


@dataclass(frozen=True)
class WeightUnits:
    """What t = 1 stands for: ξ = ℓ₀/‖X‖², and λ = σ₁(X)²·Σω/Σw of the filter model."""

    xi: float
    lam: float

    @classmethod
    def of(cls, problem: Any) -> WeightUnits:
        """Those of a problem of the filter model whose ξ and λ were both "auto"."""
        xi, lam = problem.users_weights
        return cls(xi / problem.model.usual_xi, lam / problem.model.usual_lam)


def null_loss(samples: Samples, loss: Loss, n_outputs: int, n_covariates: int, intercept: bool) -> Nothing:
    """ℓ₀, the loss of no model, and that of activations 0.

    They differ only for numbers with an intercept, which have no zero of their own: then ℓ₀ is the loss of
    the best constant. Of classes 0 is what knows nothing, and without an intercept no model says else.
    """
    coef = np.zeros((n_covariates + int(intercept), n_outputs))
    at_zero, slope = samples.sum(Block.evaluate, Design(None), coef)
    lowest, highest = loss.curvature_bounds(n_outputs)
    if not intercept or not 0 < lowest == highest:
        return Nothing(float(at_zero), float(at_zero))
    total = float(samples.sum(Block.total_weights)[0])
    # The squared error is a parabola: one step from 0. Its value there is summed up anew, since Σy² − (Σy)²/n
    # loses the digits of numbers that are far from 0.
    coef[n_covariates:] = -slope[n_covariates:] / (highest * total)
    best, _ = samples.sum(Block.evaluate, Design(None), coef)
    return Nothing(float(at_zero), float(best))


def covariate_ridges(samples: Samples) -> Array:
    """ρ_j = 0.08·Var(x'_j) of every covariate, the intercept's column included: (q,), NumPy.

    A covariate without variance has 0.08 times its mean square.
    """
    total, first = samples.sum(Block.covariate_moments, None)
    mean = first / total
    _, second = samples.sum(Block.covariate_moments, mean)
    variance = second / total
    square = variance + mean**2
    size = np.where(variance > _NO_VARIANCE * square, variance, square)
    return _COVARIATE_RIDGE * np.where(size > 0, size, 1.0)


def largest_square(samples: Samples, n_features: int, total_weight: float) -> float:
    """About σ₁² of X̃ without its mean, by a block Krylov space: a few passes, always from the same start.

    That is the largest eigenvalue of X̃ᵀX̃ − ssᵀ/Σw, s = X̃ᵀ√w, so that X stays sparse; with Σw infinite that
    of X̃ᵀX̃ itself.
    """

    def power(T: Array) -> Array:
        product, s = samples.sum(Block.power_and_sum, T)
        return product - s @ (s.T @ T) / total_weight

    T = np.random.default_rng(0).standard_normal((n_features, min(_WIDTH, n_features)))
    S, GS = np.empty((n_features, 0)), np.empty((n_features, 0))
    largest = 0.0
    for _ in range(_PASSES):
        T = np.linalg.qr(T)[0]
        Z = power(T)
        S, GS = np.hstack([S, T]), np.hstack([GS, Z])
        before, largest = largest, _largest_ritz(S, GS)
        if largest - before <= _CHANGE * largest or S.shape[1] >= n_features:
            break
        T = Z
    return largest


def _largest_ritz(S: Any, GS: Any) -> float:
    """The largest Ritz value of G in the span of S (p, k), whose columns are not orthogonal."""
    values, V = np.linalg.eigh(S.T @ S)
    kept = values > 1e-10 * values[-1]
    V = V[:, kept] / np.sqrt(values[kept])
    inside = V.T @ (S.T @ GS) @ V
    return float(np.linalg.eigvalsh((inside + inside.T) / 2)[-1])
