"""A point of Algorithm 1 without arrays of the size of X: where Θ multiplies A and B by numbers.

X̃ is diagonal in U, the eigenvectors of the Gram matrix of its shorter side, and a vector on the longer side
is kept as X̃ᵀ times a short one plus a combination of few others. So a step costs one product with κ
columns of X̃ or two, and none where X is wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from superfactor._arrays import Array
from superfactor._new.eigen import leading_eigenvectors
from superfactor._new.rows import Rows
from superfactor._new.subspace import joined
from superfactor._new.tall import dot, here, pull, there
from superfactor.constraints import ConvexSet, FrobeniusBall, Product, WholeSpace

# Up to this length the shorter side's Gram matrix is decomposed once; beyond, each step takes more products
# with X.
_SIDE, _FEW = 3000, 80


def compressible(constraint: ConvexSet) -> bool:
    """Return whether the projection multiplies A and B by numbers: no constraint, or Frobenius balls."""
    if isinstance(constraint, Product):
        return compressible(constraint.A) and compressible(constraint.B)
    return isinstance(constraint, WholeSpace | FrobeniusBall)


class Coordinates:
    """X (m, long): X̃ or X̃ᵀ with its shorter side in the eigenvectors U of its Gram matrix UdUᵀ."""

    def __init__(self, rows: Rows, model: str, xi: float, lam: float, constraint: ConvexSet) -> None:
        self.rows, self.model, self.xi, self.lam, self.constraint = rows, model, xi, lam, constraint
        self.m, self.of_samples = min(rows.shape), rows.shape[0] <= rows.shape[1]
        self.left = self.of_samples == (model == "feature")  # whether the search side is the shorter one
        self.U: Any = None
        if self.m <= _SIDE and (rows.in_memory or not self.of_samples):
            d, U = np.linalg.eigh(rows.sample_gram() if self.of_samples else rows.gram())
            self.d, self.U = np.maximum(d[::-1], 0), U[:, ::-1].copy()

    def enter(self, x: Array) -> Any:
        """Return coordinates (m, k) of vectors on the short side."""
        return here(x) if self.U is None else self.U.T @ here(x)

    def leave(self, x: Any) -> Array:
        x = x if self.U is None else self.U @ x
        return there(x, self.rows.Y) if self.of_samples else x

    def across(self, R: Array) -> Any:
        """Return XR (m, k)."""
        return self.enter(self.rows.times(R) if self.of_samples else self.rows.back(R))

    def down(self, F: Any) -> Array:
        """Return XᵀF (long, k)."""
        F = self.leave(F)
        return self.rows.back(F) if self.of_samples else self.rows.times(F)

    def gram(self, F: Any) -> Any:
        """Return XXᵀF (m, k)."""
        return self.across(self.down(F)) if self.U is None else self.d[:, None] * F

    def leading(self, c: float, W: Any, core: Any, rank: int, guess: Any) -> Any:
        """Return the leading eigenvectors of c²XXᵀ + W core Wᵀ; W (m + h, k) has h more rows than XXᵀ."""
        m, h = self.m, len(W) - self.m

        def times(T: Any) -> Any:
            return np.vstack([c**2 * self.gram(T[:m]), np.zeros((h, T.shape[1]))]) + W @ (core @ (W.T @ T))

        if self.U is None:
            more = np.random.default_rng(0).standard_normal((len(W), max(rank - guess.shape[1], 0)))
            return leading_eigenvectors(
                times, np.hstack([guess, more]), rank, max(1e-10, 50 * self.rows.eps)
            )[1]

        def corrected(R: Any, values: Any) -> Any:
            far = values - np.append(c**2 * self.d, np.zeros(h))[:, None]
            floor = 1e-3 * np.abs(values).max()
            return R / np.where(np.abs(far) > floor, far, floor)

        if m + h <= _FEW:
            return np.linalg.eigh(times(np.eye(m + h)))[1][:, : -rank - 1 : -1]
        # The leading coordinates and the guess together miss no eigenvector.
        guess = np.hstack([np.eye(m + h, min(rank + 5, m)), guess])
        return leading_eigenvectors(times, guess, rank, 1e-13, corrected)[1]

    def shrunk(self, norms2: tuple[float, float], gamma: Any) -> tuple[float, float, Any]:
        """Return Π_Θ: the factors of A and B, and γ."""
        sizes, theta = [math.sqrt(max(x, 0.0)) for x in norms2], self.constraint
        if isinstance(theta, Product):
            new = theta.gamma.project(there(gamma, self.rows.Y))
            return *(_ratio(*each) for each in zip((theta.A, theta.B), sizes, strict=True)), here(new)
        both = _ratio(theta, math.hypot(*sizes, float(np.linalg.norm(gamma))))
        return both, both, gamma * both

    def begin(self, factors: tuple[Array, Any, Array, Any] | None, rank: int) -> Thin:
        """Return the point of factors L, β, P, γ; by default that of PCA."""
        kappa, m, rows = self.rows.outputs, self.m, self.rows
        if factors is None:
            guess = np.random.default_rng(0).standard_normal((m, 0 if self.U is not None else rank))
            S = self.leading(1.0, np.zeros((m, 0)), np.zeros((0, 0)), min(rank, m), guess)
            anchors = Anchors(self.down(S[:, :0]), S[:, :0], np.zeros((0, 0)))
            A, T, gamma = np.zeros((kappa, S.shape[1])), S, np.zeros((len(rows.rho), kappa))
        else:
            L, beta, P, gamma = factors
            short, R = (L, P) if self.left else (P, L)
            anchors, A = Anchors(R, self.across(R), pull(R, R)), beta.T
            S, T = self.enter(short), np.vstack([np.zeros((m, len(beta))), np.eye(len(beta))])
        return Thin(
            self,
            rank,
            S if self.left else np.vstack([S, A]),
            np.vstack([T, A]) if self.left else T,
            anchors,
            gamma,
        )


def _ratio(constraint: ConvexSet, size: float) -> float:
    return (
        constraint.radius / size
        if isinstance(constraint, FrobeniusBall) and size > constraint.radius
        else 1.0
    )


@dataclass(frozen=True)
class Anchors:
    """R (long, j), XR and RᵀR: a vector on the long side is [Xᵀ, R]K with coordinates K (m + j, k)."""

    R: Array
    image: Any  # (m, j)
    gram: Any  # (j, j)

    def extended(self, R: Array, image: Any) -> Anchors:
        cross = pull(self.R, R)
        gram = np.block([[self.gram, cross], [cross.T, pull(R, R)]])
        return Anchors(joined(self.R, R), np.hstack([self.image, image]), gram)

    def turned(self, C: Any) -> Anchors:
        return Anchors(dot(self.R, C), self.image @ C, C.T @ self.gram @ C)


@dataclass(frozen=True)
class Thin:
    """θ or θᵀ as STᵀ: S (m, r) on the short side of X, T (m + j, r) on the long one, by its coordinates.

    The side opposite the search side has κ more rows, the last ones, for A (κ, r): T if the search side is
    the short one, otherwise S.
    """

    at: Coordinates
    rank: int
    S: Any
    T: Any
    anchors: Anchors
    gamma: Any
    violation = 0.0

    def image(self, K: Any, anchors: Anchors) -> Any:
        """Return XK (m, k) for vectors on the long side."""
        m = self.at.m
        return self.at.gram(K[:m]) + anchors.image @ K[m : m + len(anchors.gram)]

    def square(self, K: Any, anchors: Anchors, image: Any = None) -> Any:
        """Return the Gram matrix (k, k) of vectors on the long side, without the rows of A."""
        image, m = self.image(K, anchors) if image is None else image, self.at.m
        body, rest = K[:m], K[m : m + len(anchors.gram)]
        return body.T @ image + rest.T @ (anchors.image.T @ body + anchors.gram @ rest)

    def norms2(self, S: Any, T: Any, TT: Any) -> tuple[float, float]:
        """Return ‖A‖² and ‖B‖² of STᵀ."""
        m, left = self.at.m, self.at.left
        A, SS = self.rows_of_A(S, T), S[:m].T @ S[:m]
        return float(np.vdot(SS if left else TT, A.T @ A)), float(np.vdot(SS, TT))

    def rows_of_A(self, S: Any, T: Any) -> Any:
        return T[-self.at.rows.outputs :] if self.at.left else S[self.at.m :]

    @cached_property
    def XT(self) -> Any:
        return self.image(self.T, self.anchors)

    @cached_property
    def TT(self) -> Any:
        return self.square(self.T, self.anchors, self.XT)

    @cached_property
    def loss(self) -> tuple[float, Array]:
        at, rows, A = self.at, self.at.rows, self.rows_of_A(self.S, self.T)
        if at.left:
            signal = at.leave(self.S @ A.T)
            signal = rows.times(signal) if at.model == "filter" else signal
        else:
            signal = at.leave(self.XT @ A.T) if at.model == "filter" else self.long(self.T @ A.T)
        value, E = rows.evaluate(rows.unrooted(signal) + dot(rows.Z, self.gamma))
        return float(value), E

    @cached_property
    def value(self) -> float:
        at, (A2, B2) = self.at, self.norms2(self.S, self.T, self.TT)
        fit = at.rows.total - 2 * float(np.vdot(self.XT, self.S[: at.m])) + B2
        return self.loss[0] + at.xi * fit + at.lam * A2 + float(at.rows.rho @ (self.gamma**2).sum(1))

    @property
    def size(self) -> float:
        return math.sqrt(max(sum(self.norms2(self.S, self.T, self.TT)), 0.0) + float((self.gamma**2).sum()))

    def long(self, K: Any) -> Array:
        """Return vectors (long, k) from their coordinates."""
        m = self.at.m
        return self.at.down(K[:m]) + dot(self.anchors.R, K[m : m + len(self.anchors.gram)])

    def advance(self, tau: float) -> tuple[Thin, float]:
        """Return the next point and its distance."""
        at, m, rows, S, T, anchors = self.at, self.at.m, self.at.rows, self.S, self.T, self.anchors
        kappa, r = rows.outputs, S.shape[1]
        E = rows.unrooted(self.loss[1])
        # ∇_A of the loss: vectors beside which A has its rows.
        slope = at.enter(E) if at.of_samples else at.across(E)
        if not at.left and at.model == "filter":
            slope = np.vstack([slope, np.zeros((len(T) - m, kappa))])
        elif not at.left:
            anchors, T = anchors.extended(E, slope), np.vstack([T, np.zeros((kappa, r))])
            slope = np.eye(len(T), kappa, kappa - len(T))

        def step(keep: float, rest: float, share: float) -> tuple[Any, Any]:
            """Return P and Q with PQᵀ = [keep·A − share·τ∇, rest·B]."""
            own, other = (S, T) if at.left else (T, S)
            both = np.zeros((len(other), r + kappa))
            both[:, :r], both[-kappa:, r:] = rest * other, share * np.eye(kappa)
            both[-kappa:, :r] = keep * other[-kappa:]
            own = np.hstack([own, -tau * slope])
            return (own, both) if at.left else (both, own)

        c, keep = 2 * at.xi * tau, 1 - 2 * at.lam * tau
        gamma = self.gamma - tau * (pull(rows.Z, self.loss[1]) + 2 * rows.rho[:, None] * self.gamma)
        in_A = in_B = 1.0
        if not isinstance(at.constraint, WholeSpace):
            P, Q = step(keep, 1 - c, 1.0)
            image = self.image(Q, anchors)
            A2, B2 = self.norms2(P, Q, self.square(Q, anchors, image))
            in_A, in_B, gamma = at.shrunk(
                (A2, B2 + 2 * c * float(np.vdot(image, P[:m])) + c**2 * rows.total), gamma
            )
        keep, rest, c = in_A * keep, in_B * (1 - c), in_B * c

        # M = PQᵀ + c[0, X]; its Gram matrix on the short side is diagonal plus low rank. New S: its
        # eigenvectors.
        P, Q = step(keep, rest, in_A)
        image = self.image(Q, anchors)
        QQ = self.square(Q, anchors, image) + self._of_A(Q)
        k = r + kappa
        core = np.zeros((2 * k, 2 * k))
        core[:k, :k], core[:k, k:], core[k:, :k] = QQ, c * np.eye(k), c * np.eye(k)
        W = np.hstack([P, np.vstack([image, np.zeros((len(P) - m, k))])])
        new = at.leading(c, W, core, self.rank, P)

        def beside(P: Any, Q: Any) -> Any:
            T = Q @ (P.T @ new)
            T[:m] += c * new[:m]
            return T

        # Z' − Z = Π(M − Z) − (I − Π)Z, Π the projection on the new S; M − Z is formed before norms.
        along, off = beside(*step(keep - 1, rest - 1, in_A)), S - new @ (new.T @ S)
        moved2 = np.trace(self.square(along, anchors) + self._of_A(along))
        moved2 += np.vdot(off.T @ off, self.TT + self._of_A(self.T))
        moved = math.sqrt(max(float(moved2), 0.0) + float(((gamma - self.gamma) ** 2).sum()))
        T, j = beside(P, Q), len(anchors.gram)
        if j > T.shape[1]:
            anchors, T = anchors.turned(T[m : m + j]), np.vstack([T[:m], np.eye(T.shape[1]), T[m + j :]])
        return Thin(at, self.rank, new, T, anchors, gamma), moved

    def _of_A(self, K: Any) -> Any:
        """Return the part of the rows of A in the Gram matrix of vectors on the long side."""
        A = K[-self.at.rows.outputs :]
        return A.T @ A if self.at.left else 0.0

    def factored(self) -> tuple[Array, Any, Array]:
        """Return L (N, r), β (r, κ), P (other, r) with A = Lβ and B = LPᵀ."""
        short, long = self.at.leave(self.S[: self.at.m]), self.long(self.T)
        beta = self.rows_of_A(self.S, self.T).T
        return (short, beta, long) if self.at.left else (long, beta, short)
