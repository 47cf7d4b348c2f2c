"""The concave dual of a lifted problem: every dual point bounds F over rank ≤ r (docs/method.md §7).

    D(G) = −Σ_i ω_i ℓ*(y_i, g_i) + ξ(‖X̃‖² − Σ_{i≤r} λ_i(M)) − Σ_j ‖x'_jᵀG‖²/(4ρ_j),       G = ω∘g
    M(G) = (Gram matrix of the search side) + QQᵀ,    Q = ΦᵀG/(2√(ξλ))

An unpenalised intercept asks for Σ_i G_i = 0. Sums of eigenvalues are bounded from above, so that
rounding and Ritz values can only weaken the bound, never break it.
"""

from __future__ import annotations

import math

import numpy as np

from superfactor._arrays import (
    Array,
    column_norms,
    eigh_descending,
    eps,
    inner,
    namespace,
    zeros_like_of,
)
from superfactor.lifting import LiftedProblem
from superfactor.spectrum import GrowingBasis, fill_leading, top_eigenpairs

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
        problem: LiftedProblem,
        rank: int,
        basis: GrowingBasis | None = None,
        *,
        exact: bool | None = None,
    ):
        self.problem, self.rank = problem, rank
        n, p = problem.data.shape
        small, large = min(n, p), max(n, p)
        self._sigma = problem.data.singular_values
        if exact is None:
            exact = small <= _EXACT_SIDE and 2.0 * small * small * large <= _EXACT_OPERATIONS
        self.exact = exact or self._sigma is not None
        self._gram: Array | None = None
        if self.exact and self._sigma is None:
            self._gram = problem.data.gram()
        self._basis = basis
        if not self.exact and basis is None:
            self._basis = leading_basis(problem, rank)

    # --- the parts of D ------------------------------------------------------------------------

    def root(self, G: Array) -> Array:
        """Q (N, κ), so that M = Gram + QQᵀ."""
        return self.problem.pull(G) / (2 * self.problem.xi**0.5 * self.problem.lam**0.5)

    def top_sum(self, Q: Array | None) -> float:
        """An upper bound on the sum of the r largest eigenvalues of Gram + QQᵀ (Q None: of Gram)."""
        if self._sigma is not None:
            return self._known_sum(self._sigma, Q)
        return self._full_sum(Q) if self.exact else self._ritz_sum(Q)

    def _known_sum(self, sigma: Array, Q: Array | None) -> float:
        """From the singular values: diag(σ²) plus a matrix of rank κ."""
        xp, d = namespace(sigma), sigma**2
        if Q is None:
            return float(xp.sum(d[: self.rank]))
        problem = self.problem
        if problem.name == "filter":  # the coordinates are the right singular vectors themselves
            root = Q
        else:  # UᵀQ, and what Q has outside the range of X, where the Gram matrix is zero
            inside = problem.image(Q) / sigma[:, None]
            outside = xp.linalg.qr(Q - problem.back(inside / sigma[:, None]))[1]
            root = xp.concat([inside, outside])
            d = xp.concat([d, zeros_like_of(d, outside.shape[0])])
        rank = min(self.rank, d.shape[0])
        values, _, residuals = top_eigenpairs(d, root, rank)
        # A missed direction would lie in the tail, where eigenvalues are below the r-th (interlacing).
        rounding = _rounding(d.shape[0], values)
        return float(xp.sum(values) + rank * xp.sum(residuals)) + rounding

    def _full_sum(self, Q: Array | None) -> float:
        problem, M = self.problem, self._gram
        assert M is not None
        xp = namespace(M)
        if Q is not None:
            Q = xp.astype(Q, M.dtype)
            if problem.searches_gram_side:
                M = M + Q @ Q.T
            else:  # the same nonzero eigenvalues, from the other side of [X, Q]
                image = xp.astype(problem.image(xp.astype(Q, problem.data.dtype)), M.dtype)
                M = xp.concat(
                    [xp.concat([M, image], axis=1), xp.concat([image.T, Q.T @ Q], axis=1)]
                )
        values = xp.flip(xp.linalg.eigvalsh((M + M.T) / 2))
        top = values[: self.rank]
        rounding = _rounding(M.shape[0], values)
        return float(xp.sum(xp.where(top > 0, top, xp.zeros_like(top)))) + rounding

    def _ritz_sum(self, Q: Array | None) -> float:
        """Σθ_i + Σc_i, c_i = |R_i|²/(θ_i − ν̄): the block bound of docs/method.md §11."""
        problem, basis = self.problem, self._basis
        assert basis is not None
        S, GS, D = basis.S, basis.GS, basis.D
        xp = namespace(S)
        if Q is not None:
            new, _ = basis.new_directions(Q)
            G_new = problem.back(problem.image(new))
            cross = S.T @ G_new
            S, GS = xp.concat([S, new], axis=1), xp.concat([GS, G_new], axis=1)
            D = xp.concat(
                [
                    xp.concat([D, cross], axis=1),
                    xp.concat([cross.T, new.T @ G_new], axis=1),
                ]
            )
            q = S.T @ Q
            D = D + q @ q.T
        theta, V = eigh_descending(D)
        r = min(self.rank, theta.shape[0])
        wanted = min(r + 1, theta.shape[0])
        R = GS @ V[:, :wanted]
        if Q is not None:
            R = R + Q @ (Q.T @ (S @ V[:, :wanted]))
        R = R - S @ (S.T @ R)
        size = column_norms(R)
        outside = float(theta[r] + size[r]) if wanted > r else 0.0
        gap, size = theta[:r] - outside, size[:r]
        safe = xp.where(gap > size, gap, xp.ones_like(gap))
        c = xp.where(gap > size, size**2 / safe, 2 * size - gap)
        rounding = _rounding(D.shape[0], theta)
        return float(xp.sum(theta[:r] + c)) + rounding

    def reconstruction(self, Q: Array | None) -> float:
        """ξ(‖X̃‖² − Σ_{i≤r}λ_i(M)), from below."""
        return self.problem.xi * (self.problem.data.squared_norm - self.top_sum(Q))

    def unsupervised(self) -> float:
        """D(0) = ξΣ_{i>r}σ_i²: what reconstruction alone must cost."""
        return max(self.reconstruction(None), 0.0)

    # --- D -------------------------------------------------------------------------------------

    def feasible(self, E: Array) -> Array:
        """The dual point nearest to the residuals E = ω∘∇ℓ that an unpenalised intercept allows."""
        problem = self.problem
        if not bool(namespace(E).any(problem.covariate_ridge == 0)):
            return E
        weight = problem.loss_weight
        return problem.loss.balance(E / weight, problem.targets, weight[:, 0]) * weight

    def value(self, G: Array) -> float:
        """D(G) at a feasible G = ω∘g (n, κ)."""
        problem = self.problem
        weight = problem.loss_weight
        conjugate = problem.loss.conjugate(G / weight, problem.targets)
        bound = -inner(conjugate, weight[:, 0]) + self.reconstruction(self.root(G))
        return bound - problem.covariate_conjugate(G)


def _rounding(size: int, values: Array) -> float:
    """What rounding may have taken from a sum of eigenvalues of a matrix of this size."""
    return 4 * eps(values) * math.sqrt(size) * abs(float(values[0]))


def leading_basis(problem: LiftedProblem, rank: int) -> GrowingBasis:
    """A basis that nearly holds the top of the spectrum, for points that came without one."""
    rng = np.random.default_rng(0)
    like = problem.targets

    def fresh() -> Array:
        block = rng.standard_normal((problem.other_side, max(8, rank // 2)))
        data = problem.data
        return problem.back(data.xp.asarray(block, dtype=like.dtype, device=data.device))

    basis = GrowingBasis(problem.empty, problem.image, problem.back)
    fill_leading(basis, 6 * rank + 20, 6 * rank + 20, fresh)
    return basis
