"""Several points that descend together and share their products with the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superfactor._arrays import Array, indices, namespace, to_numpy
from superfactor.solvers.newton.descent import trusted
from superfactor.subspace import Inside, Point
from superfactor.subspace.newton_model import truncated_step


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
        """Return the batch after one truncated Newton step; a point whose step goes up stays where it is."""
        xp, points = namespace(self.points.W), self.points
        radius = indices(points.W, self.radius)
        step = truncated_step(inside, points, radius)
        new = step.apply(inside, points, xp.ones_like(points.F))
        fallen = self.F - np.asarray(to_numpy(new.F), dtype=float)
        down = fallen >= 0
        left = np.asarray(to_numpy(step.decrease), dtype=float)
        length = np.asarray(to_numpy(step.length), dtype=float)
        return Batch(
            new.where(indices(points.W, down), points),
            trusted(self.radius, length, left, np.where(down, fallen, -np.inf)),
            left,
            ~np.asarray(to_numpy(step.saddle)),
        )
