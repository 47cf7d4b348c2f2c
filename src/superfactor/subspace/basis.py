"""A growing orthonormal basis of the search side, with the images the solvers need.

Vectors are used through their products only (`Vectors`), so one Gram–Schmidt serves both models. A basis is
immutable: growing returns another basis, and the old one stays valid.
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
    """S (N, k) with orthonormal columns."""

    problem: Problem  # whose search side this is
    S: Vectors  # the vectors
    GS: Vectors  # G·S
    D: Array  # SᵀGS (k, k)
    features: Tall  # (n, k) tall, √w·ΦS: what the classifier reads
    loadings: Array  # (p, k), S itself or its image, whichever has p rows

    @staticmethod
    def empty(problem: Problem) -> Basis:
        """No vector yet."""
        S, GS = (problem.model.no_vectors(problem.side) for _ in range(2))
        features = S if isinstance(S, Tall) else problem.samples.nothing()
        D, loadings = problem.zeros(0, 0), problem.zeros(problem.shape[1], 0)
        return Basis(problem, S, GS, D, features, loadings)

    @property
    def size(self) -> int:
        """k."""
        return int(self.D.shape[0])

    @property
    def design(self) -> Design:
        """[ΦS, X'], the rows that coefficients (k + q, κ) act on."""
        return Design(self.features.place)

    def coordinates(self, T: Vectors) -> Array:
        """SᵀT (k, j)."""
        return self.S.inner(T)

    # --- growth ------------------------------------------------------------------------------------------

    def outside(self, T: Vectors) -> tuple[Vectors, Array]:
        """(I − SSᵀ)T, up to rounding relative to T, and the Gram matrix (j, j) of the result."""
        T, _, gram = T.refined(eye_like(self.D, T.columns), self.S, self.coordinates(T))
        return T, gram

    def new_directions(self, T: Vectors) -> tuple[Vectors, np.ndarray]:
        """An orthonormal basis of what T adds to S, and which of T's columns it comes from."""
        noise = 1e3 * self.problem.epsilon  # what rounding leaves of a column inside S
        # What was mostly inside S has lost digits against it: cleaned twice.
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
            # Nearly dependent columns, or few digits: what was left of S has grown with them.
            T, _, gram = T.refined(eye_like(gram, kept.size), self.S, self.coordinates(T))
            lower = xp.linalg.cholesky((gram + gram.T) / 2)
            T = T.combined(xp.linalg.inv(lower).T)
        return T, source[kept]

    def grown(self, T: Vectors, along: Along | None = None) -> tuple[Basis, Added]:
        """[S, T] for orthonormal vectors T outside S; with `along`, how the loss bends along them."""
        problem = self.problem
        new = problem.model.grown(problem.side, self.features, self.loadings, T, along)
        xp = namespace(self.D)
        top = xp.concat([self.D, new.cross], axis=1)
        low = xp.concat([new.cross.T, new.corner], axis=1)
        features = self.features.beside(new.features)
        # Where the vectors are the features, they are kept once.
        S = features if self.S is self.features else self.S.beside(T)
        basis = Basis(
            problem,
            S,
            self.GS.beside(new.powers),
            xp.concat([top, low]),
            features,
            self._loadings(S, lambda: xp.concat([self.loadings, new.loadings], axis=1)),
        )
        return basis, Added(T, new.powers, new.bent)

    def extended(self, T: Vectors) -> tuple[Basis, Added | None]:
        """S and the span of T; None where nothing of T was new."""
        new, source = self.new_directions(T)
        return self.grown(new) if source.size else (self, None)

    def turned(self, V: Array) -> Basis:
        """SV for V (k, k') with orthonormal columns."""
        D = V.T @ self.D @ V
        features = self.features.combined(V)
        S = features if self.S is self.features else self.S.combined(V)
        loadings = self._loadings(S, lambda: self.loadings @ V)
        return Basis(self.problem, S, self.GS.combined(V), (D + D.T) / 2, features, loadings)

    def _loadings(self, S: Vectors, image: Callable[[], Array]) -> Array:
        """The loadings of a basis of S: its vectors, kept once, or else their image."""
        return image() if self.problem.model.searches_samples else S.array()

    def leading_of(self, T: Vectors, most: int) -> Vectors:
        """The leading directions of T, at most so many; T itself where it has no more."""
        if T.columns <= most:
            return T
        return T.combined(eigh_descending(T.inner(T))[1][:, :most])

    # --- vectors of the full problem --------------------------------------------------------------------

    def residual(self, W: Array, beta: Array, pulled: Vectors) -> Vectors:
        """ξGSW − ½ΦᵀEβᵀ (N, r) for W (k, r), β (r, κ) and ΦᵀE."""
        return self.GS.combined(self.problem.xi * W, (pulled, -0.5 * beta.T))


@dataclass(frozen=True)
class Added:
    """Vectors T that a basis has gained, G·T, and how the loss bends along them (if anybody asked)."""

    T: Vectors
    powers: Vectors
    bent: Vectors | None

    def chain(self, xi: float, ritz: Array, pick: np.ndarray) -> Vectors:
        """[2ξ(ritz_i − G) + loss curvature]·t_i for those t_i in `pick`; ritz (j,) are the ritz_i."""
        assert self.bent is not None
        one = selector(ritz, pick, ritz.shape[0])
        return self.T.combined(2 * xi * ritz[:, None] * one, (self.powers, -2 * xi * one), (self.bent, one))


def _unit_columns(gram: Array, least: float) -> tuple[Array, np.ndarray]:
    """What divides columns by their length, (j, j') for those longer than `least`, and which these are."""
    xp = namespace(gram)
    norms = xp.sqrt(xp.clip(xp.linalg.diagonal(gram), 0.0, None))
    kept = np.flatnonzero(to_numpy(norms) > least)
    B = selector(gram, kept, gram.shape[0])
    return B / xp.take(norms, indices(norms, kept))[None, :], kept


def leading_basis(problem: Problem, size: int, keep: int, rng: np.random.Generator, width: int) -> Basis:
    """The best `keep` of about `size` block-Krylov directions; random ones where such a chain ends."""
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
    """The columns `chosen` of the identity of this size."""
    identity = eye_like(like, size)
    return namespace(like).take(identity, indices(like, np.asarray(chosen, dtype=int)), axis=1)
