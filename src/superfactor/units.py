"""Resolve weights given as "auto" in units of the data (docs/method.md §12).

ξ and λ have units, so no fixed number suits all data. On standardized genes, ξ = 1 gives plain PCA. A λ that
suits genes shrinks the effect of an age to zero if both share it. With a unitless number t:

    ξ = t·ℓ₀/‖X‖²          ℓ₀ is the loss of the null model: Σω·log(c) for c classes; Σω‖y − ȳ‖² in
                           regression, or Σω‖y‖² without an intercept; half the deviance from the mean for
                           counts; the loss of equal hazards for survival times (§16)
    λ = t·σ₁(X)²·Σω/Σw     filter model, classes: activations of size 1 along the first factor cost about
                           t·Σω, which is t·n if every sample has a label. σ₁ is that of X without its mean
                           (the intercept fits the mean), or of X itself if there is no intercept
    λ from the data        filter model, other outcomes (`superfactor.problem.estimated_ridge`), but at least
                           the λ of classes if the loss is not quadratic. If X is too large for the estimate,
                           the λ of classes is used; for survival times Σω then counts events only
    λ = t                  feature model: λ penalizes the activations themselves, whatever the units of X
    ρ_j = 0.08·Var(x'_j)   covariate: a normal prior with s.d. 2.5 on the log-odds per standard deviation

In the feature model both t also depend on the loss (`Loss.feature_xi`, `Loss.feature_ridge`).

‖X‖² and σ₁ count each sample with its weight w. ω is its weight in the loss, including class weights.

Results do not depend on the unit of X or of a covariate. If every sample appears twice, or has weight 2, ξ
stays and λ of the filter model doubles. F doubles too, so the fitted model is the same. This holds for
classes without covariates. The prior ρ of covariates does not grow with n, and a λ from the data shrinks less
for larger n.
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
# The null model: most Newton steps, and the relative decrease below which they stop.
_NULL_STEPS, _NULL_FALL = 12, 1e-8
# A variance below this share of the mean square is rounding error: the covariate is constant.
_NO_VARIANCE = 1e-24

Auto = Literal["auto"]


@dataclass(frozen=True)
class Weights:
    """ξ, λ and the ridge ρ on covariates as given by the user: numbers of the paper's F, or "auto".

    For ρ, None means the paper's choice: the same λ.
    """

    xi: float | Auto
    lam: float | Auto
    lam_covariates: float | Auto | None = None

    def of_factors(
        self, model: Model, squared_norm: float, null_loss: float, ridge: Callable[[], float]
    ) -> tuple[float, float]:
        """Return ξ and λ from ‖X‖² and ℓ₀ (or a multiple of it); `ridge` computes λ if it is "auto"."""
        xi, lam = self.xi, self.lam
        if xi == "auto":
            unit = null_loss / squared_norm if squared_norm > 0 and null_loss > 0 else 1.0
            xi = model.usual_xi * unit
        return float(xi), float(ridge() if lam == "auto" else lam)

    def of_covariates(self, samples: Samples, n_covariates: int, lam: float) -> Array:
        """Return ρ of every covariate except the intercept: (q,), NumPy. `lam` is the resolved λ."""
        given = self.lam_covariates
        if given == "auto":
            return covariate_ridges(samples)[:n_covariates] if n_covariates else np.zeros(0)
        return np.full(n_covariates, float(lam if given is None else given))


@dataclass(frozen=True)
class NullLoss:
    """Loss of the null model: Σ_i ω_i ℓ(y_i, 0), and ℓ₀."""

    at_zero: float
    at_best: float
    coef: Any  # of covariates and intercept (q, κ), NumPy, at which the loss is ℓ₀


@dataclass(frozen=True)
class WeightUnits:
    """Values of t = 1: ξ = ℓ₀/‖X‖², and λ of the filter model, for which "auto" is t = 0.001."""

    xi: float
    lam: float

    @classmethod
    def of(cls, problem: Any) -> WeightUnits:
        """Return the units of a filter-model problem whose ξ and λ were both "auto"."""
        xi, lam = problem.users_weights
        return cls(xi / problem.model.usual_xi, lam / problem.model.usual_lam)


def null_loss(samples: Samples, loss: Loss, n_outputs: int, n_covariates: int, intercept: bool) -> NullLoss:
    """Return ℓ₀, the loss of the null model, and the loss at activations 0.

    The two differ only for numbers and counts with an intercept, whose zero is arbitrary. There ℓ₀ is the
    loss of the best constant. For classes, and without an intercept, ℓ₀ is the loss at 0.
    """
    coef = np.zeros((n_covariates + int(intercept), n_outputs))
    at_zero, slope = samples.sum(Block.evaluate, Design(None), coef)
    total = float(samples.sum(Block.total_weights)[0])
    constant = loss.best_constant(slope[-1, :] / total) if intercept and total > 0 else None
    if constant is None:
        return NullLoss(float(at_zero), float(at_zero), coef)
    # Summed again: Σy² − (Σy)²/n loses digits if the numbers are far from 0.
    coef[n_covariates:] = constant
    best, _ = samples.sum(Block.evaluate, Design(None), coef)
    return NullLoss(float(at_zero), float(best), coef)


def null_model(samples: Samples, start: Array, ridge: Array) -> Array:
    """Return approximate coefficients (q, κ) of covariates and intercept without factors, from `start` on.

    Takes a few Newton steps; each is halved until the loss decreases. `ridge` (q,) holds ρ of each covariate.
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
        # Adding a constant to all activations may not change the loss: use the least-norm step.
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
    """Return ρ_j = 0.08·Var(x'_j) of every covariate, including the intercept's column: (q,), NumPy.

    A covariate without variance gets 0.08 times its mean square.
    """
    total, first = samples.sum(Block.covariate_moments, None)
    mean = first / total
    _, second = samples.sum(Block.covariate_moments, mean)
    variance = second / total
    square = variance + mean**2
    size = np.where(variance > _NO_VARIANCE * square, variance, square)
    return _COVARIATE_RIDGE * np.where(size > 0, size, 1.0)


def largest_square(product: Callable[[Array], Array], start: Array, steps: int, change: float) -> float:
    """Return the largest eigenvalue of a symmetric matrix, from below, by a block Krylov space.

    Rounding has almost no effect, so products in memory, from a file and from a cluster lead to the same
    number.

    Parameters
    ----------
    product : returns the matrix times T (m, k)
    start : first T (m, k)
    steps : most products
    change : relative change at which to stop
    """
    T, size = start, len(start)
    S, inside = np.empty((size, 0)), np.empty((0, 0))
    largest = 0.0
    for _ in range(steps):
        # Orthogonal to all columns so far, to the last digit: otherwise rounding errors would grow.
        for _ in range(2):
            T = np.linalg.qr(T - S @ (S.T @ T))[0]
        Z = product(T)
        beside = S.T @ Z
        S, inside = np.hstack([S, T]), np.block([[inside, beside], [beside.T, T.T @ Z]])
        before, largest = largest, float(np.linalg.eigvalsh((inside + inside.T) / 2)[-1])
        if largest - before <= change * largest or S.shape[1] >= size:
            break
        T = Z
    return largest
