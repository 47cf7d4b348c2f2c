"""Rows and linear algebra of tall matrices (n_b, j)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, device, eigh_descending, eps, moved, namespace, to_numpy, wide
from superfactor.samples.block.state import BlockState, Made, Place


class TallMethods(BlockState):
    """Rows to be stored or gathered, and products of tall matrices."""

    def rows_of(self, place: Place) -> Array:
        """Return a tall matrix (n_b, j)."""
        return self._tall(place)

    def combination(self, terms: Sequence[tuple[Place, Array]]) -> Array:
        """Return Σ T·M (n_b, m)."""
        total: Any = None
        for place, M in terms:
            tall = self._tall(place)
            part = tall @ cast(M, tall)
            total = part if total is None else total + part
        return total

    def codes(self, place: Place, M: Array) -> Array:
        """Return T·M/√w (n_b, r)."""
        return self._annotations().over_root(self.combination([(place, M)]))

    def given(self, matrix: Array) -> Array:
        """Return this block's rows of a matrix (n, j) of all samples."""
        return matrix[self._start : self._start + self.n_samples, :]

    def noise(self, seed: int, columns: int) -> Array:
        """Return standard normal numbers (n_b, columns)."""
        rng = np.random.default_rng((seed, self._start))
        return self._array(rng.standard_normal((self.n_samples, columns)))

    def identity(self, size: int) -> Array:
        """Return this block's rows of the identity of all `size` samples."""
        return self._array(np.eye(self.n_samples, size, self._start))

    def _array(self, values: Any) -> Array:
        like = self._annotations().targets
        return namespace(like).asarray(values, dtype=like.dtype, device=device(like))

    def inner(self, left: Place, right: Place) -> Array:
        """Return leftᵀ·right, in float64."""
        return wide(self._tall(left)).T @ wide(self._tall(right))

    def refined(self, place: Place, B: Array, basis: Place, C: Array | None) -> Made[tuple[Array, Array]]:
        """Return R = T·B − S·C, with SᵀR and RᵀR in float64."""
        terms = [(place, B)]
        if C is not None and basis.columns:
            terms.append((basis, -C))
        out = self.combination(terms)
        fine = wide(out)
        return Made((out,), (wide(self._tall(basis)).T @ fine, fine.T @ fine))

    def triangle(self, place: Place) -> Array:
        """Return the triangular factor R of T = QR, with n_b rows or as many as it has columns: to gather."""
        tall = self._tall(place)
        xp = namespace(tall)
        if eps(tall) < 1e-10:
            return xp.linalg.qr(tall)[1]
        # Products in float64 keep all digits of float32, for a fraction of the cost of Householder
        # reflections.
        fine = wide(tall)
        values, V = eigh_descending(to_numpy(fine.T @ fine))
        R = np.linalg.qr(np.sqrt(np.clip(values, 0, None))[:, None] * V.T)[1]
        return cast(moved(R * np.where(np.diagonal(R) < 0, -1, 1)[:, None], tall), tall)
