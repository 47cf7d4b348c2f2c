"""The problem inside a subspace of the search side: k coordinates instead of N."""

from __future__ import annotations

import math
from dataclasses import replace

from superfactor._arrays import (
    Array,
    eigh_descending,
    eye_like,
    frobenius2,
    full_like_of,
    inner,
    namespace,
)
from superfactor.problem import Problem
from superfactor.samples import Block, Design
from superfactor.subspace.basis import Basis
from superfactor.subspace.design import LossOn
from superfactor.subspace.geometry import Frame, Point
from superfactor.subspace.ridge import fit_ridge


class Inside:
    """min over W (k, r), β, γ of F with the search side restricted to the span of a basis.

    Nothing in it changes: a basis that has grown makes another one.
    """

    def __init__(self, basis: Basis, rank: int, mass: float | None = None):
        self.basis, self.rank = basis, rank
        self.problem: Problem = basis.problem
        self.D = basis.D
        # Products λ/ξ and ξ·η leave the range of floats at extreme units; their roots do not.
        self.root_ratio = self.problem.lam**0.5 / self.problem.xi**0.5
        # [ΦS, X'] (n, k + q): what the classifier can see.
        columns = basis.size + self.problem.n_covariates
        self.loss = LossOn(self.problem, basis.design, columns, mass)
        self.least_curvature = self.loss.floor()

    def at_weights(self, problem: Problem) -> Inside:
        """The same subspace of the same data at other weights ξ and λ."""
        return Inside(replace(self.basis, problem=problem), self.rank, self.loss.mass)

    def reconstruction(self, W: Array) -> float:
        """ξ(‖X̃‖² − tr WᵀDW)."""
        # Not below zero: where ‖X̃‖² and the trace agree to the last digit, rounding decides the sign.
        return self.problem.xi * max(self.problem.squared_norm - inner(W, self.D @ W), 0.0)

    # --- points --------------------------------------------------------------------------------

    def polish(
        self,
        W: Array,
        beta: Array | None = None,
        gamma: Array | None = None,
        *,
        max_iter: int = 30,
        tol: float = 1e-12,
    ) -> Point:
        """The best β and γ for the subspace W, by Newton from a start."""
        problem = self.problem
        xp, (k, r), kappa = namespace(W), W.shape, problem.n_outputs
        q = problem.n_covariates
        beta = problem.zeros(r, kappa) if beta is None else beta
        gamma = problem.zeros(q, kappa) if gamma is None else gamma
        V = problem.zeros(k + q, r + q)
        V[:k, :r], V[k:, r:] = W, eye_like(W, q)
        ridge = xp.concat([full_like_of(W, r, problem.lam), problem.covariate_ridge])
        rows = problem.samples.keep(Block.view, self.basis.design, V)  # [ΦSW, X']
        loss = LossOn(problem, Design(rows.place, ready=True), r + q, self.loss.mass)
        coef, _, _ = fit_ridge(loss, ridge, xp.concat([beta, gamma]), max_iter=max_iter, tol=tol)
        return self.at(W, coef[:r, :], coef[r:, :])

    def at(self, W: Array, beta: Array, gamma: Array) -> Point:
        """The point itself, nothing optimised."""
        problem = self.problem
        loss, pulled = self.loss.evaluate(namespace(W).concat([W @ beta, gamma]))
        F = loss + problem.lam * frobenius2(beta) + problem.covariate_penalty(gamma)
        return Point(W, beta, gamma, F + self.reconstruction(W), loss, pulled)

    def embedded(self, point: Point) -> Point:
        """A point of a smaller basis, of which this one is a continuation."""
        missing = self.basis.size - int(point.W.shape[0])
        if missing == 0:
            return point
        rest = self.problem.zeros(missing, int(point.W.shape[1]))
        return self.at(namespace(rest).concat([point.W, rest]), point.beta, point.gamma)

    def leading(self, A: Array | None = None) -> Array:
        """The r leading eigenvectors (k, r) of D + AAᵀ: the rank-r projection of [A, X]."""
        M = self.D if A is None else self.D + A @ A.T
        return eigh_descending(M)[1][:, : self.rank]

    def frame(self, point: Point) -> Frame:
        """The point turned so that the curvature of its reconstruction is diagonal."""
        return Frame.of(point.W, point.beta, self.D, self.root_ratio)

    # --- one proximal step -----------------------------------------------------------------------

    def gradient(self, point: Point) -> Array:
        """∇_A of the loss and the ridge (k, κ)."""
        return point.pulled[: self.basis.size, :] + 2 * self.problem.lam * (point.W @ point.beta)

    def proximal_subspace(self, point: Point, eta: float, gradient: Array) -> Array:
        """W of Π_r([s(A − η∇), X]), s² = 1/(2ξη): an exact proximal step (docs/method.md §4)."""
        step = point.W @ point.beta - eta * gradient
        return self.leading(step / (eta**0.5 * (2 * self.problem.xi) ** 0.5))

    def mapping_norm(self, old: Point, new: Point, eta: float) -> float:
        """‖A_new − A_old‖/η, the gradient mapping of the proximal step."""
        return math.sqrt(frobenius2(new.W @ new.beta - old.W @ old.beta)) / eta

    # --- bounds ----------------------------------------------------------------------------------

    def pca_value(self) -> float:
        """bound(0) = ξ·Σ_{i>r}σ_i² inside the basis: what reconstruction alone must cost."""
        values = eigh_descending(self.D)[0][: self.rank]
        return self.problem.xi * (self.problem.squared_norm - float(namespace(values).sum(values)))

    def duality_gap(self, point: Point) -> float:
        """F less its lower bound inside the basis at the residuals of the point (docs/method.md §7); inf
        where λ = 0.

        Meaningful for a point polished in γ: an unpenalised intercept needs Σ_i E_i = 0.
        """
        problem, k = self.problem, self.basis.size
        if problem.lam == 0 or not problem.loss.has_conjugate:
            return float("inf")
        root = point.pulled[:k, :] * problem.dual_scale()
        values = eigh_descending(self.D + root @ root.T)[0][: self.rank]
        # The tangent form: Σωℓ*(E/ω) = ⟨E, a⟩ − Σωℓ(a), at the activations that gave E.
        conjugate = inner(point.pulled, point.coef) - point.loss
        top = float(namespace(values).sum(values))
        return point.F - problem.dual_bound(conjugate, point.pulled[k:, :], top)
