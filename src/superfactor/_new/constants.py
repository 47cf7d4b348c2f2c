"""The constants of the paper's convergence theorem: μ, L, the step window and the rate.

Theorem 1: if μ ≤ curvature of F ≤ L with L/μ < 3, and a stationary point Z* of F has rank at most r, then
low-rank projected gradient descent with a step τ in (1/(2μ), 3/(2L)) obeys

    ‖Z_t − Z*‖ ≤ ρᵗ‖Z_0 − Z*‖,      ρ = 2·max(|1 − τμ|, |1 − τL|) < 1.

========= ======================================== ===============================================
model     Algorithm 1 as printed, joint in A, B, γ γ minimised over, blocks rescaled to match
========= ======================================== ===============================================
filter μ  min(2ξ, 2λ + nδ⁻α⁻), Φ = [X, X']         2λ + nδ⁻α⁻, X after regression on X'
filter L  max(2ξ, 2λ + nδ⁺α⁺), Φ = [X, X']         2λ + α⁺σ_max(X)²
feature μ min(2ξ, 2λ)                              2λ  (2λ + α⁻ without covariates)
feature L max(2ξ, 2λ + α⁺(1 + λ_max(X'ᵀX')))       2λ + α⁺
========= ======================================== ===============================================

The paper's L for the feature model with covariates is wrong; the one above is right (see docs/errata.md).
With an unpenalised intercept, λ is 0 in the μ of the left column. With sample weights w, the samples of B
(and of A in the feature model) are in units of √w, which changes no rank. The weights of the loss are then
ω_i for the filter model and ω_i/w_i for the feature model. nδ⁻ and nδ⁺ are the extreme eigenvalues of ΦᵀΩΦ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._new.eigen import leading_eigenvectors
from superfactor._new.problem import Problem
from superfactor._new.rows import InMemory
from superfactor._new.tall import dot, here, pull

# Up to this side a Gram matrix is decomposed for its smallest eigenvalue, and up to these operations, or this
# few columns, for its largest. Beyond, products bound the largest: they stop at this residual, relative to
# it, which is added.
_SIDE, _OPERATIONS, _FEW, _RESIDUAL = 1500, 1e7, 64, 1e-2
_DOUBLE = float(np.finfo(float).eps)


@dataclass(frozen=True)
class TheoremConstants:
    """Curvature bounds of F and their consequences by the theorem.

    Attributes
    ----------
    mu : float
        μ, lower bound of the curvature; 0 if no better bound is known, negative (down to −inf) if the loss is
        not convex.
    L : float
        Upper bound of the curvature, inf if the loss has none.

    Examples
    --------
    >>> constants = TheoremConstants(mu=2.0, L=5.0)
    >>> constants.condition_number, constants.applies
    (2.5, True)
    >>> constants.step_window
    (0.25, 0.3)
    >>> constants.iterations(accuracy=1e-6, distance=1.0)
    90
    """

    mu: float
    L: float

    @property
    def condition_number(self) -> float:
        """L/μ; inf if μ ≤ 0."""
        return self.L / self.mu if self.mu > 0 else math.inf

    @property
    def applies(self) -> bool:
        """Whether L/μ < 3, the theorem's hypothesis."""
        return self.condition_number < 3

    @property
    def step_window(self) -> tuple[float, float] | None:
        """The steps (1/(2μ), 3/(2L)) with ρ < 1; None if there are none."""
        return (0.5 / self.mu, 1.5 / self.L) if self.applies else None

    @property
    def best_step(self) -> float:
        """τ = 2/(μ + L), which minimises ρ; 0 if no step contracts."""
        total = self.mu + self.L
        return 2 / total if self.mu >= 0 and 0 < total < math.inf else 0.0

    @property
    def best_rate(self) -> float:
        """ρ at the best step, 2(L − μ)/(L + μ); 2 if no step contracts."""
        return self.rate()

    def rate(self, step_size: float | None = None) -> float:
        """Return ``ρ = 2·max(|1 − τμ|, |1 − τL|)`` for the step τ, by default the best one."""
        if step_size is None:
            return 2 * (self.L - self.mu) / (self.L + self.mu) if self.best_step > 0 else 2.0
        if not step_size > 0:
            raise ValueError(f"step_size={step_size!r}: a positive number is required")
        return 2 * max(abs(1 - step_size * self.mu), abs(1 - step_size * self.L))

    def iterations(self, accuracy: float, distance: float, step_size: float | None = None) -> float:
        """Return the number t of iterations after which ρᵗ·distance ≤ accuracy; inf if ρ ≥ 1."""
        if not accuracy > 0:
            raise ValueError(f"accuracy={accuracy!r}: a positive number is required")
        if not distance >= 0:
            raise ValueError(f"distance={distance!r}: a non-negative number is required")
        rho = self.rate(step_size)
        if distance <= accuracy:
            return 0
        if rho >= 1:
            return math.inf
        return 1 if rho == 0 else max(math.ceil(math.log(distance / accuracy) / -math.log(rho) - 1e-12), 1)


