"""The problem inside a subspace, and its Newton step in (W, β, γ) by conjugate gradients.

All functions of a `Point` work for several points at once, along leading dimensions: other starts descend
side by side and share their products with the design.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from superfactor._arrays import Array, namespace
from superfactor._new.conjugate import conjugate_gradients
from superfactor._new.rows import Rows
from superfactor._new.subspace import Basis
from superfactor._new.tall import beside, dot, here, pull, there

# The cost of a call in operations, next to its products: by these counts searches compare costs.
CALL = 7.5e6


@dataclass
class Point:
    """Factors inside a subspace and what F is there; or several points, along leading dimensions."""

    W: Any  # (…, k, r), orthonormal columns
    beta: Any  # (…, r, κ)
    gamma: Any  # (…, q, κ)
    F: Any = np.inf  # (…)
    a: Array | None = None  # tall (…, n, κ), the activations
    E: Array | None = None  # tall (…, n, κ), the gradient of the loss in them
    rows: Rows | None = None

    @cached_property
    def H(self) -> Any:
        """The curvature of the loss."""
        assert self.rows is not None
        return self.rows.curvature(self.a)

    @staticmethod
    def stacked(points: list[Any]) -> Point:
        """Return several (W, β, γ) as one point."""
        W, beta, gamma = (np.stack(parts) for parts in zip(*points, strict=True))
        return Point(W, beta, gamma)


@dataclass
class Inside:
    """The problem inside a subspace, in k coordinates."""

    basis: Basis
    rank: int
    xi: float
    lam: float

    @property
    def rows(self) -> Rows:
        rows: Rows = self.basis.model.rows
        return rows

    @property
    def unsupervised(self) -> float:
        """The lowest cost of reconstruction alone."""
        return self.xi * (self.rows.total - float(self.basis.d[: self.rank].sum()))

    @property
    def noise(self) -> float:
        """Rounding error of F, relative to it."""
        return 45 * self.rows.eps

    def at(self, W: Any, beta: Any, gamma: Any) -> Point:
        """Return a point with F = Σωℓ(a) + ξ(‖X̃‖² − tr WᵀDW) + λ‖β‖² + Σρ_j‖γ_j‖²."""
        rows, basis = self.rows, self.basis
        a = dot(basis.Phi, basis.turn @ (W @ beta)) + dot(rows.Z, gamma)
        loss, E = rows.evaluate(a)
        rows.work += 4.0 * rows.shape[0] * basis.size * beta[..., 0, :].size + CALL
        F = loss + self.xi * (rows.total - (W**2).sum(-1) @ basis.d)
        F = F + self.lam * (beta**2).sum((-2, -1)) + (gamma**2).sum(-1) @ rows.rho
        return Point(W, beta, gamma, F, a, E, rows)

    def polished(self, W: Any, beta: Any, gamma: Any, **options: Any) -> Point:
        """Return the point with the best β and γ for W."""
        J = beside(dot(self.basis.Phi, self.basis.turn @ W), self.rows.Z)
        ridge = np.concatenate([np.full(W.shape[1], self.lam), self.rows.rho])
        w = fit_ridge(self.rows, J, ridge, np.vstack([beta, gamma]), **options)
        return self.at(W, w[: W.shape[1]], w[W.shape[1] :])

    def newton(self, at: Point) -> tuple[Point, Any, Any]:
        """Take a Newton step W ← orth(W + T), β + v, γ + g with WᵀT = 0.

        Returns
        -------
        new : Point
        predicted : array (…)
            The decrease that the model predicts.
        far : array (…) of bool
            Whether the step met negative curvature or was shortened, so that `predicted` is no measure of the
            rest.
        """
        basis, rows, xi = self.basis, self.rows, self.xi
        d, turn, W, beta = basis.d, basis.turn, at.W, at.beta
        Phi, Z, some, share = basis.few
        H = at.H if some is None else at.H.take(some)
        *many, k, r = W.shape
        J = beside(dot(Phi, turn @ W), Z)
        ridge = 2 * np.concatenate([np.full(r, self.lam), rows.rho])[:, None]
        pulled, w = turn.T @ pull(basis.Phi, at.E), np.concatenate([beta, at.gamma], -2)

        def tangent(T: Any) -> Any:
            return T - W @ (W.mT @ T)

        def split(x: Any) -> tuple[Any, Any]:
            return x[..., : k * r].reshape(W.shape), x[..., k * r :].reshape(w.shape)

        def join(T: Any, w: Any) -> Any:
            return np.concatenate([T.reshape(*many, -1), w.reshape(*many, -1)], -1)

        p = tangent(pulled)
        theta = (W.mT * d) @ W + self.lam / xi * beta @ beta.mT

        def times(x: Any) -> Any:
            rows.work += 8.0 * Phi.shape[0] * k * beta[..., 0, :].size + 2 * CALL
            T, w = split(x)
            L = H.times(dot(Phi, turn @ (T @ beta + W @ w[..., :r, :])) + dot(Z, w[..., r:, :]))
            loss = turn.T @ pull(Phi, L) / share
            along = np.concatenate([W.mT @ loss + T.mT @ p, pull(Z, L) / share], -2) + ridge * w
            across = loss @ beta.mT + 2 * xi * (T @ theta - d[:, None] * T) + p @ w[..., :r, :].mT
            return join(tangent(across), along)

        along = np.concatenate([W.mT @ pulled, pull(rows.Z, at.E)], -2)
        g = join(tangent(pulled @ beta.mT - 2 * xi * d[:, None] * W), along + ridge * w)
        in_W = self._subspace_preconditioner(W, beta, theta, here(H.total()) / share)
        in_w = ridge_preconditioner(J, H, ridge[:, 0], share)

        def precondition(x: Any) -> Any:
            T, w = split(x)
            return join(tangent(in_W(T)), in_w(w))

        first = (g * precondition(g)).sum(-1)
        tol = np.clip(np.sqrt(first / np.maximum(at.F - self.unsupervised, 1e-300)), 0.01, 0.3)
        x, bent = conjugate_gradients(times, -g, precondition, tol, 100)
        T, w = split(x)
        predicted, noise = -0.5 * (x * g).sum(-1), self.noise * np.abs(at.F)

        def moved(t: Any) -> Point:
            t = t[..., None, None]
            L = np.linalg.cholesky(np.eye(r) + t**2 * T.mT @ T)
            turned = np.linalg.solve(L, (W + t * T).mT).mT
            return self.at(turned, L.mT @ (beta + t * w[..., :r, :]), at.gamma + t * w[..., r:, :])

        t = longest = np.minimum(1.0, 1 / (np.linalg.norm(T, axis=(-2, -1)) + 1e-300))
        for _ in range(8):
            new = moved(t)
            limit = at.F - 1e-4 * t * predicted + noise
            lower = limit >= new.F
            if lower.all():
                break
            t = np.where(lower, t, t / 3)
        else:
            t = np.where(lower, t, 0.0)
            new = moved(t)
        if some is not None and (t < longest).any():  # the curvature of too few rows has misled
            rows.curved *= 2
            del basis.few
        gain = at.F - new.F
        return new, predicted, (bent | (t < longest) | (t < 1)) & (gain > noise)

    def _subspace_preconditioner(self, W: Any, beta: Any, theta: Any, total: Any) -> Callable[[Any], Any]:
        """Return an approximate inverse of T ↦ ΦᵀHΦTββᵀ + 2ξ(Tθ − DT).

        It takes one mean curvature for all rows of W. With H near a multiple of the identity in each output,
        a row of T with eigenvalue d of D meets c(d)·β·total·βᵀ/n + 2ξ(θ − d), where c(d) = d (filter, ΦᵀΦ =
        D) or 1 (feature): one pair of matrices, diagonalised together, serves all rows.
        """
        d, r = self.basis.d, self.rank
        part, DW = np.maximum(1 - (W**2).sum(-1), 1e-8), d[:, None] * W
        rest = (d - 2 * (W * DW).sum(-1) + (W * (W @ (W.mT @ DW))).sum(-1)) / part
        rest = np.clip(rest, 0, d[0])  # the eigenvalues of D outside W, row by row
        eye, bend = 2 * self.xi * np.eye(r), beta @ total @ beta.mT / self.rows.shape[0]
        least = 1e-4 * np.trace(theta, axis1=-2, axis2=-1)[..., None, None] / r + 1e-300
        A, B = 2 * self.xi * theta + least * eye, -eye
        A, B = (A, B + bend) if self.basis.model.name == "filter" else (A + bend, B)
        root = np.linalg.inv(np.linalg.cholesky(A))
        values, U = np.linalg.eigh(root @ B @ root.mT)
        U, values = root.mT @ U, np.maximum(np.abs(1 + rest[..., :, None] * values[..., None, :]), 1e-4)
        return lambda T: ((T @ U) / values) @ U.mT

    def frame(self, at: Point) -> tuple[Any, Any, Any, Any, float]:
        """Return W and β rotated to the eigenvectors of θ = WᵀDW + (λ/ξ)ββᵀ, θ, and the spectrum outside W.

        That is the eigenvectors of D outside W and the largest eigenvalue.
        """
        theta, U = np.linalg.eigh((at.W.T * self.basis.d) @ at.W + self.lam / self.xi * at.beta @ at.beta.T)
        W = at.W @ U
        P = np.eye(len(W)) - W @ W.T
        rest, V = np.linalg.eigh(P @ (self.basis.d[:, None] * P))
        return W, U.T @ at.beta, theta, V[:, ::-1], float(rest[-1])


def ridge_preconditioner(J: Array, H: Any, ridge: Any, share: float = 1.0) -> Callable[[Any], Any]:
    """Return an approximate inverse of JᵀHJ + diag(ridge), from (mean curvature) ⊗ (weighted Gram matrix).

    It is exact for one output. `share` is that of all rows which J and H have.
    """
    xp, total = namespace(J), here(H.total()) / share
    each = xp.clip(xp.sum(H.by_row(there(np.eye(total.shape[-1]), J)), axis=-1), min=0.0)  # (…, n): traces
    mass = here(xp.sum(each, axis=-1))[..., None, None] + 1e-300
    size, U = np.linalg.eigh(total)
    weighted = pull(J, J * each[..., None]) / mass
    K = np.maximum(size, 0)[..., None, None] * weighted[..., None, :, :] + np.diag(ridge)
    floor = 1e-12 * np.trace(K, axis1=-2, axis2=-1).max(-1)[..., None, None, None] + 1e-300
    inverse = np.linalg.inv(K + floor * np.eye(len(ridge)))
    return lambda w: (inverse @ (w @ U).mT[..., None])[..., 0].mT @ U.mT


def fit_ridge(
    rows: Rows, J: Array, ridge: Any, w: Any, offset: Any = 0.0, steps: int = 30, tol: float = 1e-3
) -> Any:
    """Minimise Σωℓ(offset + Jw) + Σ_j ridge_j‖w_j‖² over w (m, κ), from w, by Newton's method.

    It ends where a step predicts a decrease below `tol` relative to the value. Where that is above the value
    at 0, it starts again from 0: saturated activations may have no curvature that leads back.
    """
    ridge2, w = 2 * np.asarray(ridge)[:, None], np.asarray(w, dtype=float)
    shape = w.shape

    def at(w: Any) -> tuple[float, Array, Array]:
        with np.errstate(over="ignore", invalid="ignore"):  # such points are not lower
            a = offset + dot(J, w)
            f, E = rows.evaluate(a)
            return float(f) + 0.5 * float((ridge2 * w * w).sum()), E, a

    f, E, a = at(w)
    given = bool(w.any())
    for _ in range(steps if np.isfinite(f) else 0):
        g, H = pull(J, E) + ridge2 * w, rows.curvature(a)
        inverse = ridge_preconditioner(J, H, ridge2[:, 0])

        def times(x: Any, H: Any = H) -> Any:
            x = x.reshape(shape)
            return (pull(J, H.times(dot(J, x))) + ridge2 * x).ravel()

        def precondition(x: Any, inverse: Any = inverse) -> Any:
            return inverse(x.reshape(shape)).ravel()

        step, _ = conjugate_gradients(times, -g.ravel(), precondition, 0.1, 50)
        step = step.reshape(shape)
        predicted, t = -0.5 * float((step * g).sum()), 1.0
        while t > 1e-8:
            new = at(w + t * step)
            if new[0] <= f - 1e-4 * t * predicted + 45 * rows.eps * abs(f):
                break
            t /= 3
        if t > 1e-8 and new[0] <= f + 45 * rows.eps * abs(f):
            w, (f, E, a) = w + t * step, new
        if t <= 1e-8 or predicted <= tol * abs(f):
            break
    if given:
        zero = at(np.zeros(shape))[0]
        if not f <= zero + 45 * rows.eps * abs(zero):
            return fit_ridge(rows, J, ridge, np.zeros(shape), offset, steps, tol)
    return w
