"""What a model is: everything in which SMF-W and SMF-H differ, in the words they share.

From its *search side*, a space R^N that holds the rank-r subspace W (N, r), either model looks the same:
Ã = Wβ (N, κ), the best B̃ is the projection of X̃ onto W, and

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
    """Where a search takes place."""

    samples: Samples  # who holds them
    shape: tuple[int, int]  # (n, p) of X̃
    like: Array  # a float64 array where the solver computes


@dataclass(frozen=True)
class Grown:
    """What a basis S of k vectors must know of j new ones, T."""

    features: Tall  # (n, j) tall, √w·ΦT
    loadings: Array  # (p, j), T itself or its image, whichever has p rows
    powers: Vectors  # G·T
    cross: Array  # SᵀGT (k, j)
    corner: Array  # TᵀGT (j, j)
    bent: Vectors | None  # the curvature of the loss along T, where it was asked for: Φᵀ(h∘ΦT)


class Model(ABC):
    """SMF-W or SMF-H; there is one object of each, without data of its own."""

    name: ClassVar[str]
    #: Whether the search side is the samples; otherwise it is the features.
    searches_samples: ClassVar[bool]
    #: Krylov steps from the direction in which labels pull, at the beginning of a search; and whether labels
    #: may pull out of the range of X.
    label_steps: ClassVar[int]
    labels_leave_range: ClassVar[bool]

    def side(self, shape: tuple[int, int]) -> int:
        """N."""
        return shape[0] if self.searches_samples else shape[1]

    def other_side(self, shape: tuple[int, int]) -> int:
        """The dimension of the other side of X."""
        return shape[1] if self.searches_samples else shape[0]

    def on_smaller_side(self, shape: tuple[int, int]) -> bool:
        """Whether the search side is that of the smaller Gram matrix, X̃X̃ᵀ where n ≤ p."""
        return self.searches_samples == (shape[0] <= shape[1])

    # --- units: X̃ = diag(√w)X/s, B̃ = B/s, Ã = unit·A ---------------------------------------------------

    def unit(self, scale: float) -> float:
        """Ã/A."""
        return 1.0 if self.searches_samples else scale

    def own_weights(self, xi: float, lam: float, scale: float) -> tuple[float, float]:
        """ξ and λ in the units of X̃ and Ã."""
        return float(xi) * scale**2, float(lam) / self.unit(scale) ** 2

    def users_weights(self, xi: float, lam: float, scale: float) -> tuple[float, float]:
        """The way back."""
        return xi / scale / scale, lam * self.unit(scale) ** 2

    def subsampled_ridge(self, lam: float, share: float) -> float:
        """λ for a share of the samples, so that the optimum stays about where it was."""
        # It belongs to the samples, or is one for all of them and shrinks with their number.
        return lam if self.searches_samples else lam * share

    #: ξ and λ of "auto", in their units (`superfactor.units`): measured on the tables of docs/selection.md.
    usual_xi: ClassVar[float]
    usual_lam: ClassVar[float]

    def natural_ridge(self, largest: Callable[[], float]) -> float:
        """The unit of λ (`largest` computes σ₁(X)²); activations have no units of X."""
        return 1.0 if self.searches_samples else largest()

    def feature_bound(self, squared_norm: float) -> float:
        """An upper bound of ‖Φ‖² in units of √w."""
        return 1.0 if self.searches_samples else squared_norm

    # --- with arrays: which side of X̃ is which -----------------------------------------------------------

    def image(self, data: DataMatrix, T: Array) -> Array:
        """Products of X̃ from the search side: (N, k) -> (other, k)."""
        return data.transpose_times(T) if self.searches_samples else data.times(T)

    def back(self, data: DataMatrix, Z: Array) -> Array:
        """The transposed products: (other, k) -> (N, k)."""
        return data.times(Z) if self.searches_samples else data.transpose_times(Z)

    def features(self, known: Annotations, T: Array, Z: Array) -> Array:
        """ΦT (n, k) of the directions T (N, k) with images Z."""
        return known.over_root(T if self.searches_samples else Z)

    def pull(self, data: DataMatrix, known: Annotations, E: Array) -> Array:
        """ΦᵀE (N, κ)."""
        E = known.over_root(E)
        return E if self.searches_samples else data.transpose_times(E)

    def activations(self, data: DataMatrix, known: Annotations, A: Array) -> Array:
        """ΦÃ (n, κ), by a product with X only where one is needed."""
        return known.over_root(A if self.searches_samples else data.times(A))

    def by_samples(self, B: Array) -> Array:
        """B as seen from the search side (N, other) as (n, p), and the other way round."""
        return B if self.searches_samples else B.T

    def atoms_and_codes(self, L: Array, P: Array) -> tuple[Array, Array]:
        """Which of L (N, r) and P (other, r) with B̃ = L·Pᵀ are atoms (p, r), which codes (n, r).

        The way back is the same exchange.
        """
        return (P, L) if self.searches_samples else (L, P)

    def phi(self, data: Callable[[], Answer], identity: Callable[[], Answer]) -> Answer:
        """Whichever holds: Φ is made of the data's rows (filter), or it is the identity (feature)."""
        return identity() if self.searches_samples else data()

    # --- the search side, as sums over samples ------------------------------------------------------------

    @abstractmethod
    def no_vectors(self, side: Side) -> Vectors:
        """Vectors (N, 0)."""

    @abstractmethod
    def random(self, side: Side, rng: np.random.Generator, width: int) -> Vectors:
        """Random vectors anywhere."""

    @abstractmethod
    def random_in_range(self, side: Side, rng: np.random.Generator, width: int) -> Vectors:
        """Random vectors in the range of X̃, with its large directions favoured; one pass."""

    @abstractmethod
    def everything(self, side: Side, limit: int) -> Vectors:
        """The whole search side where its dimension is at most `limit`; otherwise what X̃ reaches of it."""

    @abstractmethod
    def from_loadings(self, side: Side, loadings: Array) -> Vectors:
        """Vectors of the search side from an array (p, j): themselves, or what X̃ makes of them."""

    @abstractmethod
    def resumed(
        self, side: Side, loadings: Array, tall: Array | None
    ) -> tuple[list[Vectors], Vectors | None]:
        """What to grow a basis from to go on where a search ended, and what of it spans its subspace.

        Of loadings (p, k), the subspace first; tall (n, r), where the search side is the samples, is the
        subspace if it is known.
        """

    @abstractmethod
    def grown(self, side: Side, features: Tall, loadings: Array, T: Vectors, along: Along | None) -> Grown:
        """What to know of new orthonormal vectors T, beside a basis with these features and loadings.

        One pass over X where the search side is the features, two where it is the samples.
        """

    @abstractmethod
    def pulled(self, side: Side, design: Design, coef: Array) -> Vectors:
        """ΦᵀE, the gradient of the loss in Ã; one pass where the search side is the features."""

    @abstractmethod
    def pulled_dual(self, side: Side, weighted: Tall) -> Vectors:
        """Φᵀ(ω∘g) at dual points, of `Block.weighted_dual`."""

    # --- results ----------------------------------------------------------------------------------------

    #: Whether codes of training samples have seen their labels, so that X alone does not give them.
    codes_see_labels: ClassVar[bool]

    @abstractmethod
    def turned(self, atoms: Array, beta: Array, gram: Array, scale: float) -> Turned:
        """Atoms, coefficients and codes in the user's units, from a point of the search.

        Of atoms (p, r), W or its image, whichever has p rows; β (r, κ); gram = WᵀGW (r, r).
        """

    def normalised(self, factors: Factors, norms: Array) -> Array:
        """β (r, κ) when atoms of these norms (r,) are divided by them, and codes multiplied."""
        return factors.beta / norms[:, None] if self.searches_samples else factors.beta * norms[:, None]

    def lifted(self, factors: Factors) -> Array:
        """A (N, κ) of factors in the user's units."""
        return (factors.codes if self.searches_samples else factors.components) @ factors.beta

    def ridge_unit(self, sizes: Any) -> Any:
        """The unit (r,) of coefficients on codes of these sizes (r,), NumPy, in which the ridge counts."""
        return sizes if self.searches_samples else np.ones_like(sizes)

    @abstractmethod
    def coding(self, factors: Factors, code_sizes: Array, xi: float, lam: float) -> Coding:
        """How new samples are coded; `code_sizes` (r,) are the norms of the training codes."""

    # --- what the theory needs --------------------------------------------------------------------------

    def bends(self, alpha: Range, design: Range, covariate_factor: float) -> Range:
        """What the loss adds to the curvature 2λ, at least and at most (`superfactor.theory.regions`).

        Of α⁻ and α⁺, the curvature bounds of the loss; (nδ⁻, nδ⁺), those of ΦᵀΦ, Φ = [X, X'];
        and λ_max(X'ᵀX').
        """
        if self.searches_samples:
            return 0.0, alpha[1] * (1 + covariate_factor)
        return design[0] * alpha[0], design[1] * alpha[1]
