"""The two models: which side of X̃ the subspace W lies in.

    F(W, β, γ) = Σ_i ω_i ℓ(y_i, (ΦWβ)_i + γᵀx'_i) + λ‖β‖² + Σ_j ρ_j‖γ_j‖² + ξ(‖X̃‖² − tr WᵀGW),     WᵀW = I

============================== ============== ===============
                               filter         feature
============================== ============== ===============
side of W                      features       samples
G                              X̃ᵀX̃            X̃X̃ᵀ
image of T                     X̃T             X̃ᵀT
ΦT, what the loss reads        X̃T/√w          T/√w
ΦᵀE                            X̃ᵀ(E/√w)       E/√w
============================== ============== ===============
"""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor._arrays import Array, namespace
from superfactor._new.conjugate import conjugate_gradients
from superfactor._new.rows import Rows
from superfactor._new.tall import dot, there

#: Up to this many entries of n matrices r × r, the curvature of each sample is inverted exactly.
_LOCAL = 2_000_000


class Filter:
    """W (p, r) are weights of the features."""

    name = "filter"
    #: Vectors of a Krylov chain of G from a residual.
    chain = 3

    def __init__(self, rows: Rows) -> None:
        self.rows, self.side = rows, rows.shape[1]

    def image(self, T: Array) -> Array:
        return self.rows.times(T)

    def back(self, Z: Array) -> Array:
        """Return G's other half: X̃ᵀZ for an image Z."""
        return self.rows.back(Z)

    def with_power(self, T: Array) -> tuple[Array, Array]:
        """Return the image of T and GT, in one pass."""
        return self.rows.power(T)

    def design(self, S: Array, image: Array) -> Array:
        return self.rows.unrooted(image)

    def gradient(self, E: Array, image: Array | None = None) -> Array:
        """Return ΦᵀE, plus GT if an image of T is given: one pass."""
        E = self.rows.unrooted(E)
        return self.rows.back(E if image is None else E + image)

    def random(self, rng: np.random.Generator, width: int) -> Array:
        """Return random vectors in the range of G, larger along its large directions."""
        return self.rows.power(rng.standard_normal((self.side, width)))[1]

    def identity(self) -> Array:
        return np.eye(self.side)

    def range(self) -> Array:
        """Return vectors that span the range of G."""
        n = self.rows.shape[0]
        return self.rows.back(there(np.eye(n), self.rows.Y))

    def softened(self, R: Array, *_: Any) -> Array:
        """Return directions that lower F, from residuals."""
        return R


class Feature:
    """W (n, r) are scores of the samples."""

    name = "feature"
    chain = 1

    def __init__(self, rows: Rows) -> None:
        self.rows, self.side = rows, rows.shape[0]

    def image(self, T: Array) -> Array:
        return self.rows.back(T)

    def back(self, Z: Array) -> Array:
        return self.rows.times(Z)

    def with_power(self, T: Array) -> tuple[Array, Array]:
        image = self.image(T)
        return image, self.back(image)

    def design(self, S: Array, image: Array) -> Array:
        return self.rows.unrooted(S)

    def gradient(self, E: Array, image: Array | None = None) -> Array:
        E = self.rows.unrooted(E)
        return E if image is None else E + self.rows.times(image)

    def random(self, rng: np.random.Generator, width: int) -> Array:
        return self.rows.times(rng.standard_normal((self.rows.shape[1], width)))

    def identity(self) -> Array:
        return there(np.eye(self.side), self.rows.Y)

    def range(self) -> Array:
        return self.rows.times(np.eye(self.rows.shape[1]))

    def softened(self, R: Array, stiffness: Any, H: Any, beta: Any) -> Array:
        """Return residuals R (n, r) divided by the curvature of each sample, diag(stiffness) + βH_iβᵀ/w_i."""
        over, r = self.rows.unrooted, len(stiffness)
        if R.shape[0] * r * r <= _LOCAL and not self.rows.loss.couples_samples:
            xp, B = namespace(R), there(beta.T, R)
            local = H.row_matrices(B)
            if self.rows.unroot is not None:
                local = local * self.rows.unroot[:, :, None] ** 2
            return xp.linalg.solve(local + there(np.diag(stiffness), R), R[:, :, None])[:, :, 0]
        root = stiffness**-0.5
        turn = root[:, None] * np.linalg.eigh(root[:, None] * (beta @ beta.T) * root)[1]
        B = there(beta.T @ turn, R)
        bend = 1 + over(over(H.by_row(B)))  # exact for one output

        def times(x: Array) -> Array:
            return x + over(H.times(over(x @ B.T))) @ B

        found, _ = conjugate_gradients(times, dot(R, turn), lambda x: x / bend, 0.1, 5)
        return dot(found, turn.T)


MODELS = {"filter": Filter, "feature": Feature}
