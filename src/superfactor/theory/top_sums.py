"""Upper bounds of Σ_{i≤r} eig_i(M), M = G + QQᵀ, from the known part of X's spectrum.

Sums of eigenvalues are bounded from above, so that Ritz values can only weaken a certificate, never
invalidate it. Each sum has a bound of its rounding error (docs/method.md §19). Q = ΦᵀE·c, c = 1/(2√(ξλ)),
comes from dual points as `weighted`, E = ω∘g/√w (n, κ), which are stored with the samples.

================ ============================================= ==========================================
class            uses                                          passes over X for a certificate
================ ============================================= ==========================================
`KnownSpectrum`  the singular values of X̃                      one product with X̃ in its own coordinates
`FullSpectrum`   the Gram matrix of the smaller side           one (none for X in memory with n ≤ p)
`RitzSpectrum`   a basis close to the leading eigenvectors     two
================ ============================================= ==========================================
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from superfactor._arrays import Array, eigh_descending, frobenius2, moved, namespace, wide, zeros_like_of
from superfactor.options import Options
from superfactor.problem import Problem
from superfactor.samples import Block, Tall, Vectors
from superfactor.spectrum import eigen_rounding, product_rounding, ritz_corrections, top_eigenpairs
from superfactor.subspace import Basis

# Rounding below this share of the null loss never prevents a proof.
_FINE = 1e-9
# X with more entries than this is not copied for its singular values.
_MOST_DENSE = 2e7


@dataclass(frozen=True)
class Top:
    """A computed sum of leading eigenvalues, and how much larger the exact one may be."""

    value: float
    rounding: float


@dataclass(frozen=True)
class Pull:
    """Size of the gradient at dual points: c·E."""

    scale: float  # c
    gram: Array  # EᵀE (κ, κ)

    @cached_property
    def size(self) -> float:
        """c‖E‖, the Frobenius norm."""
        return self.scale * math.sqrt(float(namespace(self.gram).linalg.trace(self.gram)))

    @cached_property
    def norm(self) -> float:
        """c‖E‖₂, the largest singular value."""
        return self.scale * math.sqrt(max(float(eigh_descending(self.gram)[0][0]), 0.0))


@dataclass
class Spectrum(ABC):
    """The known part of the eigenvalues of the Gram matrix of X̃."""

    problem: Problem
    rank: int

    #: False if the largest value outside a basis is estimated by a Ritz value plus its residual.
    exact: ClassVar[bool] = True

    @abstractmethod
    def alone(self) -> Top:
        """Return Σ_{i≤r} σ_i² or an upper bound."""

    @abstractmethod
    def with_labels(self, weighted: Tall, pull: Pull) -> Top:
        """Return Σ_{i≤r} eig_i(M) or an upper bound, for dual points `weighted` and their `pull`."""

    @abstractmethod
    def operations(self) -> float:
        """Return the approximate cost of `with_labels`."""

    @abstractmethod
    def largest(self) -> float:
        """Return about σ₁², an upper bound."""

    @property
    def _size(self) -> float:
        """‖X̃‖."""
        return math.sqrt(self.problem.squared_norm)

    def _products(self, terms: int) -> float:
        """Return the relative rounding error of sums of `terms` products in the type of the blocks."""
        return product_rounding(terms, self.problem.epsilon)

    def _rounded(self, value: float, matrix: float, root: float = 0.0) -> Top:
        """Return a sum of r eigenvalues of M = KᵀK with its error, from M + ΔM or (K + ΔK)ᵀ(K + ΔK).

        ‖ΔM‖ ≤ `matrix` changes it by at most √r‖ΔM‖. Its root is a norm of K, so that ‖ΔK‖ ≤ `root` changes
        it by at most 2‖ΔK‖·√sum + ‖ΔK‖².
        """
        by_matrix = math.sqrt(self.rank) * matrix
        by_root = 2 * root * math.sqrt(max(value + by_matrix, 0.0)) + root**2
        return Top(value, by_matrix + by_root)


def spectrum_of(
    problem: Problem, rank: int, basis: Callable[[], Basis], *, exact: bool | None = None
) -> Spectrum:
    """Return the spectrum that is worth its cost; `exact` overrides the sizes of the problem's options."""
    if problem.singular_values is not None:
        return KnownSpectrum(problem, rank, problem.singular_values)
    small, large = min(problem.shape), max(problem.shape)
    if exact is None:
        options = problem.options
        operations = 2.0 * small * small * large
        exact = small <= options.exact_side and operations <= options.exact_operations
    # The Gram matrix of the samples is not a sum over them, so X must be in memory.
    if exact and (problem.whole is not None or problem.shape[1] <= problem.shape[0]):
        return FullSpectrum(problem, rank)
    return RitzSpectrum(problem, rank, basis())


