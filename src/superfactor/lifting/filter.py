"""SMF-W, the filter model: a_i = Aᵀx_i + γᵀx'_i, and [A, B] = W[β, H] has rank at most r."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from superfactor._arrays import Array
from superfactor.lifting.factors import Factors
from superfactor.lifting.problem import LiftedProblem
from superfactor.lifting.unlifting import turn_filters


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
        codes = self.image(W) if C is None else C.T @ (W.T @ W)
        turned = turn_filters(W, beta, codes.T @ codes, self.data.scale)
        codes = codes @ turned.codes_turn
        if self.root_weight is not None:
            codes = codes / self.root_weight
        return Factors(turned.components, codes, turned.beta, gamma)

    def lift(self, factors: Factors) -> Array:
        return factors.components @ factors.beta * self.data.scale
