"""The Frobenius ball, the bounded set of the paper's theory."""

from __future__ import annotations

from dataclasses import dataclass

from superfactor.constraints.base import ConvexSet, Point, norm, parts_of, same_form


@dataclass(frozen=True)
class FrobeniusBall(ConvexSet):
    """``{Z : ‖Z‖_F ≤ radius}``; for a tuple the norm is that of all its parts together.

    Parameters
    ----------
    radius : float
        More than 0.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.constraints import FrobeniusBall
    >>> FrobeniusBall(1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    radius: float

    rotation_invariant = True

    def __post_init__(self) -> None:
        # Written so that NaN fails as well.
        if not self.radius > 0.0:
            raise ValueError(f"radius={self.radius!r}: a positive number is required")

    def project(self, Z: Point) -> Point:
        size = norm(Z)
        if size <= self.radius:
            return Z
        factor = self.radius / size
        return same_form(Z, tuple(part * factor for part in parts_of(Z)))
