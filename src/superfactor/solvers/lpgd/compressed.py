"""LPGD in the coordinates of X's singular vectors: no matrix of the size of X but X itself.

From its search side (see `LiftedProblem`) the lifted matrix is θ = [A, B], N × (κ + other), and one
step is Π_r(M) with

    M = c·[0, X] + [a·A, b·B] + g·[I, 0],    c = 2ξτ,  b = 1 − c,  a = 1 − 2λτ,  g = −τ∇_A(loss):

X times a number plus rank r plus rank κ (math §5). θ is kept as Z = S·Tᵀ, with S on the shorter
side of X in the eigenbasis U of the smaller Gram matrix, and T on the longer side (`Long`). The
Gram matrix of M on the short side is diagonal plus low rank, its leading eigenvectors are the new
S, and the new T = MᵀS is again Xᵀ times something short plus what was there before.

Units: θ of the user (samples in units of √w) divided by the scale s of the data, so B is the
problem's B̃, and A is the problem's Ã times `share` (1/s² for the filter model, 1/s for the
feature model). τ, ξ, λ, γ are the user's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Self

from superfactor._arrays import (
    Array,
    eigh_descending,
    eye_like,
    frobenius2,
    inner,
    namespace,
    zeros_like_of,
)
from superfactor.constraints import ConvexSet, FrobeniusBall, Product, WholeSpace
from superfactor.lifting import LiftedProblem
from superfactor.solvers.lpgd.long_side import Anchors, Long
from superfactor.spectrum import top_eigenpairs


def compressible(constraint: ConvexSet) -> bool:
    """Whether the projection multiplies A and B by numbers: no constraint, or Frobenius balls."""
    if isinstance(constraint, Product):
        return compressible(constraint.A) and compressible(constraint.B)
    return isinstance(constraint, WholeSpace | FrobeniusBall)


class Coordinates:
    """The problem with the shorter side of X in the eigenbasis U of the smaller Gram matrix.

    Attributes
    ----------
    left : whether the shorter side is the search side (filter with p < n, feature with n ≤ p);
        the rows of the A-block then lie on the long side, else on the short one
    U : (m, m) orthogonal; d : (m,) eigenvalues, descending
    xi, lam : ξ and λ in the user's units
    """

    def __init__(self, problem: LiftedProblem, constraint: ConvexSet) -> None:
        self.problem, self.constraint = problem, constraint
        values, U = eigh_descending(problem.data.gram())
        self.xp = namespace(values)
        self.U = self.xp.asarray(U, copy=True)  # a flipped view would be copied in every product
        self.d = self.xp.where(values > 0, values, self.xp.zeros_like(values))
        n, p = problem.data.shape
        self.filter = problem.name == "filter"
        self.left = p < n if self.filter else n <= p
        scale = self.scale = problem.data.scale
        self.share = 1 / scale**2 if self.filter else 1 / scale
        self.xi = problem.xi / scale**2
        self.lam = problem.lam * scale**2 if self.filter else problem.lam
        self.kappa = problem.n_outputs
        self.norm2 = float(self.xp.sum(self.d))

    # --- the way in and out: only here do arrays meet X and its floating type ---------------------

    def _in(self, x: Array) -> Array:
        return self.xp.astype(x, self.d.dtype)

    def _out(self, x: Array) -> Array:
        return self.xp.astype(x, self.problem.data.dtype)

    def to_short(self, x: Array) -> Array:
        """Coordinates (m, k) of vectors on the short side."""
        return self.U.T @ self._in(x)

    def from_short(self, x: Array) -> Array:
        return self._out(self.U @ x)

    def across(self, R: Array) -> Array:
        """X·R (m, k) for R (long, k)."""
        product = self.problem.back if self.left else self.problem.image
        return self.to_short(product(self._out(R)))

    def long_array(self, T: Long) -> Array:
        """The columns of T themselves (long, k), without the rows A."""
        product = self.problem.image if self.left else self.problem.back
        out = product(self.from_short(T.F))
        return out + self._out(T.anchors.R @ T.C) if T.anchors.size else out

    def long(self, R: Array, A: Array) -> Long:
        """R (long, k) and the rows A (h, k) as a `Long`."""
        R = self._in(R)
        k = R.shape[1]
        anchors = Anchors.of(R, self.across(R))
        return Long(self.d, zeros_like_of(self.d, self.d.shape[0], k), eye_like(R, k), A, anchors)

    def long_range(self, F: Array, h: int) -> Long:
        """Xᵀ·F as a `Long` with h zero rows."""
        k, n_long = F.shape[1], max(self.problem.data.shape)
        anchors = Anchors.of(zeros_like_of(F, n_long, 0), zeros_like_of(F, F.shape[0], 0))
        return Long(self.d, F, zeros_like_of(F, 0, k), zeros_like_of(F, h, k), anchors)

    # --- the loss ---------------------------------------------------------------------------------

    def activations(self, S: Array, T: Long, gamma: Array) -> Array:
        """a (n, κ) at Z = S·Tᵀ; at most one product of X with κ columns."""
        problem = self.problem
        gamma = self._out(gamma)
        if self.left:
            A = self.from_short(S @ (T.A.T / self.share))
            return problem.activations(A, gamma)
        part = T.turned(S[self.d.shape[0] :, :].T / self.share)
        if self.filter:  # activations are images, and those of the long side are short
            image = self.from_short(part.image())
            return problem.features(image, image) + problem.covariates @ gamma
        return problem.activations(self.long_array(part), gamma)

    def gradient(self, S: Array, T: Long, E: Array, factor: float) -> tuple[Array, Long]:
        """S and T with κ more columns each, whose product is factor·∇_A(loss) in the A-block."""
        xp, problem = self.xp, self.problem
        factor = factor if self.filter else factor / self.scale
        if self.left:
            g = self.to_short(problem.pull(E)) * factor
            return xp.concat([S, g], axis=1), T.with_rows(eye_like(S, self.kappa))
        unit = xp.concat([zeros_like_of(S, self.d.shape[0], self.kappa), eye_like(S, self.kappa)])
        S = xp.concat([S, unit], axis=1)
        if problem.root_weight is not None:
            E = E / problem.root_weight
        if self.filter:
            return S, T.with_range(self.to_short(E) * factor)
        return S, T.with_columns(self._in(E) * factor, self.across(E) * factor)

    # --- the blocks of θ --------------------------------------------------------------------------

    def weighted(
        self, P: Array, Q: Long, alpha: float, beta: float, delta: float
    ) -> tuple[Array, Long]:
        """What `gradient` gives, weighted: alpha on A, beta on B, delta on the gradient."""
        k = P.shape[1] - self.kappa
        weights = self.xp.concat(
            [zeros_like_of(self.d, k) + alpha, zeros_like_of(self.d, self.kappa) + delta]
        )[None, :]
        if self.left:
            return P, replace(Q, F=Q.F * beta, C=Q.C * beta, A=Q.A * weights)
        m = self.d.shape[0]
        return self.xp.concat([P[:m, :] * beta, P[m:, :] * weights]), Q

    def image(self, T: Long) -> Array:
        """[0, X]·T on the short side, with rows of zeros for the A-block where that is here."""
        top = T.image()
        if self.left:
            return top
        return self.xp.concat([top, zeros_like_of(top, self.kappa, top.shape[1])])

    def block_norms2(self, S: Array, T: Long) -> tuple[float, float]:
        """‖A‖² and ‖B‖²."""
        if self.left:
            G = S.T @ S
            return inner(G, T.A.T @ T.A), inner(G, T.body_gram())
        m, G = self.d.shape[0], T.gram()
        top, bottom = S[:m, :], S[m:, :]
        return inner(bottom.T @ bottom, G), inner(top.T @ top, G)

    def overlap(self, S: Array, T: Long) -> float:
        """⟨X, B⟩."""
        return inner(T.image(), S[: self.d.shape[0], :])

    def shrink(self, norms2: tuple[float, float], gamma: Array) -> tuple[float, float, Array]:
        """Π_Θ: the numbers that multiply A and B, and the projected γ."""
        norms = [self.scale * math.sqrt(max(x, 0.0)) for x in norms2]
        constraint = self.constraint
        if isinstance(constraint, Product):
            a, b = (
                _ratio(part, norm) for part, norm in zip(constraint.factors, norms, strict=False)
            )
            return a, b, constraint.gamma.project(gamma)
        both = _ratio(constraint, math.hypot(*norms, math.sqrt(frobenius2(gamma))))
        return both, both, gamma * both


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
        problem, scale = at.problem, at.scale
        a = at.activations(self.S, self.T, self.gamma)
        loss, E = problem.loss_terms(a)
        A2, B2 = at.block_norms2(self.S, self.T)
        gamma2 = frobenius2(self.gamma)
        fit = at.norm2 - 2 * at.overlap(self.S, self.T) + B2
        value = loss + problem.xi * fit + problem.lam * A2 / at.share**2
        value += problem.covariate_penalty(at._out(self.gamma))
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "E", E)
        object.__setattr__(self, "value", value)
        size = math.hypot(scale * math.sqrt(max(A2 + B2, 0.0)), math.sqrt(gamma2))
        object.__setattr__(self, "size", size)

    def advance(self, tau: float) -> tuple[Self, float]:
        at, xp, m = self.at, self.at.xp, self.at.d.shape[0]
        problem = at.problem
        c, keep = 2 * at.xi * tau, 1 - 2 * at.lam * tau
        slope = at._in(problem.covariates.T @ self.E)
        ridge = at._in(problem.covariate_ridge)[:, None]
        gamma = self.gamma - tau * (slope + 2 * ridge * self.gamma)

        both = at.gradient(self.S, self.T, self.E, -tau)
        factor_A = factor_B = 1.0
        if not isinstance(at.constraint, WholeSpace):
            stepped = at.weighted(*both, keep, 1 - c, 1.0)
            A2, B2 = at.block_norms2(*stepped)
            B2 += 2 * c * at.overlap(*stepped) + c**2 * at.norm2
            factor_A, factor_B, gamma = at.shrink((A2, B2), gamma)
        keep, rest, c = factor_A * keep, factor_B * (1 - c), factor_B * c

        # M = c·[0, X] + P·Qᵀ; its Gram matrix on the short side is diagonal plus low rank.
        P, Q = at.weighted(*both, keep, rest, factor_A)
        image = at.image(Q)
        k = self.S.shape[1] if at.left else P.shape[1]  # the others have no image
        corner = c * eye_like(P, P.shape[1], k)
        core = xp.concat(
            [
                xp.concat([Q.gram(), corner], axis=1),
                xp.concat([corner.T, zeros_like_of(P, k, k)], axis=1),
            ]
        )
        d = c**2 * at.d
        if not at.left:
            d = xp.concat([d, zeros_like_of(d, at.kappa)])
        _, S, _ = top_eigenpairs(d, xp.concat([P, image[:, :k]], axis=1), self.rank, core=core)
        T = Q.turned(P.T @ S, plus=c * S[:m, :])

        # Z' − Z = SSᵀ(M − Z) − (I − SSᵀ)Z, with M − Z formed before norms are taken.
        P, Q = at.weighted(*both, keep - 1, rest - 1, factor_A)
        inside = Q.turned(P.T @ S, plus=c * S[:m, :]).gram()
        outside = self.S - S @ (S.T @ self.S)
        moved2 = float(xp.sum(xp.linalg.diagonal(inside)))
        moved2 += inner(outside.T @ outside, self.T.gram())
        moved = math.hypot(
            at.scale * math.sqrt(max(moved2, 0.0)), math.sqrt(frobenius2(gamma - self.gamma))
        )
        return type(self)(at, self.rank, S, T.tidy(), gamma), moved

    def product(self) -> tuple[Array, Array, Array]:
        """L (N, r), β (r, κ), P (other, r) with Ã = L·β and B̃ = L·Pᵀ."""
        at, m = self.at, self.at.d.shape[0]
        long, short = at.long_array(self.T), at.from_short(self.S[:m, :])
        rows = self.T.A if at.left else self.S[m:, :]
        beta = at._out(rows.T / at.share)
        return (short, beta, long) if at.left else (long, beta, short)


def _ratio(constraint: ConvexSet, norm: float) -> float:
    if isinstance(constraint, FrobeniusBall) and norm > constraint.radius:
        return constraint.radius / norm
    return 1.0
