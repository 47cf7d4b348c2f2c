"""A supervised matrix factorization as one problem over a matrix of rank at most r.

    F(A, B, γ) = Σ_i ω_i ℓ(y_i, a_i) + ξ‖X̃ − B̃‖² + λ‖Ã‖² + Σ_j ρ_j‖γ_j‖²

Both models look the same from their *search side*, a space R^N that holds the rank-r subspace W
(N, r): the features for the filter model, the samples for the feature model. There Ã = Wβ (N, κ), the
best B̃ is the projection of X̃ onto W, and

    F(W, β, γ) = Σ_i ω_i ℓ(y_i, (ΦWβ)_i + γᵀx'_i) + λ‖β‖² + Σ_j ρ_j‖γ_j‖² + ξ(‖X̃‖² − tr WᵀGW).

Tildes: sample weights and the scale s of the data are absorbed (X̃ = diag(√w)X/s, see `DataMatrix`); `xi`
and `lam` are given in these units, and the value of F is that of the paper in the user's units.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

from superfactor._arrays import Array, frobenius2, inner, namespace, wide, zeros_like_of
from superfactor.lifting.factors import Factors
from superfactor.lifting.facts import Facts
from superfactor.lifting.sampled import SampledProblem
from superfactor.lifting.samples import in_memory
from superfactor.losses import Loss
from superfactor.spectrum import DataMatrix, compress


@dataclass(frozen=True)
class LiftedProblem(ABC):
    """What every solver works on; `FilterProblem` and `FeatureProblem` fill in the search side.

    Attributes
    ----------
    data : X̃ (n, p)
    targets : (n, κ) one-hot without class 0, or real values
    covariates : X' (n, q); the intercept is a column of ones
    covariate_ridge : ρ (q,), λ for covariates and 0 for the intercept
    loss : ℓ
    loss_weight : ω (n, 1), sample weight times class weight
    root_weight : √w (n, 1), or None for weights of one
    xi, lam : ξ and λ in the units of X̃ and Ã
    """

    data: DataMatrix
    targets: Array
    covariates: Array
    covariate_ridge: Array
    loss: Loss
    loss_weight: Array
    root_weight: Array | None
    xi: float
    lam: float

    name: ClassVar[str]

    # --- the search side -----------------------------------------------------------------------

    @property
    @abstractmethod
    def side(self) -> int:
        """N, the dimension of the search side."""

    @property
    @abstractmethod
    def other_side(self) -> int:
        """The dimension of the other side of X."""

    @abstractmethod
    def image(self, T: Array) -> Array:
        """Products of X̃ from the search side: (N, k) -> (other, k)."""

    @abstractmethod
    def back(self, Z: Array) -> Array:
        """The transposed products: (other, k) -> (N, k), so that G·T = back(image(T))."""

    @abstractmethod
    def features(self, T: Array, Z: Array) -> Array:
        """ΦT (n, k): what the classifier sees of the directions T (N, k) with images Z."""

    @abstractmethod
    def pull(self, E: Array) -> Array:
        """ΦᵀE (N, κ): residuals per sample (n, κ) as a gradient in Ã."""

    @abstractmethod
    def unlift(self, W: Array, beta: Array, gamma: Array, C: Array | None = None) -> Factors:
        """Factors in the user's units from θ = W[β, C], W (N, r) orthonormal, C (r, other).

        None for C means the best one, WᵀX̃. The table of docs/method.md §1: the singular vectors of θ are
        found by turning the r × r core, never by decomposing θ, where a large B would drown A.
        """

    @abstractmethod
    def lift(self, factors: Factors) -> Array:
        """Ã (N, κ) of factors in the user's units."""

    # --- sizes -----------------------------------------------------------------------------------

    @property
    def n_samples(self) -> int:
        return self.data.shape[0]

    @property
    def n_outputs(self) -> int:
        return int(self.targets.shape[1])

    # --- the classification part -----------------------------------------------------------------

    def loss_terms(self, a: Array) -> tuple[float, Array]:
        """Σ_i ω_i ℓ(y_i, a_i) and its gradient E = ω∘∇ℓ (n, κ) at activations a (n, κ)."""
        value, residual = self.loss.value_and_residual(a, self.targets)
        return inner(value, self.loss_weight[:, 0]), residual * self.loss_weight

    def loss_hessian(self, a: Array) -> Array:
        """ω∘∇²ℓ (n, κ, κ)."""
        return self.loss.hessian(a, self.targets) * self.loss_weight[:, :, None]

    def covariate_penalty(self, gamma: Array) -> float:
        xp = namespace(gamma)
        return float(xp.sum(self.covariate_ridge[:, None] * gamma**2))

    # --- smaller copies of the same problem --------------------------------------------------------

    def with_data(self, data: DataMatrix) -> Self:
        """The same problem on an equivalent data matrix, everything in its floating type."""
        xp = data.xp

        def cast(x: Array) -> Array:
            return None if x is None else xp.astype(x, data.dtype)

        return replace(
            self,
            data=data,
            targets=cast(self.targets),
            covariates=cast(self.covariates),
            covariate_ridge=cast(self.covariate_ridge),
            loss_weight=cast(self.loss_weight),
            root_weight=cast(self.root_weight),
        )

    def reweighted(self, xi: float, lam: float) -> Self:
        """The same problem at other ξ and λ > 0 (in the units of X̃ and Ã); compression is shared."""
        ridge = self.covariate_ridge * (lam / self.lam)
        new = replace(self, xi=xi, lam=lam, covariate_ridge=ridge)
        small, expand = self.compact
        again = new if small is self else small.reweighted(xi, lam)
        new.__dict__["compact"] = again, expand  # where cached_property looks first
        return new

    @cached_property
    def compact(self) -> tuple[LiftedProblem, Callable[[Array], Array]]:
        """The problem in the coordinates of the right singular vectors of wide data, and the way back.

        The way back maps a basis of the small search side to one of this problem's search side.
        Where compression does not apply both are this problem itself. Computed once: the solver,
        the certificate and the constants of the theory share it.
        """
        compression = compress(self.data)
        if compression is None:
            return self, lambda T: T
        return self.with_data(compression.data), self._way_back(compression.expand)

    def sampled(self) -> SampledProblem:
        """The same problem as sums over blocks of samples in memory: new blocks, for one search."""
        data, xp = self.data, self.data.xp
        facts = Facts(self.targets, self.covariates, self.loss_weight, self.root_weight)
        ratio = (
            self.loss_weight if self.root_weight is None else self.loss_weight / self.root_weight**2
        )
        zero = zeros_like_of(self.targets, *self.targets.shape)
        return SampledProblem(
            name=self.name,
            samples=in_memory(data, facts.between, self.loss),
            shape=data.shape,
            n_outputs=self.n_outputs,
            loss=self.loss,
            covariate_ridge=wide(self.covariate_ridge),
            xi=self.xi,
            lam=self.lam,
            scale=data.scale,
            squared_norm=data.squared_norm,
            smallest_weight=float(xp.min(ratio)),
            largest_weight=float(xp.max(ratio)),
            null_loss=self.loss_terms(zero)[0],
            like=self.targets[:0, :0],
            smaller_gram=data.gram,
            singular_values=data.singular_values,
        )

    @abstractmethod
    def _way_back(self, expand: Callable[[Array], Array]) -> Callable[[Array], Array]:
        """How the search side of the compressed problem maps to this one's."""

    # --- the objective at any lifted point -----------------------------------------------------------

    def objective(self, A: Array, B: tuple[Array, Array], gamma: Array) -> float:
        """F at Ã (N, κ), B̃ = W·C given as the pair W (N, r), C (r, other), and γ (q, κ)."""
        W, C = B
        a = self.activations(A, gamma)
        fit = self.data.squared_norm - 2 * inner(C.T, self.image(W)) + inner(W.T @ W @ C, C)
        return (
            self.loss_terms(a)[0]
            + self.xi * fit
            + self.lam * frobenius2(A)
            + self.covariate_penalty(gamma)
        )

    def activations(self, A: Array, gamma: Array) -> Array:
        """a (n, κ) at Ã (N, κ), γ (q, κ)."""
        return self.features(A, self.image(A)) + self.covariates @ gamma
