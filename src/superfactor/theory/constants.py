"""The constants of the paper's convergence theorem: μ, L, the step window and the rate.

Theorem 1: if μ ≤ curvature of F ≤ L with L/μ < 3, and a stationary point Z* of F has rank at most
r, then low-rank projected gradient descent with step τ in (1/(2μ), 3/(2L)) obeys

    ‖Z_t − Z*‖ ≤ ρᵗ‖Z_0 − Z*‖,      ρ = 2·max(|1 − τμ|, |1 − τL|) < 1.

There are two sets of constants:

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
ω_i = w_i·class weight_i for the filter model and ω_i/w_i for the feature model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from superfactor._arrays import Array, cast, device, diagonal, eps, eye_like, frobenius2, moved, namespace
from superfactor.models import LiftedArrays
from superfactor.options import Options
from superfactor.problem import Problem
from superfactor.samples import Block


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
    >>> from superfactor.theory import TheoremConstants
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
            if self.best_step == 0:
                return 2.0
            return 2 * (self.L - self.mu) / (self.L + self.mu)
        if not step_size > 0:
            raise ValueError(f"step_size={step_size!r}: a positive number is required")
        return 2 * max(abs(1 - step_size * self.mu), abs(1 - step_size * self.L))

    def iterations(self, accuracy: float, distance: float, step_size: float | None = None) -> float:
        """Return the number t of iterations after which ρᵗ·distance ≤ accuracy; inf if ρ ≥ 1."""
        if not accuracy > 0:
            raise ValueError(f"accuracy={accuracy!r}: a positive number is required")
        if not distance >= 0:
            raise ValueError(f"distance={distance!r}: a non-negative number is required")
        if distance <= accuracy:
            return 0
        rho = self.rate(step_size)
        if rho >= 1:
            return math.inf
        if rho == 0:
            return 1
        return max(math.ceil(math.log(distance / accuracy) / -math.log(rho) - 1e-12), 1)


def theorem_constants(
    problem: Problem,
    *,
    profiled: bool = False,
    radius: float = math.inf,
    largest: float | None = None,
    steepest: float | None = None,
) -> TheoremConstants:
    """Return bounds μ and L of the curvature of the paper's F, in the user's units.

    They are those of the module's table. They are cheap enough for every fit: for large data, a few products
    with X bound its spectrum.

    Parameters
    ----------
    problem : Problem
        Data, model, loss and weights.
    profiled : bool, default=False
        False for Algorithm 1 as printed, joint in (A, B, γ). True for γ minimised over and the block B
        rescaled so that its curvature lies within that of A. Then ξ and the covariates have no effect, and μ,
        L are those of A.
    radius : float, default=inf
        The paper's M, a bound on the norm of every activation; with inf the constants hold everywhere.
    largest : float, optional
        About σ₁² of X̃, if it is known, so that it need not be computed again. If X is not in memory, nδ⁺ of X
        and X' together is then at most the sum of theirs, and nδ⁻ counts as 0.
    steepest : float, optional
        Replaces α⁺, for a loss that has none. L then holds only where the curvature of the loss is at most
        this.

    Returns
    -------
    constants : TheoremConstants

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import Logistic, Multinomial
    >>> from superfactor.problem import state
    >>> from superfactor.theory import theorem_constants
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
    ridges = [lam] + [float(ridge) for ridge in problem.covariate_ridge]
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
    """Return bounds of the loss's part of the curvature of the coefficients, next to 2λ.

    nδ⁻α⁻ and nδ⁺α⁺ for the filter model. With `any_lam` the lower bound holds for every λ, not only for the
    problem's own: a larger ridge on the covariates leaves more of the features to A.
    """
    low, high = problem.loss.curvature_bounds(problem.n_outputs, radius)
    high = high if steepest is None else steepest
    alone = problem.n_covariates == 0

    def of_covariates() -> float:
        if profiled:
            return 0.0
        return largest_eigenvalue(problem.samples.sum(Block.covariate_gram))

    def crossed() -> float:
        if problem.whole is None:
            return math.inf
        small = problem.compact.arrays()
        return math.sqrt(frobenius2(small.pull(small.loss_weight * small.covariates))) * problem.scale

    def known_gram() -> Array | None:
        gram, weight = problem.feature_gram, problem.largest_weight
        # If all weights of the loss are equal, it is a multiple.
        return None if gram is None or problem.smallest_weight < weight else weight * gram

    def of_data() -> tuple[float, float]:
        if largest is not None and (low <= 0 or problem.whole is None):
            top, corner = problem.largest_weight * largest * problem.scale**2, of_covariates()
            both = top if profiled or alone else _norm_of_blocks(top, corner, crossed())
            if problem.whole is None or both <= _NEARLY_EXACT * max(top, corner):
                return 0.0, both
        small = problem.compact.arrays()
        ridge = small.covariate_ridge * (0.0 if any_lam else 1.0)
        return design_extremes(
            small,
            problem.shape[1],
            problem.scale,
            problem.options,
            covariates=not profiled,
            lower=low > 0,
            softening=2 * ridge / low if low > 0 else ridge,
            gram=known_gram(),
        )

    def of_identity() -> tuple[float, float]:
        # The activations are [diag(1/√w), X'] times the unknowns: an identity with more columns.
        least = problem.smallest_weight if profiled and alone else 0.0
        return least, problem.largest_weight + of_covariates()

    least, most = problem.model.phi(of_data, of_identity)
    upper = _times(high, most)
    if low >= 0:
        return _times(low, least), upper
    if profiled and not alone:
        # Not convex: nothing ensures that a minimiser over γ exists.
        return -math.inf, upper
    return _times(low, most), upper


