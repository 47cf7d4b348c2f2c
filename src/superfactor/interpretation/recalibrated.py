"""Coefficients of covariates beside what the factors say of samples that they had not seen.

With the out-of-fold signal s (n, κ) of the factors the activations of output k are

    a_k = x'γ_k + b_k·s_k + intercept_k,

a free slope b_k for each output: factors of wide data are too sure of themselves, and b_k takes that back.
Σ_i w_i·ℓ(y_i, a_i) + Σ_j ρ_j·γ_j² + Σ_k ρ'_k·b_k² is minimised by Newton's method, ρ the ridges of the model,
ρ'_k = 0.08·Var(s_k) that of a covariate. Its curvature H gives the covariance H⁻¹ of all coefficients, φ·H⁻¹
where the outcome has a dispersion φ (`dispersion`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor.losses import Loss

# 1/(2·2.5²), as in `superfactor.units`: a normal prior with s.d. 2.5 on the effect of one s.d.
_RIDGE = 0.08
_MOST_STEPS = 100
# Of the objective, relative: coefficients then have more digits than anybody reads.
_TOLERANCE = 1e-14


@dataclass(frozen=True)
class Recalibrated:
    """What `recalibrated` finds.

    Attributes
    ----------
    coef, error : (κ, q), of the covariates, and their standard errors; NaN where not determined
    slope : (κ,), b: 1 where the factors are as sure of unseen samples as they may be, else mostly below
    free : degrees of freedom that are left; None without a dispersion
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
    size: float | None = None,
) -> Recalibrated:
    """The coefficients of covariates (n, q) beside a signal (n, κ) that has not seen these samples.

    Parameters
    ----------
    loss, targets : of these samples; targets (n, κ)
    weight : (n,)
    ridge : ρ (q,), of the covariates
    intercept : whether there is one
    least_dispersion : as `superfactor.outcomes` has it
    size : how many samples there are; the sum of the weights where it is not given
    """
    (n, q), kappa = covariates.shape, targets.shape[1]
    D = np.hstack([covariates, signal, *[np.ones((n, 1))] * intercept])
    ours = _restriction(q, kappa, intercept)
    spread = np.average((signal - np.average(signal, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    own = np.where(spread > 0, _RIDGE * spread, 1.0)  # a signal that never varies has the slope 0
    penalty = np.zeros((kappa, q + 1 + intercept))
    penalty[:, :q], penalty[:, q] = 2 * ridge, 2 * own
    penalty = penalty.ravel()

    def activations(theta: Any) -> Any:
        return D @ (ours @ theta).reshape(kappa, -1).T

    def value(theta: Any) -> float:
        return float(weight @ loss.value(activations(theta), targets) + 0.5 * np.sum(penalty * theta**2))

    def information(theta: Any) -> Any:
        bend = loss.curvature(activations(theta), targets).weighted(weight[:, None])
        return ours.T @ bend.gram(D, loss.convex) @ ours

    theta = np.zeros(len(penalty))
    now = value(theta)
    for _ in range(_MOST_STEPS):
        slope = D.T @ (weight[:, None] * loss.residual(activations(theta), targets))
        slope = ours.T @ slope.T.ravel() + penalty * theta
        step = _solved(information(theta) + np.diag(penalty), slope)
        promised, length = 0.5 * float(slope @ step), 1.0
        if promised <= _TOLERANCE * max(abs(now), 1e-8):
            break
        while not (then := value(theta - length * step)) <= now - 1e-4 * length * promised:
            length /= 2
            if length < 1e-9:
                break
        else:
            theta, now = theta - length * step, then
            continue
        break

    bend = information(theta)
    try:
        inverse = inverse_of(bend + np.diag(penalty))
    except np.linalg.LinAlgError:  # something is not determined at all
        inverse = np.full_like(bend, np.nan)
    variance = np.diag(inverse).reshape(kappa, -1)[:, :q]
    free = None
    if least_dispersion is not None:
        size = float(np.sum(weight)) if size is None else size
        free = max(size - float(np.sum(inverse * bend)) / kappa, 1.0)
        phi = dispersion(loss, activations(theta), targets, weight, free)
        variance = np.maximum(phi, least_dispersion)[:, None] * variance
    found = theta.reshape(kappa, -1)
    return Recalibrated(found[:, :q], np.sqrt(variance), found[:, q], free)


def dispersion(loss: Loss, a: Any, targets: Any, weight: Any, free: float) -> Any:
    """Pearson's estimate φ (κ,) of how much more outcomes vary than the loss says.

    ``φ_k = Σ_i w_i·g_ik²/h_ik / free`` with slopes g and curvatures h of the loss: ``2σ²`` of squared errors,
    and of counts the mean of ``(y − μ)²/μ``.
    """
    slope, bend = loss.residual(a, targets), np.einsum("icc->ic", loss.hessian(a, targets))
    return weight @ (slope**2 / np.maximum(bend, np.finfo(float).tiny)) / free


def _restriction(q: int, kappa: int, intercept: bool) -> Any:
    """The matrix (κd, κ(q + 1 [+ 1])) from coefficients output by output to those of all columns of D.

    Every output has the covariates, the intercept, and of the signals its own alone.
    """
    d = q + kappa + intercept
    rows = [[*range(q), q + k, *[q + kappa] * intercept] for k in range(kappa)]
    places = np.concatenate([k * d + np.array(row) for k, row in enumerate(rows)])
    found = np.zeros((kappa * d, len(places)))
    found[places, np.arange(len(places))] = 1
    return found


def _solved(H: Any, g: Any) -> Any:
    """H⁻¹g; where H bends downwards, as losses that are not convex do, as if it bent upwards."""
    values, vectors = np.linalg.eigh(H)
    size = np.abs(values)
    return vectors @ ((vectors.T @ g) / np.maximum(size, 1e-12 * max(size.max(), 1e-300)))


def inverse_of(H: Any) -> Any:
    """H⁻¹ of a positive definite matrix in coordinates of any unit; LinAlgError where it is not."""
    scale = np.sqrt(np.diag(H))
    if not np.all(scale > 0):
        raise np.linalg.LinAlgError
    scaled = H / np.outer(scale, scale)
    # Not a condition number but how much of any one coordinate the others leave: exact collinearity is none.
    if np.linalg.eigvalsh(scaled)[0] < 1e-12:
        raise np.linalg.LinAlgError
    return np.linalg.inv(scaled) / np.outer(scale, scale)
