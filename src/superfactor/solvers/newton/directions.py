"""Directions for starts that depend on the problem only, not on the arrangement of its data.

The order of samples and features, a sample twice instead of with weight 2, the unit of X and the zero of
targets do not change the problem, so they should not change the starts of a search. Random starts are
therefore random coefficients of singular directions, whose order and signs depend on the problem only, and
not random coordinates in the current basis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superfactor._arrays import Array, eigh_descending, indices, namespace, random_like, to_numpy
from superfactor.subspace import Inside, Point

# Values below this share of the largest are rounding errors.
_NOTHING = 1e-10


@dataclass(frozen=True)
class Directions:
    """Directions of the search side in a basis of k vectors."""

    data: Array  # (k, m), the singular directions of X, largest first
    labels: Array  # (k, j), unit vectors in the span of ΦᵀE, the gradient of the loss without factors
    gamma: Array  # (q, κ), the best coefficients of the covariates without factors

    @staticmethod
    def of(inside: Inside) -> Directions:
        """Return the directions of the problem inside a basis."""
        alone = inside.without_factors
        pulled = alone.pulled[: inside.basis.size, :]
        values, V = inside.spectrum
        data = _signed(V, _count(values), V.T @ pulled)
        # In the feature model, classes of equal size have equal gradients: the spread of X orders them too.
        spread = pulled.T @ (pulled + inside.D @ pulled / (values[0] + 1e-300))
        squares, V = eigh_descending(spread)
        labels = pulled @ _signed(V, _count(squares), V.T)
        xp = namespace(labels)
        return Directions(data, labels / xp.linalg.vector_norm(labels, axis=0), alone.gamma)

    def subspace(self, rng: np.random.Generator, rank: int) -> Array:
        """Return a random W (k, r) in the span of all directions."""
        xp = namespace(self.data)
        everything = xp.concat([self.data, self.labels], axis=1)
        if everything.shape[1] < rank:  # X has fewer directions than factors: add arbitrary ones
            k = int(self.data.shape[0])
            everything = xp.concat([everything, random_like(self.data, rng, k, rank)], axis=1)
        return xp.linalg.qr(everything @ random_like(self.data, rng, everything.shape[1], rank))[0]

    def near(self, W: Array, rng: np.random.Generator, tangent: float, labels: bool) -> Array:
        """Return W (k, r) with one direction rotated by an angle, towards the labels' gradient or any."""
        xp, rank = namespace(W), int(W.shape[1])
        around = self.labels if labels else xp.concat([self.data, self.labels], axis=1)
        towards = around @ random_like(W, rng, around.shape[1], 1)
        towards = towards / (xp.linalg.vector_norm(towards) + 1e-300)
        bent = random_like(W, rng, 1, rank)
        return xp.linalg.qr(W + tangent * towards @ (bent / xp.linalg.vector_norm(bent)))[0]


def own_directions(inside: Inside, point: Point) -> Array:
    """Return W (k, r) of a point, rotated to its frame, with signs from its coefficients."""
    frame = inside.frame(point)
    return _signed(frame.W, inside.rank, frame.beta)


def _count(values: Array) -> int:
    """Return the number of descending values that are not rounding errors."""
    found = to_numpy(values)
    return int(np.sum(found > _NOTHING * max(float(found[0]), 0.0))) if found.size else 0


def _signed(V: Array, count: int, effects: Array) -> Array:
    """Return columns of V with signs from the sum of cubes of their `effects`, in any order of outputs."""
    effects = to_numpy(effects)[:count, :]
    size = np.abs(effects).max(axis=1, initial=1e-300, keepdims=True)  # cubes may overflow
    cubes = np.sum((effects / size) ** 3, axis=1)
    return V[:, :count] * indices(V, np.where(cubes < 0, -1.0, 1.0))[None, :]