def theorem_constants(
    problem: Problem,
    *,
    profiled: bool = False,
    radius: float = math.inf,
    largest: float | None = None,
    steepest: float | None = None,
) -> TheoremConstants:
    """Return bounds μ and L of the curvature of the paper's F, in the user's units.

    Parameters
    ----------
    problem : Problem
    profiled : bool
        False for Algorithm 1 as printed, joint in (A, B, γ). True for γ minimised over and the block B
        rescaled so that its curvature lies within that of A. Then ξ and the covariates have no effect, and μ,
        L are those of A.
    radius : float
        The paper's M, a bound on the norm of every activation; with inf the constants hold everywhere.
    largest : float, optional
        A bound of σ₁² of X̃, if it is known. It is then not computed where that costs more than one pass over
        X, and nδ⁺ of X and X' together is at most the sum of theirs.
    steepest : float, optional
        Replaces α⁺, for a loss that has none. L then holds only where the curvature of the loss is at most
        this.

    Examples
    --------
    >>> from superfactor._new.problem import state
    >>> from superfactor.losses import Logistic, Multinomial
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]) / 2
    >>> y = np.array([1, 1, 0, 0])
    >>> problem = state("feature", X, y, Multinomial(Logistic()), xi=0.5, lam=0.5)
    >>> theorem_constants(problem)  # with an intercept
    TheoremConstants(mu=0.0, L=2.25)
    >>> theorem_constants(problem, profiled=True)
    TheoremConstants(mu=1.0, L=1.25)
    """
    low, high = problem_loss_curvature(
        problem, profiled=profiled, radius=radius, largest=largest, steepest=steepest
    )
    xi, lam = problem.users_weights
    if profiled:
        return TheoremConstants(mu=2 * lam + low, L=2 * lam + high)
    ridges = [lam, *(float(each) for each in problem.rows.rho)]
    return TheoremConstants(mu=min(2 * xi, 2 * min(ridges) + low), L=max(2 * xi, 2 * max(ridges) + high))


def problem_loss_curvature(
    problem: Problem,
    *,
    profiled: bool = False,
    radius: float = math.inf,
    any_lam: bool = False,
    largest: float | None = None,
    steepest: float | None = None,
) -> tuple[float, float]:
    """Return bounds of the loss's part of the curvature of the coefficients, next to 2λ: nδ⁻α⁻ and nδ⁺α⁺.

    With `any_lam` the lower bound holds for every λ, not only for the problem's own: a larger ridge on the
    covariates leaves more of the features to A.
    """
    rows = problem.rows
    low, high = rows.loss.curvature_bounds(rows.outputs, radius)
    high = high if steepest is None else steepest
    alone = len(rows.rho) == 0
    ratio = here(rows.loss_weight)
    if rows.weight is not None:
        weight = here(rows.weight)
        ratio = ratio[weight > 0] / weight[weight > 0]
    if problem.model == "filter":
        softening = rows.rho * (0.0 if any_lam else 1.0)
        least, most = _extremes(
            problem, profiled, low > 0, 2 * softening / low if low > 0 else softening, largest, ratio
        )
    else:  # activations are [diag(1/√w), X'] times the unknowns: an identity with more columns
        covariates = 0.0 if profiled else _top(pull(rows.Z, rows.Z * rows.loss_weight))
        least = float(ratio.min(initial=np.inf)) if profiled and alone and len(ratio) else 0.0
        most = float(ratio.max(initial=0.0)) + covariates
    if low < 0 and profiled and not alone:
        return -math.inf, _times(high, most)  # not convex: nothing ensures that a minimiser over γ exists
    return _times(low, least if low >= 0 else most), _times(high, most)


