"""The problem inside a subspace of the search side: k coordinates instead of N."""

from __future__ import annotations

from dataclasses import dataclass

from superfactor._arrays import (
    Array,
    eigh_descending,
    frobenius2,
    full_like_of,
    inner,
    namespace,
    zeros_like_of,
)
from superfactor.lifting import LiftedProblem
from superfactor.lifting.ridge import fit_ridge, least_curvature
from superfactor.spectrum import GrowingBasis


@dataclass(frozen=True)
class Point:
    """A feasible point with its value.

    W (k, r) orthonormal, β (r, κ), γ (q, κ); F the objective; a, E = ω∘∇ℓ the activations and
    residuals (n, κ).
    """

    W: Array
    beta: Array
    gamma: Array
    F: float
    a: Array
    E: Array


@dataclass(frozen=True)
class Frame:
    """A point turned so that the curvature of its reconstruction is diagonal (docs/method.md §11).

    theta : eigenvalues (r,) of WᵀDW + (λ/ξ)ββᵀ, descending; W and β are turned to match
    complement : W⊥ (k, k−r), turned so that D is diagonal there
    nu : its values (k−r,), descending
    """

    W: Array
    beta: Array
    theta: Array
    complement: Array
    nu: Array


class SubspaceProblem:
    """min over W (k, r), β, γ of F with the search side restricted to the span of a basis."""

    def __init__(self, problem: LiftedProblem, basis: GrowingBasis, rank: int):
        self.problem, self.basis, self.rank = problem, basis, rank
        # Products λ/ξ and ξ·η leave the range of floats at extreme units; their roots do not.
        self.root_ratio = problem.lam**0.5 / problem.xi**0.5
        self.refresh()

    def refresh(self) -> None:
        """Take notice of a basis that has grown or turned."""
        features = self.problem.features(self.basis.S, self.basis.Z)
        covariates = self.problem.covariates
        # [ΦS, X'] (n, k + q): what the classifier can see; ΦS alone is a view of it.
        self.design = namespace(features).concat([features, covariates], axis=1)
        self.Phi = self.design[:, : self.basis.size]
        self.least_curvature = least_curvature(self.problem, self.design)
        self.D = self.basis.D

    def embed(self, W: Array) -> Array:
        """Coordinates W (k', r) in a basis that has since grown to k columns: (k, r)."""
        missing = self.basis.size - W.shape[0]
        if missing == 0:
            return W
        return namespace(W).concat([W, zeros_like_of(W, missing, W.shape[1])])

    def reconstruction(self, W: Array) -> float:
        """ξ(‖X̃‖² − tr WᵀDW)."""
        # Not below zero: where ‖X̃‖² and the trace agree to the last digit, rounding decides the sign.
        return self.problem.xi * max(self.problem.data.squared_norm - inner(W, self.D @ W), 0.0)

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
        xp, r, kappa = namespace(W), W.shape[1], problem.n_outputs
        C, q = problem.covariates, problem.covariates.shape[1]
        beta = zeros_like_of(W, r, kappa) if beta is None else beta
        gamma = zeros_like_of(W, q, kappa) if gamma is None else gamma
        J = xp.concat([self.Phi @ W, C], axis=1)
        ridge = xp.concat([full_like_of(W, r, problem.lam), problem.covariate_ridge])
        theta, f, a, E = fit_ridge(
            problem, J, ridge, xp.concat([beta, gamma]), max_iter=max_iter, tol=tol
        )
        return Point(W, theta[:r, :], theta[r:, :], f + self.reconstruction(W), a, E)

    def at(self, W: Array, beta: Array, gamma: Array) -> Point:
        """The point itself, nothing optimised."""
        problem = self.problem
        a = self.Phi @ (W @ beta) + problem.covariates @ gamma
        f, E = problem.loss_terms(a)
        f += problem.lam * frobenius2(beta) + problem.covariate_penalty(gamma)
        return Point(W, beta, gamma, f + self.reconstruction(W), a, E)

    def leading(self, A: Array | None = None) -> Array:
        """The r leading eigenvectors (k, r) of D + AAᵀ: the rank-r projection of [A, X]."""
        M = self.D if A is None else self.D + A @ A.T
        return eigh_descending(M)[1][:, : self.rank]

    # --- one proximal step -----------------------------------------------------------------------

    def gradient(self, point: Point) -> Array:
        """∇_A of the loss and the ridge (k, κ)."""
        return self.Phi.T @ point.E + 2 * self.problem.lam * (point.W @ point.beta)

    def proximal_subspace(self, point: Point, eta: float, gradient: Array) -> Array:
        """W of Π_r([s(A − η∇), X]), s² = 1/(2ξη): an exact proximal step (docs/method.md §4)."""
        step = point.W @ point.beta - eta * gradient
        return self.leading(step / (eta**0.5 * (2 * self.problem.xi) ** 0.5))

    # --- geometry -------------------------------------------------------------------------------

    def frame(self, point: Point) -> Frame:
        xp = namespace(point.W)
        r = self.rank
        scaled = self.root_ratio * point.beta
        theta, U = eigh_descending(point.W.T @ self.D @ point.W + scaled @ scaled.T)
        W, beta = point.W @ U, U.T @ point.beta
        complement = xp.linalg.qr(W, mode="complete")[0][:, r:]
        nu, V = eigh_descending(complement.T @ self.D @ complement)
        return Frame(W, beta, theta, complement @ V, nu)

    # --- a bound ---------------------------------------------------------------------------------

    def dual_root(self, E: Array) -> Array:
        """Q (k, κ) with M(E) = D + QQᵀ, Q = SᵀΦᵀE/(2√(ξλ)); zero where λ = 0."""
        if self.problem.lam == 0:
            return zeros_like_of(self.D, self.D.shape[0], E.shape[1])
        return self.Phi.T @ E / (2 * self.problem.xi**0.5 * self.problem.lam**0.5)

    def pca_value(self) -> float:
        """D(0) = ξ·Σ_{i>r}σ_i² inside the basis: what reconstruction alone must cost."""
        values = eigh_descending(self.D)[0][: self.rank]
        return self.problem.xi * (
            self.problem.data.squared_norm - float(namespace(values).sum(values))
        )

    def duality_gap(self, point: Point) -> float:
        """F − D(E) inside the basis at the residuals of the point (docs/method.md §7); inf where λ = 0.

        Meaningful for a point polished in γ: an unpenalised intercept needs Σ_i E_i = 0.
        """
        problem = self.problem
        if problem.lam == 0 or not problem.loss.has_conjugate:
            return float("inf")
        xp = namespace(point.W)
        values = eigh_descending(self.D + _outer(self.dual_root(point.E)))[0][: self.rank]
        # The tangent form: −Σωℓ*(E/ω) = Σωℓ(a) − ⟨E, a⟩, at the activations that gave E.
        f = problem.loss_terms(point.a)[0]
        dual = f - inner(point.E, point.a)
        dual += problem.xi * (problem.data.squared_norm - float(xp.sum(values)))
        dual -= problem.covariate_conjugate(point.E)
        return point.F - dual

    def mapping_norm(self, old: Point, new: Point, eta: float) -> float:
        """‖A_new − A_old‖/η, the gradient mapping of the proximal step."""
        xp = namespace(old.W)
        return float(xp.sqrt(xp.sum((new.W @ new.beta - old.W @ old.beta) ** 2))) / eta


def _outer(Q: Array) -> Array:
    return Q @ Q.T
