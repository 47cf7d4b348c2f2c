"""The loss as a function of coefficients on the rows of a design."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from superfactor._arrays import Array, eigh_descending, eigh_pair, eye_like, namespace
from superfactor.problem import Problem
from superfactor.samples import Block, Design, Tall


@dataclass(eq=False)
class LossOn:
    """Σ_i ω_i ℓ(y_i, cᵀj_i) and its derivatives in c (m, κ), j_i the rows of a design J (n, m).

    Coefficients with leading dimensions (…, m, κ) are several points at once.
    """

    problem: Problem
    design: Design
    columns: int
    _gram: Array | None = None  # about Σ_i ω_i j_i j_iᵀ (m, m), the scale of curvature; None computes it
    _kept: tuple[Tall, ...] = ()
    _constant: Array | None = None  # the curvature, if the loss has the same everywhere and it was computed

    @cached_property
    def share(self) -> float:
        """Share of the samples over which the curvature is summed."""
        return self.problem.curvature_share(self.columns)

    @cached_property
    def few(self) -> Design:
        """Rows over which the curvature is summed: all, or those of a share of the samples."""
        return self.design if self.share >= 1 else self._some(coarse=False)

    @cached_property
    def coarse(self) -> Design:
        """The same for conjugate gradients, in float32 if that pays: an error only changes a direction."""
        worth = self.rows * self.columns >= self.problem.options.values_worth_coarse
        if worth and self.epsilon < 1e-10:
            return self._some(coarse=True)
        return self.few

    def _some(self, coarse: bool) -> Design:
        kept, _ = self.problem.samples.make(Block.some_of, self.design, self.share, coarse)
        self._kept += kept  # kept as long as this object
        rows, *offset = (tall.place for tall in kept)
        return Design(rows, True, offset[0] if offset else None, self.share, coarse)

    @cached_property
    def gram(self) -> Array:
        """Return about Σ_i ω_i j_i j_iᵀ (m, m)."""
        if self._gram is None:
            self._gram = self.problem.samples.sum(Block.design_gram, self.coarse)
        return self._gram

    @property
    def epsilon(self) -> float:
        """Machine epsilon of the samples' floating type."""
        return self.problem.epsilon

    @property
    def dense_pays(self) -> bool:
        """Return whether a Newton system of all unknowns is cheaper than conjugate gradients."""
        problem, options = self.problem, self.problem.options
        dense = options.dense_operations(self.rows, self.columns, problem.n_outputs)
        products = options.product_operations(self.rows, self.columns, problem.n_outputs)
        return dense <= products

    def evaluate(self, coef: Array) -> tuple[Array, Array]:
        """Return the value (…) and its gradient JᵀE (…, m, κ)."""
        self._count(8.0 * self.problem.n_samples * self.columns, coef)
        return self.problem.samples.sum(Block.evaluate, self.design, coef)

    def curvature(self, coef: Array) -> Array:
        """Return Σ_i ω_i∇²ℓ_i ⊗ j_i j_iᵀ (κm, κm), class-major, for coef (m, κ)."""
        if self._constant is not None:
            return self._constant
        options, kappa = self.problem.options, self.problem.n_outputs
        dense = options.dense_operations(self.rows, self.columns, kappa) - options.call_overhead
        self._count(dense / kappa, coef)
        found = self.problem.samples.sum(Block.curvature, self.few, coef)
        lowest, highest = self.problem.loss.curvature_bounds(kappa)
        self._constant = found if lowest == highest else None
        return found

    def bent(self, coef: Array) -> Bent:
        """Return the curvature at points (…, m, κ) as an operator."""
        self._count(8.0 * self.rows * self.columns, coef)
        samples = self.problem.samples
        (rows,), (total, weight) = samples.make(Block.bent, self.coarse, coef)
        return Bent(self, rows, total / weight)

    @property
    def rows(self) -> float:
        """Number of rows of `few`."""
        return self.share * self.problem.n_samples

    def _count(self, operations: float, coef: Array) -> None:
        """Count the operations for each column of coef, and the overhead of the call."""
        columns = math.prod(coef.shape) / max(int(coef.shape[-2]), 1)
        samples, options = self.problem.samples, self.problem.options
        samples.operations += options.call_overhead + operations * columns

    def floor(self) -> float:
        """A curvature that is negligible, but not zero.

        If classes are separable and λ is zero, the Hessian vanishes with the gradient. The steps must then go
        to zero too, not to infinity.
        """
        problem = self.problem
        info = problem.xp.finfo(problem.covariate_ridge.dtype)  # float64: sums and systems are
        # A bound of Σ_i ω_i‖j_i‖² that needs no call to the samples.
        rows = problem.model.feature_bound(problem.squared_norm) * problem.largest_weight
        mass = rows + problem.total_weight
        return float(info.eps) * mass * min(problem.steepest, 1e3) + float(info.smallest_normal)


@dataclass(frozen=True)
class Bent:
    """The curvature Σ_i ω_i∇²ℓ_i ⊗ j_i j_iᵀ of the loss at some points.

    mean (…, κ, κ) is the mean over the samples, Σ_i ω_i∇²ℓ_i/Σ_i ω_i. With G = Σ_i ω_i j_i j_iᵀ the curvature
    is about mean ⊗ G, which preconditioners use.
    """

    loss: LossOn
    rows: Tall
    mean: Array

    def times(self, direction: Array) -> Array:
        """Return the curvature times directions (…, m, κ)."""
        loss = self.loss
        loss._count(8.0 * loss.rows * loss.columns, direction)
        samples = loss.problem.samples
        return samples.sum(Block.curvature_product, loss.coarse, self.rows.place, direction)

    @cached_property
    def outputs(self) -> tuple[Array, Array]:
        """Return the eigenvalues (…, κ) of the mean, made positive, and its eigenvectors (…, κ, κ)."""
        xp = namespace(self.mean)
        values, vectors = eigh_descending(self.mean)
        tiny = float(xp.finfo(values.dtype).smallest_normal) ** 0.5
        least = xp.clip(1e-6 * xp.max(xp.abs(values), axis=-1, keepdims=True), tiny, None)
        return xp.where(values > least, values, least + 0 * values), vectors

    @property
    def mean_above_zero(self) -> Array:
        """Return the mean with these positive eigenvalues (…, κ, κ)."""
        values, vectors = self.outputs
        return (vectors * values[..., None, :]) @ namespace(vectors).matrix_transpose(vectors)

    def solver(self, gram: Array, ridge: Array) -> Callable[[Array], Array]:
        """Return x (…, m, κ) ↦ (mean ⊗ gram + diag(ridge))⁻¹x for gram (…, m, m) and ridge (…, m)."""
        xp, (values, vectors) = namespace(gram), self.outputs
        # With UᵀGU = I and Uᵀdiag(ridge)U = diag(ridges), one U inverts the systems of all outputs.
        ridges, U = eigh_pair(gram, ridge[..., None, :] * eye_like(gram, gram.shape[-1]))
        bend = xp.clip(ridges, 0.0, None)[..., :, None] + values[..., None, :]
        back = xp.matrix_transpose(U)

        def solved(x: Array) -> Array:
            return U @ ((back @ (x @ vectors)) / bend) @ xp.matrix_transpose(vectors)

        return solved
