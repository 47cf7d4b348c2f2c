"""Ridge regression with any of our losses on a few columns: the small smooth problem inside every step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from superfactor._arrays import Array, diagonal, eps, frobenius2, inner, namespace
from superfactor.lifting.problem import LiftedProblem

# Up to this many unknowns a dense Newton system is cheaper than conjugate gradients.
DENSE_UNKNOWNS = 1200
# Up to this many entries the outer products of all rows may be formed.
_OUTER = 1_000_000


def solve_linear(M: Array, rhs: Array) -> Array | None:
    """M⁻¹·rhs, or None where M is singular."""
    xp = namespace(M)
    try:
        x = xp.linalg.solve(M, rhs[:, None])[:, 0]
    except (np.linalg.LinAlgError, RuntimeError):  # PyTorch's LinAlgError is a RuntimeError
        return None
    return x if bool(xp.all(xp.isfinite(x))) else None


def curvature_gram(J: Array, H: Array, convex: bool) -> Array:
    """Σ_i H_i ⊗ j_i j_iᵀ for rows j_i of J (n, k) and H (n, κ, κ): (κk, κk), class-major."""
    xp = namespace(J)
    (n, k), kappa = J.shape, H.shape[1]
    if kappa > 1 and n * k * k <= _OUTER:  # all blocks in one product: Σ_i vec(H_i)·vec(j_i j_iᵀ)ᵀ
        outer = xp.reshape(J[:, :, None] * J[:, None, :], (n, k * k))
        gram = xp.reshape(xp.reshape(H, (n, kappa * kappa)).T @ outer, (kappa, kappa, k, k))
        return xp.reshape(xp.permute_dims(gram, (0, 2, 1, 3)), (kappa * k, kappa * k))
    blocks: list[list[Array]] = [[None] * kappa for _ in range(kappa)]
    chunk = max(512, 2**18 // max(k, 1))  # row blocks that stay in the cache
    for start in range(0, n, chunk):
        stop = min(start + chunk, n)
        j, h = J[start:stop, :], H[start:stop, :, :]
        for c in range(kappa):
            for d in range(c, kappa):
                if c == d and convex:  # one triangle only: t.T @ t is a symmetric product
                    t = j * xp.sqrt(xp.clip(h[:, c, c], 0.0, None))[:, None]
                    part = t.T @ t
                else:
                    part = j.T @ (j * h[:, c, d][:, None])
                blocks[c][d] = part if blocks[c][d] is None else blocks[c][d] + part
    for c in range(kappa):
        for d in range(c):
            blocks[c][d] = blocks[d][c]  # symmetric blocks: h_cd = h_dc
    return xp.concat([xp.concat(row, axis=1) for row in blocks])


def directional_curvature(H: Array, beta: Array) -> Array:
    """b_jᵀH_i b_j for every sample i and row b_j of beta (r, κ): (n, r)."""
    xp = namespace(H)
    return xp.sum(xp.matmul(beta[None, :, :], H) * beta[None, :, :], axis=2)


def least_curvature(problem: LiftedProblem, J: Array) -> float:
    """A curvature too small to matter, but not zero: where classes are separable and λ is zero the
    Hessian vanishes with the gradient, and steps must go to zero with them, not to infinity.
    """
    xp = namespace(J)
    alpha = problem.loss.curvature_bounds(problem.n_outputs)[1]
    size = frobenius2(J) * float(xp.max(problem.loss_weight))  # no pass that makes a copy of J
    return eps(J) * size * min(alpha, 1e3) + float(xp.finfo(J.dtype).smallest_normal)


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
    problem: LiftedProblem,
    J: Array,
    ridge: Array,
    theta: Array,
    *,
    offset: Array | None = None,
    max_iter: int = 30,
    tol: float = 1e-12,
) -> tuple[Array, float, Array, Array]:
    """Minimise Σ_i ω_i ℓ(y_i, o_i + θᵀj_i) + Σ_j ridge_j‖θ_j‖² by Newton's method with a line search.

    J (n, k), ridge (k,), start θ (k, κ), offset o (n, κ) or None. Returns θ, the value, the activations
    a (n, κ) and E = ω∘∇ℓ (n, κ). Stops when the predicted decrease is below `tol` times the value.
    """
    xp = namespace(J)
    column = ridge[:, None]
    floor = least_curvature(problem, J)

    def value_at(theta: Array) -> tuple[float, Array, Array]:
        a = J @ theta if offset is None else offset + J @ theta
        f, E = problem.loss_terms(a)
        return f + float(xp.sum(column * theta**2)), a, E

    f, a, E = value_at(theta)
    slack = 10 * eps(J)
    for _ in range(max_iter):
        gradient = J.T @ E + 2 * column * theta
        step = _newton_step(problem, J, column + 0.5 * floor, a, gradient)
        decrease = inner(gradient, step)  # twice the predicted decrease
        if not decrease > 0:
            break
        t, accepted = 1.0, False
        while t > 1e-10:
            trial = theta - t * step
            f_new, a_new, E_new = value_at(trial)
            if f_new <= f - 1e-4 * t * decrease + slack * abs(f):
                accepted = True
                break
            t /= 2 if t > 0.1 else 8
        if not accepted:
            break
        theta, f, a, E = trial, f_new, a_new, E_new
        if decrease <= tol * abs(f):  # after the step: it has squared the distance once more
            break
    return theta, f, a, E


def _newton_step(
    problem: LiftedProblem, J: Array, column: Array, a: Array, gradient: Array
) -> Array:
    xp = namespace(J)
    k, kappa = gradient.shape
    if k == 0:
        return gradient
    flat = xp.reshape(gradient.T, (-1,))
    if k * kappa <= DENSE_UNKNOWNS:
        H = curvature_gram(J, problem.loss_hessian(a), problem.loss.convex)
        main = xp.linalg.diagonal(H) + 2 * xp.tile(column[:, 0], (kappa,))
        step = solve_linear(H + diagonal(2 * xp.tile(column[:, 0], (kappa,))), flat)
        if step is not None and inner(step, flat) > 0:
            return xp.reshape(step, (kappa, k)).T
        return gradient / (float(xp.max(xp.abs(main))) * k)
    weight = problem.loss_weight

    def apply(v: Array) -> Array:
        return J.T @ (problem.loss.hessian_action(a, problem.targets, J @ v) * weight) + (
            2 * column * v
        )

    h = problem.loss_hessian(a)
    diagonals = xp.stack([h[:, c, c] for c in range(kappa)], axis=1)
    main = xp.clip((J**2).T @ diagonals, 0.0, None) + 2 * column
    return conjugate_gradients(apply, gradient, main, 1e-3, 200)
