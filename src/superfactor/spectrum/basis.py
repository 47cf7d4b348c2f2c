"""A growing orthonormal basis of the search side, with the images the solvers need."""

from __future__ import annotations

import copy
from collections.abc import Callable

from superfactor._arrays import Array, column_norms, device, eps, namespace, zeros_like_of


class GrowingBasis:
    """S (N, k) with orthonormal columns, Z = X·S on the other side, GS = XᵀX·S, and D = SᵀGS.

    "X" stands for X̃ when the search side is the features (filter model) and for X̃ᵀ when it is the
    samples (feature model); `image` and `back` are its two products.
    """

    def __init__(
        self, empty: Array, image: Callable[[Array], Array], back: Callable[[Array], Array]
    ):
        """`empty` has shape (N, 0) and fixes type and place."""
        self._image, self._back = image, back
        self.S = empty
        self.Z: Array = image(empty)
        self.GS = empty
        self.D = zeros_like_of(empty, 0, 0)

    @property
    def size(self) -> int:
        return int(self.S.shape[1])

    def copy(self) -> GrowingBasis:
        """The same basis, free to grow on its own."""
        return copy.copy(self)

    def outside(self, T: Array) -> Array:
        """(I − SSᵀ)T, up to rounding relative to T."""
        return T - self.S @ (self.S.T @ T)

    def new_directions(self, T: Array) -> tuple[Array, Array]:
        """An orthonormal basis of what T (N, j) adds to S, and a mask (j,) of surviving columns."""
        xp = namespace(T)
        norms = column_norms(T)
        alive = norms > 0
        T = T / xp.where(alive, norms, xp.ones_like(norms))[None, :]
        T = self.outside(T)
        norms = column_norms(T)
        noise = 1e3 * eps(T)  # what rounding leaves of a column inside S
        index = xp.nonzero(norms > max(1e-10, noise))[0]
        T = xp.take(T, index, axis=1) / xp.take(norms, index)[None, :]
        # What was mostly inside S has lost digits against it: clean once more before and after QR.
        T, R = xp.linalg.qr(self.outside(T))
        kept = xp.nonzero(xp.abs(xp.linalg.diagonal(R)) > max(1e-8, noise))[0]
        T, R = xp.linalg.qr(self.outside(xp.take(T, kept, axis=1)))
        index = xp.take(index, kept)
        mask = xp.zeros(norms.shape, dtype=xp.bool, device=device(norms))
        for i in range(index.shape[0]):
            mask[int(index[i])] = True
        return T, mask

    def append(self, T: Array, Z: Array | None = None, GT: Array | None = None) -> None:
        """Add orthonormal columns T (N, j) outside S; the images are computed where not given."""
        if T.shape[1] == 0:
            return
        xp = namespace(T)
        Z = self._image(T) if Z is None else Z
        GT = self._back(Z) if GT is None else GT
        cross, corner = self.Z.T @ Z, Z.T @ Z
        self.D = xp.concat(
            [xp.concat([self.D, cross], axis=1), xp.concat([cross.T, corner], axis=1)]
        )
        self.S = xp.concat([self.S, T], axis=1)
        self.Z = xp.concat([self.Z, Z], axis=1)
        self.GS = xp.concat([self.GS, GT], axis=1)

    def extend(self, T: Array) -> int:
        """Add the span of T (N, j) to S; the number of directions that were new."""
        new, _ = self.new_directions(T)
        self.append(new)
        return int(new.shape[1])

    def rotate(self, V: Array) -> None:
        """S ← SV for V (k, k') with orthonormal columns."""
        self.S, self.Z, self.GS = self.S @ V, self.Z @ V, self.GS @ V
        D = V.T @ self.D @ V
        self.D = (D + D.T) / 2
