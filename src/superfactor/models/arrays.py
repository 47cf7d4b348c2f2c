"""A problem as arrays in memory: for Algorithm 1, block coordinate descent, dual ascent and the theory.

    F(A, B, γ) = Σ_i ω_i ℓ(y_i, a_i) + ξ‖X̃ − B̃‖² + λ‖Ã‖² + Σ_j ρ_j‖γ_j‖²

A tilde means that sample weights and the scale s of the data are included (X̃ = diag(√w)X/s, see
`DataMatrix`). ξ and λ are in these units. The value of F is that of the paper in the user's units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from superfactor._arrays import Array, column_norms, inner, namespace
from superfactor.losses import Loss
from superfactor.models.base import Model
from superfactor.models.factors import Factors
from superfactor.samples import Annotations
from superfactor.spectrum import DataMatrix


@dataclass(frozen=True)
class LiftedArrays:
    """The arrays of a problem, returned by `Problem.arrays`."""

    model: Model  # A (N, κ) belongs to its search side
    data: DataMatrix  # X̃ (n, p)
    known: Annotations  # targets, covariates and weights of all samples
    covariate_ridge: Array  # ρ (q,)
    loss: Loss  # ℓ
    xi: float  # ξ and λ in the units of X̃ and Ã
    lam: float
    scale: float  # the factor s of X̃ = diag(√w)X/s

    # --- sizes, and data of the samples ---------------------------------------------------------------------

    @property
    def xp(self) -> Any:
        return self.data.xp

    @property
    def n_outputs(self) -> int:
        return int(self.targets.shape[1])

    @property
    def n_covariates(self) -> int:
        return int(self.covariates.shape[1])

    @property
    def side(self) -> int:
        """Dimension of the search side, N."""
        return self.model.side(self.data.shape)

    @property
    def other_side(self) -> int:
        return self.model.other_side(self.data.shape)

    @property
    def unit(self) -> float:
        """The ratio Ã/A."""
        return self.model.unit(self.scale)

    @property
    def users_weights(self) -> tuple[float, float]:
        """ξ and λ in the user's units."""
        return self.model.users_weights(self.xi, self.lam, self.scale)

    @property
    def targets(self) -> Array:
        return self.known.targets

    @property
    def covariates(self) -> Array:
        return self.known.covariates

    @property
    def loss_weight(self) -> Array:
        return self.known.loss_weight

    @property
    def root_weight(self) -> Array | None:
        return self.known.root_weight

    # --- products from the search side ------------------------------------------------------------------

    def image(self, T: Array) -> Array:
        """Multiply from the search side: (N, k) -> (other, k)."""
        return self.model.image(self.data, T)

    def back(self, Z: Array) -> Array:
        """Multiply by the transpose: (other, k) -> (N, k)."""
        return self.model.back(self.data, Z)

    def features(self, T: Array, Z: Array) -> Array:
        """Return ΦT (n, k) of directions T (N, k) with images Z."""
        return self.model.features(self.known, T, Z)

    def pull(self, E: Array) -> Array:
        """Return ΦᵀE (N, κ)."""
        return self.model.pull(self.data, self.known, E)

    def activations(self, A: Array, gamma: Array) -> Array:
        """Return the activations a (n, κ) at Ã (N, κ), γ (q, κ)."""
        return self.model.activations(self.data, self.known, A) + self.covariates @ gamma

    # --- the parts of F ---------------------------------------------------------------------------------

    def loss_terms(self, a: Array) -> tuple[float, Array]:
        """Return Σ_i ω_i ℓ(y_i, a_i) and its gradient E = ω∘∇ℓ (n, κ) at activations a (n, κ)."""
        value, residual = self.loss.value_and_residual(a, self.targets)
        return inner(value, self.loss_weight[:, 0]), residual * self.loss_weight

    def covariate_penalty(self, gamma: Array) -> float:
        """Return Σ_j ρ_j‖γ_j‖²."""
        return float(namespace(gamma).sum(self.covariate_ridge[:, None] * gamma**2))

    # --- factors ----------------------------------------------------------------------------------------

    def split(self, factors: Factors) -> tuple[Array, Array, Array]:
        """Return L (N, r), β (r, κ), P (other, r) of factors: Ã = L·β and B̃ = L·Pᵀ."""
        codes = factors.codes if self.root_weight is None else factors.codes * self.root_weight
        L, P = self.model.atoms_and_codes(factors.components, codes)
        return L, factors.beta * self.unit, P / self.scale

    def unlift(self, L: Array, beta: Array, P: Array, gamma: Array) -> Factors:
        """Return factors in the user's units: singular vectors of the lifted matrix θ, for any L and P.

        They come from an r × r core. A decomposition of θ itself would lose the digits of A next to a large
        B.
        """
        Q, R = namespace(L).linalg.qr(L)
        other = P @ R.T
        atoms, codes = self.model.atoms_and_codes(Q, other)
        turned = self.model.turned(atoms, R @ beta, other.T @ other, self.scale)
        codes = self.known.over_root(codes @ turned.codes_turn)
        return Factors(turned.components, codes, turned.beta, gamma)

    def unrotated(self, L: Array, beta: Array, P: Array, gamma: Array) -> Factors:
        """Return the columns of L and P as factors in the user's units, with atoms of norm one."""
        scale, xp = self.scale, namespace(L)
        atoms, codes = self.model.atoms_and_codes(L, P * scale)
        norms = column_norms(atoms)
        norms = xp.where(norms > 0, norms, xp.ones_like(norms))
        codes = self.known.over_root(codes) * norms[None, :]
        found = Factors(atoms, codes, beta / self.unit, gamma)
        return Factors(atoms / norms[None, :], codes, self.model.normalised(found, norms), gamma)

    def code_sizes(self, factors: Factors) -> Array:
        """Return the norms of the codes' columns (r,), samples in units of √w."""
        codes = factors.codes
        return column_norms(codes if self.root_weight is None else codes * self.root_weight)
