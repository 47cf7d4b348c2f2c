"""Where a compressed state lives: the two sides of X, the blocks of θ, the loss and Π_Θ there.

The notation is that of ``compressed``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from superfactor._arrays import Array, eye_like, frobenius2, inner, zeros_like_of
from superfactor.constraints import ConvexSet, FrobeniusBall, Product, WholeSpace
from superfactor.models import LiftedArrays
from superfactor.options import Options
from superfactor.solvers.lpgd.gram import Gram, gram_of
from superfactor.solvers.lpgd.long_side import Anchors, Long


def compressible(constraint: ConvexSet) -> bool:
    """Whether the projection multiplies A and B by numbers: no constraint, or Frobenius balls."""
    if isinstance(constraint, Product):
        return compressible(constraint.A) and compressible(constraint.B)
    return isinstance(constraint, WholeSpace | FrobeniusBall)


class Coordinates:
    """The problem with the shorter side of X in coordinates that make its Gram matrix easy.

    Attributes
    ----------
    left : whether the shorter side is the search side (filter with p < n, feature with n ≤ p);
        the rows of the A-block then lie on the long side, else on the short one
    gram : the smaller Gram matrix G; m : its size
    xi, lam : ξ and λ in the user's units
    """

    arrays: LiftedArrays
    constraint: ConvexSet
    xp: Any
    left: bool
    scale: float
    share: float
    xi: float
    lam: float
    kappa: int
    forth: Callable[[Array], Array]
    back: Callable[[Array], Array]
    gram: Gram
    m: int

    def __init__(self, arrays: LiftedArrays, constraint: ConvexSet, options: Options) -> None:
        self.arrays, self.constraint = arrays, constraint
        self.xp = arrays.data.xp
        self.left = arrays.model.on_smaller_side(arrays.data.shape)
        self.scale = arrays.data.scale
        self.share = 1 / self.scale / arrays.unit
        self.xi, self.lam = arrays.users_weights
        self.kappa = arrays.n_outputs
        # Products with X: forth to the short side, back to the long one.
        products: list[Callable[[Array], Array]] = [arrays.back, arrays.image]
        self.forth, self.back = products if self.left else products[::-1]
        self.gram = gram_of(arrays, options, lambda F: self.into(self.forth(self.back(self.out(F)))))
        self.m = self.gram.size

    # --- the way in and out: only here do arrays meet X and its floating type ---------------------

    def into(self, x: Array) -> Array:
        return self.xp.astype(x, self.xp.float64)

    def out(self, x: Array) -> Array:
        return self.xp.astype(x, self.arrays.data.dtype)

    def to_short(self, x: Array) -> Array:
        """Coordinates (m, k) of vectors on the short side."""
        return self.gram.enter(self.into(x))

    def from_short(self, x: Array) -> Array:
        return self.out(self.gram.leave(x))

    def across(self, R: Array) -> Array:
        """X·R (m, k) for R (long, k)."""
        return self.to_short(self.forth(self.out(R)))

    def long_array(self, T: Long) -> Array:
        """The columns of T themselves (long, k), without the rows A."""
        out = self.back(self.from_short(T.F))
        return out + self.out(T.anchors.R @ T.C) if T.anchors.size else out

    def long(self, R: Array, A: Array) -> Long:
        """R (long, k) and the rows A (h, k) as a `Long`."""
        R = self.into(R)
        k = R.shape[1]
        anchors = Anchors.of(R, self.across(R))
        none = zeros_like_of(R, self.m, k)
        return Long(none, none, eye_like(R, k), A, anchors)

    def long_range(self, F: Array, h: int) -> Long:
        """Xᵀ·F as a `Long` with h zero rows."""
        k, n_long = F.shape[1], max(self.arrays.data.shape)
        anchors = Anchors.of(zeros_like_of(F, n_long, 0), zeros_like_of(F, F.shape[0], 0))
        return Long(F, self.gram.times(F), zeros_like_of(F, 0, k), zeros_like_of(F, h, k), anchors)

    # --- the loss ---------------------------------------------------------------------------------

    def activations(self, S: Array, T: Long, gamma: Array) -> Array:
        """a (n, κ) at Z = S·Tᵀ; at most one product of X with κ columns."""
        arrays = self.arrays
        gamma = self.out(gamma)
        if self.left:
            A = self.from_short(S @ (T.A.T / self.share))
            return arrays.activations(A, gamma)
        part = T.turned(S[self.m :, :].T / self.share)
        # Where activations are images, those of the long side are short.
        phi = arrays.model.phi(lambda: self.from_short(part.image()), lambda: self.long_array(part))
        return arrays.features(phi, phi) + arrays.covariates @ gamma

    def gradient(self, S: Array, T: Long, E: Array, factor: float) -> tuple[Array, Long]:
        """S and T with κ more columns each, whose product is factor·∇_A(loss) in the A-block."""
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
        """What `gradient` gives, weighted: alpha on A, beta on B, delta on the gradient."""
        k = P.shape[1] - self.kappa
        weights = self.xp.concat([zeros_like_of(P, k) + alpha, zeros_like_of(P, self.kappa) + delta])[None, :]
        if self.left:
            return P, Q.weighted(beta, weights)
        m = self.m
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
        m, G = self.m, T.gram()
        top, bottom = S[:m, :], S[m:, :]
        return inner(bottom.T @ bottom, G), inner(top.T @ top, G)

    def overlap(self, S: Array, T: Long) -> float:
        """⟨X, B⟩."""
        return inner(T.image(), S[: self.m, :])

    def shrink(self, norms2: tuple[float, float], gamma: Array) -> tuple[float, float, Array]:
        """Π_Θ: the numbers that multiply A and B, and the projected γ."""
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
