"""The concave dual of a lifted problem: every dual point bounds F over rank ≤ r (docs/method.md §7).

    D(G) = −Σ_i ω_i ℓ*(y_i, g_i) + ξ(‖X̃‖² − Σ_{i≤r} λ_i(M)) − Σ_j ‖x'_jᵀG‖²/(4ρ_j),       G = ω∘g
    M(G) = (Gram matrix of the search side) + QQᵀ,    Q = ΦᵀG/(2√(ξλ))

An unpenalised intercept asks for Σ_i G_i = 0. Sums of eigenvalues are bounded from above, so that
rounding and Ritz values can only weaken the bound, never break it. The dual points live with the samples.
"""

from __future__ import annotations

import math

import numpy as np

from superfactor._arrays import (
    Array,
    eigh_descending,
    eye_like,
    namespace,
    wide,
    zeros_like_of,
)
from superfactor.lifting import GrowingBasis, SampledProblem
from superfactor.losses.base import BALANCING_STEPS
from superfactor.spectrum import top_eigenpairs

# Up to this size of the smaller side, and this many operations for its Gram matrix, M is decomposed.
_EXACT_SIDE = 1200
_EXACT_OPERATIONS = 4e9


class Dual:
    """Lower bounds for one problem and rank.

    `exact` says whether the spectrum of M is computed in full. Otherwise the sum of its top r
    values is bounded through a basis, with the largest value outside it *estimated* by a Ritz value
    plus its residual.
    """

    def __init__(
        self,
        problem: SampledProblem,
        rank: int,
        basis: GrowingBasis | None = None,
        *,
        exact: bool | None = None,
    ):
        self.problem, self.rank = problem, rank
        small, large = min(problem.shape), max(problem.shape)
        self._sigma = problem.singular_values
        if exact is None:
            exact = small <= _EXACT_SIDE and 2.0 * small * small * large <= _EXACT_OPERATIONS
        self.exact = (exact and problem.smaller_gram is not None) or self._sigma is not None
        self._gram: Array | None = None
        if self.exact and self._sigma is None and problem.smaller_gram is not None:
            self._gram = problem.smaller_gram()
        self._basis = basis
        if not self.exact and basis is None:
            self._basis = leading_basis(problem, rank)
        self._unsupervised: float | None = None

    # --- dual points, kept by the samples ----------------------------------------------------------

    def take(self, g: Array) -> None:
        """Take up given dual points g (n, κ), made feasible."""
        self.problem.samples.tell("given", "dual", wide(g))
        self._balance()

    def take_residuals(self, theta: Array) -> None:
        """Take up the residuals at coefficients θ (k + q, κ) of the design, made feasible."""
        self.problem.samples.tell("dual_from", theta)
        self._balance()

    def _balance(self) -> None:
        """To the nearest dual points that an unpenalised intercept allows."""
        problem = self.problem
        if not bool(problem.xp.any(problem.covariate_ridge == 0)):
            return
        steps: list[tuple[Array, ...]] = []
        for _ in range(BALANCING_STEPS):
            steps.append(problem.samples.sum("imbalance", steps))
        problem.samples.tell("rebalance", steps)

    def value(self) -> float:
        """D at the dual points taken up."""
        problem = self.problem
        conjugate, pulled = problem.samples.sum("dual_terms")
        bound = -float(conjugate) - problem.covariate_conjugate(pulled)
        return bound + problem.xi * (problem.squared_norm - self._top_sum())

    def unsupervised(self) -> float:
        """D(0) = ξΣ_{i>r}σ_i²: what reconstruction alone must cost."""
        if self._unsupervised is None:
            top = self._top_sum_of_gram()
            self._unsupervised = max(self.problem.xi * (self.problem.squared_norm - top), 0.0)
        return self._unsupervised

    def largest(self) -> float:
        """About the largest eigenvalue σ₁² of the Gram matrix, from above."""
        if self._gram is not None:
            return float(self.problem.xp.linalg.eigvalsh(self._gram)[-1]) * (1 + 1e-12)
        if self._sigma is not None:
            return float(self._sigma[0]) ** 2
        assert self._basis is not None
        basis, xi = self._basis, self.problem.xi
        values, V = eigh_descending(basis.D)
        _, gram = basis.outside(basis.powers(xi * V[:, :1]))
        return float(values[0]) + math.sqrt(max(float(gram[0, 0]), 0.0)) / xi

    # --- upper bounds on sums of the r largest eigenvalues --------------------------------------------

    def _scale(self) -> float:
        """Q = ΦᵀG times this."""
        return 0.5 / (math.sqrt(self.problem.xi) * math.sqrt(self.problem.lam))

    def _top_sum_of_gram(self) -> float:
        if self._sigma is not None:
            return float(namespace(self._sigma).sum(self._sigma[: self.rank] ** 2))
        if self._gram is not None:
            return self._eigenvalue_sum(self._gram)
        return self._ritz_sum(supervised=False)

    def _top_sum(self) -> float:
        if self._sigma is not None:
            return self._known_sum(self._sigma)
        if self._gram is not None:
            return self._full_sum(self._gram)
        return self._ritz_sum(supervised=True)

    def _pulled(self) -> tuple[Array, Array]:
        """X̃ᵀQ (p, κ) and QᵀQ (κ, κ) for the feature model, whose Q = G/√w·scale is tall."""
        samples, scale = self.problem.samples, self._scale()
        steps = [("combine", "staged", [("E", None)], None), ("inner", [("staged", "staged")])]
        (inside,) = samples.sum("several", steps)
        (image,) = samples.sum("image", "staged")
        return image * scale, inside * scale**2

    def _known_sum(self, sigma: Array) -> float:
        """From the singular values: diag(σ²) plus a matrix of rank κ."""
        xp, d = namespace(sigma), wide(sigma) ** 2
        if (
            self.problem.name == "filter"
        ):  # the coordinates are the right singular vectors themselves
            root = self.problem.samples.sum("pull", None)[0] * self._scale()
        else:  # UᵀQ, and what Q has outside the range of X, where the Gram matrix is zero
            image, inside = self._pulled()
            within = image / sigma[:, None]
            values, V = eigh_descending(inside - within.T @ within)
            outside = xp.sqrt(xp.clip(values, 0.0, None))[:, None] * V.T
            root = xp.concat([within, outside])
            d = xp.concat([d, zeros_like_of(d, outside.shape[0])])
        rank = min(self.rank, d.shape[0])
        values, _, residuals = top_eigenpairs(d, root, rank)
        # A missed direction would lie in the tail, where eigenvalues are below the r-th (interlacing).
        rounding = self._rounding(d.shape[0], values)
        return float(xp.sum(values) + rank * xp.sum(residuals)) + rounding

    def _full_sum(self, M: Array) -> float:
        """From the Gram matrix of the smaller side of X̃."""
        problem = self.problem
        of_samples = problem.shape[0] <= problem.shape[1]
        if problem.name == "feature" and not of_samples:
            image, corner = self._pulled()
            return self._eigenvalue_sum(_bordered(M, image, corner))
        if problem.name == "feature":
            Q = wide(problem.samples.stack("rows", [("E", None)])) * self._scale()
            return self._eigenvalue_sum(M + Q @ Q.T)
        Q = problem.samples.sum("pull", None)[0] * self._scale()
        if not of_samples:
            return self._eigenvalue_sum(M + Q @ Q.T)
        # The same nonzero eigenvalues, from the other side of [X, Q].
        image = wide(problem.samples.stack("images", Q))
        return self._eigenvalue_sum(_bordered(M, image, Q.T @ Q))

    def _eigenvalue_sum(self, M: Array) -> float:
        xp = namespace(M)
        values = xp.flip(xp.linalg.eigvalsh((M + M.T) / 2))
        top = values[: self.rank]
        rounding = self._rounding(M.shape[0], values)
        return float(xp.sum(xp.where(top > 0, top, xp.zeros_like(top)))) + rounding

    def _ritz_sum(self, supervised: bool) -> float:
        """Σθ_i + Σc_i, c_i = |R_i|²/(θ_i − ν̄): the block bound of docs/method.md §11."""
        problem, basis = self.problem, self._basis
        assert basis is not None
        xp, scale = problem.xp, self._scale() if supervised else 0.0
        before, D, q = basis.size, basis.D, problem.zeros(basis.size, problem.n_outputs)
        if supervised:
            basis.extend(basis.pull(None))
            q = basis.products(basis.pull(None))[0] * scale
            D = basis.D + q @ q.T
        theta, V = eigh_descending(D)
        r = min(self.rank, theta.shape[0])
        wanted = min(r + 1, theta.shape[0])
        V = V[:, :wanted]
        if supervised:
            # R = GSV + Q(QᵀSV), in the words of `residual`: ξR = ξGSV − ½ΦᵀGβᵀ.
            R = basis.residual(V, -2 * problem.xi * scale * (V.T @ q), None)
        else:
            R = basis.powers(problem.xi * V)
        _, gram = basis.outside(R)
        size = xp.sqrt(xp.clip(xp.linalg.diagonal(gram), 0.0, None)) / problem.xi
        if basis.size > before:
            # As it was: an ascent asks hundreds of times, and coefficients of a fit refer to it.
            basis.rotate(eye_like(basis.D, basis.size, before))
        outside = float(theta[r] + size[r]) if wanted > r else 0.0
        gap, size = theta[:r] - outside, size[:r]
        safe = xp.where(gap > size, gap, xp.ones_like(gap))
        c = xp.where(gap > size, size**2 / safe, 2 * size - gap)
        return float(xp.sum(theta[:r] + c)) + self._rounding(D.shape[0], theta)

    def _rounding(self, size: int, values: Array) -> float:
        """What rounding may have taken from a sum of eigenvalues of a matrix of this size.

        The blocks' own floating type counts: sums over them are in float64, products with X are not.
        """
        return 4 * self.problem.epsilon * math.sqrt(size) * abs(float(values[0]))


def _bordered(M: Array, image: Array, corner: Array) -> Array:
    xp = namespace(M)
    top, low = xp.concat([M, image], axis=1), xp.concat([image.T, corner], axis=1)
    return xp.concat([top, low])


def leading_basis(problem: SampledProblem, rank: int) -> GrowingBasis:
    """A basis that nearly holds the top of the spectrum, for points that came without one."""
    basis, size = GrowingBasis.of(problem), 6 * rank + 20
    basis.fill_leading(size, size, np.random.default_rng(0), max(8, rank // 2))
    return basis
