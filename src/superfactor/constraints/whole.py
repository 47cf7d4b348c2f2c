"""The whole space: no constraint at all."""

from __future__ import annotations

import math
from dataclasses import dataclass

from superfactor.constraints.base import ConvexSet, Point, norm


@dataclass(frozen=True)
class WholeSpace(ConvexSet):
    """Every finite point; the projection is the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.constraints import WholeSpace
    >>> WholeSpace().project(np.array([1.0, -2.0]))
    array([ 1., -2.])
    """

    rotation_invariant = True

    def project(self, Z: Point) -> Point:
        return Z

    def contains(self, Z: Point, tol: float = 1e-9) -> bool:
        return math.isfinite(norm(Z))
