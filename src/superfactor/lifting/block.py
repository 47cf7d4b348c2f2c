"""Some samples of a problem, and what they answer.

A block holds n_b samples: their rows of X̃, their targets, covariates and weights, and their rows of the tall
matrices a search builds up. One of these, `main`, carries the features ΦS = main/√w that the
classifier sees: it is X̃S for the filter model and S itself for the feature model.

Coefficients θ (k + q, κ) act on the rows of the design [ΦS, X']: a = [ΦS, X']θ. A view V (k + q, m) asks
about the design J = [ΦS, X']V instead. Answers are sums over the samples: tuples of arrays without an n_b
among their dimensions. Those that are rows, or no sums, are to be gathered, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from superfactor._arrays import Array, cast, device, eye_like, indices, namespace, wide
from superfactor.lifting.curvature import curvature_gram, directional_curvature
from superfactor.lifting.facts import Facts
from superfactor.lifting.tall import TallStore
from superfactor.lifting.tall_block import TallBlock
from superfactor.losses import Loss
from superfactor.spectrum import DataMatrix


class SampleBlock(TallBlock):
    """Answers questions about its samples with sums over them.

    Parameters
    ----------
    n_samples : n_b
    rows : gives the rows of X̃ for a scale s; they may be read only when they are needed
    facts : gives targets, covariates and weights
    loss : ℓ
    store : where the tall matrices are kept; None is memory
    start : the position of its first sample among all
    """

    #: Questions that change what a block holds; all others leave it as it is.
    CHANGES: ClassVar[frozenset[str]] = frozenset(
        {"rescale", "grow", "combine", "append", "drop", "back", "curve", "noise", "identity"}
        | {"given", "dual_from", "rebalance", "several"}
    )
    #: Questions for which X is read.
    READS: ClassVar[frozenset[str]] = frozenset(
        {"squared_norm", "some_rows", "grow", "pull", "power", "gram", "image", "images", "back"}
        | {"digest"}
    )

    def __init__(
        self,
        n_samples: int,
        rows: Callable[[float], DataMatrix],
        facts: Callable[[], Facts],
        loss: Loss,
        store: TallStore | None = None,
        start: int = 0,
    ):
        super().__init__(n_samples, rows, store, start)
        self.loss, self._facts = loss, facts
        self._viewed: tuple[Array, Array] | None = None
        self._drawn: np.ndarray | None = None

    def _changed(self, name: str) -> None:
        if name == "main":
            self._viewed = None

    def _like(self) -> Array:
        return self._facts().targets

    # --- what must be known before a problem can be stated ------------------------------------------------

    def weight_range(self) -> tuple[float, float]:
        """The smallest and the largest ω_i/w_i: to gather."""
        facts = self._facts()
        ratio = facts.over_root(facts.over_root(facts.loss_weight))
        xp = namespace(ratio)
        return float(xp.min(ratio)), float(xp.max(ratio))

    def digest(self) -> tuple[Array, Array, float]:
        """Σ_i √i·ω_i·y_i (κ,), Σ_i √i·ω_i·x'_i (q,) and Σ_i √i·‖x̃_i‖²: other samples, or orders of them,
        give other sums.
        """
        facts, squares = self._facts(), self._rows().row_squares()
        place = np.sqrt(np.arange(self._start + 1, self._start + self.n_samples + 1))
        xp, Y = namespace(facts.targets), wide(facts.targets)
        place = xp.asarray(place, dtype=Y.dtype, device=device(Y))
        weighted = place * wide(facts.loss_weight)[:, 0]
        return weighted @ Y, weighted @ wide(facts.covariates), float(place @ squares)

    def covariate_gram(self) -> tuple[Array]:
        """X'ᵀΩX' (q, q)."""
        facts = self._facts()
        return (facts.covariates.T @ (facts.loss_weight * facts.covariates),)

    def some_rows(self, share: float) -> tuple[Any, Facts]:
        """A share of the rows of X̃, weights left out, and their facts: to gather."""
        index = self._chosen(share)
        facts = self._facts()
        return self._rows().take(index), facts.take(indices(facts.targets, index))

    def _chosen(self, share: float) -> np.ndarray:
        """Positions of a share of the samples, always the same ones; the last are kept."""
        count = min(self.n_samples, int(np.ceil(share * self.n_samples)))
        if self._drawn is None or self._drawn.size != count:
            rng = np.random.default_rng((self._start, count))
            self._drawn = np.sort(rng.choice(self.n_samples, count, replace=False))
        return self._drawn

    # --- the design ---------------------------------------------------------------------------------

    def _times(self, facts: Facts, theta: Array) -> Array:
        """[ΦS, X']θ (n_b, κ) without forming the design."""
        C = facts.covariates
        theta = cast(theta, C)
        k = int(theta.shape[0]) - int(C.shape[1])
        out = C @ theta[k:, :]
        if k:
            # Coefficients may be older than the last columns of `main`.
            out = out + facts.over_root(self._tall.get("main")[:, :k] @ theta[:k, :])
        return out

    def _transposed_times(self, facts: Facts, E: Array) -> Array:
        """[ΦS, X']ᵀE (k + q, κ)."""
        below = facts.covariates.T @ E
        if "main" not in self._tall:
            return below
        return namespace(E).concat([self._tall.get("main").T @ facts.over_root(E), below])

    def _view(self, facts: Facts, V: Array | None) -> Array:
        """[ΦS, X']V (n_b, m); without V the design itself. The last view stays in memory."""
        if V is None:
            if "main" not in self._tall:
                return facts.covariates
            both = facts.over_root(self._tall.get("main")), facts.covariates
            return namespace(facts.targets).concat(both, axis=1)
        if self._viewed is not None and _same(V, self._viewed[0]):
            return self._viewed[1]
        out = self._times(facts, V)
        if self._tall.in_memory:
            self._viewed = V, out
        return out

    def _activations(self, facts: Facts, theta: Array, V: Array | None) -> Array:
        if V is None:
            return self._times(facts, theta)
        J = self._view(facts, V)
        return J @ cast(theta, J)

    def _gradient(self, facts: Facts, E: Array, V: Array | None) -> Array:
        """JᵀE (m, κ)."""
        if V is None:
            return self._transposed_times(facts, E)
        return self._view(facts, V).T @ E

    def _some(self, V: Array | None, share: float) -> tuple[Array, Facts, float]:
        """J and the facts of a share of the samples, and the factor that makes up for the others."""
        facts = self._facts()
        if share * self.n_samples > self.n_samples - 1:
            return self._view(facts, V), facts, 1.0
        chosen = self._chosen(share)
        xp, index = namespace(facts.targets), indices(facts.targets, chosen)
        facts = facts.take(index)
        J = facts.covariates
        if "main" in self._tall:
            main = xp.take(self._tall.get("main"), index, axis=0)
            J = xp.concat([facts.over_root(main), J], axis=1)
        return (J if V is None else J @ cast(V, J)), facts, self.n_samples / chosen.size

    # --- the loss ----------------------------------------------------------------------------------

    def evaluate(self, theta: Array, V: Array | None = None) -> tuple[Any, Array]:
        """Σ_i ω_i ℓ(y_i, a_i) and its gradient JᵀE (m, κ), E = ω∘∇ℓ, at θ (m, κ)."""
        facts = self._facts()
        a = self._activations(facts, theta, V)
        value, residual = self.loss.value_and_residual(a, facts.targets)
        xp = namespace(a)
        total = xp.sum(value * facts.loss_weight[:, 0], dtype=xp.float64)
        return total, self._gradient(facts, residual * facts.loss_weight, V)

    def curvature(self, theta: Array, V: Array | None, share: float) -> tuple[Array]:
        """Σ_i ω_i∇²ℓ_i ⊗ j_i j_iᵀ (κm, κm), class-major, from a share of the samples."""
        J, facts, factor = self._some(V, share)
        gram = curvature_gram(J, self._hessians(J, facts, theta), self.loss.convex)
        return (self._scaled(gram, factor),)

    def _hessians(self, J: Array, facts: Facts, theta: Array) -> Array:
        """ω_i∇²ℓ_i (n, κ, κ)."""
        a = J @ cast(theta, J)
        return self.loss.hessian(a, facts.targets) * facts.loss_weight[:, :, None]

    @staticmethod
    def _scaled(x: Array, factor: float) -> Array:
        return x if factor == 1.0 else x * factor

    def kept_curvature(
        self, theta: Array, turn: Array, beta: Array, share: float
    ) -> tuple[Array, ...]:
        """The curvature in (T, v, g), T kept and ordered factor by factor: TT, T×(v, g), (v, g)×(v, g).

        turn (k + q, k + q) = [W⊥, W, I]; θ in turned coordinates; β (r, κ).
        """
        J, facts, factor = self._some(turn, share)
        H, beta = self._hessians(J, facts, theta), cast(beta, J)
        xp, (r, kappa) = namespace(J), beta.shape
        rest = int(J.shape[1]) - r - int(facts.covariates.shape[1])
        outside, own = J[:, :rest], J[:, rest:]  # ΦW⊥ and [ΦW, X']
        half = xp.matmul(beta[None, :, :], H)  # β·h (n, r, κ)
        TT = curvature_gram(outside, xp.matmul(half, beta.T[None, :, :]), self.loss.convex)
        cross = xp.concat(
            [
                xp.concat(
                    [outside.T @ (own * half[:, i, c][:, None]) for c in range(kappa)], axis=1
                )
                for i in range(r)
            ]
        )
        parts = TT, cross, curvature_gram(own, H, self.loss.convex)
        return tuple(self._scaled(part, factor) for part in parts)

    def curvature_product(self, theta: Array, direction: Array, V: Array | None) -> tuple[Array]:
        """Jᵀ(ω∇²ℓ·(J·direction)) (m, κ) for a direction (m, κ)."""
        facts = self._facts()
        a = self._activations(facts, theta, V)
        moved = self._activations(facts, direction, V)
        action = self.loss.hessian_action(a, facts.targets, moved) * facts.loss_weight
        return (self._gradient(facts, action, V),)

    def curvature_diagonal(self, theta: Array, V: Array | None, share: float) -> tuple[Array]:
        """Σ_i ω_i(∇²ℓ_i)_cc j_ij² (m, κ): the diagonal of `curvature`."""
        J, facts, factor = self._some(V, share)
        axes = eye_like(J, int(theta.shape[1]))
        return (self._scaled((J**2).T @ self._directional(J, facts, theta, axes), factor),)

    def rotation_curvature(self, theta: Array, turn: Array, beta: Array) -> tuple[Array]:
        """Σ_i (ΦW⊥)_ij² β_cᵀ(ω_i∇²ℓ_i)β_c (k − r, r): what the loss adds to the curvature of T."""
        facts = self._facts()
        J = self._view(facts, turn)
        rest = int(J.shape[1]) - int(beta.shape[0]) - int(facts.covariates.shape[1])
        return ((J[:, :rest] ** 2).T @ self._directional(J, facts, theta, beta),)

    def _directional(self, J: Array, facts: Facts, theta: Array, directions: Array) -> Array:
        """b_jᵀ(ω_i∇²ℓ_i)b_j (n, r) at a = Jθ for rows b_j of directions (r, κ)."""
        a = J @ cast(theta, J)
        curved = directional_curvature(self.loss, a, facts.targets, cast(directions, J))
        return curved * facts.loss_weight

    def mass(self) -> tuple[Any]:
        """Σ_i ω_i‖j_i‖² over the rows of the design: the scale of its curvature."""
        facts = self._facts()
        J, xp = self._view(facts, None), namespace(facts.targets)
        return (xp.sum(xp.vecdot(J, J) * facts.loss_weight[:, 0], dtype=xp.float64),)

    # --- dual points g (n_b, κ), kept in float64: a bound must hold to the last digit of a sum ---------

    def dual_from(self, theta: Array) -> tuple[()]:
        """Take up the dual points g = ∇ℓ at θ."""
        facts = self._facts()
        a, targets = wide(self._times(facts, theta)), wide(facts.targets)
        self._tall.set("dual", self.loss.residual(a, targets))
        return ()

    def imbalance(self, steps: Sequence[Any]) -> tuple[Any, ...]:
        """What the next balancing step must know of the dual points of all samples."""
        facts = self._facts()
        targets, weight = wide(facts.targets), wide(facts.loss_weight)
        g = self.loss.rebalanced(self._tall.get("dual"), targets, steps)
        return self.loss.imbalance(g, targets, weight[:, 0])

    def rebalance(self, steps: Sequence[Any]) -> tuple[()]:
        """Move the dual points by these steps."""
        targets = wide(self._facts().targets)
        self._tall.set("dual", self.loss.rebalanced(self._tall.get("dual"), targets, steps))
        return ()

    def dual_terms(self) -> tuple[Any, Array]:
        """Σ_i ω_i ℓ*(y_i, g_i) and X'ᵀ(ω∘g) (q, κ)."""
        facts = self._facts()
        weight, g = wide(facts.loss_weight), self._tall.get("dual")
        total = namespace(g).sum(self.loss.conjugate(g, wide(facts.targets)) * weight[:, 0])
        return total, wide(facts.covariates).T @ (g * weight)

    # --- products with X ----------------------------------------------------------------------------

    def pull(self, theta: Array | None) -> tuple[Array]:
        """X̃ᵀ(E/√w) (p, κ), the gradient of the loss in Ã for the filter model; see `_pulled`."""
        return (self._rows().transpose_times(self._pulled(theta)),)

    def _pulled(self, theta: Array | None) -> Array:
        """E/√w (n_b, κ), E = ω∘∇ℓ at θ; without θ, E = ω∘g at the dual points."""
        facts = self._facts()
        if theta is None:
            return facts.over_root(cast(self._tall.get("dual"), facts.targets) * facts.loss_weight)
        residual = self.loss.residual(self._times(facts, theta), facts.targets)
        return facts.over_root(residual * facts.loss_weight)

    def grow(
        self, T: Array, theta: Array | None = None, directions: Array | None = None
    ) -> tuple[Array, ...]:
        """Add X̃T to `main`, T (p, j), in one pass over X.

        Returns X̃ᵀX̃T (p, j), the products of the old columns with the new (k, j) and of the new with
        themselves (j, j); with directions (j, κ) also X̃ᵀ(h∘X̃T) (p, j), h_ij = b_jᵀ(ω_i∇²ℓ_i/w_i)b_j at θ.
        """
        X = self._rows()
        Z = X.times(T)
        xp = namespace(Z)
        both, j = Z, int(Z.shape[1])
        if directions is not None:
            both = xp.concat([Z, self._loss_weighted(Z, theta, directions)], axis=1)
        G = X.transpose_times(both)
        old = self._tall.get("main") if "main" in self._tall else Z[:, :0]
        # In float64: ξ‖X̃‖² less the trace of these products may be a small difference of large numbers.
        fine = wide(Z)
        answer = (G[:, :j], wide(old).T @ fine, fine.T @ fine)
        self._tall.append("main", Z)
        self._changed("main")
        return answer if directions is None else (*answer, G[:, j:])

    def _loss_weighted(self, Z: Array, theta: Array, directions: Array) -> Array:
        """h∘Z, h_ij = b_jᵀ(ω_i∇²ℓ_i/w_i)b_j at θ: the loss's curvature along directions b_j (j, κ)."""
        facts = self._facts()
        a = self._times(facts, theta)
        h = directional_curvature(self.loss, a, facts.targets, cast(directions, a))
        weight = facts.over_root(facts.over_root(facts.loss_weight))
        return Z * (namespace(a).clip(h, 0.0, None) * weight)

    def curve(self, out: str, name: str, theta: Array, directions: Array) -> tuple[()]:
        """out ← h∘name, with h as in `grow`."""
        self._tall.set(out, self._loss_weighted(self._tall.get(name), theta, directions))
        return ()

    # --- rows of results ---------------------------------------------------------------------------

    def codes(self, M: Array) -> Array:
        """main·M/√w (n_b, r): to gather."""
        return self._facts().over_root(self._combination([("main", M)], None))

    def activations(self, theta: Array) -> Array:
        """[ΦS, X']θ (n_b, κ): to gather."""
        return self._times(self._facts(), theta)


def _same(a: Array, b: Array) -> bool:
    """Whether two small arrays are one; arrays that live on a device are not looked into."""
    return a is b or (type(a) is np.ndarray is type(b) and np.array_equal(a, b))