# A bound of an eigenvalue is used in place of it up to this factor.
_NEARLY_EXACT = 1 + 1e-6


def _norm_of_blocks(a: float, b: float, c: float) -> float:
    """Return a bound of the norm of [[A, C], [Cᵀ, B]] ≥ 0 from those of its blocks; c = inf: C is unknown."""
    half = (a - b) / 2
    return (a + b) / 2 + min(math.hypot(half, c), (a + b) / 2)


def _times(alpha: float, value: float) -> float:
    """Return alpha·value with inf·0 = 0: a direction that does not affect the loss has no curvature."""
    return alpha * value if value > 0 else 0.0


# --- extreme eigenvalues of the design ------------------------------------------------------------------
# The Hessian of Σ_i ω_i ℓ(y_i, a_i) in the coefficients U = [A ‖ γ] of a linear activation a = ΦU lies
# between α⁻·ΦᵀΩΦ and α⁺·ΦᵀΩΦ, Ω = diag(ω). The paper calls the extreme eigenvalues of that matrix nδ⁻, nδ⁺.

_COLUMNS = 64
# Lanczos stops once the residual of the largest Ritz value is this small; the residual is added.
_RELATIVE_RESIDUAL = 1e-2
_LEAST_STEPS, _MOST_STEPS = 6, 40


def largest_eigenvalue(matrix: Array) -> float:
    """Return λ_max of a symmetric positive semi-definite matrix (q, q), rounded up; 0 if it is empty."""
    if matrix.shape[0] == 0:
        return 0.0
    top = float(namespace(matrix).linalg.eigvalsh(matrix)[-1])
    return max(top, 0.0) * (1 + int(matrix.shape[0]) * eps(matrix))


