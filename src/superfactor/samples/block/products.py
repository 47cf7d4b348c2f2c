"""Products with X: each method is one pass over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor._arrays import Array, namespace, wide
from superfactor.samples.block.design import Along, Design
from superfactor.samples.block.loss import LossMethods
from superfactor.samples.block.state import Made, Place, reads_rows
from superfactor.samples.moments import score_sums
from superfactor.spectrum import DataMatrix


class ProductMethods(LossMethods):
    """Images of vectors, powers of X̃, and gradients and curvatures of the loss in Ã."""

    @reads_rows
    def images(self, T: Array) -> Array:
        """Return X̃T (n_b, j) for T (p, j): rows."""
        return self._rows().times(T)

    @reads_rows
    def image(self, place: Place) -> Array:
        """Return X̃ᵀ·T (p, j) for a tall T."""
        return self._rows().transpose_times(self._tall(place))

    @reads_rows
    def power(self, T: Array) -> Array:
        """Return X̃ᵀX̃T (p, j)."""
        X = self._rows()
        return X.transpose_times(X.times(T))

    @reads_rows
    def row_sum(self) -> Array:
        """Return X̃ᵀ√w (p, 1), the weighted sum of the rows of X, in the units of X̃."""
        return self._row_sum(self._rows())

    @reads_rows
    def stretch(self, start: int, stop: int) -> Array:
        """Return those of the rows of X̃ that are at start to stop among all samples (k, p): to gather."""
        a, b = self._within(start, stop)
        return np.empty((0, 0)) if a == b else self._rows().rows(a, b).dense()

    def _within(self, start: int, stop: int) -> tuple[int, int]:
        a, b = (min(max(at - self._start, 0), self.n_samples) for at in (start, stop))
        return a, b

    @reads_rows
    def images_and_stretch(self, T: Array, start: int, stop: int) -> tuple[Array, Array]:
        """Return X̃T (n_b, j) for T (p, j), and rows as `stretch` does: to gather."""
        X, (a, b) = self._rows(), self._within(start, stop)
        return X.times(T), X.rows(a, b).dense()

    @reads_rows
    def gram_and_sum(self) -> tuple[Array, Array]:
        """Return X̃ᵀX̃ (p, p) and X̃ᵀ√w (p, 1), see `row_sum`, in one pass."""
        X = self._rows()
        return X.feature_gram(), self._row_sum(X)

    @reads_rows
    def power_and_sum(self, T: Array) -> tuple[Array, Array]:
        """Return X̃ᵀX̃T (p, j) and X̃ᵀ√w (p, 1), see `row_sum`."""
        X = self._rows()
        return X.transpose_times(X.times(T)), self._row_sum(X)

    def _row_sum(self, X: DataMatrix) -> Array:
        known = self._annotations()
        root, weight = known.root_weight, known.loss_weight
        return X.transpose_times(namespace(weight).ones_like(weight) if root is None else root)

    @reads_rows
    def scored(self, V: Array) -> Made[tuple[Any, ...]]:
        """Return scores X̃V (n_b, r) and √w/s as one matrix to store, and the sums of `moments.score_sums`."""
        X = self._rows()
        scores, sums = score_sums(X, V)
        xp = namespace(scores)
        ones = xp.ones_like(scores[:, :1]) if X.root_weight is None else X.root_weight
        return Made((xp.concat([scores, ones / X.scale], axis=1),), sums)

    @reads_rows
    def gram_and_image(self, place: Place) -> tuple[Array, Array]:
        """Return X̃ᵀX̃ (p, p) and X̃ᵀ·T (p, j), in one pass."""
        X = self._rows()
        return X.feature_gram(), X.transpose_times(self._tall(place))

    @reads_rows
    def pull(self, design: Design, coef: Array) -> Array:
        """Return X̃ᵀ(E/√w) (p, κ), the gradient of the loss in Ã if the search side is the features."""
        return self._rows().transpose_times(self.pulled(design, coef))

    @reads_rows
    def grown(self, T: Array, basis: Place, along: Along | None) -> Made[tuple[Array, ...]]:
        """Return Z = X̃T for T (p, j), in one pass with all other products that a basis of features needs.

        Sums: X̃ᵀZ (p, j), the products of the basis' images with Z (k, j), ZᵀZ (j, j); and along
        directions X̃ᵀ(h∘Z) (p, j), h_ij = b_jᵀ(ω_i∇²ℓ_i/w_i)b_j.
        """
        X = self._rows()
        Z = X.times(T)
        xp, both, j = namespace(Z), Z, int(Z.shape[1])
        if along is not None:
            both = xp.concat([Z, self._bent(along, Z)], axis=1)
        G = X.transpose_times(both)
        # In float64: ξ‖X̃‖² minus the trace of these products may be a small difference of large numbers.
        fine = wide(Z)
        sums = (G[:, :j], wide(self._tall(basis)).T @ fine, fine.T @ fine)
        return Made((Z,), sums if along is None else (*sums, G[:, j:]))

    @reads_rows
    def images_and_bent(self, Z: Array, place: Place, along: Along) -> Made[tuple[()]]:
        """Return X̃Z, and h∘T with h as in `grown`, for a tall T and Z = X̃ᵀT."""
        bent = self._bent(along, self._tall(place))
        return Made((self._rows().times(Z), bent), ())
