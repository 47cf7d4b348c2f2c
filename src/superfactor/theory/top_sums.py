"""Upper bounds of Σ_{i≤r} eig_i(M), M = G + QQᵀ: from what is known of X's
spectrum.

Sums of eigenvalues are bounded from above, so that rounding and Ritz values can only weaken a
certificate, never break it. Q = ΦᵀG/(2√(ξλ)) comes from dual points, as `weighted` = G/√w (n, κ), which
live with the samples.

================ ============================================= ==========================================
class            knows                                         passes over X for a certificate
================ ============================================= ==========================================
`KnownSpectrum`  the singular values of X̃                      one product with X̃ in its own coordinates
`FullSpectrum`   the Gram matrix of the smaller side           one (none for X in memory with n ≤ p)
`RitzSpectrum`   a basis that nearly holds the leading vectors two
================ ============================================= ==========================================
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

from superfactor._arrays import Array, eigh_descending, moved, namespace, wide, zeros_like_of
from superfactor.problem import Problem
from superfactor.samples import Block, Tall, Vectors
from superfactor.spectrum import ritz_corrections, top_eigenpairs
from superfactor.subspace import Basis


class Spectrum(ABC):
    """What is known of the eigenvalues of the Gram matrix of X̃."""

    problem: Problem
    rank: int

    #: False where the largest value outside a basis is estimated by a Ritz value plus its residual.
    exact = True

    def __init__(self, problem: Problem, rank: int):
        self.problem, self.rank = problem, rank

    @abstractmethod
    def alone(self) -> float:
        """Σ_{i≤r} σ_i², or more."""

    @abstractmethod
    def with_labels(self, weighted: Tall) -> float:
        """Σ_{i≤r} eig_i(M), or more."""

    @abstractmethod
    def largest(self) -> float:
        """About σ₁², from above."""

    def _rounding(self, size: int, largest: float) -> float:
        """What rounding may have taken from a sum of eigenvalues of a matrix of this size.

        The blocks' own floating type counts: sums over them are in float64, products with X are not.
        """
        return 4 * self.problem.epsilon * math.sqrt(size) * abs(largest)


def spectrum_of(
    problem: Problem, rank: int, basis: Callable[[], Basis], *, exact: bool | None = None
) -> Spectrum:
    """What is worth knowing; `exact` overrules the sizes of the problem's options."""
    if problem.singular_values is not None:
        return KnownSpectrum(problem, rank, problem.singular_values)
    small, large = min(problem.shape), max(problem.shape)
    if exact is None:
        options = problem.options
        operations = 2.0 * small * small * large
        exact = small <= options.exact_side and operations <= options.exact_operations
    # The Gram matrix of samples is no sum over them: X has to be at hand.
    if exact and (problem.whole is not None or problem.shape[1] <= problem.shape[0]):
        return FullSpectrum(problem, rank)
    return RitzSpectrum(problem, rank, basis())


class KnownSpectrum(Spectrum):
    """X̃ = UΣ, in the coordinates of its own right singular vectors: diag(σ²) plus a matrix of rank κ."""

    def __init__(self, problem: Problem, rank: int, sigma: Array):
        super().__init__(problem, rank)
        self._sigma = sigma

    def alone(self) -> float:
        top = self._sigma[: self.rank]
        rounding = self._rounding(self._sigma.shape[0], self.largest())
        return float(namespace(top).sum(top**2)) + rounding

    def with_labels(self, weighted: Tall) -> float:
        sigma, xp = self._sigma, namespace(self._sigma)
        scale = self.problem.dual_scale()
        image = self.problem.samples.sum(Block.image, weighted.place) * scale  # X̃ᵀ·weighted

        def on_samples() -> Array:
            # UᵀQ, and what Q has outside the range of X, where the Gram matrix is zero.
            within = image / sigma[:, None]
            inside = weighted.inner(weighted) * scale**2
            values, V = eigh_descending(inside - within.T @ within)
            outside = xp.sqrt(xp.clip(values, 0.0, None))[:, None] * V.T
            return xp.concat([within, outside])

        root = self.problem.model.phi(lambda: image, on_samples)
        missing = zeros_like_of(sigma, root.shape[0] - sigma.shape[0])
        d = xp.concat([wide(sigma) ** 2, missing])
        rank = min(self.rank, d.shape[0])
        values, _, residuals = top_eigenpairs(d, root, rank)
        # A missed direction would lie in the tail, where eigenvalues are below the r-th (interlacing).
        rounding = self._rounding(d.shape[0], float(values[0]))
        return float(xp.sum(values) + rank * xp.sum(residuals)) + rounding

    def largest(self) -> float:
        return float(self._sigma[0]) ** 2


