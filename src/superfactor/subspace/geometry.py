"""Points of the search, frames in which the curvature of reconstruction is diagonal, and the retraction.

A subspace W (k, r) moves to the span of W + tT with WᵀT = 0. The retraction keeps W orthonormal, and with it
Wβ moves to (W + tT)(β + tv) exactly.

Arrays may have leading dimensions (…, k, r) for several points.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, device, eigh_descending, eye_like, indices, namespace, zeros_like_of


@dataclass(frozen=True, eq=False)
class Point:
    """A feasible point with its objective.

    W (…, k, r) orthonormal, β (…, r, κ), γ (…, q, κ); F (…) is the objective and `loss` (…) its
    part Σωℓ; `pulled` (…, k + q, κ) is [ΦS, X']ᵀE, E = ω∘∇ℓ the residuals at its activations [ΦS, X']·coef.
    """

    W: Array
    beta: Array
    gamma: Array
    F: Any
    loss: Any
    pulled: Array

    @property
    def coef(self) -> Array:
        """The coefficients [Wβ; γ] (…, k + q, κ)."""
        return namespace(self.W).concat([self.W @ self.beta, self.gamma], axis=-2)

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self.W, self.beta, self.gamma, self.F, self.loss, self.pulled

    def __getitem__(self, i: int) -> Point:
        """Return one of several points."""
        return self._each(lambda part: float(part[i]) if part.ndim == 1 else part[i, :, :])

    def _each(self, change: Callable[[Array], Array]) -> Point:
        return Point(*map(change, self._parts))

    def taken(self, chosen: Any) -> Point:
        """Return some of several points, by NumPy indices."""
        xp, index = namespace(self.W), indices(self.W, chosen)
        return self._each(lambda x: xp.take(x, index, axis=0))

    def replaced(self, chosen: Any, other: Point) -> Point:
        """Return these points with those at NumPy indices replaced by others, in the same order."""
        place, index = np.arange(int(self.W.shape[0])), np.asarray(chosen)
        place[index] = place.size + np.arange(index.size)
        xp, where = namespace(self.W), indices(self.W, place)

        def joined(a: Array, b: Array) -> Array:
            return xp.take(xp.concat([a, b], axis=0), where, axis=0)

        return Point(*map(joined, self._parts, other._parts)) if index.size else self


def _root(identity: Array, T: Array) -> Array:
    """Return L (…, r, r) with LLᵀ = I + TᵀT, for T (…, k, r)."""
    xp = namespace(T)
    try:
        return xp.linalg.cholesky(identity + xp.matrix_transpose(T) @ T)
    except (np.linalg.LinAlgError, RuntimeError):  # PyTorch's LinAlgError is a RuntimeError
        # T is so large that I is below the rounding error of TᵀT.
        both = xp.concat([xp.broadcast_to(identity, (*T.shape[:-2], *identity.shape)), T], axis=-2)
        return xp.matrix_transpose(xp.linalg.qr(both)[1])


@dataclass(frozen=True)
class Frame:
    """A rotated point, with diagonal curvature of the reconstruction (docs/method.md §11)."""

    W: Array  # rotated, like beta
    beta: Array
    ritz: Array  # eigenvalues (…, r) of WᵀDW + (λ/ξ)ββᵀ, descending
    complement: Array  # W⊥ (…, k, k−r), rotated so that D is diagonal there
    rest: Array  # the diagonal of D there (…, k−r), descending

    @staticmethod
    def of(W: Array, beta: Array, D: Array, root_ratio: float) -> Frame:
        """Return the frame of a subspace; root_ratio = √(λ/ξ)."""
        xp, scaled = namespace(W), root_ratio * beta
        turned = xp.matrix_transpose(W) @ D @ W + scaled @ xp.matrix_transpose(scaled)
        ritz, U = eigh_descending(turned)
        W, beta = W @ U, xp.matrix_transpose(U) @ beta
        complement = xp.linalg.qr(W, mode="complete")[0][..., W.shape[-1] :]
        rest, V = eigh_descending(xp.matrix_transpose(complement) @ D @ complement)
        return Frame(W, beta, ritz, complement @ V, rest)

    def turn(self, n_covariates: int) -> Array:
        """Return [W⊥, W, I] (…, k + q, k + q): in its coordinates a design becomes [ΦW⊥, ΦW, X']."""
        (*points, k, r), q = self.W.shape, n_covariates
        turn = zeros_like_of(self.W, *points, k + q, k + q)
        turn[..., :k, : k - r], turn[..., :k, k - r : k] = self.complement, self.W
        turn[..., k:, k:] = eye_like(self.W, q)
        return turn

    def turned_coef(self, gamma: Array) -> Array:
        """Return [0; β; γ] (k + q, κ), the coefficients of one point in these coordinates."""
        rest = zeros_like_of(self.beta, int(self.rest.shape[0]), int(self.beta.shape[1]))
        return namespace(rest).concat([rest, self.beta, gamma])

    def rotated(self, i: int, j: int, angle: float) -> Array:
        """Return W of one point with its direction i rotated by an angle to direction j of the complement."""
        xp, W = namespace(self.W), self.W
        column = math.cos(angle) * W[:, i] + math.sin(angle) * self.complement[:, j]
        return xp.concat([W[:, :i], column[:, None], W[:, i + 1 :]], axis=1)


def tangent(W: Array, beta: Array, values: Array, root_ratio: float | Array) -> tuple[Array, Array, Array]:
    """Return W and β rotated so that WᵀDW + (λ/ξ)ββᵀ is diagonal, and its values (…, r), descending.

    D is diag(values), and root_ratio = √(λ/ξ).
    """
    xp, scaled = namespace(W), root_ratio * beta
    inner = xp.matrix_transpose(W) @ (values[:, None] * W)
    ritz, U = eigh_descending(inner + scaled @ xp.matrix_transpose(scaled))
    return W @ U, xp.matrix_transpose(U) @ beta, ritz


def retracted(W: Array, beta: Array, T: Array, v: Array, t: float | Array) -> tuple[Array, Array]:
    """Return W orthonormal and β after steps t (…) along T (…, k, r), WᵀT = 0, and v (…, r, κ)."""
    xp = namespace(T)
    t = xp.asarray(t, dtype=T.dtype, device=device(T))[..., None, None]
    L = _root(eye_like(v, v.shape[-2]), t * T)
    return (W + t * T) @ xp.matrix_transpose(xp.linalg.inv(L)), xp.matrix_transpose(L) @ (beta + t * v)
