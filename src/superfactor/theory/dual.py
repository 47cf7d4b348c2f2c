"""The concave dual of a problem: every dual point bounds F over rank ≤ r (docs/method.md §7).

    bound(g) = −Σ_i ω_i ℓ*(y_i, g_i) + ξ(‖X̃‖² − Σ_{i≤r} eig_i(M)) − Σ_j ‖x'_jᵀ(ω∘g)‖²/(4ρ_j)
    M(g) = G + QQᵀ,    Q = Φᵀ(ω∘g)/(2√(ξλ)),    G the Gram matrix of the search side

An unpenalised intercept asks for Σ_i ω_i g_i = 0. The dual points live with the samples.
"""

from __future__ import annotations

from functools import cached_property

from superfactor._arrays import Array
from superfactor.losses.base import BALANCING_STEPS
from superfactor.problem import Problem
from superfactor.samples import Block, Tall
from superfactor.theory.top_sums import Spectrum


class Dual:
    """Lower bounds for one problem and rank."""

    problem: Problem
    spectrum: Spectrum

    def __init__(self, problem: Problem, spectrum: Spectrum):
        self.problem, self.spectrum = problem, spectrum

    def value(self, points: Tall) -> float:
        """The bound at dual points g (n, κ), after moving them to the nearest that an unpenalised intercept
        allows.
        """
        problem, samples = self.problem, self.problem.samples
        points = self._balanced(points)
        conjugate, pulled = samples.sum(Block.dual_terms, points.place)
        top = self.spectrum.with_labels(samples.keep(Block.weighted_dual, points.place))
        return problem.dual_bound(float(conjugate), pulled, top)

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
        """bound(0) = ξΣ_{i>r}σ_i²: what reconstruction alone must cost."""
        return max(self.problem.xi * (self.problem.squared_norm - self.spectrum.alone()), 0.0)
