"""Several points that descend side by side: they share their products with the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superfactor._arrays import Array, indices, namespace, to_numpy
from superfactor.solvers.newton.descent import trusted
from superfactor.subspace import Inside, Point
from superfactor.subspace.newton_model import truncated_step


@dataclass(frozen=True)
class Fleet:
    """S points (S, …), each with its own trust region."""

    points: Point  # where they are
    radius: np.ndarray  # (S,) of their trust regions, NumPy
    left: np.ndarray  # (S,) what the last model promised to each
    # (S,) whether that model was minimised to the end, so that its promise says how much is left
    solved: np.ndarray

    @staticmethod
    def at(inside: Inside, W: Array, beta: Array, gamma: Array) -> Fleet:
        """Of W (S, k, r), β (S, r, κ) and γ (S, q, κ)."""
        S = int(W.shape[0])
        nothing = np.full(S, np.inf)
        return Fleet(inside.at(W, beta, gamma), nothing, nothing, np.zeros(S, dtype=bool))

    @property
    def size(self) -> int:
        """S."""
        return int(self.radius.size)

    @property
    def F(self) -> np.ndarray:
        """(S,), NumPy."""
        return np.asarray(to_numpy(self.points.F), dtype=float)

    def moved_to(self, inside: Inside) -> Fleet:
        """The same points at other weights."""
        return Fleet.at(inside, self.points.W, self.points.beta, self.points.gamma)

    def taken(self, chosen: np.ndarray) -> Fleet:
        """Some of the points, by indices."""
        return Fleet(self.points.taken(chosen), self.radius[chosen], self.left[chosen], self.solved[chosen])

    def stepped(self, inside: Inside) -> Fleet:
        """Every point after one truncated Newton step, if that went down."""
        xp, points = namespace(self.points.W), self.points
        radius = indices(points.W, self.radius)
        step = truncated_step(inside, points, radius)
        new = step.apply(inside, points, xp.ones_like(points.F))
        fallen = self.F - np.asarray(to_numpy(new.F), dtype=float)
        down = fallen >= 0
        left = np.asarray(to_numpy(step.decrease), dtype=float)
        length = np.asarray(to_numpy(step.length), dtype=float)
        return Fleet(
            new.where(indices(points.W, down), points),
            trusted(self.radius, length, left, np.where(down, fallen, -np.inf)),
            left,
            ~np.asarray(to_numpy(step.saddle)),
        )
