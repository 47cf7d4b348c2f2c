"""F of a fit, and how far rounding may have moved it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from superfactor._arrays import to_numpy, wide
from superfactor.problem import Problem
from superfactor.solution import Solution
from superfactor.spectrum import eigen_rounding, product_rounding
from superfactor.theory.dual import Sizes


@dataclass(frozen=True)
class Evaluated:
    """An objective with its rounding (docs/method.md §19).

    Attributes
    ----------
    objective : F as the solver computed it
    rounding : how far it may be from F of the factors in exact arithmetic
    """

    objective: float
    rounding: float

    @staticmethod
    def of(
        problem: Problem, solution: Solution, sizes: Sizes | None, unsupervised: float, precision: float
    ) -> Evaluated:
        """F of a solution of a compact problem.

        Parameters
        ----------
        sizes : those of the residuals g, which say how F changes with the activations; None where nothing
            can be proven
        unsupervised : bound(0)
        precision : ε of the type in which users get the factors
        """
        F = float(solution.objective)
        if sizes is None:
            return Evaluated(F, 0.0)
        epsilon, (n, p) = problem.epsilon, problem.shape
        size, lost = math.sqrt(problem.squared_norm), problem.compression_rounding
        # λ‖Ã‖² is a part of F, and reconstruction costs bound(0) at least.
        length = math.sqrt(max(F - unsupervised, 0.0) / problem.lam)
        # Activations are X̃Ã in the filter model and Ã itself in the feature model: computed in a basis by the
        # solver, and from the factors by users.
        each = problem.model.phi(
            lambda: product_rounding(p, epsilon) * size + lost,
            lambda: product_rounding(problem.n_outputs, epsilon),
        )
        off = 2 * length * each
        bend = problem.loss.curvature_bounds(problem.n_outputs)[1] * problem.largest_weight
        # Rounding the factors to the type of X moves a stationary point: F changes by the square of that.
        moved = 2 * precision * length * problem.model.phi(lambda: size, lambda: 1.0)
        gamma = abs(wide(to_numpy(solution.factors.gamma)))
        # Of X̃ᵀX̃ in a basis, which is orthonormal up to rounding too; ‖X̃‖² is added up in float64.
        products = product_rounding(max(n, p), epsilon) + 2 * eigen_rounding(min(n, p), epsilon)
        # Losses that compare samples are differences of activations, however small: all their digits count.
        compared = epsilon * math.sqrt(problem.total_weight) * size * length
        parts = (
            2 * compared if problem.loss.couples_samples else 0.0,
            sizes.slope * off + bend * (off**2 + moved**2),
            product_rounding(problem.n_covariates, epsilon) * float((sizes.covariates * gamma).sum()),
            # Targets are in the type of X too.
            epsilon * sizes.terms + product_rounding(n, epsilon) * abs(F),
            problem.xi * size * ((products + product_rounding(n * p) + precision**2) * size + 2 * lost),
        )
        return Evaluated(F, sum(parts))
