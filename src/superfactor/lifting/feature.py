"""SMF-H, the feature model: a_i = A[:, i] + γᵀx'_i, and [A ‖ B] = [βᵀ ‖ W]H has rank at most r."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from superfactor._arrays import Array, column_norms, namespace
from superfactor.lifting.factors import Factors, positive_peaks, principal_rotation
from superfactor.lifting.problem import LiftedProblem


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

    @property
    def searches_gram_side(self) -> bool:
        return self.data.shape[0] <= self.data.shape[1]

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
        """[βᵀ ‖ W] = UΣ^½, H = Σ^½Vᵀ for θ = UΣVᵀ, most important factor first."""
        scale, xp = self.data.scale, namespace(W)
        loadings = (self.image(W) if C is None else C.T) * scale
        R, _ = principal_rotation(beta @ beta.T + loadings.T @ loadings)
        loadings, beta = loadings @ R, R.T @ beta
        # Σ^½ from the turned columns: next to a large B, or a large A, eigenvalues would be noise.
        root = xp.sqrt(xp.hypot(column_norms(loadings), column_norms(beta.T)))
        dead = root == 0
        down = xp.where(dead, xp.zeros_like(root), 1 / xp.where(dead, xp.ones_like(root), root))
        components = loadings * down[None, :]
        sign = positive_peaks(components)
        codes = W @ (R * (root * sign)[None, :])
        if self.root_weight is not None:
            codes = codes / self.root_weight
        return Factors(components * sign[None, :], codes, (down * sign)[:, None] * beta, gamma)

    def lift(self, factors: Factors) -> Array:
        A = factors.codes @ factors.beta
        return A if self.root_weight is None else A * self.root_weight

    def activations(self, A: Array, gamma: Array) -> Array:
        return self.pull(A) + self.covariates @ gamma
