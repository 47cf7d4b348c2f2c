"""A growing subspace of the search side."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from superfactor._arrays import Array, namespace
from superfactor._new.tall import dot, orthonormal, pull

#: A side of X, or a range of it, this small is the subspace.
WHOLE = 64


class Basis:
    """Orthonormal S (N, k) with its image Z = X̃S or X̃ᵀS.

    D = SᵀGS = ZᵀZ = turn·diag(d)·turnᵀ, with d descending. Coordinates are those in S·turn.
    """

    def __init__(self, model: Any, S: Array, image: Array | None = None, D: Any = None) -> None:
        self.model, self.S, self.whole = model, S, S.shape[1] == model.side
        self.image = model.image(S) if image is None else image
        self.D = pull(self.image, self.image) if D is None else D
        self.d, self.turn = (x[..., ::-1] for x in np.linalg.eigh(self.D))
        self.Phi: Array = model.design(S, self.image)

    @property
    def size(self) -> int:
        """k."""
        return len(self.d)

    @cached_property
    def few(self) -> tuple[Array, Array, Any, float]:
        """Rows over which the curvature is summed: their design, covariates, positions and share."""
        rows = self.model.rows
        # With 64 rows a column the error of the curvature is about an eighth; exact gradients correct it.
        wanted = max(64 * self.size, rows.curved, 8192 // min(rows.outputs, 4))
        share = rows.share(wanted)
        if share == 1:
            return self.Phi, rows.Z, None, 1.0
        some, xp = rows.some(share), namespace(self.Phi)
        return xp.take(self.Phi.T, some, axis=1).T, xp.take(rows.Z, some, axis=0), some, share

    def coordinates(self, T: Array) -> Any:
        """Return the coordinates (k, j) of vectors T (N, j)."""
        return self.turn.T @ pull(self.S, T)

    def vectors(self, V: Any) -> Array:
        """Return the vectors (N, j) with these coordinates V (k, j)."""
        return dot(self.S, self.turn @ V)

    def outside(self, T: Array) -> Array:
        """Return the parts of vectors T (N, j) outside the subspace."""
        return T - dot(self.S, pull(self.S, T))

    def power(self, V: Any) -> Array:
        """Return G times the vectors with coordinates V (k, j)."""
        return self.model.back(dot(self.image, self.turn @ V))

    def restricted(self, V: Any) -> Basis:
        """Return the basis of the vectors with orthonormal coordinates V (k, j)."""
        V = self.turn @ V
        return Basis(self.model, dot(self.S, V), dot(self.image, V))

    def grown(self, T: Array, depth: int = 1) -> Basis:
        """Return the subspace extended by T (N, j) and by a Krylov chain of G from it, of length `depth`."""
        S, image, D = self.S, self.image, self.D
        for step in range(depth):
            Q = orthonormal(T, S)
            if Q.shape[1] == 0:
                break
            new, T = (self.model.image(Q), None) if step == depth - 1 else self.model.with_power(Q)
            cross = pull(image, new)
            S, image = joined(S, Q), joined(image, new)
            D = np.block([[D, cross], [cross.T, pull(new, new)]])
        return Basis(self.model, S, image, D)


def joined(T: Array, new: Array) -> Array:
    """Return T (N, k) with the columns of `new`, stored by columns."""
    return namespace(T).concat([T.T, new.T], axis=0).T


def leading_basis(model: Any, rank: int, rng: np.random.Generator) -> Basis:
    """Return the whole side or the range of X if that is small, otherwise its leading directions, nearly."""
    n, p = model.rows.shape
    if model.side <= WHOLE:
        return Basis(model, model.identity())
    if min(n, p) <= max(WHOLE, 4 * rank):
        return Basis(model, orthonormal(model.range()) if model.side > min(n, p) else model.identity())
    width = max(8, rank // 2)
    basis = Basis(model, orthonormal(model.random(rng, width)))
    basis = basis.grown(basis.power(np.eye(basis.size)), depth=-(-4 * rank // width))
    return basis.restricted(np.eye(basis.size, 2 * rank + 10))
