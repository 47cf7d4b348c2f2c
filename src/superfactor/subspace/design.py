"""The loss as a function of coefficients on the rows of a design: what ridge regression asks of samples."""

from __future__ import annotations

from superfactor._arrays import Array
from superfactor.problem import Problem
from superfactor.samples import Block, Design


class LossOn:
    """Σ_i ω_i ℓ(y_i, cᵀj_i) and its derivatives in c (m, κ), j_i the rows of a design J (n, m).

    Parameters
    ----------
    mass : about Σ_i ω_i‖j_i‖², the scale of its curvature; None asks the samples
    """

    def __init__(self, problem: Problem, design: Design, columns: int, mass: float | None = None):
        self.problem, self.design, self.columns = problem, design, columns
        samples = problem.samples
        self.mass = float(samples.sum(Block.mass, design)) if mass is None else mass
        self.share = problem.options.curvature_share(problem.n_samples, columns, problem.n_outputs)

    @property
    def epsilon(self) -> float:
        """The precision of the samples' floating type."""
        return self.problem.epsilon

    @property
    def dense_pays(self) -> bool:
        """Whether a Newton system of all unknowns is cheaper than conjugate gradients."""
        problem, options = self.problem, self.problem.options
        rows, n = self.share * problem.n_samples, problem.n_samples
        dense = options.dense_operations(rows, self.columns * problem.n_outputs)
        return dense <= options.product_operations(n, self.columns, problem.n_outputs)

    def evaluate(self, coef: Array) -> tuple[float, Array]:
        """The value and its gradient JᵀE (m, κ)."""
        value, gradient = self.problem.samples.sum(Block.evaluate, self.design, coef)
        return float(value), gradient

    def curvature(self, coef: Array) -> Array:
        """Σ_i ω_i∇²ℓ_i ⊗ j_i j_iᵀ (κm, κm), class-major."""
        return self.problem.samples.sum(Block.curvature, self.design, coef, self.share)

    def curvature_product(self, coef: Array, direction: Array) -> Array:
        """The same times a direction, (m, κ), by products only."""
        return self.problem.samples.sum(Block.curvature_product, self.design, coef, direction)

    def curvature_diagonal(self, coef: Array, turn: Array | None = None) -> Array:
        """The diagonal of the same, (m, κ), for the design J·turn."""
        return self.problem.samples.sum(
            Block.curvature_diagonal, self.design, coef, self.share, turn
        )

    def floor(self) -> float:
        """A curvature too small to matter, but not zero: where classes are separable and λ is zero the
        Hessian vanishes with the gradient, and steps must go to zero with them, not to infinity.
        """
        problem = self.problem
        info = problem.xp.finfo(problem.covariate_ridge.dtype)  # float64: sums and systems are
        alpha = problem.loss.curvature_bounds(problem.n_outputs)[1]
        return float(info.eps) * self.mass * min(alpha, 1e3) + float(info.smallest_normal)
