"""Points of the search, the frame that makes their reconstruction's curvature diagonal, and how to move them.

A subspace W (k, r) moves to the span of W + t·W⊥T. The retraction keeps W orthonormal, and with it Wβ
moves to (W + tW⊥T)(β + tv) exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from superfactor._arrays import Array, eigh_descending, eye_like, namespace, zeros_like_of


@dataclass(frozen=True)
class Point:
    """A feasible point with its value.

    W (k, r) orthonormal, β (r, κ), γ (q, κ); F the objective and `loss` its part Σωℓ; `pulled` (k + q, κ) is
    [ΦS, X']ᵀE, E = ω∘∇ℓ the residuals at its activations [ΦS, X']·coef.
    """

    W: Array
    beta: Array
    gamma: Array
    F: float
    loss: float
    pulled: Array

    @property
    def coef(self) -> Array:
        """[Wβ; γ] (k + q, κ)."""
        return namespace(self.W).concat([self.W @ self.beta, self.gamma])


@dataclass(frozen=True)
class Frame:
    """A point turned so that the curvature of its reconstruction is diagonal (docs/method.md §11).

    W, beta : turned to match
    ritz : eigenvalues (r,) of WᵀDW + (λ/ξ)ββᵀ, descending
    complement : W⊥ (k, k−r), turned so that D is diagonal there
    rest : its values there (k−r,), descending
    """

    W: Array
    beta: Array
    ritz: Array
    complement: Array
    rest: Array

    @staticmethod
    def of(W: Array, beta: Array, D: Array, root_ratio: float) -> Frame:
        """The frame of a subspace; root_ratio = √(λ/ξ)."""
        scaled = root_ratio * beta
        ritz, U = eigh_descending(W.T @ D @ W + scaled @ scaled.T)
        W, beta = W @ U, U.T @ beta
        complement = namespace(W).linalg.qr(W, mode="complete")[0][:, W.shape[1] :]
        rest, V = eigh_descending(complement.T @ D @ complement)
        return Frame(W, beta, ritz, complement @ V, rest)

    def turn(self, n_covariates: int) -> Array:
        """[W⊥, W, I] (k + q, k + q): coordinates in which a design becomes [ΦW⊥, ΦW, X']."""
        (k, r), q = self.W.shape, n_covariates
        turn = zeros_like_of(self.W, k + q, k + q)
        turn[:k, : k - r], turn[:k, k - r : k] = self.complement, self.W
        turn[k:, k:] = eye_like(self.W, q)
        return turn

    def turned_coef(self, gamma: Array) -> Array:
        """[0; β; γ] (k + q, κ): the point's coefficients in these coordinates."""
        rest = zeros_like_of(self.beta, int(self.rest.shape[0]), int(self.beta.shape[1]))
        return namespace(rest).concat([rest, self.beta, gamma])

    def retracted(self, T: Array, v: Array, t: float) -> tuple[Array, Array]:
        """W orthonormal and β after a step t along T (k−r, r) and v (r, κ)."""
        xp = namespace(T)
        moved = self.W + t * (self.complement @ T)
        L = xp.linalg.cholesky(eye_like(v, v.shape[0]) + t * t * (T.T @ T))
        return moved @ xp.linalg.inv(L).T, L.T @ (self.beta + t * v)

    def rotated(self, i: int, j: int, angle: float) -> Array:
        """W with its direction i turned by an angle into direction j of the complement."""
        xp, W = namespace(self.W), self.W
        column = math.cos(angle) * W[:, i] + math.sin(angle) * self.complement[:, j]
        return xp.concat([W[:, :i], column[:, None], W[:, i + 1 :]], axis=1)
