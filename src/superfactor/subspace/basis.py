"""An extensible orthonormal basis of the search side, with the products that solvers need.

Vectors are used through their products only (`Vectors`), so one Gram–Schmidt serves both models. A basis is
immutable: an extension is another basis, and the old one stays valid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from superfactor._arrays import Array, eigh_descending, eye_like, indices, namespace, to_numpy
from superfactor.problem import Problem
from superfactor.samples import Along, Design, Tall, Vectors


@dataclass(frozen=True)
class Basis:
    """Orthonormal columns S (N, k) and their products."""

    problem: Problem  # the basis is in its search side
    S: Vectors  # the vectors
    GS: Vectors  # G·S
    D: Array  # SᵀGS (k, k)
    features: Tall  # (n, k) tall, √w·ΦS, the input of the classifier
    loadings: Array  # (p, k), S itself or its image, whichever has p rows

    @staticmethod
    def empty(problem: Problem) -> Basis:
        """Return a basis without vectors."""
        S, GS = (problem.model.no_vectors(problem.side) for _ in range(2))
        features = S if isinstance(S, Tall) else problem.samples.nothing()
        D, loadings = problem.zeros(0, 0), problem.zeros(problem.shape[1], 0)
        return Basis(problem, S, GS, D, features, loadings)

    @property
    def size(self) -> int:
        """Number of vectors, k."""
        return int(self.D.shape[0])

    @property
    def design(self) -> Design:
        """The design [ΦS, X'] of coefficients (k + q, κ)."""
        return Design(self.features.place)

    def coordinates(self, T: Vectors) -> Array:
        """Return SᵀT (k, j)."""
        return self.S.inner(T)

    # --- growth ------------------------------------------------------------------------------------------

    def outside(self, T: Vectors) -> tuple[Vectors, Array]:
        """Return (I − SSᵀ)T, up to rounding relative to T, and the Gram matrix (j, j) of the result."""
        T, _, gram = T.refined(eye_like(self.D, T.columns), self.S, self.coordinates(T))
        return T, gram

    def new_directions(self, T: Vectors) -> tuple[Vectors, np.ndarray]:
        """Return an orthonormal basis of the part of T outside S, and the columns of T it comes from."""
        noise = 1e3 * self.problem.epsilon  # size of the rounding error of a column inside S
        # A column mostly inside S has lost digits; orthogonalization runs twice.
        B, source = _unit_columns(T.inner(T), 0.0)
        T, cross, gram = T.refined(B, self.S, self.coordinates(T) @ B)
        B, kept = _unit_columns(gram, max(1e-10, noise))
        T, source = T.combined(B, (self.S, -cross @ B)), source[kept]
        if source.size == 0:
            return T, source
        R = T.triangle()
        xp = namespace(R)
        size = to_numpy(xp.abs(xp.linalg.diagonal(R)))
        kept = np.flatnonzero(size > max(1e-8, noise))
        pick = selector(R, kept, R.shape[1])
        T = T.combined(pick @ xp.linalg.inv(xp.linalg.qr(R @ pick)[1]))
        if kept.size and (noise > 1e-10 or size[kept].min() < 1e-3):
            # For nearly dependent columns, or few digits, scaling has enlarged their part inside S.
            T, _, gram = T.refined(eye_like(gram, kept.size), self.S, self.coordinates(T))
            lower = xp.linalg.cholesky((gram + gram.T) / 2)
            T = T.combined(xp.linalg.inv(lower).T)
        return T, source[kept]

    def grown(self, T: Vectors, along: Along | None = None) -> tuple[Basis, Added]:
        """Return [S, T] for orthonormal T outside S; with `along`, also the curvature of the loss along T."""
        problem = self.problem
        new = problem.model.grown(problem.side, self.features, self.loadings, T, along)
        xp = namespace(self.D)
        top = xp.concat([self.D, new.cross], axis=1)
        low = xp.concat([new.cross.T, new.corner], axis=1)
        features = self.features.with_columns(new.features)
        # If the vectors are the features, they are stored once.
        S = features if self.S is self.features else self.S.with_columns(T)
        basis = Basis(
            problem,
            S,
            self.GS.with_columns(new.powers),
            xp.concat([top, low]),
            features,
            self._loadings(S, lambda: xp.concat([self.loadings, new.loadings], axis=1)),
        )
        return basis, Added(T, new.powers, new.bent)

    def extended(self, T: Vectors) -> tuple[Basis, Added | None]:
        """Return the basis of S and T, and the added vectors; None if T is in the span of S."""
        new, source = self.new_directions(T)
        return self.grown(new) if source.size else (self, None)

    def turned(self, V: Array) -> Basis:
        """Return the basis SV for V (k, k') with orthonormal columns."""
        D = V.T @ self.D @ V
        features = self.features.combined(V)
        S = features if self.S is self.features else self.S.combined(V)
        loadings = self._loadings(S, lambda: self.loadings @ V)
        return Basis(self.problem, S, self.GS.combined(V), (D + D.T) / 2, features, loadings)

    def _loadings(self, S: Vectors, image: Callable[[], Array]) -> Array:
        """Return the loadings of a basis of S: its vectors, stored once, or their image."""
        return image() if self.problem.model.searches_samples else S.array()

    def leading_of(self, T: Vectors, most: int) -> Vectors:
        """Return the leading directions of T, at most `most`; T itself if it has no more."""
        if T.columns <= most:
            return T
        return T.combined(eigh_descending(T.inner(T))[1][:, :most])

    # --- vectors of the full problem --------------------------------------------------------------------

    def residual(self, W: Array, beta: Array, pulled: Vectors) -> Vectors:
        """Return ξGSW − ½ΦᵀEβᵀ (N, r) for W (k, r), β (r, κ) and ΦᵀE."""
        return self.GS.combined(self.problem.xi * W, (pulled, -0.5 * beta.T))


@dataclass(frozen=True)
class Added:
    """Vectors T added to a basis, G·T, and the curvature of the loss along them, if requested."""

    T: Vectors
    powers: Vectors
    bent: Vectors | None

    def chain(self, xi: float, ritz: Array, pick: np.ndarray) -> Vectors:
        """Return [2ξ(ritz_i − G) + loss curvature]·t_i for the t_i in `pick`; ritz (j,) are the ritz_i."""
        assert self.bent is not None
        one = selector(ritz, pick, ritz.shape[0])
        return self.T.combined(2 * xi * ritz[:, None] * one, (self.powers, -2 * xi * one), (self.bent, one))


def _unit_columns(gram: Array, least: float) -> tuple[Array, np.ndarray]:
    """Return the scaling (j, j') to length one of columns longer than `least`, and their indices."""
    xp = namespace(gram)
    norms = xp.sqrt(xp.clip(xp.linalg.diagonal(gram), 0.0, None))
    kept = np.flatnonzero(to_numpy(norms) > least)
    B = selector(gram, kept, gram.shape[0])
    return B / xp.take(norms, indices(norms, kept))[None, :], kept


def leading_basis(problem: Problem, size: int, keep: int, rng: np.random.Generator, width: int) -> Basis:
    """Return the best `keep` of about `size` block-Krylov directions; random ones if a chain ends early."""
    basis = Basis.empty(problem)
    block = problem.model.random_in_range(problem.side, rng, width)
    while basis.size < size:
        basis, added = basis.extended(block)
        if added is None:
            basis, added = basis.extended(problem.model.random_in_range(problem.side, rng, width))
        if added is None:
            break  # the whole range of X
        block = added.powers
    if basis.size == 0:
        return basis
    return basis.turned(eigh_descending(basis.D)[1][:, : min(keep, basis.size)])


def selector(like: Array, chosen: Sequence[int] | np.ndarray, size: int) -> Array:
    """Return the columns `chosen` of the identity of this size."""
    identity = eye_like(like, size)
    return namespace(like).take(identity, indices(like, np.asarray(chosen, dtype=int)), axis=1)
