"""Coefficients of covariates, adjusted for the out-of-fold signal of the factors.

With the out-of-fold signal s (n, κ) of the factors the activations of output k are

    a_k = x'γ_k + b_k·s_k + intercept_k,

with a slope b_k for each output, which shrinks overconfident predictions of factors in wide data. Newton's
method minimises Σ_i w_i·ℓ(y_i, a_i) + Σ_j ρ_j·γ_j² + Σ_k ρ'_k·b_k², with the ridges ρ of the model and ρ'_k =
0.08·Var(s_k), the ridge of a covariate. The curvature H gives the covariance H⁻¹ of all coefficients, or
φ·H⁻¹ for outcomes with a dispersion φ (`dispersion`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor.losses import Loss

# 1/(2·2.5²), as in `superfactor.units`: a normal prior with s.d. 2.5 on the effect of one s.d.
_RIDGE = 0.08
_MOST_STEPS = 100
# Relative tolerance of the objective: coefficients are then exact to all digits shown.
_TOLERANCE = 1e-14


@dataclass(frozen=True)
class Recalibrated:
    """The result of `recalibrated`.

    Attributes
    ----------
    coef, error : (κ, q), coefficients of the covariates and standard errors; NaN where not identified
    slope : (κ,), b: 1 for calibrated predictions, below 1 for overconfident ones
    free : residual degrees of freedom; None without a dispersion
    """

    coef: Any
    error: Any
    slope: Any
    free: float | None


def recalibrated(
    loss: Loss,
    targets: Any,
    covariates: Any,
    signal: Any,
    *,
    weight: Any,
    ridge: Any,
    intercept: bool,
    least_dispersion: float | None = None,
    sample_weight: Any = None,
) -> Recalibrated:
    """Return the coefficients of covariates (n, q), adjusted for an out-of-fold signal (n, κ).

    Parameters
    ----------
    loss, targets : of these samples; targets (n, κ)
    weight : (n,)
    ridge : ρ (q,), of the covariates
    intercept : whether to add an intercept
    least_dispersion : the attribute of the `Outcome`
    sample_weight : (n,), without the exposures that rates are weighted by; by default `weight`
    """
    (n, q), kappa = covariates.shape, targets.shape[1]
    D = np.hstack([covariates, signal, *[np.ones((n, 1))] * intercept])
    ours = _restriction(q, kappa, intercept)
    own_weight = weight if sample_weight is None else sample_weight
    center = np.average(signal, axis=0, weights=own_weight)
    spread = np.average((signal - center) ** 2, axis=0, weights=own_weight)
    own = np.where(spread > 0, _RIDGE * spread, 1.0)  # a constant signal gets the slope 0
    penalty = np.zeros((kappa, q + 1 + intercept))
    penalty[:, :q], penalty[:, q] = 2 * ridge, 2 * own
    penalty = penalty.ravel()

    def activations(theta: Any) -> Any:
        return D @ (ours @ theta).reshape(kappa, -1).T

    def value(theta: Any) -> float:
        return float(weight @ loss.value(activations(theta), targets) + 0.5 * np.sum(penalty * theta**2))

    def information(theta: Any) -> Any:
        hessians = loss.curvature(activations(theta), targets).weighted(weight[:, None])
        return ours.T @ hessians.gram(D, loss.convex) @ ours

    theta = np.zeros(len(penalty))
    now = value(theta)
    for _ in range(_MOST_STEPS):
        gradient = D.T @ (weight[:, None] * loss.residual(activations(theta), targets))
        gradient = ours.T @ gradient.T.ravel() + penalty * theta
        step = _newton_step(information(theta) + np.diag(penalty), gradient)
        expected, length = 0.5 * float(gradient @ step), 1.0
        if expected <= _TOLERANCE * max(abs(now), 1e-8):
            break
        while not (then := value(theta - length * step)) <= now - 1e-4 * length * expected:
            length /= 2
            if length < 1e-9:
                break
        else:
            theta, now = theta - length * step, then
            continue
        break

    curvature = information(theta)
    try:
        inverse = inverse_of(curvature + np.diag(penalty))
    except np.linalg.LinAlgError:  # a coefficient is not identified
        inverse = np.full_like(curvature, np.nan)
    variance = np.diag(inverse).reshape(kappa, -1)[:, :q]
    free = None
    if least_dispersion is not None:
        free = max(float(np.sum(own_weight)) - float(np.sum(inverse * curvature)) / kappa, 1.0)
        phi = dispersion(loss, activations(theta), targets, weight, free)
        variance = np.maximum(phi, least_dispersion)[:, None] * variance
    found = theta.reshape(kappa, -1)
    return Recalibrated(found[:, :q], np.sqrt(variance), found[:, q], free)


def dispersion(loss: Loss, a: Any, targets: Any, weight: Any, free: float) -> Any:
    """Return Pearson's estimate φ (κ,) of the variance of the outcomes relative to that of the loss.

    ``φ_k = Σ_i w_i·g_ik²/h_ik / free`` with slopes g and curvatures h of the loss: ``2σ²`` for squared
    errors, and for counts the mean of ``(y − μ)²/μ``.
    """
    slope, curvature = loss.residual(a, targets), np.einsum("icc->ic", loss.hessian(a, targets))
    return weight @ (slope**2 / np.maximum(curvature, np.finfo(float).tiny)) / free


def _restriction(q: int, kappa: int, intercept: bool) -> Any:
    """Return the matrix (κd, κ(q + 1 [+ 1])) from coefficients of each output to those of all columns of D.

    Each output has the covariates, the intercept, and only its own signal.
    """
    d = q + kappa + intercept
    rows = [[*range(q), q + k, *[q + kappa] * intercept] for k in range(kappa)]
    places = np.concatenate([k * d + np.array(row) for k, row in enumerate(rows)])
    found = np.zeros((kappa * d, len(places)))
    found[places, np.arange(len(places))] = 1
    return found


def _newton_step(H: Any, g: Any) -> Any:
    """Return |H|⁻¹g: losses that are not convex have negative eigenvalues, whose sign is dropped."""
    values, vectors = np.linalg.eigh(H)
    size = np.abs(values)
    return vectors @ ((vectors.T @ g) / np.maximum(size, 1e-12 * max(size.max(), 1e-300)))


def inverse_of(H: Any) -> Any:
    """Return H⁻¹ of a positive definite matrix whose rows may have any units; otherwise LinAlgError."""
    scale = np.sqrt(np.diag(H))
    if not np.all(scale > 0):
        raise np.linalg.LinAlgError
    scaled = H / np.outer(scale, scale)
    # With a unit diagonal this measures collinearity, and not the units: exact collinearity gives 0.
    if np.linalg.eigvalsh(scaled)[0] < 1e-12:
        raise np.linalg.LinAlgError
    return np.linalg.inv(scaled) / np.outer(scale, scale)