def design_extremes(
    small: LiftedArrays,
    n_features: int,
    scale: float,
    options: Options,
    *,
    covariates: bool,
    lower: bool,
    softening: Array,
    gram: Array | None = None,
) -> tuple[float, float]:
    """Return (nδ⁻, nδ⁺) of Φ = [X, X'] in the user's units; X is `scale` times larger than that of `small`.

    Without `covariates` γ is minimised over: nδ⁺ is that of X alone. nδ⁻ is that of the residuals of X after
    its regression on the covariates with ridge `softening` (q,): the part they explain adds no curvature.
    `gram` is X̃ᵀΩX̃/w (N, N) if it is known. Both ends are safe: nδ⁻ is 0 where it is not needed (`lower`) or
    too expensive, and nδ⁺ is too small only if a random start of Lanczos is orthogonal to the leading
    direction.
    """
    (n, N), p = small.data.shape, n_features
    q = small.n_covariates if covariates else 0
    # Otherwise ΦᵀΩΦ is singular, or its smallest eigenvalue too expensive.
    lower = lower and p + q <= n and p == N and options.largest_gram >= N
    if gram is None and not lower and N > _COLUMNS and n * N**2 > options.gram_operations:
        return 0.0, _lanczos_bound(small, scale, q)
    xp, C = namespace(small.targets), small.covariates
    G = (_gram(small) if gram is None else cast(moved(gram, small.targets), small.targets)) * (scale * scale)
    with_cross = bool(C.shape[1]) and (covariates or lower)
    cross = small.pull(small.loss_weight * C) * scale if with_cross else C[:0, :]  # XᵀΩX' (N, q)
    if q:
        corner = C.T @ (small.loss_weight * C)
        G = xp.concat([xp.concat([G, cross], axis=1), xp.concat([cross.T, corner], axis=1)], axis=0)
    size = int(G.shape[0])
    values = xp.linalg.eigvalsh((G + G.T) / 2)
    slack = size * eps(G)
    top = max(float(values[-1]), 0.0)
    bottom = float(values[0])
    if not lower:
        return 0.0, top * (1 + slack)
    if not covariates and C.shape[1]:
        ridge = diagonal(xp.astype(softening, G.dtype))
        explained = cross @ xp.linalg.pinv(C.T @ (small.loss_weight * C) + ridge) @ cross.T
        bottom = float(xp.linalg.eigvalsh(G - (explained + explained.T) / 2)[0])
    return max(bottom - slack * top, 0.0), top * (1 + slack)


def _gram(arrays: LiftedArrays) -> Array:
    """Return X̃ᵀΩX̃/w in the problem's own units (N, N), by blocks of columns, without a dense copy of X."""
    xp, N = namespace(arrays.targets), arrays.side
    identity = eye_like(arrays.targets, N)
    return xp.concat(
        [_product(arrays, identity[:, start : min(start + _COLUMNS, N)]) for start in range(0, N, _COLUMNS)],
        axis=1,
    )


def _product(arrays: LiftedArrays, T: Array) -> Array:
    return arrays.pull(arrays.loss_weight * arrays.features(T, arrays.image(T)))


def _lanczos_bound(arrays: LiftedArrays, scale: float, q: int) -> float:
    """Return an upper bound of λ_max(ΦᵀΩΦ), Φ = [s·X̃, X'] with the first q covariates (all or none)."""
    xp, N, C = namespace(arrays.targets), arrays.side, arrays.covariates
    rng = np.random.default_rng(0)
    like = arrays.targets
    v = xp.asarray(rng.standard_normal((N + q, 1)), dtype=like.dtype, device=device(like))
    v = v / frobenius2(v) ** 0.5
    Q, bound = v, 0.0
    on: list[float] = []
    off: list[float] = []
    for step in range(1, min(_MOST_STEPS, N + q) + 1):
        a = arrays.features(v[:N, :], arrays.image(v[:N, :])) * scale
        if q:
            a = a + C @ v[N:, :]
        a = arrays.loss_weight * a
        u = arrays.pull(a) * scale
        if q:
            u = xp.concat([u, C.T @ a])
        on.append(float((v.T @ u)[0, 0]))
        for _ in range(2):
            u = u - Q @ (Q.T @ u)
        beta = frobenius2(u) ** 0.5
        T = np.diag(on) + np.diag(off, 1) + np.diag(off, -1)
        values, vectors = np.linalg.eigh(T)
        top, residual = float(values[-1]), beta * abs(float(vectors[-1, -1]))
        bound = top + residual
        enough = step >= _LEAST_STEPS and residual <= _RELATIVE_RESIDUAL * top
        if enough or beta <= (N + q) * eps(u) * abs(top):
            break
        off.append(beta)
        v = u / beta
        Q = xp.concat([Q, v], axis=1)
    return max(bound, 0.0) * (1 + (N + q) * eps(v))