def _times(alpha: float, value: float) -> float:
    """Return alpha·value with inf·0 = 0: a direction that does not affect the loss has no curvature."""
    return alpha * value if value > 0 else 0.0


def _top(matrix: Any) -> float:
    """Return λ_max of a positive semi-definite matrix, rounded up; 0 if it is empty."""
    return (
        max(float(np.linalg.eigvalsh(matrix)[-1]), 0.0) * (1 + len(matrix) * _DOUBLE) if len(matrix) else 0.0
    )


def _extremes(
    problem: Problem, profiled: bool, lower: bool, softening: Any, largest: float | None, ratio: Any
) -> tuple[float, float]:
    """Return (nδ⁻, nδ⁺) of Φ = [X, X'] in the user's units, both safe.

    If `profiled`, nδ⁺ is that of X alone, and nδ⁻ that of its residuals after regression on the covariates
    with ridge `softening` (q,): the part that these explain adds no curvature. nδ⁻ is 0 where it is not
    needed, or too expensive.
    """
    rows, (n, p), s = problem.rows, problem.shape, problem.rows.scale
    q = 0 if profiled else len(rows.rho)
    lower = lower and p + q <= n and p <= _SIDE
    affordable = min(n, p) <= _FEW or n * p * min(n, p) <= _OPERATIONS
    if not lower and largest is not None and not (affordable and isinstance(rows.blocks, InMemory)):
        return 0.0, float(ratio.max()) * largest * s**2 + (
            _top(pull(rows.Z, rows.Z * rows.loss_weight)) if q else 0.0
        )
    of_samples = affordable and n < p and isinstance(rows.blocks, InMemory) and not lower
    if of_samples:
        Z = here(rows.Z)[:, :q] * np.sqrt(here(rows.loss_weight))
        return 0.0, _top(rows.sample_gram(rows.loss_weight) * s**2 + Z @ Z.T)
    if not lower and not (affordable and n >= p):
        return 0.0, _top_by_products(problem, q)
    weighted = rows.loss_weight * rows.Z
    G, cross, corner = (
        _weighted_gram(problem, ratio),
        rows.back(rows.unrooted(weighted)) * s,
        pull(rows.Z, weighted),
    )
    joint = np.block([[G, cross], [cross.T, corner]]) if q else G
    values = np.linalg.eigvalsh(joint)
    top = max(float(values[-1]), 0.0)
    slack, bottom = len(joint) * _DOUBLE, float(values[0])
    if profiled and len(corner):
        explained = cross @ np.linalg.pinv(corner + np.diag(softening), hermitian=True) @ cross.T
        bottom = float(np.linalg.eigvalsh(G - explained)[0])
    return max(bottom - slack * top, 0.0) if lower else 0.0, top * (1 + slack)


def _weighted_gram(problem: Problem, ratio: Any) -> Any:
    """Return XᵀΩX (p, p) in the user's units."""
    rows = problem.rows
    if ratio.min(initial=np.inf) == ratio.max(initial=0.0):
        return rows.gram() * (float(ratio.max()) * rows.scale**2)
    return rows.gram(rows.loss_weight) * rows.scale**2


def _top_by_products(problem: Problem, q: int) -> float:
    """Return an upper bound of λ_max(ΦᵀΩΦ), Φ = [X, X'] with the first q covariates, by Lanczos' method.

    It is too small only if a random start is orthogonal to the leading direction.
    """
    rows, p = problem.rows, problem.shape[1]
    s = rows.scale
    Z = dot(rows.Z, np.eye(len(rows.rho), q))

    def times(T: Any) -> Any:
        a = rows.unrooted(rows.times(T[:p] * s)) + dot(Z, T[p:])
        E = rows.loss_weight * a
        return np.vstack([rows.back(rows.unrooted(E)) * s, pull(Z, E)])

    start = np.random.default_rng(0).standard_normal((p + q, 2))
    values, _, residual = leading_eigenvectors(times, start, 1, _RESIDUAL, rounds=40)
    return float(values[0] + residual[0]) * (1 + (p + q) * rows.eps)
