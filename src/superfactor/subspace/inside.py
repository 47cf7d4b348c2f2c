"""The problem inside a subspace of the search side: k coordinates instead of N."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

from superfactor._arrays import (
    Array,
    device,
    eigh_descending,
    eye_like,
    frobenius2,
    full_like_of,
    indices,
    inner,
    inners,
    namespace,
)
from superfactor.problem import Problem
from superfactor.samples import Block, Design
from superfactor.subspace.basis import Basis
from superfactor.subspace.design import LossOn
from superfactor.subspace.geometry import Frame, Point
from superfactor.subspace.ridge import fit_ridge

# At mean activations of this size the loss of a sample is practically 0.
_FAR = 30.0
# Share of the loss without factors; a smaller change by supervision counts as none.
_LEAST = 1e-4


class Inside:
    """min over W (k, r), β, γ of F with the search side restricted to the span of a basis.

    It is immutable: an extended basis has another one.
    """

    def __init__(self, basis: Basis, rank: int, loss: LossOn | None = None):
        self.basis: Basis = basis
        self.rank: int = rank
        self.problem: Problem = basis.problem
        self.D: Array = basis.D
        self.xi: Any = self.problem.xi  # ξ and λ: numbers, or (S, 1, 1) if each of S points has its own
        self.lam: Any = self.problem.lam
        self.rho: Array = self.problem.covariate_ridge[:, None]  # (…, q, 1)
        # [ΦS, X'] (n, k + q), the input of the classifier.
        columns = basis.size + self.problem.n_covariates
        self.loss: LossOn = loss or LossOn(self.problem, basis.design, columns)
        self.least_curvature: float = self.loss.floor()

    def at_weights(self, problem: Problem) -> Inside:
        """Return the same subspace of the same data at other weights ξ and λ."""
        # Its rows of `few` and `coarse` are its own: a path of weights would collect those of every pair.
        loss = replace(self.loss, problem=problem, _kept=())
        return Inside(replace(self.basis, problem=problem), self.rank, loss)

    def with_factors(self, factors: Array) -> Inside:
        """Return the same for S points, with ξ and λ (and ρ like λ) times factors (S, 2)."""
        there = copy(self)
        there.__dict__.pop("pca_value", None)
        xi, lam = factors[:, 0][:, None, None], factors[:, 1][:, None, None]
        there.xi, there.lam, there.rho = xi * self.xi, lam * self.lam, lam * self.rho
        return there

    def taken(self, chosen: Any) -> Inside:
        """Return the same for some of several points with weights of their own, by NumPy indices."""
        if isinstance(self.xi, float):
            return self
        there, xp, index = copy(self), namespace(self.xi), indices(self.xi, chosen)
        there.__dict__.pop("pca_value", None)
        there.xi, there.lam, there.rho = (xp.take(x, index, axis=0) for x in (self.xi, self.lam, self.rho))
        return there

    @property
    def root_ratio(self) -> Any:
        """√(λ/ξ), from roots: products of weights may overflow in extreme units, their roots do not."""
        return self.lam**0.5 / self.xi**0.5

    def _weighed(self, weight: Any, value: Array) -> Array:
        """Return a weight times a value (…) of each point."""
        return weight * value if isinstance(weight, float) else weight[..., 0, 0] * value

    def reconstruction(self, W: Array) -> Array:
        """Return ξ(‖X̃‖² − tr WᵀDW) (…) for W (…, k, r)."""
        # Clipped at zero: if ‖X̃‖² and the trace agree to the last digit, rounding decides the sign.
        left = self.problem.squared_norm - inners(W, self.D @ W)
        return self._weighed(self.xi, namespace(W).clip(left, 0.0, None))

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
        """Return the point with the best β and γ for the subspace W, by Newton's method from a start."""
        problem = self.problem
        xp, (k, r), kappa = namespace(W), W.shape, problem.n_outputs
        q = problem.n_covariates
        beta = problem.zeros(r, kappa) if beta is None else beta
        gamma = problem.zeros(q, kappa) if gamma is None else gamma
        V = problem.zeros(k + q, r + q)
        V[:k, :r], V[k:, r:] = W, eye_like(W, q)
        ridge = xp.concat([full_like_of(W, r, problem.lam), problem.covariate_ridge])
        rows = problem.samples.keep(Block.view, self.basis.design, V)  # [ΦSW, X']
        loss = LossOn(problem, Design(rows.place, ready=True), r + q, V.T @ self.loss.gram @ V)
        coef, _, _ = fit_ridge(loss, ridge, xp.concat([beta, gamma]), max_iter=max_iter, tol=tol)
        return self.at(W, coef[:r, :], coef[r:, :])

    def at(self, W: Array, beta: Array, gamma: Array) -> Point:
        """Return the point with these parameters, or several points (…, k, r)."""
        loss, pulled = self.loss.evaluate(namespace(W).concat([W @ beta, gamma], axis=-2))
        F = loss + self._weighed(self.lam, inners(beta, beta)) + self.reconstruction(W)
        F = F + inners(self.rho * gamma, gamma)
        if W.ndim == 2:
            loss, F = float(loss), float(F)
        return Point(W, beta, gamma, F, loss, pulled)

    def embedded(self, point: Point) -> Point:
        """Return a point of a smaller basis in this one, which extends it."""
        missing = self.basis.size - int(point.W.shape[0])
        if missing == 0:
            return point
        rest = self.problem.zeros(missing, int(point.W.shape[1]))
        return self.at(namespace(rest).concat([point.W, rest]), point.beta, point.gamma)

    def leading(self, A: Array | None = None) -> Array:
        """Return the r leading eigenvectors (k, r) of D + AAᵀ, the rank-r projection of [A, X]."""
        M = self.D if A is None else self.D + A @ A.T
        return eigh_descending(M)[1][:, : self.rank]

    def frame(self, point: Point) -> Frame:
        """Return the frame of a point, in which the curvature of reconstruction is diagonal."""
        return Frame.of(point.W, point.beta, self.D, self.root_ratio)

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues (k,) of D, descending, and its eigenvectors (k, k)."""
        return eigh_descending(self.D)

    @cached_property
    def gram_in_axes(self) -> Array:
        """The Gram matrix of the design (k + q, k + q), its subspace in the eigenvectors of D."""
        turn = eye_like(self.D, self.loss.columns)
        turn[: self.basis.size, : self.basis.size] = self.spectrum[1]
        return turn.T @ self.loss.gram @ turn

    @cached_property
    def gram_by_spectrum(self) -> tuple[float, float]:
        """Numbers a, b ≥ 0 for which aI + bD has about the diagonal of this matrix, by least squares."""
        xp, values, size = namespace(self.D), self.spectrum[0], self.basis.size
        masses = xp.linalg.diagonal(self.gram_in_axes)[:size]
        mean, square = float(xp.mean(values)), float(xp.sum(values * values))
        off = values - mean
        spread, all_alike = float(xp.sum(off * off)), 1e-12 * square
        b = float(xp.sum(off * masses)) / spread if spread > all_alike else 0.0
        a = float(xp.mean(masses)) - b * mean
        if b < 0:
            return float(xp.mean(masses)), 0.0
        return (a, b) if a >= 0 else (0.0, float(xp.sum(values * masses)) / square)

    # --- one proximal step -----------------------------------------------------------------------

    def gradient(self, point: Point) -> Array:
        """Return ∇_A of the loss and the ridge (k, κ)."""
        return point.pulled[: self.basis.size, :] + 2 * self.problem.lam * (point.W @ point.beta)

    def proximal_subspace(self, point: Point, eta: float, gradient: Array) -> Array:
        """Return W of Π_r([s(A − η∇), X]), s² = 1/(2ξη): an exact proximal step (docs/method.md §4)."""
        step = point.W @ point.beta - eta * gradient
        return self.leading(step / (eta**0.5 * (2 * self.problem.xi) ** 0.5))

    def projected_mapping(self, point: Point, W: Array, eta: float) -> float:
        """Return `mapping_norm` of the proximal step projected to its subspace W, not polished."""
        A = point.W @ point.beta
        return math.sqrt(frobenius2(A - W @ (W.T @ (A - eta * self.gradient(point))))) / eta

    def mapping_norm(self, old: Point, new: Point, eta: float) -> float:
        """Return ‖A_new − A_old‖/η, the gradient mapping of the proximal step."""
        return math.sqrt(frobenius2(new.W @ new.beta - old.W @ old.beta)) / eta

    def supervised(self, point: Point) -> Any:
        """Return F − bound(0) (…), what supervision can change; at least a small positive number."""
        xp = namespace(point.W)
        F = xp.asarray(point.F, dtype=point.W.dtype, device=device(point.W))
        change = F - self.pca_value
        return xp.clip(change, self.least_change(float(xp.min(change))), None)

    def least_change(self, change: float) -> float:
        """Return the least change of F by supervision that counts: a share of the loss without factors."""
        # An upper bound of that loss, and known; but it grows with the square of a constant added to targets.
        null = self.problem.null_loss
        if change >= _LEAST * null:
            return _LEAST * null
        return max(_LEAST * float(self.without_factors.loss), 1e-12 * null)

    @cached_property
    def without_factors(self) -> Point:
        """The best point without factors: W (k, 0) and γ."""
        return self.polish(self.problem.zeros(self.basis.size, 0), max_iter=10, tol=1e-6)

    def has_no_minimum(self, point: Point) -> bool:
        """Return whether unregularized coefficients (λ = 0) grow without bound, as for separable classes."""
        problem = self.problem
        if problem.lam > 0 or problem.loss.curvature_bounds(problem.n_outputs)[0] > 0:
            return False
        coef, gram = point.coef, self.loss.gram
        return inner(coef, gram @ coef) > _FAR**2 * problem.total_weight

    # --- bounds ----------------------------------------------------------------------------------

    @cached_property
    def pca_value(self) -> Any:
        """bound(0) = ξ·Σ_{i>r}σ_i² inside the basis, the lowest cost of reconstruction alone."""
        values = self.spectrum[0][: self.rank]
        left = self.problem.squared_norm - float(namespace(values).sum(values))
        return self._weighed(self.xi, left)

    def duality_gap(self, point: Point) -> float:
        """Return F minus its lower bound inside the basis, from the residuals of a point with optimal γ.

        See docs/method.md §7. Infinite if λ = 0.
        """
        problem, k = self.problem, self.basis.size
        if problem.lam == 0 or not problem.loss.has_conjugate:
            return float("inf")
        root = point.pulled[:k, :] * problem.dual_scale()
        values = eigh_descending(self.D + root @ root.T)[0][: self.rank]
        # Σωℓ*(E/ω) = ⟨E, a⟩ − Σωℓ(a) at the activations a that have the residuals E.
        conjugate = inner(point.pulled, point.coef) - point.loss
        top = float(namespace(values).sum(values))
        return float(point.F - problem.dual_bound(conjugate, point.pulled[k:, :], top))
