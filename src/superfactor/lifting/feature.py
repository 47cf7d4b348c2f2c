"""SMF-H, the feature model: a_i = A[:, i] + γᵀx'_i, and [A ‖ B] = [βᵀ ‖ W]H has rank at most r."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from superfactor._arrays import Array
from superfactor.lifting.factors import Factors
from superfactor.lifting.problem import LiftedProblem
from superfactor.lifting.unlifting import turn_features


@dataclass(frozen=True)
class FeatureProblem(LiftedProblem):
    """The search side is the sample space R^n: the rank-r subspace is that of the rows of H·diag(√w)."""

    name: ClassVar[str] = "feature"

    @property
    def side(self) -> int:
        return self.data.shape[0]

    @property
    def other_side(self) -> int:
        return self.data.shape[1]

    def image(self, T: Array) -> Array:
        return self.data.transpose_times(T)

    def back(self, Z: Array) -> Array:
        return self.data.times(Z)

    def features(self, T: Array, Z: Array) -> Array:
        return T if self.root_weight is None else T / self.root_weight

    def pull(self, E: Array) -> Array:
        return E if self.root_weight is None else E / self.root_weight

    def _way_back(self, expand: Callable[[Array], Array]) -> Callable[[Array], Array]:
        return lambda T: T  # samples keep their coordinates; only the features were compressed

    def unlift(self, W: Array, beta: Array, gamma: Array, C: Array | None = None) -> Factors:
        turned = turn_features(self.image(W) if C is None else C.T, beta, self.data.scale)
        codes = W @ turned.codes_turn
        if self.root_weight is not None:
            codes = codes / self.root_weight
        return Factors(turned.components, codes, turned.beta, gamma)

    def lift(self, factors: Factors) -> Array:
        A = factors.codes @ factors.beta
        return A if self.root_weight is None else A * self.root_weight

    def activations(self, A: Array, gamma: Array) -> Array:
        return self.pull(A) + self.covariates @ gamma
