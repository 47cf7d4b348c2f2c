"""The concave dual of a problem: every dual point bounds F over rank ≤ r (docs/method.md §7).

    bound(g) = −Σ_i ω_i ℓ*(y_i, g_i) + ξ(‖X̃‖² − Σ_{i≤r} eig_i(M)) − Σ_j ‖x'_jᵀ(ω∘g)‖²/(4ρ_j)
    M(g) = G + QQᵀ,    Q = Φᵀ(ω∘g)/(2√(ξλ)),    G the Gram matrix of the search side

An unpenalised intercept requires Σ_i ω_i g_i = 0. The dual points are stored with the samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from superfactor._arrays import Array, to_numpy, wide
from superfactor.losses.base import BALANCING_STEPS
from superfactor.problem import Problem
from superfactor.samples import Block, Tall
from superfactor.solution import Solution
from superfactor.spectrum import eigen_rounding, product_rounding
from superfactor.theory.top_sums import Pull, Spectrum, Top

#: Number of halvings of the step in the length of dual points; each costs two bounds.
SHORTENINGS = 2


@dataclass(frozen=True)
class Sizes:
    """Sizes of dual points g and of the terms of their sums (`Block.dual_sizes`)."""

    terms: float  # Σ_i ω_i(|ℓ*(y_i, g_i)| + |g_i||y_i|)
    covariates: Array  # |X'|ᵀ(ω∘|g|) (q, κ)
    slope: float  # ‖ω∘g/√w‖
    steepest: float  # bound of the curvature near the activations whose residuals they are


@dataclass(frozen=True)
class Bound:
    """A lower bound of F, the rounding error subtracted from it, and the sizes of its dual points."""

    value: float
    rounding: float
    sizes: Sizes


@dataclass
class Dual:
    """Lower bounds for one problem and rank."""

    problem: Problem
    spectrum: Spectrum
    reach: float = 1.0  # typical size of activations

    def value(self, points: Tall) -> Bound:
        """Return the bound at dual points g (n, κ), moved to those that an unpenalised intercept allows."""
        problem, samples = self.problem, self.problem.samples
        points = self._balanced(points)
        conjugate, pulled = samples.sum(Block.dual_terms, points.place)
        weighted = samples.keep(Block.weighted_dual, points.place)
        pull = Pull(problem.dual_scale(), weighted.inner(weighted))
        top = self.spectrum.with_labels(weighted, pull)
        value = problem.dual_bound(float(conjugate), pulled, top.value)
        terms, covariates = samples.sum(Block.dual_sizes, points.place)
        steepest = problem.loss.curvature_bounds(problem.n_outputs)[1]
        if steepest == math.inf:
            steepest = max(samples.gather(Block.steepest, points.place))
        sizes = Sizes(float(terms), covariates, pull.size / pull.scale, steepest)
        rounding = self._of_reconstruction(top) + self._of_sums(sizes, pulled)
        return Bound(value - rounding, rounding, sizes)

    def shortened(self, points: Tall) -> Bound:
        """Return the best bound among t·g, 0 < t < 1.

        bound(t·g) is concave in t and equals bound(0) at t = 0. For a large gradient of the loss its maximum
        is well below t = 1, and bound(g) may be useless.
        """
        g, samples = points.array(), self.problem.samples

        def at(t: float) -> tuple[float, Bound]:
            return t, self.value(samples.keep(Block.given, t * g))

        best, step = at(0.5), 0.25
        for _ in range(SHORTENINGS):
            t = best[0]
            best = max(best, at(t - step), at(t + step), key=lambda each: each[1].value)
            step /= 2
        return best[1]

    def _of_reconstruction(self, top: Top) -> float:
        """Return a bound of the rounding error of ξ(‖X̃‖² − Σ_{i≤r} eig_i)."""
        problem = self.problem
        n, p = problem.shape
        squares = product_rounding(n * p) * problem.squared_norm
        return problem.xi * (top.rounding + squares)

    def _of_sums(self, sizes: Sizes, pulled: Array) -> float:
        """Return a bound on the rounding errors of the other two terms, sums over the samples in float64.

        An unpenalised intercept requires Σ_i ω_i g_i = 0, which holds up to rounding. The remainder, spread
        over the samples, changes Σωℓ* by the remainder times their mean activation.
        """
        problem = self.problem
        each, ridge, xp = product_rounding(problem.n_samples), problem.covariate_ridge, problem.xp
        off, held = each * sizes.covariates, ridge > 0
        penalised = (2 * xp.abs(pulled) + off) * off / (4 * xp.where(held, ridge, 1.0)[:, None])
        covariates = xp.where(held[:, None], penalised, off * self.reach)
        return each * sizes.terms + float(xp.sum(covariates))

    def _balanced(self, points: Tall) -> Tall:
        samples = self.problem.samples
        if not self.problem.has_intercept:
            return points
        steps: list[tuple[Array, ...]] = []
        for _ in range(BALANCING_STEPS):
            steps.append(samples.sum(Block.imbalance, points.place, steps))
        return samples.keep(Block.rebalanced, points.place, steps)

    @cached_property
    def unsupervised(self) -> float:
        """bound(0) = ξΣ_{i>r}σ_i², the lowest cost of reconstruction alone."""
        top = self.spectrum.alone()
        found = self.problem.xi * (self.problem.squared_norm - top.value)
        return max(found - self._of_reconstruction(top), 0.0)


@dataclass(frozen=True)
class Evaluated:
    """An objective with its rounding error (docs/method.md §19)."""

    objective: float  # F as the solver computed it
    rounding: float  # bound of its distance from F of the factors in exact arithmetic

    @staticmethod
    def of(
        problem: Problem, solution: Solution, sizes: Sizes | None, unsupervised: float, precision: float
    ) -> Evaluated:
        """Return F of a solution of a compact problem with its rounding error.

        `sizes` are those of its residuals, None if nothing is proven. `unsupervised` is bound(0). `precision`
        is ε of the type in which users get the factors.
        """
        F = float(solution.objective)
        if sizes is None:
            return Evaluated(F, 0.0)
        epsilon, (n, p) = problem.epsilon, problem.shape
        size, lost = math.sqrt(problem.squared_norm), problem.compression_rounding
        # λ‖Ã‖² is a part of F, and reconstruction costs bound(0) at least.
        length = math.sqrt(max(F - unsupervised, 0.0) / problem.lam)
        # Activations are X̃Ã in the filter model and Ã itself in the feature model. The solver computes them
        # in a basis, users from the factors.
        each = problem.model.phi(
            lambda: product_rounding(p, epsilon) * size + lost,
            lambda: product_rounding(problem.n_outputs, epsilon),
        )
        off = 2 * length * each
        bend = sizes.steepest * problem.largest_weight
        # Rounding of the factors to the type of X moves a stationary point; F changes by the square of that.
        moved = 2 * precision * length * problem.model.phi(lambda: size, lambda: 1.0)
        gamma = abs(wide(to_numpy(solution.factors.gamma)))
        # Rounding of X̃ᵀX̃ in a basis, which is orthonormal up to rounding too; ‖X̃‖² is summed in float64.
        products = product_rounding(max(n, p), epsilon) + 2 * eigen_rounding(min(n, p), epsilon)
        # Losses that compare samples depend on differences of activations, however small.
        compared = epsilon * math.sqrt(problem.total_weight) * size * length
        parts = (
            2 * compared if problem.loss.couples_samples else 0.0,
            sizes.slope * off + bend * (off**2 + moved**2),
            product_rounding(problem.n_covariates, epsilon) * float((sizes.covariates * gamma).sum()),
            # Targets have the type of X too.
            epsilon * sizes.terms + product_rounding(n, epsilon) * abs(F),
            problem.xi * size * ((products + product_rounding(n * p) + precision**2) * size + 2 * lost),
        )
        return Evaluated(F, sum(parts))
