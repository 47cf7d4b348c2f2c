"""The lowest F that the harness itself finds: many descents, side by side, in well-scaled coordinates.

With diag(√w)X = LΣVᵀ (`svd`), W = VU in the filter model and the codes in units of √w are LU in the feature
model, U (N, r). Then a = ΦUβ + Zγ with Φ = diag(1/√w)LΣ or diag(1/√w)L, and

    F − ξΣ_{i>r}σ_i² = Σω ℓ + λ‖Uβ‖² + Σ_j ρ_j‖γ_j‖² + ξ(Σ_{i≤r} σ_i² − tr (UᵀU)⁻¹UᵀΣ²U).

Descents run in double precision. What counts is F of the points that they end at, which `naive.objective`
evaluates on the user's own X.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.trust.descent import descend
from benchmarks.trust.naive import Factors, Given, objective, orthonormal, with_best_codes

Array = Any

#: If classes are separable, curvature vanishes; its share of the usual one that units count with at least.
LEAST_BEND = 1e-4
#: Iterations of a round, and how many of the best go on after it.
ROUNDS = ((40, 6), (100, 3), (200, 2))


@dataclass(frozen=True)
class Point:
    """U (b, N, r), β (b, r, κ) and γ (b, q, κ) of b points; U has orthonormal columns."""

    U: Array
    beta: Array
    gamma: Array

    def __getitem__(self, which: Any) -> Point:
        return Point(self.U[which], self.beta[which], self.gamma[which])


class Coordinates:
    """A problem in the coordinates of its singular vectors."""

    def __init__(self, given: Given):
        L, sigma, V = given.svd
        root = np.sqrt(np.asarray(given.weight, dtype=np.longdouble))[:, None]
        n, m = L.shape
        self.given = given
        if given.model == "filter":
            self.side, Phi, self.d = V, L * sigma / root, sigma**2
        else:
            rest = np.linalg.qr(L.astype(float), mode="complete")[0][:, m:]
            self.side = np.hstack([L, rest])
            Phi, self.d = self.side / root, np.append(sigma**2, np.zeros(n - m))
        self.Phi, self.d = Phi.astype(float), self.d.astype(float)
        self.rank = min(given.rank, len(self.d))
        # Σ_i w_i‖A_i‖² of the feature model is ‖Uβ‖² in these coordinates too.
        self.Z, self.ridge = given.Z, given.ridge[:, None]
        omega = given.loss.omega
        self.bends = given.loss.bend * (omega @ self.Phi**2) + 2 * given.lam
        tiny = np.finfo(float).tiny
        self.gamma_unit = 1 / np.sqrt(given.loss.bend * (omega @ self.Z**2)[:, None] + 2 * self.ridge + tiny)

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Of U, β and γ."""
        N, r, kappa, q = len(self.d), self.rank, self.given.loss.n_outputs, self.Z.shape[1]
        return (N, r), (r, kappa), (q, kappa)

    @cached_property
    def size(self) -> int:
        """Of U, β and γ together."""
        return sum(a * b for a, b in self.shapes)

    def split(self, x: Array) -> list[Array]:
        """The parts of rows x (b, ·)."""
        cuts = np.cumsum([a * b for a, b in self.shapes])[:-1]
        parts = np.split(x, cuts, axis=1)
        return [part.reshape(len(x), *shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def units(self, at: Point) -> Array:
        """Sizes (b, ·) of steps that change F about alike: one over the root of its curvature along each."""
        given, tiny = self.given, np.finfo(float).tiny
        kept = np.einsum("bij,i,bij->bj", at.U, self.d, at.U)
        turns = 2 * given.xi * np.maximum(kept[:, None, :] - self.d[:, None], 0)
        usual = given.loss.bend * given.loss.omega
        bends = given.loss.bends(self.Phi @ (at.U @ at.beta) + self.Z @ at.gamma)
        bends = np.maximum(bends, LEAST_BEND * usual)[:, :, None]
        by_beta = ((self.Phi**2).T @ bends + 2 * given.lam) * (at.beta**2).sum(axis=2)[:, None, :]
        floor = 1e-8 * (given.xi * self.d[0] + given.loss.omega.sum()) + tiny
        scores = (bends * (self.Phi @ at.U) ** 2).sum(axis=1)[:, :, None]
        beta = scores + 2 * given.lam + tiny + np.zeros_like(at.beta)
        parts = (1 / np.sqrt(turns + by_beta + floor), 1 / np.sqrt(beta))
        gamma = np.broadcast_to(self.gamma_unit, at.gamma.shape)
        return np.concatenate([part.reshape(len(at.U), -1) for part in (*parts, gamma)], axis=1)

    def joined(self, at: Point) -> Array:
        """Rows for `descend`: a point in its own units, and these units beside it, which do not move."""
        units = self.units(at)
        x = np.concatenate([part.reshape(len(units), -1) for part in (at.U, at.beta, at.gamma)], axis=1)
        return np.concatenate([x / units, units], axis=1)

    def point(self, rows: Array) -> Point:
        """Back from rows; A apart from what only reconstructs, U orthonormal."""
        x, units = rows[:, : self.size], rows[:, self.size :]
        U, beta, gamma = self.split(x * units)
        U, R = np.linalg.qr(U)
        beta = R @ beta
        # The first columns carry A = Uβ, the others none of it: their units differ by many orders.
        turn = np.linalg.svd(beta, full_matrices=True)[0]
        return Point(U @ turn, turn.mT @ beta, gamma)

    def __call__(self, rows: Array) -> tuple[Array, Array]:
        """F − ξΣ_{i>r}σ_i² (b,) and its slope (b, ·); infinite where columns of U are dependent."""
        x, units = rows[:, : self.size], rows[:, self.size :]
        U, beta, gamma = self.split(x * units)
        given = self.given
        with np.errstate(all="ignore"):
            gram = U.mT @ U
            scale = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
            turned = gram / (scale[:, :, None] * scale[:, None, :])
            lost = ~(np.linalg.det(np.where(np.isfinite(turned), turned, 0)) > 1e-10)
            gram[lost] = np.eye(self.rank)
            inverse = np.linalg.inv(gram)
            DU = self.d[:, None] * U
            inside = inverse @ (U.mT @ DU)
            A = U @ beta
            value, E = given.loss(self.Phi @ A + self.Z @ gamma)
            kept = self.d[: self.rank].sum() - np.trace(inside, axis1=1, axis2=2)
            value = value + given.xi * kept + given.lam * (A * A).sum(axis=(1, 2))
            value += (self.ridge * gamma**2).sum(axis=(1, 2))
            in_A = self.Phi.T @ E + 2 * given.lam * A
            in_U = in_A @ beta.mT - 2 * given.xi * (DU - U @ inside) @ inverse
            parts = (in_U, U.mT @ in_A, self.Z.T @ E + 2 * self.ridge * gamma)
            slope = np.concatenate([part.reshape(len(x), -1) for part in parts], axis=1) * units
        lost |= ~np.isfinite(value) | ~np.isfinite(slope).all(axis=1)
        value[lost], slope[lost] = np.inf, 0.0
        return value, np.concatenate([slope, np.zeros_like(units)], axis=1)

    def factors(self, at: Point, k: int) -> Factors:
        """Point k as factors of the user's X."""
        Q, R = orthonormal(self.side @ at.U[k])
        return with_best_codes(self.given, Q, R @ at.beta[k], at.gamma[k])

    def coordinates_of(self, factors: Factors) -> Point:
        """Factors as a point, as far as it lies where X does."""
        if self.given.model == "filter":
            side = np.asarray(factors.W, dtype=np.longdouble)
        else:
            side = np.sqrt(np.asarray(self.given.weight, dtype=np.longdouble))[:, None] * factors.H
        U = (self.side.T @ side).astype(float)[:, : self.rank]
        Q, R = np.linalg.qr(U)
        return Point(Q[None], (R @ factors.beta[: self.rank])[None], factors.gamma[None])


def lowest(given: Given, starts: Point, coordinates: Coordinates) -> tuple[float, float, Factors | None]:
    """The lowest F that descents from these starts end at, how far rounding may have moved it, and where."""
    at = starts
    for iterations, best in ROUNDS:
        with np.errstate(all="ignore"):
            ends, values = descend(coordinates, coordinates.joined(at), iterations)
        ends = ends[_apart(values, best)]
        if not len(ends):
            return np.inf, 0.0, None
        at = coordinates.point(ends)
    found = [coordinates.factors(at, k) for k in range(len(at.U))]
    candidates = [(*objective(given, factors), factors) for factors in found]
    return min(candidates, key=lambda one: one[0] + one[1])


def _apart(values: Array, count: int) -> list[int]:
    """The places of the lowest finite values that differ from each other by more than 1e-6 of them."""
    chosen: list[int] = []
    for i in np.argsort(values):
        if not np.isfinite(values[i]):
            break
        if not chosen or values[i] - values[chosen[-1]] > 1e-6 * abs(values[i]):
            chosen.append(int(i))
    return chosen[:count]
