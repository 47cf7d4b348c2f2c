"""The problem inside a subspace of the search side: k coordinates instead of N."""

from __future__ import annotations

from dataclasses import dataclass

from superfactor._arrays import (
    Array,
    eigh_descending,
    eye_like,
    frobenius2,
    full_like_of,
    inner,
    namespace,
)
from superfactor.lifting import GrowingBasis, SampledDesign, SampledProblem, fit_ridge


@dataclass(frozen=True)
class Point:
    """A feasible point with its value.

    W (k, r) orthonormal, β (r, κ), γ (q, κ); F the objective and `loss` its part Σωℓ; `pulled` (k + q, κ) is
    [ΦS, X']ᵀE, E = ω∘∇ℓ the residuals at its activations [ΦS, X']θ.
    """

    W: Array
    beta: Array
    gamma: Array
    F: float
    loss: float
    pulled: Array

    @property
    def theta(self) -> Array:
        """θ = [Wβ; γ] (k + q, κ)."""
        return namespace(self.W).concat([self.W @ self.beta, self.gamma])


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

    def __init__(self, problem: SampledProblem, basis: GrowingBasis, rank: int):
        self.problem, self.basis, self.rank = problem, basis, rank
        # Products λ/ξ and ξ·η leave the range of floats at extreme units; their roots do not.
        self.root_ratio = problem.lam**0.5 / problem.xi**0.5
        self.refresh()

    def refresh(self) -> None:
        """Take notice of a basis that has grown or turned."""
        (mass,) = self.problem.samples.sum("mass")
        columns = self.basis.size + self.problem.n_covariates
        # [ΦS, X'] (n, k + q): what the classifier can see.
        self.design = SampledDesign(self.problem, float(mass), columns)
        self._mass = float(mass)
        self.least_curvature = self.design.floor()
        self.D = self.basis.D

    def embedded(self, point: Point) -> Point:
        """The same point in a basis that has since grown."""
        missing = self.basis.size - int(point.W.shape[0])
        if missing == 0:
            return point
        rest = self.problem.zeros(missing, int(point.W.shape[1]))
        return self.at(namespace(rest).concat([point.W, rest]), point.beta, point.gamma)

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
        design = SampledDesign(problem, self._mass, r + q, V)
        theta, _, _ = fit_ridge(design, ridge, xp.concat([beta, gamma]), max_iter=max_iter, tol=tol)
        return self.at(W, theta[:r, :], theta[r:, :])

    def at(self, W: Array, beta: Array, gamma: Array) -> Point:
        """The point itself, nothing optimised."""
        problem = self.problem
        loss, pulled = self.design.evaluate(namespace(W).concat([W @ beta, gamma]))
        F = loss + problem.lam * frobenius2(beta) + problem.covariate_penalty(gamma)
        return Point(W, beta, gamma, F + self.reconstruction(W), loss, pulled)

    def leading(self, A: Array | None = None) -> Array:
        """The r leading eigenvectors (k, r) of D + AAᵀ: the rank-r projection of [A, X]."""
        M = self.D if A is None else self.D + A @ A.T
        return eigh_descending(M)[1][:, : self.rank]

    # --- one proximal step -----------------------------------------------------------------------

    def gradient(self, point: Point) -> Array:
        """∇_A of the loss and the ridge (k, κ)."""
        k = self.basis.size
        return point.pulled[:k, :] + 2 * self.problem.lam * (point.W @ point.beta)

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

    def dual_root(self, pulled: Array) -> Array:
        """Q (k, κ) with M(E) = D + QQᵀ, Q = SᵀΦᵀE/(2√(ξλ)), from [ΦS, X']ᵀE."""
        problem = self.problem
        return pulled[: self.basis.size, :] / (2 * problem.xi**0.5 * problem.lam**0.5)

    def pca_value(self) -> float:
        """D(0) = ξ·Σ_{i>r}σ_i² inside the basis: what reconstruction alone must cost."""
        values = eigh_descending(self.D)[0][: self.rank]
        return self.problem.xi * (self.problem.squared_norm - float(namespace(values).sum(values)))

    def duality_gap(self, point: Point) -> float:
        """F − D(E) inside the basis at the residuals of the point (docs/method.md §7); inf where λ = 0.

        Meaningful for a point polished in γ: an unpenalised intercept needs Σ_i E_i = 0.
        """
        problem = self.problem
        if problem.lam == 0 or not problem.loss.has_conjugate:
            return float("inf")
        xp, k = namespace(point.W), self.basis.size
        Q = self.dual_root(point.pulled)
        values = eigh_descending(self.D + Q @ Q.T)[0][: self.rank]
        # The tangent form: −Σωℓ*(E/ω) = Σωℓ(a) − ⟨E, a⟩, at the activations that gave E.
        dual = point.loss - inner(point.pulled, point.theta)
        dual += problem.xi * (problem.squared_norm - float(xp.sum(values)))
        dual -= problem.covariate_conjugate(point.pulled[k:, :])
        return point.F - dual

    def mapping_norm(self, old: Point, new: Point, eta: float) -> float:
        """‖A_new − A_old‖/η, the gradient mapping of the proximal step."""
        xp = namespace(old.W)
        return float(xp.sqrt(xp.sum((new.W @ new.beta - old.W @ old.beta) ** 2))) / eta