class FullSpectrum(Spectrum):
    """From the Gram matrix of the smaller side of X̃."""

    def __init__(self, problem: Problem, rank: int):
        super().__init__(problem, rank)
        self._gram: Array | None = None

    @property
    def _by_samples(self) -> bool:
        """Whether the smaller side is the samples."""
        return self.problem.shape[0] <= self.problem.shape[1]

    def _there(self, x: Array) -> Array:
        """Where X lives: to decompose a matrix of this size is worth the journey."""
        return moved(x, self.problem.like)

    def _known_gram(self) -> Array:
        if self._gram is None and self._by_samples and self.problem.whole is not None:
            self._gram = self.problem.whole.data.gram()
        elif self._gram is None:
            nothing = self.problem.samples.nothing()
            gram, _ = self.problem.samples.sum(Block.gram_and_image, nothing.place)
            self._gram = self._there(gram)
        return self._gram

    def alone(self) -> float:
        return self._eigenvalue_sum(self._known_gram())

    def with_labels(self, weighted: Tall) -> float:
        problem, scale = self.problem, self.problem.dual_scale()
        if self._by_samples:
            gram, E = self._known_gram(), wide(weighted.array()) * scale
            M = problem.model.phi(
                lambda: _bordered(gram, gram @ E, E.T @ gram @ E), lambda: gram + E @ E.T
            )
            return self._eigenvalue_sum(M)
        if self._gram is None:
            gram, image = problem.samples.sum(Block.gram_and_image, weighted.place)
            self._gram = self._there(gram)
        else:
            image = problem.samples.sum(Block.image, weighted.place)
        gram, image = self._gram, self._there(image * scale)
        M = problem.model.phi(
            lambda: gram + image @ image.T,
            lambda: _bordered(gram, image, self._there(weighted.inner(weighted) * scale**2)),
        )
        return self._eigenvalue_sum(M)

    def largest(self) -> float:
        gram = self._known_gram()
        return float(namespace(gram).linalg.eigvalsh(gram)[-1]) * (1 + 1e-12)

    def _eigenvalue_sum(self, M: Array) -> float:
        xp = namespace(M)
        values = xp.flip(xp.linalg.eigvalsh((M + M.T) / 2))
        top = values[: self.rank]
        rounding = self._rounding(M.shape[0], float(values[0]))
        return float(xp.sum(xp.where(top > 0, top, xp.zeros_like(top)))) + rounding


class RitzSpectrum(Spectrum):
    """Σritz_i + Σc_i, c_i = |R_i|²/(ritz_i − rest₁), from Ritz values in a basis: the bound of
    docs/method.md §11.

    The basis stays as it is: what the labels add makes another one.
    """

    exact = False

    def __init__(self, problem: Problem, rank: int, basis: Basis):
        super().__init__(problem, rank)
        self._basis = basis

    def alone(self) -> float:
        basis = self._basis
        ritz, V = eigh_descending(basis.D)
        V = V[:, : self.rank + 1]
        return self._bound(ritz, self._residuals(basis, V))

    def with_labels(self, weighted: Tall) -> float:
        problem, scale = self.problem, self.problem.dual_scale()
        Q = problem.model.pulled_dual(problem.side, weighted)
        basis, _ = self._basis.extended(Q)
        root = basis.coordinates(Q) * scale
        ritz, V = eigh_descending(basis.D + root @ root.T)
        V = V[:, : self.rank + 1]
        R = basis.GS.combined(V, (Q, scale * (root.T @ V)))
        return self._bound(ritz, _sizes(basis, R))

    def largest(self) -> float:
        ritz, V = eigh_descending(self._basis.D)
        return float(ritz[0] + self._residuals(self._basis, V[:, :1])[0])

    def _residuals(self, basis: Basis, V: Array) -> Array:
        """The norms of (I − SSᵀ)GSV (j,)."""
        return _sizes(basis, basis.GS.combined(V))

    def _bound(self, ritz: Array, size: Array) -> float:
        """From all Ritz values, and the norms of the first r + 1 residuals."""
        xp, r = namespace(ritz), min(self.rank, int(ritz.shape[0]))
        outside = float(ritz[r] + size[r]) if ritz.shape[0] > r else 0.0
        more = ritz_corrections(ritz[:r] - outside, size[:r])
        return float(xp.sum(ritz[:r] + more)) + self._rounding(ritz.shape[0], float(ritz[0]))


def _sizes(basis: Basis, R: Vectors) -> Array:
    _, gram = basis.outside(R)
    xp = namespace(gram)
    return xp.sqrt(xp.clip(xp.linalg.diagonal(gram), 0.0, None))


def _bordered(M: Array, image: Array, corner: Array) -> Array:
    xp = namespace(M)
    top, low = xp.concat([M, image], axis=1), xp.concat([image.T, corner], axis=1)
    return xp.concat([top, low])
