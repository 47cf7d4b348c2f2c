"""Ridge regression with any loss on a few columns: the small smooth problem inside every step."""

from __future__ import annotations

import numpy as np

from superfactor._arrays import Array, diagonal, inner, namespace
from superfactor.subspace.conjugate import conjugate_gradients
from superfactor.subspace.design import LossOn


def solve_linear(M: Array, rhs: Array) -> Array | None:
    """Return M⁻¹·rhs, or None if M is singular."""
    xp = namespace(M)
    try:
        x = xp.linalg.solve(M, rhs[:, None])[:, 0]
    except (np.linalg.LinAlgError, RuntimeError):  # PyTorch's LinAlgError is a RuntimeError
        return None
    return x if bool(xp.all(xp.isfinite(x))) else None


def fit_ridge(
    loss: LossOn, ridge: Array, coef: Array, *, max_iter: int = 30, tol: float = 1e-12
) -> tuple[Array, float, Array]:
    """Minimise Σ_i ω_i ℓ(y_i, cᵀj_i) + Σ_j ridge_j‖c_j‖² by Newton's method with a line search.

    ridge (m,), start c (m, κ). Returns c, the value, and the gradient JᵀE (m, κ) of the loss part; all at c.
    Stops when the predicted decrease is below `tol` times the value.
    """
    xp = namespace(coef)
    column = ridge[:, None]
    floor = loss.floor()

    def penalty(coef: Array) -> float:
        return float(xp.sum(column * coef**2))

    def evaluated(coef: Array) -> tuple[float, Array]:
        value, pulled = loss.evaluate(coef)
        return float(value) + penalty(coef), pulled

    f, pulled = evaluated(coef)
    slack, decrease = 10 * loss.epsilon, abs(f)
    for _ in range(max_iter):
        gradient = pulled + 2 * column * coef
        # No more digits than the Newton step has.
        digits = min(max((decrease / abs(f)) ** 0.5, 1e-3), 0.1) if f else 0.1
        step = _newton_step(loss, column + 0.5 * floor, coef, gradient, digits)
        decrease = inner(gradient, step)  # twice the predicted decrease
        if not decrease > 0:
            break
        t, moved = 1.0, False
        # The step may have to shrink as far as the floor of the curvature is small. At a start where the loss
        # is nearly linear (a large intercept for a class that a subsample lacks), the Newton step is too
        # long.
        while t > 1e-20:
            trial = coef - t * step
            f_new, pulled_new = evaluated(trial)
            if f_new <= f - 1e-4 * t * decrease + slack * abs(f):
                moved = True
                break
            t /= 2 if t > 0.1 else 8
        if not moved:
            break
        coef, f, pulled = trial, f_new, pulled_new
        if decrease <= tol * abs(f):  # after the step, which has squared the distance again
            break
    return coef, f, pulled


def _newton_step(loss: LossOn, column: Array, coef: Array, gradient: Array, tol: float) -> Array:
    """Return the Newton step (m, κ) for the ridge `column` (m, 1), to within `tol` if it is iterated."""
    xp = namespace(gradient)
    k, kappa = gradient.shape
    if k == 0:
        return gradient
    if loss.dense_pays:
        H = loss.curvature(coef)
        flat = xp.reshape(gradient.T, (-1,))
        main = xp.linalg.diagonal(H) + 2 * xp.tile(column[:, 0], (kappa,))
        step = solve_linear(H + diagonal(2 * xp.tile(column[:, 0], (kappa,))), flat)
        if step is not None and inner(step, flat) > 0:
            return xp.reshape(step, (kappa, k)).T
        return gradient / (float(xp.max(xp.abs(main))) * k)
    bent = loss.bent(coef)
    solved = bent.solver(loss.gram, 2 * column[:, 0])

    def apply(x: Array) -> Array:
        v = xp.reshape(x, (k, kappa))
        return xp.reshape(bent.times(v) + 2 * column * v, (-1,))

    def precondition(x: Array) -> Array:
        return xp.reshape(solved(xp.reshape(x, (k, kappa))), (-1,))

    slope = xp.reshape(gradient, (-1,))
    found = conjugate_gradients(apply, slope, precondition, tol=tol, max_iter=200)
    return xp.reshape(found.x, (k, kappa))
