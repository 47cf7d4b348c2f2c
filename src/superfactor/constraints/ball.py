"""The Frobenius ball, the bounded set of the paper's theory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from superfactor._arrays import Array
from superfactor.constraints.base import ConvexSet, Point, norm, parts_of, same_form
from superfactor.constraints.ellipsoid import project_onto_ellipsoid


@dataclass(frozen=True)
class FrobeniusBall(ConvexSet):
    """``{Z : ‖Z‖_F ≤ radius}``; for a tuple the norm is that of all its parts together."""

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

    def project_ellipsoid(
        self, parts: Sequence[Array], scales: Sequence[float]
    ) -> tuple[Array, ...]:
        """The same projection for rescaled blocks ``z_j = s_j θ_j`` with the ball on ``θ``.

        ``parts`` are the blocks ``z_j``, ``scales`` the ``s_j > 0``; the distance is that of ``z``.
        """
        norms2 = [norm(part) ** 2 for part in parts]
        factors = project_onto_ellipsoid(norms2, scales, self.radius)
        return tuple(part * factor for part, factor in zip(parts, factors, strict=True))
