"""SMF-W, the filter model: a_i = Aᵀx_i + γᵀx'_i, and [A, B] = W[β, H] has rank at most r."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from superfactor._arrays import Array, namespace
from superfactor.lifting.factors import Factors, positive_peaks, principal_rotation
from superfactor.lifting.problem import LiftedProblem


@dataclass(frozen=True)
class FilterProblem(LiftedProblem):
    """The search side is the feature space R^p: W (p, r) are filters, Ã = s·A."""

    name: ClassVar[str] = "filter"

    @property
    def side(self) -> int:
        return self.data.shape[1]

    @property
    def other_side(self) -> int:
        return self.data.shape[0]

    @property
    def searches_gram_side(self) -> bool:
        return self.data.shape[1] < self.data.shape[0]

    def image(self, T: Array) -> Array:
        return self.data.times(T)

    def back(self, Z: Array) -> Array:
        return self.data.transpose_times(Z)

    def features(self, T: Array, Z: Array) -> Array:
        return Z if self.root_weight is None else Z / self.root_weight

    def pull(self, E: Array) -> Array:
        return self.back(E if self.root_weight is None else E / self.root_weight)

    def _way_back(self, expand: Callable[[Array], Array]) -> Callable[[Array], Array]:
        return expand

    def unlift(self, W: Array, beta: Array, gamma: Array, C: Array | None = None) -> Factors:
        """W = U, [β, H] = ΣVᵀ for θ = UΣVᵀ: orthonormal filters, most important first."""
        scale = self.data.scale
        # Ã = W·β stays as it is while W becomes orthonormal to the last digit.
        xp = namespace(W)
        T = xp.linalg.cholesky(W.T @ W)
        W, beta = W @ xp.linalg.inv(T).T, T.T @ beta
        codes = self.image(W) if C is None else C.T @ T
        R, _ = principal_rotation(beta @ beta.T / scale**2 + codes.T @ codes * scale**2)
        W = W @ R
        sign = positive_peaks(W)
        codes = codes @ (R * (sign * scale)[None, :])
        if self.root_weight is not None:
            codes = codes / self.root_weight
        return Factors(W * sign[None, :], codes, (R * sign[None, :]).T @ (beta / scale), gamma)

    def lift(self, factors: Factors) -> Array:
        return factors.components @ factors.beta * self.data.scale
