"""Directions that a problem itself defines, for starts that do not depend on how its data are arranged.

Samples and features in another order, a sample twice or with weight 2, X in another unit, targets with
another zero: all are the same problem, and the starts of a search should be the same too. So what is drawn at
random are coefficients of singular directions, whose order and signs the problem fixes, and not coordinates
in whatever basis a search happens to have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superfactor._arrays import Array, eigh_descending, indices, namespace, random_like, to_numpy
from superfactor.subspace import Inside, Point

# Of the largest: smaller values are rounding.
_NOTHING = 1e-10


@dataclass(frozen=True)
class Directions:
    """Directions of the search side in a basis of k vectors."""

    data: Array  # (k, m), the singular directions of X, largest first
    labels: Array  # (k, j), unit vectors in the span of ΦᵀE, where the loss pulls while there are no factors
    gamma: Array  # (q, κ), the best coefficients of the covariates while there are no factors

    @staticmethod
    def of(inside: Inside) -> Directions:
        """Of the problem inside a basis."""
        alone = inside.without_factors
        pulled = alone.pulled[: inside.basis.size, :]
        values, V = inside.spectrum
        data = _signed(V, _count(values), V.T @ pulled)
        # Classes of equal size pull equally far in the feature model: how X spreads there orders them too.
        spread = pulled.T @ (pulled + inside.D @ pulled / (values[0] + 1e-300))
        squares, V = eigh_descending(spread)
        labels = pulled @ _signed(V, _count(squares), V.T)
        xp = namespace(labels)
        return Directions(data, labels / xp.linalg.vector_norm(labels, axis=0), alone.gamma)

    def subspace(self, rng: np.random.Generator, rank: int) -> Array:
        """A random W (k, r) in the span of all of them."""
        xp = namespace(self.data)
        everything = xp.concat([self.data, self.labels], axis=1)
        if everything.shape[1] < rank:  # X has fewer directions than the model: any others will do
            k = int(self.data.shape[0])
            everything = xp.concat([everything, random_like(self.data, rng, k, rank)], axis=1)
        return xp.linalg.qr(everything @ random_like(self.data, rng, everything.shape[1], rank))[0]

    def near(self, W: Array, rng: np.random.Generator, far: float, labels: bool) -> Array:
        """W (k, r) with one direction of its span bent towards where labels pull, or anywhere."""
        xp, rank = namespace(W), int(W.shape[1])
        around = self.labels if labels else xp.concat([self.data, self.labels], axis=1)
        towards = around @ random_like(W, rng, around.shape[1], 1)
        towards = towards / (xp.linalg.vector_norm(towards) + 1e-300)
        bent = random_like(W, rng, 1, rank)
        return xp.linalg.qr(W + far * towards @ (bent / xp.linalg.vector_norm(bent)))[0]


def own_directions(inside: Inside, point: Point) -> Array:
    """W (k, r) of a point, turned to its frame, with signs that its coefficients fix."""
    frame = inside.frame(point)
    return _signed(frame.W, inside.rank, frame.beta)


def _count(values: Array) -> int:
    """How many of descending values are not rounding."""
    found = to_numpy(values)
    return int(np.sum(found > _NOTHING * max(float(found[0]), 0.0))) if found.size else 0


def _signed(V: Array, count: int, effects: Array) -> Array:
    """Columns of V, signed by the sum of cubes of their `effects`: the order of outputs does not matter."""
    effects = to_numpy(effects)[:count, :]
    size = np.abs(effects).max(axis=1, initial=1e-300, keepdims=True)  # cubes may leave the range of floats
    cubes = np.sum((effects / size) ** 3, axis=1)
    return V[:, :count] * indices(V, np.where(cubes < 0, -1.0, 1.0))[None, :]
