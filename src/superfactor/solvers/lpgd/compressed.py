"""LPGD in the coordinates of X's singular vectors, without other matrices of the size of X.

On the search side (see `LiftedArrays`) the lifted matrix is θ = [A, B], N × (κ + other), and one step is
Π_r(M) with

    M = c·[0, X] + [a·A, b·B] + g·[I, 0],    c = 2ξτ,  b = 1 − c,  a = 1 − 2λτ,  g = −τ∇_A(loss):

a multiple of X plus rank r plus rank κ (docs/method.md §5). θ is stored as Z = S·Tᵀ. S is on the shorter side
of X, in the eigenbasis U of the smaller Gram matrix. T is on the longer side (`Long`): X is m × long and T =
Xᵀ·F + R·C. F (m, k) is short, the anchors R (long, j) are few and fixed, and C (j, k) combines them. So X·T
and TᵀT need m × k arrays only. The Gram matrix of M on the short side is diagonal plus low rank. Its leading
eigenvectors are the new S, and the new T = MᵀS is again Xᵀ times a short matrix plus the old part.

Units: θ of the user (samples in units of √w) divided by the scale s of the data. So B is the problem's B̃,
and A is the problem's Ã times `share` (1/s² for the filter model, 1/s for the feature model). τ, ξ, λ, γ are
the user's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from superfactor._arrays import Array, eye_like, frobenius2, inner, namespace, zeros_like_of
from superfactor.constraints import ConvexSet, FrobeniusBall, Product, WholeSpace
from superfactor.models import LiftedArrays
from superfactor.options import Options
from superfactor.solvers.lpgd.gram import Gram, gram_of


@dataclass(frozen=True)
class Anchors:
    """R (long, j) with its image X·R (m, j) and its Gram matrix RᵀR (j, j)."""

    R: Array
    image: Array
    gram: Array

    @classmethod
    def of(cls, R: Array, image: Array) -> Self:
        return cls(R, image, R.T @ R)

    @property
    def size(self) -> int:
        return int(self.R.shape[1])

    def and_also(self, R: Array, image: Array) -> Self:
        """Return these and more columns."""
        xp = namespace(self.R)
        cross = self.R.T @ R
        gram = xp.concat([xp.concat([self.gram, cross], axis=1), xp.concat([cross.T, R.T @ R], axis=1)])
        return type(self)(xp.concat([self.R, R], axis=1), xp.concat([self.image, image], axis=1), gram)

    def turned(self, C: Array) -> Self:
        """Return the columns R·C in place of R."""
        return type(self)(self.R @ C, self.image @ C, C.T @ self.gram @ C)


@dataclass(frozen=True)
class Long:
    """k columns [Xᵀ·F + R·C ‖ A] on the long side, with additional rows A (h, k) that X does not have.

    With h = κ these are the rows of the block A of θ; h = 0 if that block is on the other side.
    """

    F: Array
    GF: Array
    C: Array
    A: Array
    anchors: Anchors

    def image(self) -> Array:
        """Return X·T (m, k), without the rows A."""
        return self.GF + self.anchors.image @ self.C

    def body_gram(self) -> Array:
        """Return TᵀT (k, k) without the rows A."""
        cross = self.F.T @ (self.anchors.image @ self.C)
        own = self.F.T @ self.GF
        return own + cross + cross.T + self.C.T @ self.anchors.gram @ self.C

    def gram(self) -> Array:
        """Return TᵀT (k, k)."""
        return self.body_gram() + self.A.T @ self.A

    def turned(self, K: Array) -> Self:
        """Return T·K for K (k, k')."""
        return replace(self, F=self.F @ K, GF=self.GF @ K, C=self.C @ K, A=self.A @ K)

    def plus_range(self, F: Array, GF: Array) -> Self:
        """Return T + Xᵀ·F for F (m, k)."""
        return replace(self, F=self.F + F, GF=self.GF + GF)

    def weighted(self, body: float, rows: Array) -> Self:
        """Return T with its body times a number and the columns of A times `rows` (1, k)."""
        return replace(self, F=self.F * body, GF=self.GF * body, C=self.C * body, A=self.A * rows)

    def with_rows(self, A: Array) -> Self:
        """Append columns (k → k + j) that are zero except for their rows A (h, j)."""
        j, xp = A.shape[1], namespace(A)

        def padded(x: Array) -> Array:
            return xp.concat([x, zeros_like_of(x, x.shape[0], j)], axis=1)

        return replace(
            self, F=padded(self.F), GF=padded(self.GF), C=padded(self.C), A=xp.concat([self.A, A], axis=1)
        )

    def with_range(self, F: Array, GF: Array) -> Self:
        """Append columns Xᵀ·F."""
        more = self.with_rows(zeros_like_of(self.A, self.A.shape[0], F.shape[1]))
        xp = namespace(F)
        return replace(more, F=xp.concat([self.F, F], axis=1), GF=xp.concat([self.GF, GF], axis=1))

    def with_columns(self, R: Array, image: Array) -> Self:
        """Append columns R (long, j) as anchors; image = X·R."""
        xp, j = namespace(R), R.shape[1]
        more = self.with_rows(zeros_like_of(self.A, self.A.shape[0], j))
        unit = xp.concat([zeros_like_of(R, self.anchors.size, j), eye_like(R, j)], axis=0)
        C = xp.concat([more.C, zeros_like_of(R, j, more.C.shape[1])], axis=0)
        C = xp.concat([C[:, : self.C.shape[1]], unit], axis=1)
        return replace(more, C=C, anchors=self.anchors.and_also(R, image))

    def tidy(self) -> Self:
        """Return the same with at most as many anchors as columns."""
        k = self.F.shape[1]
        if self.anchors.size <= k:
            return self
        unit = eye_like(self.C, k)
        return replace(self, C=unit, anchors=self.anchors.turned(self.C))


def compressible(constraint: ConvexSet) -> bool:
    """Return whether the projection multiplies A and B by numbers: no constraint, or Frobenius balls."""
    if isinstance(constraint, Product):
        return compressible(constraint.A) and compressible(constraint.B)
    return isinstance(constraint, WholeSpace | FrobeniusBall)


class Coordinates:
    """The problem with the shorter side of X in coordinates in which its Gram matrix is simple."""

    def __init__(self, arrays: LiftedArrays, constraint: ConvexSet, options: Options) -> None:
        self.arrays: LiftedArrays = arrays
        self.constraint: ConvexSet = constraint
        self.xp: Any = arrays.data.xp
        # Whether the shorter side is the search side (filter with p < n, feature with n ≤ p); the rows of the
        # block A are then on the long side, otherwise on the short one.
        self.left: bool = arrays.model.on_smaller_side(arrays.data.shape)
        self.scale: float = arrays.data.scale
        self.share: float = 1 / self.scale / arrays.unit
        self.xi, self.lam = arrays.users_weights
        self.kappa: int = arrays.n_outputs
        # Products with X, to the short side and to the long one.
        products: list[Callable[[Array], Array]] = [arrays.back, arrays.image]
        self.forth, self.back = products if self.left else products[::-1]
        self.gram: Gram = gram_of(arrays, options, lambda F: self.into(self.forth(self.back(self.out(F)))))
        self.m: int = self.gram.size

    # --- conversion between these arrays and the library and floating type of X --------------------

    def into(self, x: Array) -> Array:
        return self.xp.astype(x, self.xp.float64)

    def out(self, x: Array) -> Array:
        return self.xp.astype(x, self.arrays.data.dtype)

    def to_short(self, x: Array) -> Array:
        """Return coordinates (m, k) of vectors on the short side."""
        return self.gram.enter(self.into(x))

    def from_short(self, x: Array) -> Array:
        return self.out(self.gram.leave(x))

    def across(self, R: Array) -> Array:
        """Return X·R (m, k) for R (long, k)."""
        return self.to_short(self.forth(self.out(R)))

    def long_array(self, T: Long) -> Array:
        """Return the columns of T as an array (long, k), without the rows A."""
        out = self.back(self.from_short(T.F))
        return out + self.out(T.anchors.R @ T.C) if T.anchors.size else out

    def long(self, R: Array, A: Array) -> Long:
        """Return R (long, k) and the rows A (h, k) as a `Long`."""
        R = self.into(R)
        k = R.shape[1]
        anchors = Anchors.of(R, self.across(R))
        none = zeros_like_of(R, self.m, k)
        return Long(none, none, eye_like(R, k), A, anchors)

    def long_range(self, F: Array, h: int) -> Long:
        """Return Xᵀ·F as a `Long` with h zero rows."""
        k, n_long = F.shape[1], max(self.arrays.data.shape)
        anchors = Anchors.of(zeros_like_of(F, n_long, 0), zeros_like_of(F, F.shape[0], 0))
        return Long(F, self.gram.times(F), zeros_like_of(F, 0, k), zeros_like_of(F, h, k), anchors)

    # --- the loss ---------------------------------------------------------------------------------

    def activations(self, S: Array, T: Long, gamma: Array) -> Array:
        """Return a (n, κ) at Z = S·Tᵀ, with at most one product of X with κ columns."""
        arrays = self.arrays
        gamma = self.out(gamma)
        if self.left:
            A = self.from_short(S @ (T.A.T / self.share))
            return arrays.activations(A, gamma)
        part = T.turned(S[self.m :, :].T / self.share)
        # In the filter model activations are products with X, which map the long side to the short one.
        phi = arrays.model.phi(lambda: self.from_short(part.image()), lambda: self.long_array(part))
        return arrays.features(phi, phi) + arrays.covariates @ gamma

    def gradient(self, S: Array, T: Long, E: Array, factor: float) -> tuple[Array, Long]:
        """Return S and T with κ more columns each, whose product is factor·∇_A(loss) in the block A."""
        xp, arrays = self.xp, self.arrays
        factor = factor * arrays.unit / self.scale
        if self.left:
            g = self.to_short(arrays.pull(E)) * factor
            return xp.concat([S, g], axis=1), T.with_rows(eye_like(S, self.kappa))
        unit = xp.concat([zeros_like_of(S, self.m, self.kappa), eye_like(S, self.kappa)])
        S = xp.concat([S, unit], axis=1)
        E = arrays.known.over_root(E)

        def range_of_X() -> Long:
            F = self.to_short(E) * factor
            return T.with_range(F, self.gram.times(F))

        return S, arrays.model.phi(
            range_of_X, lambda: T.with_columns(self.into(E) * factor, self.across(E) * factor)
        )

    # --- the blocks of θ --------------------------------------------------------------------------

    def weighted(self, P: Array, Q: Long, alpha: float, beta: float, delta: float) -> tuple[Array, Long]:
        """Return the result of `gradient` with weights: alpha on A, beta on B, delta on the gradient."""
        k = P.shape[1] - self.kappa
        weights = self.xp.concat([zeros_like_of(P, k) + alpha, zeros_like_of(P, self.kappa) + delta])[None, :]
        if self.left:
            return P, Q.weighted(beta, weights)
        m = self.m
        return self.xp.concat([P[:m, :] * beta, P[m:, :] * weights]), Q

    def image(self, T: Long) -> Array:
        """Return [0, X]·T on the short side, with zero rows for the block A if that is on this side."""
        top = T.image()
        if self.left:
            return top
        return self.xp.concat([top, zeros_like_of(top, self.kappa, top.shape[1])])

    def block_norms2(self, S: Array, T: Long) -> tuple[float, float]:
        """Return ‖A‖² and ‖B‖²."""
        if self.left:
            G = S.T @ S
            return inner(G, T.A.T @ T.A), inner(G, T.body_gram())
        m, G = self.m, T.gram()
        top, bottom = S[:m, :], S[m:, :]
        return inner(bottom.T @ bottom, G), inner(top.T @ top, G)

    def overlap(self, S: Array, T: Long) -> float:
        """Return ⟨X, B⟩."""
        return inner(T.image(), S[: self.m, :])

    def shrink(self, norms2: tuple[float, float], gamma: Array) -> tuple[float, float, Array]:
        """Return Π_Θ: the factors of A and B, and the projected γ."""
        norms = [self.scale * math.sqrt(max(x, 0.0)) for x in norms2]
        constraint = self.constraint
        if isinstance(constraint, Product):
            a, b = (_ratio(part, norm) for part, norm in zip(constraint.factors, norms, strict=False))
            return a, b, constraint.gamma.project(gamma)
        both = _ratio(constraint, math.hypot(*norms, math.sqrt(frobenius2(gamma))))
        return both, both, gamma * both


def _ratio(constraint: ConvexSet, norm: float) -> float:
    if isinstance(constraint, FrobeniusBall) and norm > constraint.radius:
        return constraint.radius / norm
    return 1.0


@dataclass(frozen=True)
class CompressedState:
    """Z = S·Tᵀ and γ (q, κ), with activations a, E = ω∘∇ℓ (n, κ) and F."""

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
        k = self.S.shape[1] if at.left else P.shape[1]  # the other columns have no image
        corner = c * eye_like(P, P.shape[1], k)
        core = xp.concat(
            [xp.concat([Q.gram(), corner], axis=1), xp.concat([corner.T, zeros_like_of(P, k, k)], axis=1)]
        )
        extra = xp.concat([P, image[:, :k]], axis=1)
        S, GS = at.gram.leading(c, extra, core, self.rank, both[0])
        T = Q.turned(P.T @ S).plus_range(c * S[:m, :], c * GS)

        # Z' − Z = SSᵀ(M − Z) − (I − SSᵀ)Z; M − Z is formed before the norms.
        P, Q = at.weighted(*both, keep - 1, rest - 1, factor_A)
        inside = Q.turned(P.T @ S).plus_range(c * S[:m, :], c * GS).gram()
        outside = self.S - S @ (S.T @ self.S)
        moved2 = float(xp.sum(xp.linalg.diagonal(inside)))
        moved2 += inner(outside.T @ outside, self.T.gram())
        moved = math.hypot(at.scale * math.sqrt(max(moved2, 0.0)), math.sqrt(frobenius2(gamma - self.gamma)))
        return type(self)(at, self.rank, S, T.tidy(), gamma), moved

    def product(self) -> tuple[Array, Array, Array]:
        """Return L (N, r), β (r, κ), P (other, r) with Ã = L·β and B̃ = L·Pᵀ."""
        at, m = self.at, self.at.m
        long, short = at.long_array(self.T), at.from_short(self.S[:m, :])
        rows = self.T.A if at.left else self.S[m:, :]
        beta = at.out(rows.T / at.share)
        return (short, beta, long) if at.left else (long, beta, short)
