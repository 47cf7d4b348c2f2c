"""The joint Newton step in (W, β, γ) (docs/method.md §11).

Write W ← orth(W + W⊥T). In the frame where WᵀDW + (λ/ξ)ββᵀ and D on the complement are diagonal,
the second-order model of F is

    Σ_ji ξ(ritz_i − rest_j)T_ji² + λ‖v‖² + Σ_j ρ_j‖g_j‖² + ½⟨δa, h·δa⟩ + ⟨slope_p, Tv⟩ + linear terms,
    δa = Φ(W⊥Tβ + Wv) + X'g,        v = δβ,  g = δγ,  slope_p = W⊥ᵀΦᵀE.

There are two ways to minimise it; the cheaper one is used:

- `_eliminate`: the loss depends on T only by u = Tβ, and the Hessian in T is diagonal. So T is eliminated,
  and a linear system in (u, v, g) with (k + q)κ unknowns remains. Exact; for few outputs.
- `truncated_step`, in its own file: conjugate gradients in (T, v, g) inside a trust region, by products with
  the samples. Each product costs about as much as κ evaluations of the loss. Several points share their
  products.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from superfactor._arrays import Array, eye_like, inner, namespace, zeros_like_of
from superfactor.samples import Block
from superfactor.subspace.geometry import Frame, Point
from superfactor.subspace.inside import Inside
from superfactor.subspace.ridge import solve_linear
from superfactor.subspace.step import NewtonStep
from superfactor.subspace.truncated import truncated_step

# Smaller curvatures, of nearly degenerate pairs of directions, are raised to this share of ritz_i.
_SHIFT = 1e-4


@dataclass(frozen=True)
class _Slopes:
    """The linear terms of the model in a frame, and the curvature of reconstruction."""

    T: Array  # Γ (k−r, r)
    p: Array  # slope_p (k−r, κ)
    v: Array  # (r, κ)
    g: Array  # (q, κ)
    gaps: Array  # ritz_i − rest_j (k−r, r)

    @staticmethod
    def at(inside: Inside, point: Point, frame: Frame) -> _Slopes:
        xp, k = namespace(point.W), inside.basis.size
        beta, pulled = frame.beta, point.pulled
        across, along = xp.matrix_transpose(frame.complement), xp.matrix_transpose(frame.W)
        p = across @ pulled[..., :k, :]
        v = along @ pulled[..., :k, :] + 2 * inside.lam * beta
        g = pulled[..., k:, :] + 2 * inside.rho * point.gamma
        T = p @ xp.matrix_transpose(beta) - 2 * inside.xi * (across @ inside.D @ frame.W)
        gaps = frame.ritz[..., None, :] - frame.rest[..., :, None]
        return _Slopes(T, p, v, g, gaps)


def _raised(ritz: Array, gaps: Array) -> Array:
    """Return the gaps (k−r, r), those that are too small to divide by raised to a share of ritz (r,)."""
    xp = namespace(gaps)
    floor = _SHIFT * ritz[..., None, :] + 0 * gaps
    tiny = float(xp.finfo(gaps.dtype).smallest_normal) ** 0.5
    gaps = xp.where(xp.abs(gaps) < floor, floor, gaps)
    return xp.where(xp.abs(gaps) < tiny, xp.full_like(gaps, tiny), gaps)


def newton_step(inside: Inside, point: Point, radius: float = math.inf) -> NewtonStep | None:
    """Return the joint Newton step at one point, by the cheaper way; None if no step descends."""
    if elimination_pays(inside):
        return _exact_step(inside, point)
    step = truncated_step(inside, point, radius)
    decrease = float(step.decrease)
    return step if 0 <= decrease < math.inf else None


def elimination_pays(inside: Inside) -> bool:
    """Return whether the system of (k + q)κ unknowns needs fewer operations than products."""
    return inside.loss.dense_pays


# --- by elimination -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Quadratic:
    """The full quadratic model at one point."""

    frame: Frame
    slopes: _Slopes
    gram: Array  # Σ_i h_i ⊗ j_i j_iᵀ, j_i the rows of J = [ΦW⊥, ΦW, X']
    inverse: Array  # 1/(2ξ(ritz_i − rest_j)), shifted, (k−r, r)
    saddle: bool  # whether some direction curves downwards

    def convexified(self) -> _Quadratic:
        """Return a convex model with the same slopes: absolute curvatures in T, no coupling of T and v."""
        xp = namespace(self.inverse)
        uncoupled = replace(self.slopes, p=xp.zeros_like(self.slopes.p))
        return replace(self, inverse=xp.abs(self.inverse), slopes=uncoupled, saddle=True)


def _exact_step(inside: Inside, point: Point) -> NewtonStep | None:
    model = _quadratic_at(inside, point)
    slopes = model.slopes
    for candidate in (model, model.convexified()):
        step = _eliminate(inside, candidate)
        if step is None:
            continue
        T, v, g = step
        decrease = -0.5 * (inner(T, slopes.T) + inner(v, slopes.v) + inner(g, slopes.g))
        if 0 <= decrease < math.inf:
            frame = model.frame
            return NewtonStep(frame.W, frame.beta, frame.complement @ T, v, g, decrease, candidate.saddle)
    return None


def _quadratic_at(inside: Inside, point: Point) -> _Quadratic:
    problem, frame = inside.problem, inside.frame(point)
    xp, slopes = namespace(point.W), _Slopes.at(inside, point, frame)
    # Rotated after the sum over the samples: k³ operations instead of n·k².
    turn = frame.turn(problem.n_covariates)
    gram = _turned(inside.loss.curvature(point.coef), turn, problem.n_outputs)
    gaps, saddle = slopes.gaps, False
    if gaps.shape[0]:
        total = rotation_curvature(inside, point, frame, gram)
        bent = total <= -1e-12 * 2 * problem.xi * float(frame.ritz[0])
        saddle = bool(xp.any(bent))
        # Negative curvatures change their sign, so that the step leads away from a saddle.
        gaps = xp.where(bent, xp.abs(gaps), gaps)
    inverse = 0.5 / problem.xi / _raised(frame.ritz, gaps)
    return _Quadratic(frame, slopes, gram, inverse, saddle)


def _turned(gram: Array, turn: Array, kappa: int) -> Array:
    """Return (I ⊗ turn)ᵀ·gram·(I ⊗ turn) for gram (κm, κm), block by block."""
    xp, m = namespace(gram), turn.shape[0]
    blocks = xp.permute_dims(xp.reshape(gram, (kappa, m, kappa, m)), (0, 2, 1, 3))
    blocks = xp.matmul(turn.T[None, None, :, :], xp.matmul(blocks, turn[None, None, :, :]))
    return xp.reshape(xp.permute_dims(blocks, (0, 2, 1, 3)), (kappa * m, kappa * m))


def rotation_curvature(inside: Inside, point: Point, frame: Frame, gram: Array | None = None) -> Array:
    """Return the diagonal of the Hessian in T (k−r, r) with the loss; negative entries mark a saddle."""
    problem, xp = inside.problem, namespace(frame.W)
    total = 2 * problem.xi * (frame.ritz[None, :] - frame.rest[:, None])
    if gram is None:
        asked = (frame.turned_coef(point.gamma), frame.turn(problem.n_covariates), frame.beta)
        design = inside.basis.design
        return total + problem.samples.sum(Block.rotation_curvature, design, *asked)
    # Its diagonals are the sums over the samples.
    outer, kappa = int(frame.rest.shape[0]), int(point.beta.shape[1])
    m = gram.shape[0] // kappa
    for c in range(kappa):
        for d in range(kappa):
            block = gram[c * m : c * m + outer, d * m : d * m + outer]
            weight = frame.beta[:, c] * frame.beta[:, d]
            total = total + xp.linalg.diagonal(block)[:, None] * weight[None, :]
    return total


def _eliminate(inside: Inside, model: _Quadratic) -> tuple[Array, Array, Array] | None:
    """Solve the reduced system of (k + q)κ unknowns directly."""
    problem, beta, inverse = inside.problem, model.frame.beta, model.inverse
    xp = namespace(beta)
    outer, r = inverse.shape
    K, kappa = model.gram, beta.shape[1]
    m, k = K.shape[0] // kappa, outer + r
    slopes = model.slopes
    p, GiD = slopes.p, slopes.T * inverse
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
        rhs[o + outer : o + k] = -slopes.v[:, c] + GiD.T @ p[:, c]
        rhs[o + k : o + m] = -slopes.g[:, c]
    x = solve_linear(M, rhs)
    if x is None:
        return None
    s = xp.reshape(K @ x, (kappa, m))[:, :outer].T
    x = xp.reshape(x, (kappa, m))
    v, g = x[:, outer:k].T, x[:, k:].T
    T = -(slopes.T + s @ beta.T + p @ v.T) * inverse
    return T, v, g


def _identity_rows(like: Array, start: int, rows: int, columns: int) -> Array:
    """Return rows start … start+rows of the identity with `columns` columns."""
    out = zeros_like_of(like, rows, columns)
    out[:, start : start + rows] = eye_like(like, rows)
    return out
