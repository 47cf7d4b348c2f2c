"""A joint step in (W, β, γ), for both ways to compute it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from superfactor._arrays import Array, device, indices, namespace
from superfactor.subspace.geometry import Point, retracted
from superfactor.subspace.inside import Inside


@dataclass(frozen=True)
class NewtonStep:
    """A step from a rotated point W (…, k, r), β (…, r, κ) along T (…, k, r), v (…, r, κ) and g (…, q, κ).

    `decrease` (…) of F is what the model predicts. `saddle` (…) is True if a small decrease does not indicate
    a minimum: the model was made convex, or not fully minimised. `length` (…) is that of a truncated step in
    the metric of its trust region; None for an exact step.
    """

    W: Array
    beta: Array
    T: Array  # WᵀT = 0
    v: Array
    g: Array
    decrease: Any
    saddle: Any
    length: Any = None

    def apply(self, inside: Inside, point: Point, t: float | Array) -> Point:
        """Return the point at step length t (…)."""
        W, beta = retracted(self.W, self.beta, self.T, self.v, t)
        t = namespace(W).asarray(t, dtype=W.dtype, device=device(W))[..., None, None]
        return inside.at(W, beta, point.gamma + t * self.g)

    def taken(self, chosen: Any) -> NewtonStep:
        """Return the steps of some of several points, by NumPy indices."""
        xp, index = namespace(self.W), indices(self.W, chosen)
        return NewtonStep(*(None if x is None else xp.take(x, index, axis=0) for x in vars(self).values()))
