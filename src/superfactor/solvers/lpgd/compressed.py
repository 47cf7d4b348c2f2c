"""LPGD in the coordinates of X's singular vectors: no matrix of the size of X but X itself.

From its search side (see `LiftedArrays`) the lifted matrix is θ = [A, B], N × (κ + other), and one
step is Π_r(M) with

    M = c·[0, X] + [a·A, b·B] + g·[I, 0],    c = 2ξτ,  b = 1 − c,  a = 1 − 2λτ,  g = −τ∇_A(loss):

X times a number plus rank r plus rank κ (docs/method.md §5). θ is kept as Z = S·Tᵀ, with S on the shorter
side of X in the eigenbasis U of the smaller Gram matrix, and T on the longer side (`Long`). The
Gram matrix of M on the short side is diagonal plus low rank, its leading eigenvectors are the new
S, and the new T = MᵀS is again Xᵀ times something short plus what was there before.

Units: θ of the user (samples in units of √w) divided by the scale s of the data, so B is the
problem's B̃, and A is the problem's Ã times `share` (1/s² for the filter model, 1/s for the
feature model). τ, ξ, λ, γ are the user's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Self

from superfactor._arrays import Array, eye_like, frobenius2, inner, zeros_like_of
from superfactor.constraints import WholeSpace
from superfactor.solvers.lpgd.coordinates import Coordinates
from superfactor.solvers.lpgd.long_side import Long


@dataclass(frozen=True)
class CompressedState:
    """Z = S·Tᵀ and γ (q, κ), with the activations a, E = ω∘∇ℓ (n, κ) and F there."""

    at: Coordinates
    rank: int
    S: Array
    T: Long
    gamma: Array
    a: Array = field(init=False, repr=False)
    E: Array = field(init=False, repr=False)
    value: float = field(init=False)
    size: float = field(init=False)

    def __post_init__(self) -> None:
        at = self.at
        arrays, scale = at.arrays, at.scale
        a = at.activations(self.S, self.T, self.gamma)
        loss, E = arrays.loss_terms(a)
        A2, B2 = at.block_norms2(self.S, self.T)
        gamma2 = frobenius2(self.gamma)
        fit = at.gram.trace - 2 * at.overlap(self.S, self.T) + B2
        value = loss + arrays.xi * fit + arrays.lam * A2 / at.share**2
        value += arrays.covariate_penalty(at.out(self.gamma))
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "E", E)
        object.__setattr__(self, "value", value)
        size = math.hypot(scale * math.sqrt(max(A2 + B2, 0.0)), math.sqrt(gamma2))
        object.__setattr__(self, "size", size)

    def advance(self, tau: float) -> tuple[Self, float]:
        at, xp, m = self.at, self.at.xp, self.at.m
        arrays = at.arrays
        c, keep = 2 * at.xi * tau, 1 - 2 * at.lam * tau
        slope = at.into(arrays.covariates.T @ self.E)
        ridge = at.into(arrays.covariate_ridge)[:, None]
        gamma = self.gamma - tau * (slope + 2 * ridge * self.gamma)

        both = at.gradient(self.S, self.T, self.E, -tau)
        factor_A = factor_B = 1.0
        if not isinstance(at.constraint, WholeSpace):
            stepped = at.weighted(*both, keep, 1 - c, 1.0)
            A2, B2 = at.block_norms2(*stepped)
            B2 += 2 * c * at.overlap(*stepped) + c**2 * at.gram.trace
            factor_A, factor_B, gamma = at.shrink((A2, B2), gamma)
        keep, rest, c = factor_A * keep, factor_B * (1 - c), factor_B * c

        # M = c·[0, X] + P·Qᵀ; its Gram matrix on the short side is diagonal plus low rank.
        P, Q = at.weighted(*both, keep, rest, factor_A)
        image = at.image(Q)
        k = self.S.shape[1] if at.left else P.shape[1]  # the others have no image
        corner = c * eye_like(P, P.shape[1], k)
        core = xp.concat(
            [xp.concat([Q.gram(), corner], axis=1), xp.concat([corner.T, zeros_like_of(P, k, k)], axis=1)]
        )
        extra = xp.concat([P, image[:, :k]], axis=1)
        S, GS = at.gram.leading(c, extra, core, self.rank, both[0])
        T = Q.turned(P.T @ S).plus_range(c * S[:m, :], c * GS)

        # Z' − Z = SSᵀ(M − Z) − (I − SSᵀ)Z, with M − Z formed before norms are taken.
        P, Q = at.weighted(*both, keep - 1, rest - 1, factor_A)
        inside = Q.turned(P.T @ S).plus_range(c * S[:m, :], c * GS).gram()
        outside = self.S - S @ (S.T @ self.S)
        moved2 = float(xp.sum(xp.linalg.diagonal(inside)))
        moved2 += inner(outside.T @ outside, self.T.gram())
        moved = math.hypot(at.scale * math.sqrt(max(moved2, 0.0)), math.sqrt(frobenius2(gamma - self.gamma)))
        return type(self)(at, self.rank, S, T.tidy(), gamma), moved

    def product(self) -> tuple[Array, Array, Array]:
        """L (N, r), β (r, κ), P (other, r) with Ã = L·β and B̃ = L·Pᵀ."""
        at, m = self.at, self.at.m
        long, short = at.long_array(self.T), at.from_short(self.S[:m, :])
        rows = self.T.A if at.left else self.S[m:, :]
        beta = at.out(rows.T / at.share)
        return (short, beta, long) if at.left else (long, beta, short)
