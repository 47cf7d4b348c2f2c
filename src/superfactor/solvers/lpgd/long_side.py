"""Vectors on the longer side of X, known through their inner products.

X is m × long here, and G = X·Xᵀ. A matrix on the long side is kept as T = Xᵀ·F + R·C: F (m, k)
is short, the anchors R (long, j) are few and fixed, and C (j, k) mixes them. Everything LPGD asks
for (X·T and TᵀT) then takes m × k arrays only, among them G·F.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from superfactor._arrays import Array, eye_like, namespace, zeros_like_of


@dataclass(frozen=True)
class Anchors:
    """R (long, j) with its image X·R (m, j) and its Gram matrix RᵀR (j, j)."""

    R: Array
    image: Array
    gram: Array

    @classmethod
    def of(cls, R: Array, image: Array) -> Self:
        return cls(R, image, R.T @ R)

    @property
    def size(self) -> int:
        return int(self.R.shape[1])

    def and_also(self, R: Array, image: Array) -> Self:
        """These and more columns."""
        xp = namespace(self.R)
        cross = self.R.T @ R
        gram = xp.concat([xp.concat([self.gram, cross], axis=1), xp.concat([cross.T, R.T @ R], axis=1)])
        return type(self)(xp.concat([self.R, R], axis=1), xp.concat([self.image, image], axis=1), gram)

    def turned(self, C: Array) -> Self:
        """The columns R·C in place of R."""
        return type(self)(self.R @ C, self.image @ C, C.T @ self.gram @ C)


@dataclass(frozen=True)
class Long:
    """k columns [Xᵀ·F + R·C ‖ A] on the long side, A (h, k) being rows that X does not have.

    With h = κ these are the rows of the A-block of θ; h = 0 where that block is elsewhere.
    """

    F: Array
    GF: Array
    C: Array
    A: Array
    anchors: Anchors

    def image(self) -> Array:
        """X·T (m, k); the rows A are none of X's."""
        return self.GF + self.anchors.image @ self.C

    def body_gram(self) -> Array:
        """TᵀT (k, k) without the rows A."""
        cross = self.F.T @ (self.anchors.image @ self.C)
        own = self.F.T @ self.GF
        return own + cross + cross.T + self.C.T @ self.anchors.gram @ self.C

    def gram(self) -> Array:
        """TᵀT (k, k)."""
        return self.body_gram() + self.A.T @ self.A

    def turned(self, K: Array) -> Self:
        """T·K for K (k, k')."""
        return replace(self, F=self.F @ K, GF=self.GF @ K, C=self.C @ K, A=self.A @ K)

    def plus_range(self, F: Array, GF: Array) -> Self:
        """T + Xᵀ·F for F (m, k)."""
        return replace(self, F=self.F + F, GF=self.GF + GF)

    def weighted(self, body: float, rows: Array) -> Self:
        """T with its body times a number and the columns of A times `rows` (1, k)."""
        return replace(self, F=self.F * body, GF=self.GF * body, C=self.C * body, A=self.A * rows)

    def with_rows(self, A: Array) -> Self:
        """More columns (k → k + j), zero but for their rows A (h, j)."""
        j, xp = A.shape[1], namespace(A)

        def padded(x: Array) -> Array:
            return xp.concat([x, zeros_like_of(x, x.shape[0], j)], axis=1)

        return replace(
            self, F=padded(self.F), GF=padded(self.GF), C=padded(self.C), A=xp.concat([self.A, A], axis=1)
        )

    def with_range(self, F: Array, GF: Array) -> Self:
        """More columns Xᵀ·F."""
        more = self.with_rows(zeros_like_of(self.A, self.A.shape[0], F.shape[1]))
        xp = namespace(F)
        return replace(more, F=xp.concat([self.F, F], axis=1), GF=xp.concat([self.GF, GF], axis=1))

    def with_columns(self, R: Array, image: Array) -> Self:
        """More columns R (long, j), anchored here; image = X·R."""
        xp, j = namespace(R), R.shape[1]
        more = self.with_rows(zeros_like_of(self.A, self.A.shape[0], j))
        unit = xp.concat([zeros_like_of(R, self.anchors.size, j), eye_like(R, j)], axis=0)
        C = xp.concat([more.C, zeros_like_of(R, j, more.C.shape[1])], axis=0)
        C = xp.concat([C[:, : self.C.shape[1]], unit], axis=1)
        return replace(more, C=C, anchors=self.anchors.and_also(R, image))

    def tidy(self) -> Self:
        """The same with no more anchors than columns."""
        k = self.F.shape[1]
        if self.anchors.size <= k:
            return self
        unit = eye_like(self.C, k)
        return replace(self, C=unit, anchors=self.anchors.turned(self.C))