@dataclass
class KnownSpectrum(Spectrum):
    """X̃ = UΣ, in the coordinates of its own right singular vectors: diag(σ²) plus a matrix of rank κ."""

    _sigma: Array

    def alone(self) -> Top:
        top = self._sigma[: self.rank]
        value = float(namespace(top).sum(top**2))
        return self._compressed(value, eigen_rounding(len(self._sigma)) * self._size**2)

    def with_labels(self, weighted: Tall, pull: Pull) -> Top:
        sigma, xp = self._sigma, namespace(self._sigma)
        image = self.problem.samples.sum(Block.image, weighted.place) * pull.scale  # c·X̃ᵀE

        def on_samples() -> Array:
            # UᵀQ, and the part of Q outside the range of X, where the Gram matrix is zero.
            within = image / sigma[:, None]
            values, V = eigh_descending(pull.gram * pull.scale**2 - within.T @ within)
            outside = xp.sqrt(xp.clip(values, 0.0, None))[:, None] * V.T
            return xp.concat([within, outside])

        model = self.problem.model
        root = model.phi(lambda: image, on_samples)
        missing = zeros_like_of(sigma, root.shape[0] - sigma.shape[0])
        d = xp.concat([wide(sigma) ** 2, missing])
        rank, m, n = min(self.rank, d.shape[0]), d.shape[0], self.problem.n_samples
        values, _, residuals = top_eigenpairs(d, root, rank)
        # A missed direction lies in the tail, where eigenvalues are below the r-th (interlacing).
        value = float(xp.sum(values) + rank * xp.sum(residuals))
        largest = math.sqrt(frobenius2(d[:, None])) + frobenius2(root)
        matrix = eigen_rounding(m) * largest
        of_root = self._products(n) * pull.size
        # The feature model uses E itself; only the square of its part outside the range of X is known.
        matrix += model.phi(lambda: 0.0, lambda: 2 * self._products(n) * pull.size**2)
        of_root *= model.phi(lambda: self._size, lambda: 1.0)
        pulled = model.phi(lambda: pull.norm, lambda: 0.0)
        return self._compressed(value, matrix, of_root, pulled)

    def _compressed(self, value: float, matrix: float, root: float = 0.0, pulled: float = 0.0) -> Top:
        """Return the sum with the rounding error of UΣ added.

        K = [X̃; c·EᵀX̃] changes by ‖X̃ − UΣQᵀ‖ times √(1 + c²‖E‖²), and the Gram matrix of its rows by that of X̃
        times the square.
        """
        known = self.problem.whole.data.rounding if self.problem.whole is not None else None
        if known is None:
            return self._rounded(value, matrix, root)
        grown = math.hypot(1.0, pulled)
        ways = (
            self._rounded(value, matrix, root + known.rows * grown),
            self._rounded(value, matrix + known.gram * grown**2, root),
        )
        return min(ways, key=lambda top: top.rounding)

    def operations(self) -> float:
        m, n = len(self._sigma), self.problem.n_samples
        return 2.0 * n * m * self.problem.n_outputs + min(m, Options.dense_eigen) ** 3

    def largest(self) -> float:
        return float(self._sigma[0]) ** 2


