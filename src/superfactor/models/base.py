"""The interface of a model: everything in which SMF-W and SMF-H differ.

Each model has a *search side*, the space R^N that contains the rank-r subspace W (N, r). In terms of W both
models have the same form: Ã = Wβ (N, κ), the best B̃ is the projection of X̃ onto W, and

    F(W, β, γ) = Σ_i ω_i ℓ(y_i, (ΦWβ)_i + γᵀx'_i) + λ‖β‖² + Σ_j ρ_j‖γ_j‖² + ξ(‖X̃‖² − tr WᵀGW).

=============================== ============================== ==================================
                                filter (SMF-W)                 feature (SMF-H)
=============================== ============================== ==================================
search side                     the features, N = p            the samples, N = n
image Z of vectors T            X̃T                             X̃ᵀT
ΦT, what the classifier reads   Z/√w                           T/√w
ΦᵀE                             X̃ᵀ(E/√w)                       E/√w
G                               X̃ᵀX̃                            X̃X̃ᵀ
=============================== ============================== ==================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from superfactor._arrays import Array
from superfactor.models.coding import Coding
from superfactor.models.factors import Factors, Turned
from superfactor.samples import Along, Annotations, Design, Samples, Tall, Vectors
from superfactor.spectrum import DataMatrix

Answer = TypeVar("Answer")
Range = tuple[float, float]


@dataclass(frozen=True)
class Side:
    """The search side of a problem."""

    samples: Samples
    shape: tuple[int, int]  # (n, p) of X̃
    like: Array  # a float64 array of the library and device of the solver


@dataclass(frozen=True)
class Grown:
    """The products that a basis S of k vectors needs of j new vectors T."""

    features: Tall  # (n, j) tall, √w·ΦT
    loadings: Array  # (p, j), T itself or its image, whichever has p rows
    powers: Vectors  # G·T
    cross: Array  # SᵀGT (k, j)
    corner: Array  # TᵀGT (j, j)
    bent: Vectors | None  # the curvature of the loss along T, if requested: Φᵀ(h∘ΦT)


class Model(ABC):
    """SMF-W or SMF-H. There is one object of each, which has no data."""

    name: ClassVar[str]
    #: Whether the search side is the samples; otherwise it is the features.
    searches_samples: ClassVar[bool]
    #: Number of Krylov steps from the gradient of the loss at the beginning of a search, and whether this
    #: gradient may lie outside the range of X.
    label_steps: ClassVar[int]
    labels_leave_range: ClassVar[bool]

    def side(self, shape: tuple[int, int]) -> int:
        """Return the dimension of the search side, N."""
        return shape[0] if self.searches_samples else shape[1]

    def other_side(self, shape: tuple[int, int]) -> int:
        """Return the dimension of the other side of X."""
        return shape[1] if self.searches_samples else shape[0]

    def on_smaller_side(self, shape: tuple[int, int]) -> bool:
        """Return whether the search side is that of the smaller Gram matrix, X̃X̃ᵀ if n ≤ p."""
        return self.searches_samples == (shape[0] <= shape[1])

    # --- units: X̃ = diag(√w)X/s, B̃ = B/s, Ã = unit·A ---------------------------------------------------

    def unit(self, scale: float) -> float:
        """Return Ã/A."""
        return 1.0 if self.searches_samples else scale

    def own_weights(self, xi: float, lam: float, scale: float) -> tuple[float, float]:
        """Return ξ and λ in the units of X̃ and Ã."""
        return float(xi) * scale**2, float(lam) / self.unit(scale) ** 2

    def users_weights(self, xi: float, lam: float, scale: float) -> tuple[float, float]:
        """Return ξ and λ in the user's units, from those of X̃ and Ã."""
        return xi / scale / scale, lam * self.unit(scale) ** 2

    def subsampled_ridge(self, lam: float, share: float) -> float:
        """Return λ for a share of the samples that leaves the optimum about the same."""
        # λ applies to each sample (feature), or to all together and is proportional to their number (filter).
        return lam if self.searches_samples else lam * share

    #: ξ and λ for "auto" in the units of `superfactor.units`, measured on the tables of docs/selection.md.
    usual_xi: ClassVar[float]
    usual_lam: ClassVar[float]

    def natural_ridge(self, largest: Callable[[], float]) -> float:
        """Return the unit of λ (`largest` computes σ₁(X)²); 1 if λ penalizes activations."""
        return 1.0 if self.searches_samples else largest()

    def feature_bound(self, squared_norm: float) -> float:
        """Return an upper bound of ‖Φ‖² in units of √w."""
        return 1.0 if self.searches_samples else squared_norm

    # --- with arrays in memory ----------------------------------------------------------------------------

    def image(self, data: DataMatrix, T: Array) -> Array:
        """Multiply by X̃ from the search side: (N, k) -> (other, k)."""
        return data.transpose_times(T) if self.searches_samples else data.times(T)

    def back(self, data: DataMatrix, Z: Array) -> Array:
        """Multiply by the transpose: (other, k) -> (N, k)."""
        return data.times(Z) if self.searches_samples else data.transpose_times(Z)

    def features(self, known: Annotations, T: Array, Z: Array) -> Array:
        """Return ΦT (n, k) of directions T (N, k) with images Z."""
        return known.over_root(T if self.searches_samples else Z)

    def pull(self, data: DataMatrix, known: Annotations, E: Array) -> Array:
        """Return ΦᵀE (N, κ)."""
        E = known.over_root(E)
        return E if self.searches_samples else data.transpose_times(E)

    def activations(self, data: DataMatrix, known: Annotations, A: Array) -> Array:
        """Return ΦÃ (n, κ), with a product with X only if one is needed."""
        return known.over_root(A if self.searches_samples else data.times(A))

    def by_samples(self, B: Array) -> Array:
        """Transpose B between the search side (N, other) and (n, p), if they differ."""
        return B if self.searches_samples else B.T

    def atoms_and_codes(self, L: Array, P: Array) -> tuple[Array, Array]:
        """Return L (N, r) and P (other, r) with B̃ = L·Pᵀ in the order atoms (p, r), codes (n, r).

        The inverse is the same exchange.
        """
        return (P, L) if self.searches_samples else (L, P)

    def phi(self, data: Callable[[], Answer], identity: Callable[[], Answer]) -> Answer:
        """Call `data` if Φ is the data matrix (filter), `identity` if it is the identity (feature)."""
        return identity() if self.searches_samples else data()

    # --- the search side, as sums over samples ------------------------------------------------------------

    @abstractmethod
    def no_vectors(self, side: Side) -> Vectors:
        """Return vectors (N, 0)."""

    @abstractmethod
    def random(self, side: Side, rng: np.random.Generator, width: int) -> Vectors:
        """Return random vectors of the whole search side."""

    @abstractmethod
    def random_in_range(self, side: Side, rng: np.random.Generator, width: int) -> Vectors:
        """Return random vectors in the range of X̃, larger along its large directions; one pass."""

    @abstractmethod
    def everything(self, side: Side, limit: int) -> Vectors:
        """Return a basis of the search side up to dimension `limit`, and of the range of X̃ beyond."""

    @abstractmethod
    def from_loadings(self, side: Side, loadings: Array) -> Vectors:
        """Return vectors of the search side from an array (p, j): the same, or their products with X̃."""

    @abstractmethod
    def resumed(
        self, side: Side, loadings: Array, tall: Array | None
    ) -> tuple[list[Vectors], Vectors | None]:
        """Return vectors that restore the basis of an earlier search, and those that span its subspace.

        `loadings` (p, k) begin with the subspace. `tall` (n, r) is the subspace if the search side is the
        samples and the subspace is known.
        """

    @abstractmethod
    def grown(self, side: Side, features: Tall, loadings: Array, T: Vectors, along: Along | None) -> Grown:
        """Return the products of new orthonormal vectors T with each other and with a basis.

        `features` and `loadings` are those of the basis. Takes one pass over X if the search side is the
        features, two if it is the samples.
        """

    @abstractmethod
    def pulled(self, side: Side, design: Design, coef: Array) -> Vectors:
        """Return ΦᵀE, the gradient of the loss in Ã; one pass if the search side is the features."""

    @abstractmethod
    def pulled_dual(self, side: Side, weighted: Tall) -> Vectors:
        """Return Φᵀ(ω∘g) at dual points, from `Block.weighted_dual`."""

    # --- results ----------------------------------------------------------------------------------------

    #: Whether codes of training samples depend on their labels, so that X alone does not determine them.
    codes_see_labels: ClassVar[bool]

    @abstractmethod
    def turned(self, atoms: Array, beta: Array, gram: Array, scale: float) -> Turned:
        """Return atoms, coefficients and codes in the user's units, from a point of the search.

        `atoms` (p, r) is W or its image, whichever has p rows; β is (r, κ); gram = WᵀGW (r, r).
        """

    def normalised(self, factors: Factors, norms: Array) -> Array:
        """Return β (r, κ) after atoms are divided by their norms (r,) and codes multiplied."""
        return factors.beta / norms[:, None] if self.searches_samples else factors.beta * norms[:, None]

    def lifted(self, factors: Factors) -> Array:
        """Return A (N, κ) of factors in the user's units."""
        return (factors.codes if self.searches_samples else factors.components) @ factors.beta

    def ridge_unit(self, sizes: Any) -> Any:
        """Return the unit (r,) of coefficients in the ridge, for codes of these sizes (r,), NumPy."""
        return sizes if self.searches_samples else np.ones_like(sizes)

    @abstractmethod
    def coding(self, factors: Factors, code_sizes: Array, xi: float, lam: float) -> Coding:
        """Return the coding of new samples; `code_sizes` (r,) are the norms of the training codes."""

    # --- theory -----------------------------------------------------------------------------------------

    def loss_curvature(self, alpha: Range, design: Range, covariate_factor: float) -> Range:
        """Return lower and upper bounds of the loss's part of the curvature (`superfactor.theory.regions`).

        From the curvature bounds α⁻ and α⁺ of the loss, the bounds (nδ⁻, nδ⁺) of ΦᵀΦ, Φ = [X, X'], and
        λ_max(X'ᵀX').
        """
        if self.searches_samples:
            return 0.0, alpha[1] * (1 + covariate_factor)
        return design[0] * alpha[0], design[1] * alpha[1]
