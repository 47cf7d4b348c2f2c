"""Ridge regression with any of our losses on a few columns: the small smooth problem inside every step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from superfactor._arrays import Array, diagonal, inner, namespace
from superfactor.subspace.design import LossOn


def solve_linear(M: Array, rhs: Array) -> Array | None:
    """M⁻¹·rhs, or None where M is singular."""
    xp = namespace(M)
    try:
        x = xp.linalg.solve(M, rhs[:, None])[:, 0]
    except (np.linalg.LinAlgError, RuntimeError):  # PyTorch's LinAlgError is a RuntimeError
        return None
    return x if bool(xp.all(xp.isfinite(x))) else None


def conjugate_gradients(
    apply: Callable[[Array], Array], rhs: Array, preconditioner: Array, tol: float, max_iter: int
) -> Array:
    """An approximate solution of apply(x) = rhs for a positive operator; stops at negative curvature."""
    xp = namespace(rhs)
    x, r = xp.zeros_like(rhs), rhs
    z = r / preconditioner
    d, rz = z, inner(r, z)
    goal = tol**2 * rz
    for _ in range(max_iter):
        if rz <= goal:
            break
        Ad = apply(d)
        curvature = inner(d, Ad)
        if curvature <= 0:
            break
        step = rz / curvature
        x, r = x + step * d, r - step * Ad
        z = r / preconditioner
        rz, old = inner(r, z), rz
        d = z + (rz / old) * d
    return x


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

    f, pulled = loss.evaluate(coef)
    f += penalty(coef)
    slack = 10 * loss.epsilon
    for _ in range(max_iter):
        gradient = pulled + 2 * column * coef
        step = _newton_step(loss, column + 0.5 * floor, coef, gradient)
        decrease = inner(gradient, step)  # twice the predicted decrease
        if not decrease > 0:
            break
        t, moved = 1.0, False
        # Down to the floor of the curvature: from a start where the loss is nearly straight (an intercept far
        # out for a class that some samples did not have), Newton's step is that much too long.
        while t > 1e-20:
            trial = coef - t * step
            f_new, pulled_new = loss.evaluate(trial)
            f_new += penalty(trial)
            if f_new <= f - 1e-4 * t * decrease + slack * abs(f):
                moved = True
                break
            t /= 2 if t > 0.1 else 8
        if not moved:
            break
        coef, f, pulled = trial, f_new, pulled_new
        if decrease <= tol * abs(f):  # after the step: it has squared the distance once more
            break
    return coef, f, pulled


def _newton_step(loss: LossOn, column: Array, coef: Array, gradient: Array) -> Array:
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
    main = xp.clip(loss.curvature_diagonal(coef), 0.0, None) + 2 * column
    return conjugate_gradients(
        lambda v: loss.curvature_product(coef, v) + 2 * column * v, gradient, main, 1e-3, 200
    )