@dataclass
class FullSpectrum(Spectrum):
    """All eigenvalues, from the Gram matrix of the smaller side of X̃."""

    _gram: Array | None = None

    @property
    def _by_samples(self) -> bool:
        """Whether the Gram matrix is that of the samples: X is in memory, and they are the smaller side."""
        return self.problem.whole is not None and self.problem.shape[0] <= self.problem.shape[1]

    def _there(self, x: Array) -> Array:
        """Return x on the device of X: decomposing a matrix of this size is worth the transfer."""
        return moved(x, self.problem.like)

    def _known_gram(self) -> Array:
        whole = self.problem.whole
        if self._gram is None and self._by_samples and whole is not None:
            self._gram = whole.data.gram()
        elif self._gram is None and self.problem.feature_gram is not None:
            self._gram = self._there(self.problem.feature_gram)
        if self._gram is None:
            nothing = self.problem.samples.nothing()
            gram, _ = self.problem.samples.sum(Block.gram_and_image, nothing.place)
            self._gram = self._there(gram)
        return self._gram

    @property
    def _gram_rounding(self) -> float:
        """Bound of the rounding error of the Gram matrix."""
        return self._products(max(self.problem.shape)) * self._size**2

    @cached_property
    def _values(self) -> Array:
        """All eigenvalues of the Gram matrix, descending."""
        return _eigenvalues(self._known_gram())

    def alone(self) -> Top:
        return self._sum(self._values, self._gram_rounding)

    def with_labels(self, weighted: Tall, pull: Pull) -> Top:
        problem = self.problem
        scale, of_gram = pull.scale, self._gram_rounding
        # Rounding of c·X̃ᵀE and of c²EᵀE.
        of_image = self._products(problem.n_samples) * pull.size * self._size
        of_corner = self._products(problem.n_samples) * pull.size**2
        if self._by_samples:
            gram, E = self._known_gram(), wide(weighted.array()) * scale
            return problem.model.phi(
                lambda: self._pulled_samples(weighted, gram, E, pull),
                lambda: self._eigenvalue_sum(gram + E @ E.T, of_gram + of_corner),
            )
        if self._gram is None and problem.feature_gram is None:
            gram, image = problem.samples.sum(Block.gram_and_image, weighted.place)
            self._gram = self._there(gram)
        else:
            image = problem.samples.sum(Block.image, weighted.place)
        gram, image = self._known_gram(), self._there(image * scale)
        return problem.model.phi(
            lambda: self._eigenvalue_sum(gram + image @ image.T, of_gram, of_image),
            lambda: self._eigenvalue_sum(
                _bordered(gram, image, self._there(pull.gram * scale**2)), of_gram + 2 * of_image + of_corner
            ),
        )

    def _pulled_samples(self, weighted: Tall, gram: Array, E: Array, pull: Pull) -> Top:
        """Return the sum for the filter model with few samples, from the Gram matrix of K = [X̃; c·EᵀX̃].

        If its rounding error would be too large, from the singular values of K.
        """
        n = self.problem.n_samples
        image = gram @ E
        grown = 1 + pull.norm**2
        of_gram = (self._gram_rounding + product_rounding(n) * self._size**2) * grown
        found = self._eigenvalue_sum(_bordered(gram, image, E.T @ image), of_gram)
        whole = self.problem.whole
        enough = found.rounding <= _FINE * self.problem.null_loss / self.problem.xi
        if whole is None or enough or math.prod(self.problem.shape) > _MOST_DENSE:
            return found
        image = self.problem.samples.sum(Block.image, weighted.place) * pull.scale
        X = whole.data.dense()
        K = namespace(X).concat([X, self._there(image).T])
        values = namespace(K).linalg.svdvals(K)[: self.rank]
        value = float(namespace(values).sum(values**2))
        size = math.sqrt(frobenius2(K))
        of_image = self._products(n) * pull.size * self._size
        return self._rounded(value, 0.0, of_image + eigen_rounding(min(K.shape)) * size)

    def operations(self) -> float:
        (n, p), side = self.problem.shape, min(self.problem.shape)
        return 2.0 * n * p * self.problem.n_outputs + 2.0 * side**3

    def largest(self) -> float:
        return float(self._values[0]) * (1 + 1e-12)

    def _eigenvalue_sum(self, M: Array, matrix: float, root: float = 0.0) -> Top:
        return self._sum(_eigenvalues(M), matrix, root)

    def _sum(self, values: Array, matrix: float, root: float = 0.0) -> Top:
        xp, top = namespace(values), values[: self.rank]
        value = float(xp.sum(xp.where(top > 0, top, xp.zeros_like(top))))
        own = eigen_rounding(values.shape[0]) * math.sqrt(frobenius2(values[:, None]))
        return self._rounded(value, matrix + own, root)


