"""Several points that descend together and share their products with the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superfactor._arrays import Array, indices, to_numpy
from superfactor.solvers.newton.descent import trusted
from superfactor.subspace import Inside, Point
from superfactor.subspace.truncated import truncated_step

# Shares of a step that are tried one after another, until F does not rise.
_LENGTHS = (1.0, 0.25, 0.0625)


@dataclass(frozen=True)
class Batch:
    """S points, each with its own trust region."""

    points: Point  # arrays (S, …)
    radius: np.ndarray  # (S,), of the trust regions, NumPy
    left: np.ndarray  # (S,), decrease of F that the last model predicted for each
    # (S,), whether that model was fully minimised, so that the decrease estimates what is left
    solved: np.ndarray

    @staticmethod
    def at(inside: Inside, W: Array, beta: Array, gamma: Array) -> Batch:
        """Return a batch at W (S, k, r), β (S, r, κ) and γ (S, q, κ)."""
        S = int(W.shape[0])
        unknown = np.full(S, np.inf)
        return Batch(inside.at(W, beta, gamma), unknown, unknown, np.zeros(S, dtype=bool))

    @property
    def size(self) -> int:
        """Number of points, S."""
        return int(self.radius.size)

    @property
    def F(self) -> np.ndarray:
        """Objective at each point (S,), NumPy."""
        return np.asarray(to_numpy(self.points.F), dtype=float)

    def moved_to(self, inside: Inside) -> Batch:
        """Return the same points at other weights."""
        return Batch.at(inside, self.points.W, self.points.beta, self.points.gamma)

    def taken(self, chosen: np.ndarray) -> Batch:
        """Return some of the points, by indices."""
        return Batch(self.points.taken(chosen), self.radius[chosen], self.left[chosen], self.solved[chosen])

    def stepped(self, inside: Inside) -> Batch:
        """Return the batch after one truncated Newton step each.

        A step that raises F is shortened; a point stays if no length lowers F.
        """
        step = truncated_step(inside, self.points, indices(self.points.W, self.radius))
        length, left = _numbers(step.length), _numbers(step.decrease)
        points, radius, rest = self.points, self.radius, np.arange(self.size)
        for t in _LENGTHS:
            share = indices(points.W, np.full(rest.size, t))
            new = step.taken(rest).apply(inside.taken(rest), self.points.taken(rest), share)
            fallen = self.F[rest] - _numbers(new.F)
            down = fallen >= 0
            points = points.replaced(rest[down], new.taken(np.flatnonzero(down)))
            if t == 1:
                radius = trusted(radius, length, left, np.where(down, fallen, -np.inf))
            else:
                radius[rest] = t * length[rest]
            rest = rest[~down]
            if not rest.size:
                break
        return Batch(points, radius, left, ~np.asarray(to_numpy(step.saddle)))


def _numbers(x: Array) -> np.ndarray:
    return np.asarray(to_numpy(x), dtype=float)
