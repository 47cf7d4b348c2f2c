"""The joint Newton step by conjugate gradients, at one or several points (docs/method.md §11).

In the eigenvectors of D, D = diag(d). There W ← orth(W + T) with T (k, r) and WᵀT = 0. The projection
P = I − WWᵀ returns such T, so that no basis of the complement of W is needed. The second-order model of F is

    Σ_ji ξ(ritz_i − d_j)T_ji² + λ‖v‖² + Σ_j ρ_j‖g_j‖² + ½⟨δa, h·δa⟩ + ⟨slope_p, Tv⟩ + linear terms,
    δa = Φ(Tβ + Wv) + X'g,        v = δβ,  g = δγ,  slope_p = PΦᵀE.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from superfactor._arrays import Array, eigh_pair, eye_like, namespace, zeros_like_of
from superfactor.subspace.conjugate import conjugate_gradients
from superfactor.subspace.design import Bent
from superfactor.subspace.geometry import Point, tangent
from superfactor.subspace.inside import Inside
from superfactor.subspace.step import NewtonStep

# Cost of the model and its preconditioner at one point, in units of k².
_MODEL = 30.0
# Tolerances of conjugate gradients: never below the first, since the next step reduces the residual for less,
# and at most the second, far from the minimum.
_DIGITS = (0.1, 0.3)
# The first radius, in lengths of the preconditioned gradient.
_FIRST_RADIUS = 4.0
# Most products of one step.
_PATIENCE = 100
# The preconditioner raises smaller curvatures, of nearly degenerate directions, to this share of those of A.
_LEAST_BEND = 1e-4
# Eigenvalues of D below this share of the largest are rounding errors of zero.
_NULL = 1e-10
# Eigenvectors whose part outside W has a smaller square: its Rayleigh quotient would be a rounding error.
_LEAST_PART = 1e-8


def truncated_step(inside: Inside, point: Point, radius: float | Array) -> NewtonStep:
    """Return steps at one or several points (…) by conjugate gradients within a radius (…)."""
    model = _Model.at(inside, point)
    axes, (*points, k, r) = inside.spectrum[1], model.W.shape
    xp, q, kappa = namespace(model.W), inside.problem.n_covariates, int(model.beta.shape[-1])
    inside.problem.samples.operations += _MODEL * math.prod(points) * k**2

    def join(T: Array, w: Array) -> Array:
        T, w = xp.reshape(T, (*points, k * r)), xp.reshape(w, (*points, (r + q) * kappa))
        return xp.concat([T, w], axis=-1)

    def split(x: Array) -> tuple[Array, Array]:
        T, w = x[..., : k * r], x[..., k * r :]
        return xp.reshape(T, (*points, k, r)), xp.reshape(w, (*points, r + q, kappa))

    def product(x: Array) -> Array:
        return join(*model.product(*split(x)))

    approximate_inverse = model.preconditioner()

    def precondition(x: Array) -> Array:
        return join(*approximate_inverse(*split(x)))

    downhill = -join(*model.slope(point))
    # Rounding can make the square of a zero gradient negative.
    first = xp.clip(xp.sum(downhill * precondition(downhill), axis=-1), 0.0, None)
    tol = xp.clip(xp.sqrt(first / inside.supervised(point)), *_DIGITS)
    # Before the first step, the radius is a multiple of the length of the preconditioned gradient.
    radius = xp.where(xp.isfinite(0 * first + radius), 0 * first + radius, _FIRST_RADIUS * xp.sqrt(first))
    found = conjugate_gradients(product, downhill, precondition, tol=tol, max_iter=_PATIENCE, radius=radius)
    T, w = split(found.x)
    W, v, g = axes @ model.W, w[..., :r, :], w[..., r:, :]
    return NewtonStep(W, model.beta, axes @ T, v, g, found.decrease, ~found.solved, found.length)


@dataclass(frozen=True)
class _Model:
    """The second-order model of F in (T, w), w = [v; g] (…, r + q, κ)."""

    inside: Inside
    bent: Bent  # curvature of the loss
    W: Array  # (…, k, r) in the eigenvectors of D, rotated to the frame of `ritz`
    beta: Array  # (…, r, κ), rotated too
    ritz: Array  # (…, r), eigenvalues of WᵀDW + (λ/ξ)ββᵀ
    pulled: Array  # ΦᵀE (…, k, κ)
    p: Array  # slope_p (…, k, κ)
    ridge: Array  # twice λ and ρ, above zero (…, r + q, 1)

    @staticmethod
    def at(inside: Inside, point: Point) -> _Model:
        values, axes = inside.spectrum
        xp, back = namespace(axes), axes.T
        W, beta, ritz = tangent(back @ point.W, point.beta, values, inside.root_ratio)
        pulled = back @ point.pulled[..., : inside.basis.size, :]
        lam, rho = inside.lam + 0 * beta[..., :1], inside.rho + 0 * point.gamma[..., :1]
        ridge = xp.concat([lam, rho], axis=-2)
        ridge = 2 * ridge + inside.least_curvature
        p = _projected(pulled, W)
        return _Model(inside, inside.loss.bent(point.coef), W, beta, ritz, pulled, p, ridge)

    @property
    def rank(self) -> int:
        return int(self.W.shape[-1])

    def slope(self, point: Point) -> tuple[Array, Array]:
        """Return the gradient of F in T (…, k, r) and w (…, r + q, κ)."""
        inside, xp = self.inside, namespace(self.W)
        DW = inside.spectrum[0][:, None] * self.W
        T = self.p @ xp.matrix_transpose(self.beta) - 2 * inside.xi * _projected(DW, self.W)
        v = xp.matrix_transpose(self.W) @ self.pulled + 2 * inside.lam * self.beta
        g = point.pulled[..., inside.basis.size :, :] + 2 * inside.rho * point.gamma
        return T, xp.concat([v, g], axis=-2)

    def product(self, T: Array, w: Array) -> tuple[Array, Array]:
        """Return the Hessian times (T, w)."""
        inside, xp, r = self.inside, namespace(T), self.rank
        (values, axes), k = inside.spectrum, inside.basis.size
        v, g = w[..., :r, :], w[..., r:, :]
        bent = self.bent.times(xp.concat([axes @ (T @ self.beta + self.W @ v), g], axis=-2))
        loss = axes.T @ bent[..., :k, :]
        across = 2 * inside.xi * (self.ritz[..., None, :] - values[:, None]) * T
        across = across + loss @ xp.matrix_transpose(self.beta) + self.p @ xp.matrix_transpose(v)
        along = xp.matrix_transpose(self.W) @ loss + xp.matrix_transpose(T) @ self.p
        return _projected(across, self.W), self.ridge * w + xp.concat([along, bent[..., k:, :]], axis=-2)

    def preconditioner(self) -> Callable[[Array, Array], tuple[Array, Array]]:
        """Return an approximate inverse of the Hessian, a function of (T, w).

        It replaces the curvature of the loss by mean ⊗ G and ignores the coupling of T and w. With G about
        aI + bD, row j of T has about the Hessian A + rest_j·B, where A = aL + 2ξ·diag(ritz), B = bL − 2ξI and
        L = β·mean·βᵀ. One U (…, r, r) with UᵀAU = I and UᵀBU = diag(bends) inverts all rows.
        """
        inside, xp = self.inside, namespace(self.W)
        a, b = inside.gram_by_spectrum
        identity, turned = eye_like(self.W, self.rank), xp.matrix_transpose(self.beta)
        L = self.beta @ self.bent.mean_above_zero @ turned
        A = a * L + 2 * inside.xi * self.ritz[..., None, :] * identity
        bends, U = eigh_pair(A, b * L - 2 * inside.xi * identity)
        rows = xp.abs(1 + self._rest()[..., :, None] * bends[..., None, :])
        rows = xp.where(rows > _LEAST_BEND, rows, xp.full_like(rows, _LEAST_BEND))
        back, solved = xp.matrix_transpose(U), self.bent.solver(self._gram_along(), self.ridge[..., 0])

        def precondition(T: Array, w: Array) -> tuple[Array, Array]:
            return _projected(((T @ U) / rows) @ back, self.W), solved(w)

        return precondition

    def _rest(self) -> Array:
        """Return the Rayleigh quotients (…, k) of D in the parts of its eigenvectors outside W."""
        values, xp = self.inside.spectrum[0], namespace(self.W)
        DW = values[:, None] * self.W
        both = self.W @ (xp.matrix_transpose(self.W) @ DW)
        form = values - 2 * xp.sum(self.W * DW, axis=-1) + xp.sum(self.W * both, axis=-1)
        part = 1 - xp.sum(self.W * self.W, axis=-1)
        # Eigenvectors of the eigenvalue 0 are arbitrary. With their mean, equal problems have equal steps.
        null = xp.astype(values <= _NULL * xp.max(values), values.dtype)
        form, part = ((1 - null) * x + null * (x @ null)[..., None] for x in (form, part))
        enough = part > _LEAST_PART
        form = xp.clip(form, 0.0, None) / xp.where(enough, part, xp.ones_like(part))
        return xp.where(enough, form, values + 0 * part)

    def _gram_along(self) -> Array:
        """Return [ΦW, X']ᵀΩ[ΦW, X'] (…, r + q, r + q)."""
        gram, k, xp = self.inside.gram_in_axes, self.inside.basis.size, namespace(self.W)
        (*points, _, r), q = self.W.shape, int(gram.shape[0]) - k
        turn = zeros_like_of(self.W, *points, k + q, r + q)
        turn[..., :k, :r], turn[..., k:, r:] = self.W, eye_like(self.W, q)
        return xp.matrix_transpose(turn) @ gram @ turn


def _projected(T: Array, W: Array) -> Array:
    """Return (I − WWᵀ)T."""
    return T - W @ (namespace(W).matrix_transpose(W) @ T)