def _eigenvalues(M: Array) -> Array:
    """Return the eigenvalues of a symmetric matrix, descending."""
    xp = namespace(M)
    return xp.flip(xp.linalg.eigvalsh((M + M.T) / 2))


@dataclass
class RitzSpectrum(Spectrum):
    """Σritz_i + Σc_i, c_i = |R_i|²/(ritz_i − rest₁), from Ritz values in a basis: the bound of
    docs/method.md §11.

    The basis is not changed: with the directions of the labels, a new one is made.
    """

    exact: ClassVar[bool] = False
    _basis: Basis

    def alone(self) -> Top:
        basis = self._basis
        ritz, V = eigh_descending(basis.D)
        V = V[:, : self.rank + 1]
        return self._bound(ritz, self._residuals(basis, V))

    def with_labels(self, weighted: Tall, pull: Pull) -> Top:
        problem, scale = self.problem, pull.scale
        Q = problem.model.pulled_dual(problem.side, weighted)
        basis, _ = self._basis.extended(Q)
        root = basis.coordinates(Q) * scale
        ritz, V = eigh_descending(basis.D + root @ root.T)
        V = V[:, : self.rank + 1]
        R = basis.GS.combined(V, (Q, scale * (root.T @ V)))
        of_root = self._products(problem.n_samples) * pull.size
        of_root *= problem.model.phi(lambda: self._size, lambda: 1.0)
        return self._bound(ritz, _sizes(basis, R), of_root)

    def operations(self) -> float:
        n, p = self.problem.shape
        return 4.0 * n * p * self.problem.n_outputs

    def largest(self) -> float:
        ritz, V = eigh_descending(self._basis.D)
        return float(ritz[0] + self._residuals(self._basis, V[:, :1])[0])

    def _residuals(self, basis: Basis, V: Array) -> Array:
        """Return the norms of (I − SSᵀ)GSV (j,)."""
        return _sizes(basis, basis.GS.combined(V))

    def _bound(self, ritz: Array, size: Array, of_root: float = 0.0) -> Top:
        """Return the bound from all Ritz values and the norms of the first r + 1 residuals."""
        xp, r = namespace(ritz), min(self.rank, int(ritz.shape[0]))
        outside = float(ritz[r] + size[r]) if ritz.shape[0] > r else 0.0
        more = ritz_corrections(ritz[:r] - outside, size[:r])
        # D = SᵀGS is a sum over the samples of products in the type of the blocks.
        matrix = self._products(max(self.problem.shape)) * self._size**2
        matrix += eigen_rounding(ritz.shape[0]) * float(xp.sum(xp.abs(ritz)))
        return self._rounded(float(xp.sum(ritz[:r] + more)), matrix, of_root)


def _sizes(basis: Basis, R: Vectors) -> Array:
    _, gram = basis.outside(R)
    xp = namespace(gram)
    return xp.sqrt(xp.clip(xp.linalg.diagonal(gram), 0.0, None))


def _bordered(M: Array, image: Array, corner: Array) -> Array:
    xp = namespace(M)
    top, low = xp.concat([M, image], axis=1), xp.concat([image.T, corner], axis=1)
    return xp.concat([top, low])
