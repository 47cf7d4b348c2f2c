"""Dual ascent: the best lower bound that the convex relaxation by low-rank-inducing norms gives.

Replacing the projector WWᵀ by any Π with 0 ≼ Π ≼ I and tr Π = r (the Fantope) makes the problem convex:

    J(Π) = ξ(‖X̃‖² − ⟨Π, G⟩) + min over A, γ of Σ_i ω_i ℓ(y_i, a_i) + λ⟨A, Π⁺A⟩ + Σ_j ρ_j‖γ_j‖²,

equal to F if Π is a projector. The inner problem is a ridge regression on the features ΦΠ^½. Its residuals E
are the best dual point for this Π, and ∇J(Π) = −ξM. So descent on J raises the bound. The method is spectral
projected gradient on the Fantope (Birgin, Martínez and Raydan 2000), in the coordinates of a basis. The bound
of its dual points is then computed for the full problem.
"""

from __future__ import annotations

from dataclasses import dataclass

from superfactor._arrays import (
    Array,
    cast,
    eigh_descending,
    full_like_of,
    inner,
    moved,
    namespace,
    to_numpy,
    wide,
    zeros_like_of,
)
from superfactor.problem import Problem
from superfactor.samples import Block, Design, Tall
from superfactor.subspace import Basis, LossOn, fit_ridge
from superfactor.theory.dual import Bound, Dual

_MEMORY = 8  # the line search compares with the largest of this number of recent values


def ascend(dual: Dual, basis: Basis, W: Array, objective: float, *, tol: float, max_iter: int) -> Bound:
    """Return the best bound found from the subspace W (k, r), in the coordinates of the basis."""
    problem, rank = dual.problem, int(W.shape[1])
    relaxation = _Relaxation(problem, basis)

    def bound_at(point: _Relaxed) -> Bound:
        return dual.value(problem.samples.keep(Block.dual_points, point.design, point.coef))

    point = relaxation.at(W @ W.T)
    best, recent = bound_at(point), [point.J]
    step = 1 / max(float(namespace(W).max(relaxation.D)) * problem.xi, 1e-300)
    stale = 0
    for _ in range(max_iter):
        target = _project_fantope(point.Pi - step * point.gradient, rank)
        direction = target - point.Pi
        slope = inner(point.gradient, direction)
        if not slope < 0:
            break
        t = 1.0
        while True:
            new = relaxation.at(point.Pi + t * direction)
            if max(recent[-_MEMORY:]) + 1e-4 * t * slope >= new.J or t < 1e-6:
                break
            t /= 4
        moved, bent = t * direction, new.gradient - point.gradient
        curvature = inner(moved, bent)
        step = inner(moved, moved) / curvature if curvature > 0 else 10 * step
        point = new
        recent.append(point.J)
        bound = bound_at(point)
        stale = stale + 1 if bound.value <= best.value + 1e-3 * tol else 0
        best = max(best, bound, key=lambda each: each.value)
        # J(Π) is an upper bound of the relaxation: no gain is possible once the two are equal.
        if objective - best.value <= tol or point.J - best.value <= 0.1 * tol or stale >= 60:
            break
    return best


@dataclass(frozen=True)
class _Relaxed:
    Pi: Array  # (k, k)
    J: float
    gradient: Array  # (k, k)
    rows: Tall  # rows of the design (n, m)
    coef: Array  # (m, κ), of the ridge regression whose residuals are the dual points

    @property
    def design(self) -> Design:
        return Design(self.rows.place, ready=True)


class _Relaxation:
    """J and its gradient in the coordinates of a basis; each ridge solution starts from the last one."""

    def __init__(self, problem: Problem, basis: Basis):
        self.problem, self.D = problem, basis.D
        known = problem.arrays().known
        self.Phi, self.covariates = known.over_root(basis.features.array()), known.covariates
        self.A = zeros_like_of(self.D, basis.size, problem.n_outputs)
        self.gamma = zeros_like_of(self.D, problem.n_covariates, problem.n_outputs)

    def at(self, Pi: Array) -> _Relaxed:
        problem, xp = self.problem, namespace(Pi)
        values, V = eigh_descending(Pi)
        kept = int(xp.sum(xp.astype(values > 1e-12, xp.int64)))
        root = V[:, :kept] * xp.sqrt(values[:kept])[None, :]
        mixed = self.Phi @ cast(moved(root, self.Phi), self.Phi)
        features = namespace(mixed).concat([mixed, self.covariates], axis=1)
        ridge = xp.concat([full_like_of(Pi, kept, problem.lam), problem.covariate_ridge])
        start = (V[:, :kept] / xp.sqrt(values[:kept])[None, :]).T @ self.A
        # The old coefficients of a direction that is new in Π have no meaning.
        start = xp.where(xp.abs(values[:kept])[:, None] > 1e-3, start, xp.zeros_like(start))
        rows = problem.samples.keep(Block.given, features)
        design = Design(rows.place, ready=True)
        loss = LossOn(problem, design, int(features.shape[1]))
        coef, value, _ = fit_ridge(loss, ridge, xp.concat([start, self.gamma]), max_iter=50)
        E = problem.samples.stack(Block.residuals, design, coef)
        self.A, self.gamma = root @ coef[:kept, :], coef[kept:, :]
        Q = wide(to_numpy(self.Phi.T @ E))
        J = value + problem.xi * (problem.squared_norm - inner(Pi, self.D))
        return _Relaxed(Pi, J, -(problem.xi * self.D + Q @ Q.T / (4 * problem.lam)), rows, coef)


def _project_fantope(matrix: Array, rank: int) -> Array:
    """Return the nearest Π with 0 ≼ Π ≼ I and tr Π = rank: eigenvalues are shifted and clipped."""
    values, V = eigh_descending(matrix)
    xp = namespace(values)
    low, high = float(values[-1]) - 1.0, float(values[0])
    for _ in range(100):
        shift = 0.5 * (low + high)
        total = float(xp.sum(xp.clip(values - shift, 0.0, 1.0)))
        low, high = (shift, high) if total > rank else (low, shift)
    return (V * xp.clip(values - high, 0.0, 1.0)[None, :]) @ V.T
