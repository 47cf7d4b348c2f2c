"""Weights in units of the data: what "auto" means (docs/method.md §12).

ξ and λ have units, so that no fixed number suits all data: on standardised genes ξ = 1 is plain PCA, and a λ
for genes shrinks the effect of an age, which shares it, to nothing. With t a number without unit:

    ξ = t·ℓ₀/‖X‖²          ℓ₀ the loss of no model: Σω·log(c) with c classes; in regression Σω‖y − ȳ‖², but
                           Σω‖y‖² without an intercept; of counts half their deviance from the mean;
                           that of equal hazards for survival times (§16)
    λ = t·σ₁(X)²·Σω/Σw     filter model, classes: activations of size 1 along the first factor cost about
                           t·Σω, n where all samples have a label. σ₁ of X without its mean, which is the
                           intercept's; of X itself where there is none
    λ from the data        filter model, other kinds of y (`superfactor.problem.estimated_ridge`), but no less
                           than of classes where the loss is no parabola. Where X is too large for that as of
                           classes, and Σω counts events only for survival times
    λ = t                  feature model: the price of the activations themselves, whatever the units of X
    ρ_j = 0.08·Var(x'_j)   a covariate: a normal prior with s.d. 2.5 on the log-odds per standard deviation

In the feature model both t depend on the loss too (`Loss.feature_xi`, `Loss.feature_ridge`).

‖X‖² and σ₁ count a sample as often as it weighs, w; ω is its weight in the loss, class weights included.

The unit of X does not matter, nor that of a covariate. Every sample twice, or with weight 2, leaves ξ and
doubles λ of the filter model, so that F is twice what it was and the model the same. This holds for classes
without covariates: the prior ρ of covariates does not grow with the samples, and a λ from the data shrinks
less where there are more of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from superfactor._arrays import Array, to_numpy
from superfactor.losses import Loss
from superfactor.models import Model
from superfactor.samples import Block, Design, Samples

# 1/(2·2.5²): the ridge of a covariate of variance 1. The prior does not grow with n.
_COVARIATE_RIDGE = 0.08
# σ₁² is a unit, not a result: a block Krylov space of this width, grown until it changes by less than this.
_WIDTH, _PASSES, _CHANGE = 8, 8, 1e-3
# The best model without factors: so many Newton steps, or until one promises less than this share.
_NULL_STEPS, _NULL_FALL = 12, 1e-8
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
        self, model: Model, squared_norm: float, null_loss: float, ridge: Callable[[], float]
    ) -> tuple[float, float]:
        """ξ and λ, by ‖X‖² and ℓ₀ (or a multiple of it); `ridge` computes λ of "auto" where it is needed."""
        xi, lam = self.xi, self.lam
        if xi == "auto":
            unit = null_loss / squared_norm if squared_norm > 0 and null_loss > 0 else 1.0
            xi = model.usual_xi * unit
        return float(xi), float(ridge() if lam == "auto" else lam)

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
    coef: Any  # of covariates and intercept (q, κ), NumPy, where it is ℓ₀


@dataclass(frozen=True)
class WeightUnits:
    """What t = 1 stands for: ξ = ℓ₀/‖X‖², and λ of the filter model, of which "auto" is t = 0.001."""

    xi: float
    lam: float

    @classmethod
    def of(cls, problem: Any) -> WeightUnits:
        """Those of a problem of the filter model whose ξ and λ were both "auto"."""
        xi, lam = problem.users_weights
        return cls(xi / problem.model.usual_xi, lam / problem.model.usual_lam)


def null_loss(samples: Samples, loss: Loss, n_outputs: int, n_covariates: int, intercept: bool) -> Nothing:
    """ℓ₀, the loss of no model, and that of activations 0.

    They differ only for numbers and counts with an intercept, which have no zero of their own: then ℓ₀ is the
    loss of the best constant. Of classes 0 is what knows nothing, and so it is without an intercept.
    """
    coef = np.zeros((n_covariates + int(intercept), n_outputs))
    at_zero, slope = samples.sum(Block.evaluate, Design(None), coef)
    total = float(samples.sum(Block.total_weights)[0])
    constant = loss.best_constant(slope[-1, :] / total) if intercept and total > 0 else None
    if constant is None:
        return Nothing(float(at_zero), float(at_zero), coef)
    # Its value there is summed up anew, since Σy² − (Σy)²/n loses the digits of numbers that are far from 0.
    coef[n_covariates:] = constant
    best, _ = samples.sum(Block.evaluate, Design(None), coef)
    return Nothing(float(at_zero), float(best), coef)


def null_model(samples: Samples, start: Array, ridge: Array) -> Array:
    """The best coefficients (q, κ) of covariates and intercept without factors, from `start` on, about.

    A few Newton steps, each halved until the loss falls; `ridge` (q,) is that of each covariate.
    """
    coef = np.asarray(start, dtype=float)
    q, kappa = coef.shape
    if not q:
        return coef

    def evaluate(c: Any) -> tuple[float, Any]:
        value, slope = samples.sum(Block.evaluate, Design(None), c)
        price = ridge[:, None] * c
        return float(value) + float(np.sum(price * c)), to_numpy(slope) + 2 * price

    value, slope = evaluate(coef)
    for _ in range(_NULL_STEPS):
        bend = to_numpy(samples.sum(Block.curvature, Design(None), coef)) + np.diag(2 * np.tile(ridge, kappa))
        # A constant of all activations may change nothing: the shortest step counts.
        step = np.linalg.lstsq(bend, -slope.T.reshape(-1), rcond=1e-12)[0].reshape(kappa, q).T
        fall, size = -float(np.sum(step * slope)), 1.0
        if not fall > _NULL_FALL * abs(value):
            break
        while size > 1e-6:
            new, new_slope = evaluate(coef + size * step)
            if new < value:
                coef, value, slope = coef + size * step, new, new_slope
                break
            size /= 2
        else:
            break
    return coef


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
