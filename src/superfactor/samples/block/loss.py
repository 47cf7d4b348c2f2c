"""The loss on a design: value, gradient, curvature."""

from __future__ import annotations

from superfactor._arrays import Array, cast, namespace, wide
from superfactor.losses import AnyCurvature
from superfactor.samples.annotations import Annotations
from superfactor.samples.block.design import Along, Design, DesignMethods, as_columns, as_points
from superfactor.samples.block.state import Made, Place


class LossMethods(DesignMethods):
    """Sums over the samples of ω_i ℓ(y_i, a_i) and its derivatives, and the residuals."""

    def evaluate(self, design: Design, coef: Array) -> tuple[Array, Array]:
        """Return Σ_i ω_i ℓ(y_i, a_i) (…) and its gradient JᵀE (…, m, κ), E = ω∘∇ℓ."""
        known = self._known(design)
        value, residual = self.loss.value_and_residual(self._activations(design, known, coef), known.targets)
        xp = namespace(value)
        total = xp.sum(value * known.loss_weight[:, 0], axis=-1, dtype=xp.float64)
        gradient = self._transposed(design, known, residual * known.loss_weight)
        factor = self._counts_for(design)
        return _scaled(total, factor), _scaled(gradient, factor)

    def working(self, design: Design, coef: Array) -> tuple[Array, Array, Array]:
        """Return about Σ_i ω_i∂²ℓ_i, Σ_i (ω_i∂ℓ_i)²/w_i and Σ_i w_i of each output (κ,).

        The sums are over samples with a known target. They do not depend on the unit of exposures, which are
        part of ω.
        """
        known = self._known(design)
        a = self._activations(design, known, coef)
        xp, total = namespace(a), self._curvature(known, a).total()
        pulled = known.over_root(self.loss.residual(a, known.targets) * known.loss_weight)
        root = xp.ones_like(known.loss_weight) if known.root_weight is None else known.root_weight
        there = (known.targets == known.targets) & (known.loss_weight > 0)  # NaN is a missing target
        sums = (xp.sum(wide(x) ** 2, axis=0) for x in (pulled, xp.astype(there, a.dtype) * root))
        return (xp.linalg.diagonal(wide(total)), *sums)

    def steepest(self, dual: Place | None) -> float:
        """Return `Loss.steepest` at dual points; for None, where activations fit the targets: to gather."""
        Y = wide(self._annotations().targets)
        return self.loss.steepest(namespace(Y).zeros_like(Y) if dual is None else self._tall(dual), Y)

    def design_gram(self, design: Design) -> Array:
        """Return Σ_i ω_i j_i j_iᵀ (m, m)."""
        known = self._known(design)
        J = self._matrix(design, known)
        return _scaled(J.T @ (J * known.loss_weight), self._counts_for(design))

    def curvature(self, design: Design, coef: Array) -> Array:
        """Return Σ_i ω_i∇²ℓ_i ⊗ j_i j_iᵀ (κm, κm), class-major, for coef (m, κ)."""
        known = self._known(design)
        bend = self._curvature(known, self._activations(design, known, coef))
        gram = bend.gram(self._matrix(design, known), self.loss.convex)
        return _scaled(gram, self._counts_for(design))

    def bent(self, design: Design, coef: Array) -> Made[tuple[Array, Array]]:
        """Return ω_i∇²ℓ_i as 2κ numbers per sample and point, for `curvature_product`.

        Sums: of ω_i∇²ℓ_i (…, κ, κ), and Σω.
        """
        known = self._known(design)
        bend = self._curvature(known, self._activations(design, known, coef))
        xp = namespace(known.targets)
        rows = xp.concat([as_columns(part).T for part in bend.numbers]).T
        factor = self._counts_for(design)
        total = _scaled(bend.total(), factor)
        return Made((rows,), (total, factor * xp.sum(known.loss_weight, dtype=xp.float64)))

    def curvature_product(self, design: Design, bent: Place, direction: Array) -> Array:
        """Return Jᵀ(ω∇²ℓ·(J·direction)) (…, m, κ) for directions (…, m, κ), one per point of `bent`."""
        known = self._known(design)
        moved = self._times(design, known, direction)
        rows, half = self._tall(bent), bent.columns // 2
        numbers = as_points(rows[:, :half], moved), as_points(rows[:, half:], moved)
        bend = self.loss.curvature_of(numbers)
        product = self._transposed(design, known, bend.times(moved))
        return _scaled(product, self._counts_for(design))

    def rotation_curvature(self, design: Design, coef: Array, turn: Array, beta: Array) -> Array:
        """Return Σ_i (ΦW⊥)_ij² β_cᵀ(ω_i∇²ℓ_i)β_c (k − r, r), the part of the loss in the curvature of T.

        turn (k + q, k + q) = [W⊥, W, I]; coef (k + q, κ) in turned coordinates; β (r, κ).
        """
        known = self._known(design)
        J = self._matrix(design, known)
        J = J @ cast(turn, J)
        rest = int(J.shape[1]) - int(beta.shape[0]) - int(known.covariates.shape[1])
        a = J @ cast(coef, J)
        a = a if design.offset is None else a + self._tall(design.offset)
        forms = self._curvature(known, a).forms(J[:, :rest], cast(beta, a))
        return _scaled(forms, self._counts_for(design))

    def _curvature(self, known: Annotations, a: Array) -> AnyCurvature:
        """Return the curvature of Σ_i ω_i ℓ(y_i, a_i)."""
        return self.loss.curvature(a, known.targets).weighted(known.loss_weight)

    def residuals(self, design: Design, coef: Array) -> Array:
        """Return E = ω∘∇ℓ (n_b, κ)."""
        known = self._annotations()
        a = self._activations(design, known, coef)
        return self.loss.residual(a, known.targets) * known.loss_weight

    def pulled(self, design: Design, coef: Array) -> Array:
        """Return E/√w (n_b, κ), the gradient of the loss in Ã if the search side is the samples."""
        return self._annotations().over_root(self.residuals(design, coef))

    def softened(self, place: Place, B: Array, C: Array, along: Along) -> Array:
        """Return about T·B·(1 + bH_ibᵀ)⁻¹·C (n_b, m) for a tall T, B (j, j') and C (j', m).

        H_i is the curvature of the loss for sample i, b (j', κ) the directions of `along`. The inverse uses
        the diagonal, which is exact for one output, and then one step of descent.
        """
        known, tall = self._annotations(), self._tall(place)
        bend = self._curvature(known, self._activations(along.design, known, along.coef))
        rhs = tall @ cast(B, tall)
        xp, b = namespace(rhs), cast(along.directions, tall)
        diagonal = 1 + known.over_root(bend.along(known.over_root(xp.ones_like(rhs)), b))
        z = rhs / diagonal
        if int(b.shape[1]) > 1 and self.loss.convex:

            def times(x: Array) -> Array:
                return x + known.over_root(bend.times(known.over_root(x @ b))) @ b.T

            left = rhs - times(z)
            d = left / diagonal
            length = xp.sum(left * d, axis=1, keepdims=True)
            bent = xp.sum(d * times(d), axis=1, keepdims=True)
            z = z + length / xp.where(bent > 0, bent, xp.ones_like(bent)) * d
        return z @ cast(C, tall)

    def _bent(self, along: Along, Z: Array) -> Array:
        """Return h∘Z (n_b, j), h_ij = b_jᵀ(ω_i∇²ℓ_i/w_i)b_j, the loss's curvature along directions b_j."""
        known = self._annotations()
        a = self._activations(along.design, known, along.coef)
        bend = self._curvature(known, a)
        return known.over_root(bend.along(known.over_root(Z), cast(along.directions, a)))


def _scaled(x: Array, factor: float) -> Array:
    return x if factor == 1.0 else x * factor
