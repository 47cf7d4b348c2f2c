"""The exact joint Newton step in (W, β, γ), with W's part eliminated (docs/method.md §11).

Write W ← orth(W + W⊥T). In the frame where WᵀDW + (λ/ξ)ββᵀ and D on the complement are diagonal,
the second-order model of F is

    Σ_ji ξ(ritz_i − rest_j)T_ji² + λ‖v‖² + Σ_j ρ_j‖g_j‖² + ½⟨δa, h·δa⟩ + ⟨slope_p, Tv⟩ + linear terms,
    δa = Φ(W⊥Tβ + Wv) + X'g,        v = δβ,  g = δγ,  slope_p = W⊥ᵀΦᵀE.

T enters the loss only through u = Tβ. Its own Hessian is diagonal, so T is eliminated and a linear
system in (u, v, g), (k + q)κ unknowns, is left. With more outputs than factors the system in (T, v, g) is the
smaller one and is solved as it is; when both are large, by conjugate gradients, with products only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from superfactor._arrays import (
    Array,
    column_norms,
    diagonal,
    eps,
    eye_like,
    full_like_of,
    inner,
    namespace,
    zeros_like_of,
)
from superfactor.samples import Block
from superfactor.subspace.geometry import Frame, Point
from superfactor.subspace.inside import Inside
from superfactor.subspace.ridge import conjugate_gradients, solve_linear

# Curvatures smaller than this share of ritz_i are lifted to it: a nearly degenerate pair of directions.
_SHIFT = 1e-4


@dataclass(frozen=True)
class NewtonStep:
    """T (k−r, r), v (r, κ), g (q, κ), and the decrease of F the model predicts.

    `saddle` marks a step whose model was bent upwards: good to descend, no proof of a minimum.
    """

    frame: Frame
    T: Array
    v: Array
    g: Array
    decrease: float
    saddle: bool

    def apply(self, inside: Inside, point: Point, t: float) -> Point:
        """The point at step length t."""
        W, beta = self.frame.retracted(self.T, self.v, t)
        return inside.at(W, beta, point.gamma + t * self.g)


@dataclass(frozen=True)
class _Quadratic:
    """The pieces of the quadratic model at a point."""

    frame: Frame
    turn: Array  # the coordinates [W⊥, W, I] (k + q, k + q): the design becomes J = [ΦW⊥, ΦW, X']
    coef: Array  # the point's coefficients on J, [0; β; γ] (k + q, κ)
    gram: Array | None  # Σ_i h_i ⊗ j_i j_iᵀ, j_i the rows of J; where the elimination will want it
    inverse: Array  # 1/(2ξ(ritz_i − rest_j)), shifted, (k−r, r)
    gap: Array  # 2ξ(ritz_i − rest_j), shifted the same way
    slope_T: Array  # Γ (k−r, r)
    slope_p: Array  # slope_p (k−r, κ)
    slope_v: Array  # (r, κ)
    slope_g: Array  # (q, κ)
    saddle: bool  # whether some direction curves downwards

    def convexified(self) -> _Quadratic:
        """A positive model with the same slopes: curvatures in T by size, no coupling of T and v."""
        xp = namespace(self.gap)
        return replace(
            self,
            gap=xp.abs(self.gap),
            inverse=xp.abs(self.inverse),
            slope_p=xp.zeros_like(self.slope_p),
            saddle=True,
        )


Step = tuple[Array, Array, Array]
Solver = Callable[[Inside, Point, _Quadratic], Step | None]


def newton_step(inside: Inside, point: Point) -> NewtonStep | None:
    """The joint Newton step, or None where the model has no minimum and a proximal step is the right move."""
    solver = cheapest_solver(inside)
    model = _quadratic_at(inside, point, solver is _eliminate)
    for candidate in (model, model.convexified()):
        step = solver(inside, point, candidate)
        if step is None:
            continue
        T, v, g = step
        decrease = -0.5 * (
            inner(T, model.slope_T) + inner(v, model.slope_v) + inner(g, model.slope_g)
        )
        if 0 <= decrease < math.inf:
            return NewtonStep(model.frame, T, v, g, decrease, candidate.saddle)
    return None


def cheapest_solver(inside: Inside) -> Solver:
    """By operations: T eliminated leaves (k + q)κ unknowns, T kept (k − r)r + (r + q)κ, fewer when outputs
    outnumber factors; conjugate gradients need neither matrix.
    """
    problem, k, r = inside.problem, inside.basis.size, inside.rank
    options, kappa, q = problem.options, problem.n_outputs, problem.n_covariates
    rows = inside.loss.share * problem.n_samples
    ways: list[tuple[float, Solver]] = [
        (options.dense_operations(rows, (k + q) * kappa), _eliminate),
        (options.dense_operations(rows, (k - r) * r + (r + q) * kappa), _keep),
        (options.product_operations(problem.n_samples, k + q, kappa), _iterate),
    ]
    return min(ways, key=lambda way: way[0])[1]


def _turned(gram: Array, turn: Array, kappa: int) -> Array:
    """(I ⊗ turn)ᵀ·gram·(I ⊗ turn) for gram (κm, κm), block by block."""
    xp, m = namespace(gram), turn.shape[0]
    blocks = xp.permute_dims(xp.reshape(gram, (kappa, m, kappa, m)), (0, 2, 1, 3))
    blocks = xp.matmul(turn.T[None, None, :, :], xp.matmul(blocks, turn[None, None, :, :]))
    return xp.reshape(xp.permute_dims(blocks, (0, 2, 1, 3)), (kappa * m, kappa * m))


def rotation_curvature(
    inside: Inside, point: Point, frame: Frame, gram: Array | None = None
) -> Array:
    """The diagonal of the Hessian in T (k−r, r), loss included: negative entries mark a saddle."""
    problem, xp = inside.problem, namespace(frame.W)
    total = 2 * problem.xi * (frame.ritz[None, :] - frame.rest[:, None])
    if gram is None:
        asked = (frame.turned_coef(point.gamma), frame.turn(problem.n_covariates), frame.beta)
        design = inside.basis.design
        return total + problem.samples.sum(Block.rotation_curvature, design, *asked)
    # Its diagonals hold the sums over the samples.
    outer, kappa = int(frame.rest.shape[0]), int(point.beta.shape[1])
    m = gram.shape[0] // kappa
    for c in range(kappa):
        for d in range(kappa):
            block = gram[c * m : c * m + outer, d * m : d * m + outer]
            weight = frame.beta[:, c] * frame.beta[:, d]
            total = total + xp.linalg.diagonal(block)[:, None] * weight[None, :]
    return total


def _quadratic_at(inside: Inside, point: Point, with_gram: bool) -> _Quadratic:
    problem, frame = inside.problem, inside.frame(point)
    xp, k = namespace(point.W), inside.basis.size
    gradient, pulled_g = point.pulled[:k, :], point.pulled[k:, :]
    slope_p = frame.complement.T @ gradient
    slope_v = frame.W.T @ gradient + 2 * problem.lam * frame.beta
    slope_g = pulled_g + 2 * problem.covariate_ridge[:, None] * point.gamma
    slope_T = slope_p @ frame.beta.T - 2 * problem.xi * (frame.complement.T @ inside.D @ frame.W)
    turn, gram = frame.turn(problem.n_covariates), None
    if with_gram:
        # Turned after summing over the samples: k³ operations instead of n·k².
        gram = _turned(inside.loss.curvature(point.coef), turn, problem.n_outputs)
    gaps = frame.ritz[None, :] - frame.rest[:, None]
    saddle = False
    if gaps.shape[0]:
        total = rotation_curvature(inside, point, frame, gram)
        bent = total <= -1e-12 * 2 * problem.xi * float(frame.ritz[0])
        saddle = bool(xp.any(bent))
        # Where F curves downwards the model is turned upside down: away from a saddle, not into it.
        gaps = xp.where(bent, xp.abs(gaps), gaps)
    floor = (_SHIFT * frame.ritz)[None, :] + zeros_like_of(gaps, *gaps.shape)
    tiny = float(xp.finfo(gaps.dtype).smallest_normal) ** 0.5
    gaps = xp.where(xp.abs(gaps) < floor, floor, gaps)
    gaps = xp.where(xp.abs(gaps) < tiny, xp.full_like(gaps, tiny), gaps)
    return _Quadratic(
        frame=frame,
        turn=turn,
        coef=frame.turned_coef(point.gamma),
        gram=gram,
        inverse=0.5 / problem.xi / gaps,
        gap=2 * problem.xi * gaps,
        slope_T=slope_T,
        slope_p=slope_p,
        slope_v=slope_v,
        slope_g=slope_g,
        saddle=saddle,
    )


def _eliminate(inside: Inside, point: Point, model: _Quadratic) -> Step | None:
    """Solve the reduced system of (k + q)κ unknowns directly."""
    problem, beta, inverse = inside.problem, model.frame.beta, model.inverse
    xp = namespace(beta)
    outer, r = inverse.shape
    m, kappa = model.turn.shape[0], beta.shape[1]
    k = outer + r
    K = model.gram
    assert K is not None
    p, GiD = model.slope_p, model.slope_T * inverse
    M, rhs = zeros_like_of(K, kappa * m, kappa * m), zeros_like_of(K, kappa * m)
    push_u = GiD @ beta
    identity = eye_like(K, max(k, m - k, 1))
    floor = inside.least_curvature
    ridge_g = 2 * problem.covariate_ridge + floor
    for c in range(kappa):
        o = c * m
        row_u = _identity_rows(K, o, outer, kappa * m)
        row_v = K[o + outer : o + k, :]
        for d in range(kappa):
            K_u = K[d * m : d * m + outer, :]
            omega = inverse @ (beta[:, c] * beta[:, d])  # (k − r,)
            row_u = row_u + omega[:, None] * K_u
            row_u[:, d * m + outer : d * m + k] += p[:, d][:, None] * inverse * beta[:, c][None, :]
            couple = p[:, c][:, None] * inverse * beta[:, d][None, :]  # Ψ[d, :, c, :]
            row_v = row_v - couple.T @ K_u
            xi_cd = xp.sum(p[:, c][:, None] * p[:, d][:, None] * inverse, axis=0)
            row_v[:, d * m + outer : d * m + k] -= identity[:r, :r] * xi_cd[None, :]
        row_v[:, o + outer : o + k] += (2 * problem.lam + floor) * identity[:r, :r]
        M[o : o + outer, :] = row_u
        M[o + outer : o + k, :] = row_v
        M[o + k : o + m, :] = K[o + k : o + m, :]
        M[o + k : o + m, o + k : o + m] += identity[: m - k, : m - k] * ridge_g[None, :]
        rhs[o : o + outer] = -push_u[:, c]
        rhs[o + outer : o + k] = -model.slope_v[:, c] + GiD.T @ p[:, c]
        rhs[o + k : o + m] = -model.slope_g[:, c]
    x = solve_linear(M, rhs)
    if x is None:
        return None
    s = xp.reshape(K @ x, (kappa, m))[:, :outer].T
    x = xp.reshape(x, (kappa, m))
    v, g = x[:, outer:k].T, x[:, k:].T
    T = -(model.slope_T + s @ beta.T + p @ v.T) * inverse
    return T, v, g


def _keep(inside: Inside, point: Point, model: _Quadratic) -> Step | None:
    """Solve the whole symmetric system in (T, v, g) directly; T is ordered factor by factor."""
    problem, beta = inside.problem, model.frame.beta
    xp = namespace(beta)
    (outer, r), kappa = model.gap.shape, beta.shape[1]
    width = int(model.turn.shape[0]) - outer
    asked = (inside.basis.design, model.coef, model.turn, beta, inside.loss.share)
    TT, cross, vv = problem.samples.sum(Block.kept_curvature, *asked)
    for i in range(r):
        for c in range(kappa):  # the coupling ⟨slope_p, Tv⟩
            cross[i * outer : (i + 1) * outer, c * width + i] += model.slope_p[:, c]
    ridge = xp.concat([full_like_of(beta, r, 2 * problem.lam), 2 * problem.covariate_ridge])
    ridge = xp.tile(ridge + inside.least_curvature, (kappa,))
    M = xp.concat(
        [
            xp.concat([TT + diagonal(xp.reshape(model.gap.T, (-1,))), cross], axis=1),
            xp.concat([cross.T, vv + diagonal(ridge)], axis=1),
        ]
    )
    slope_w = xp.concat([model.slope_v, model.slope_g])
    slope = xp.concat([xp.reshape(model.slope_T.T, (-1,)), xp.reshape(slope_w.T, (-1,))])
    x = solve_linear(M, -slope)
    if x is None:
        return None
    w = xp.reshape(x[outer * r :], (kappa, width))
    return xp.reshape(x[: outer * r], (r, outer)).T, w[:, :r].T, w[:, r:].T


def _identity_rows(like: Array, start: int, rows: int, columns: int) -> Array:
    """Rows start … start+rows of the identity with `columns` columns."""
    out = zeros_like_of(like, rows, columns)
    out[:, start : start + rows] = eye_like(like, rows)
    return out


def _iterate(inside: Inside, point: Point, model: _Quadratic) -> Step | None:
    """Solve the system in (T, v, g) by preconditioned conjugate gradients, products only."""
    problem, beta = inside.problem, model.frame.beta
    xp = namespace(beta)
    (outer, r), kappa, m = model.gap.shape, beta.shape[1], int(model.turn.shape[0])
    k, n_g = outer + r, m - outer - r
    ridge = 2 * problem.covariate_ridge[:, None]

    def join(T: Array, v: Array, g: Array) -> Array:
        return xp.concat([xp.reshape(part, (-1,)) for part in (T, v, g)])

    def split(x: Array) -> tuple[Array, Array, Array]:
        a, b = outer * r, outer * r + r * kappa
        return (
            xp.reshape(x[:a], (outer, r)),
            xp.reshape(x[a:b], (r, kappa)),
            xp.reshape(x[b:], (n_g, kappa)),
        )

    def apply(x: Array) -> Array:
        T, v, g = split(x)
        direction = model.turn @ xp.concat([T @ beta, v, g])
        s = model.turn.T @ inside.loss.curvature_product(point.coef, direction)
        return join(
            model.gap * T + s[:outer, :] @ beta.T + model.slope_p @ v.T,
            2 * problem.lam * v + s[outer:k, :] + T.T @ model.slope_p,
            ridge * g + s[k:, :],
        )

    main = inside.loss.curvature_diagonal(model.coef, model.turn)  # (m, κ)
    floor = eps(main) * float(xp.max(main)) + float(xp.finfo(main.dtype).smallest_normal)
    preconditioner = join(
        xp.abs(model.gap) + main[:outer, :] @ (beta**2).T + floor,
        2 * problem.lam + main[outer:k, :] + floor,
        ridge + main[k:, :] + floor,
    )
    rhs = -join(model.slope_T, model.slope_v, model.slope_g)
    x = conjugate_gradients(apply, rhs, preconditioner, 1e-4, 300)
    return split(x) if float(column_norms(x[:, None])[0]) > 0 else None
