"""Block coordinate descent over the factors, also for supervised NMF.

On the search side (see `superfactor.models.base`) the factors are L (N, r) and P (other, r), with Ã = L·β and
B̃ = L·Pᵀ: L = W and P = Hᵀ for the filter model, L = Hᵀ and P = W for the feature model. One iteration updates
each block once in

    F = Σ_i ω_i ℓ(y_i, (ΦLβ)_i + γᵀx'_i) + ξ‖X̃ − L·Pᵀ‖² + λ‖L·β‖² + Σ_j ρ_j‖γ_j‖²,

====== ========================================== ==============================================
block  free                                       L, P ≥ 0
====== ========================================== ==============================================
P      least squares, exact                       one column after another, each exact
β, γ   ridge regression by Newton's method        the same (β and γ have no sign)
L      Newton's method by conjugate gradients     one column after another, one majorised step
====== ========================================== ==============================================

No update increases F. X is used only in products with a few columns. Unlike the default solver, this one
finds at best a stationary point, without a proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from superfactor._arrays import (
    Array,
    cast,
    column_norms,
    eigh_descending,
    eps,
    eye_like,
    frobenius2,
    inner,
    moved,
    namespace,
    one_blas_thread,
    random_like,
    to_numpy,
    wide,
    zeros_like_of,
)
from superfactor.constraints import ConvexSet, NonNegative
from superfactor.models import Factors, LiftedArrays
from superfactor.problem import Problem
from superfactor.samples import Block, Design
from superfactor.solution import Monitor, Solution
from superfactor.solvers.factored import answer, random_factors
from superfactor.solvers.solver import Solver
from superfactor.subspace import LossOn, conjugate_gradients, fit_ridge

_DEFAULT_ITERATIONS = 500
_SWEEPS = 3  # passes over the columns of P and of L in one iteration with signs


def solve(
    problem: Problem,
    rank: int,
    *,
    nonnegative: bool = False,
    max_iter: int | None = None,
    tol: float = 1e-8,
    random_state: int | np.random.Generator | None = 0,
    start: Factors | Literal["pca", "random"] | None = None,
    callback: Callable[[int, float], bool] | None = None,
) -> Solution:
    """Minimise F over the factors W, H, β, γ, one block after another.

    Parameters
    ----------
    problem : Problem
        The problem to minimise.
    rank : int
        Number of factors.
    nonnegative : bool
        Whether W ≥ 0 and H ≥ 0 are required: supervised non-negative matrix factorization.
    max_iter : int, optional
        500 if None.
    tol : float
        Stop when three iterations in a row lower F by at most this, relative to the loss and ridge in it;
        0 runs exactly `max_iter` iterations.
    random_state : int, Generator or None, default=0
        Source of random numbers.
    start : Factors or {"pca", "random"}, optional
        Factors in the user's units, "random" or "pca" (also for None). With signs, negative entries of W and
        H are set to 0, and "pca" takes the larger signed parts of singular vectors (NNDSVD).
    callback : callable, optional
        ``(iteration, objective) -> True`` to stop.

    Returns
    -------
    solution : Solution
        Factors in the user's units, history and reason of the end.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import resolve_link
    >>> from superfactor.problem import state
    >>> from superfactor.solvers import bcd
    >>> X, y = np.random.default_rng(0).standard_normal((20, 5)), np.arange(20) % 2
    >>> problem = state("filter", X, y, resolve_link("logistic", 1), xi=1.0, lam=5.0)
    >>> found = bcd.solve(problem, rank=2, nonnegative=True)
    >>> bool(found.factors.components.min() >= 0)
    True
    """
    arrays = problem.arrays()
    width = min(rank, *problem.shape)
    rng = np.random.default_rng(random_state)
    monitor = Monitor(_DEFAULT_ITERATIONS if max_iter is None else max_iter, callback)
    with one_blas_thread:
        if isinstance(start, Factors):
            factors = start
        elif start == "random":
            factors = random_factors(arrays, width, rng)
            factors = _map(namespace(factors.codes).abs, factors) if nonnegative else factors
        elif start in (None, "pca"):
            factors = _principal_factors(arrays, width, nonnegative, rng)
        else:
            raise ValueError(f"start={start!r}: Factors, 'pca' or 'random' are required")
        blocks = (_NonNegativeBlocks if nonnegative else _Blocks)(problem, arrays, factors)
        reason, converged = _descend(blocks, tol, monitor)
        return answer(
            problem,
            arrays,
            blocks.factors(),
            rank,
            blocks.a,
            monitor,
            objective=blocks.F,
            reason=reason,
            converged=converged,
            gradient_mapping=blocks.slope(),
        )


def _solve_within(problem: Problem, rank: int, *, constraint: ConvexSet, **options: Any) -> Solution:
    return solve(problem, rank, nonnegative=isinstance(constraint, NonNegative), **options)


SOLVER = Solver("bcd", _solve_within, constraints=(NonNegative,))


def _descend(blocks: _Blocks, tol: float, monitor: Monitor) -> tuple[str, bool]:
    calm = 0
    for _ in range(monitor.max_iter):
        before = blocks.F
        blocks.sweep()
        monitor.record(blocks.F, 1.0, "bcd")
        calm = calm + 1 if tol > 0 and before - blocks.F <= tol * blocks.supervised else 0
        if calm == 3:
            return ("three iterations in a row lowered the objective by less than the tolerance", True)
        if monitor.stopped:
            break
    return monitor.stop_reason or f"reached the limit of {monitor.max_iter} iterations", False


class _Blocks:
    """The current factors and F, without sign constraints.

    Z = X̃L (other, r) is the image of L, a and E = ω∘∇ℓ (n, κ) the activations and residuals.
    """

    def __init__(self, problem: Problem, arrays: LiftedArrays, factors: Factors) -> None:
        self.problem, self.arrays = problem, arrays
        self.L, self.beta, self.P = arrays.split(factors)
        self.gamma = factors.gamma
        self.xp = namespace(self.L)
        self.tiny = float(self.xp.finfo(self.L.dtype).smallest_normal)
        self.refresh()

    def refresh(self) -> None:
        """Compute everything that depends on the factors."""
        self.Z = self.arrays.image(self.L)
        phi = self.arrays.features(self.L, self.Z)
        self.a = phi @ self.beta + self.arrays.covariates @ self.gamma
        self.loss, self.E = self.arrays.loss_terms(self.a)
        self.F = self.supervised + self.reconstruction(self.L, self.Z)

    @property
    def supervised(self) -> float:
        """Loss and ridge, the part of F without reconstruction."""
        arrays = self.arrays
        ridge = arrays.lam * frobenius2(self.L @ self.beta)
        return self.loss + ridge + arrays.covariate_penalty(self.gamma)

    def reconstruction(self, L: Array, Z: Array) -> float:
        """Return ξ‖X̃ − L·Pᵀ‖² by products."""
        cross, square = inner(Z, self.P), inner(L.T @ L, self.P.T @ self.P)
        return self.arrays.xi * (self.problem.squared_norm - 2 * cross + square)

    def sweep(self) -> None:
        """Update all blocks once. An update that increases F by rounding is discarded."""
        held = (self.L, self.P, self.beta, self.gamma, self.Z, self.a, self.E, self.loss, self.F)
        self.update_P()
        self.update_coefficients()
        self.update_L()
        self.refresh()
        if not held[-1] >= self.F:
            self.L, self.P, self.beta, self.gamma, *rest = held
            self.Z, self.a, self.E, self.loss, self.F = rest

    # --- the blocks -----------------------------------------------------------------------------

    def update_P(self) -> None:
        """Orthonormalize L without changing B̃ and Ã, then set P = X̃L."""
        Q, R = self.xp.linalg.qr(self.L)
        self.L, self.beta = Q, R @ self.beta
        self.Z = self.P = self.arrays.image(Q)

    def update_coefficients(self) -> None:
        """Ridge regression on the features of L, rotated so that λ‖Lβ‖² is a plain ridge."""
        arrays, xp = self.arrays, self.xp
        T, back = self._whitening()
        r = T.shape[1]
        J = xp.concat([arrays.features(self.L, self.Z) @ T, arrays.covariates], axis=1)
        ridge = xp.concat([zeros_like_of(T, r) + arrays.lam, arrays.covariate_ridge])
        start = xp.concat([back @ self.beta, self.gamma])
        rows = self.problem.samples.keep(Block.given, J)
        loss = LossOn(self.problem, Design(rows.place, ready=True), int(J.shape[1]))
        coef, *_ = fit_ridge(loss, wide(to_numpy(ridge)), wide(to_numpy(start)))
        coef = cast(moved(coef, J), J)
        self.beta, self.gamma = T @ coef[:r, :], coef[r:, :]
        self.a = J @ coef

    def _whitening(self) -> tuple[Array, Array]:
        """Return T (r, k) with (LT)ᵀLT = I, and its inverse (k, r) on the range of LᵀL."""
        values, V = eigh_descending(self.L.T @ self.L)
        large = values > 1e2 * eps(values) * float(values[0])
        kept = int(self.xp.sum(self.xp.astype(large, self.xp.int64)))
        values, V = values[:kept], V[:, :kept]
        root = self.xp.sqrt(values)
        return V / root[None, :], (V * root[None, :]).T

    def update_L(self) -> None:
        """Two Newton steps on F as a function of L, which is convex if the loss is."""
        arrays, xp = self.arrays, self.xp
        target, K, outer = arrays.back(self.P), self.P.T @ self.P, self.beta @ self.beta.T
        fixed = arrays.covariates @ self.gamma

        def value_at(L: Array, Z: Array) -> tuple[float, Array, Array]:
            a = arrays.features(L, Z) @ self.beta + fixed
            f, E = arrays.loss_terms(a)
            return f + arrays.lam * inner(L.T @ L, outer) + self.reconstruction(L, Z), a, E

        f, a, E = value_at(self.L, self.Z)
        for _ in range(2):
            # Coordinates in which the curvature without the loss is the identity.
            quadratic = 2 * arrays.xi * K + 2 * arrays.lam * outer
            jitter = 1e2 * eps(K) * float(xp.max(xp.linalg.diagonal(quadratic))) + self.tiny
            root = xp.linalg.cholesky(quadratic + jitter * eye_like(K, K.shape[0]))
            T = xp.linalg.inv(root)
            gradient = 2 * arrays.xi * (self.L @ K - target) + (
                arrays.pull(E) @ self.beta.T + 2 * arrays.lam * (self.L @ outer)
            )
            slope = gradient @ T.T
            bend = self.beta.T @ T.T  # V = Y·T changes the activations by Φ(Y·bendᵀ)

            def curvature(y: Array, a: Array = a, bend: Array = bend) -> Array:
                Y = xp.reshape(y, self.L.shape)
                v = Y @ bend.T
                v = arrays.features(v, arrays.image(v))
                h = arrays.loss.hessian_action(a, arrays.targets, v) * arrays.loss_weight
                return y + xp.reshape(arrays.pull(h) @ bend, (-1,))

            found = conjugate_gradients(
                curvature, xp.reshape(slope, (-1,)), lambda y: y, tol=1e-4, max_iter=50
            )
            Y = xp.reshape(found.x, self.L.shape)
            step, decrease = Y @ T, inner(slope, Y)
            if not decrease > 4 * eps(K) * abs(f):
                return
            Z_step, t = arrays.image(step), 1.0
            while t > 1e-10:
                L, Z = self.L - t * step, self.Z - t * Z_step
                new, a_new, E_new = value_at(L, Z)
                if new <= f - 1e-4 * t * decrease:
                    break
                t /= 2 if t > 0.1 else 8
            else:
                return
            self.L, self.Z, f, a, E = L, Z, new, a_new, E_new

    # --- the result -------------------------------------------------------------------------------

    def _slopes(self) -> tuple[Array, Array, Array, Array]:
        """Return ∇F with respect to L, P, β and γ, in the units of the problem."""
        arrays, A = self.arrays, self.L @ self.beta
        by_A = arrays.pull(self.E) + 2 * arrays.lam * A
        by_L = by_A @ self.beta.T
        by_L = by_L + 2 * arrays.xi * (self.L @ (self.P.T @ self.P) - arrays.back(self.P))
        by_P = 2 * arrays.xi * (self.P @ (self.L.T @ self.L) - self.Z)
        by_gamma = arrays.covariates.T @ self.E
        by_gamma = by_gamma + 2 * arrays.covariate_ridge[:, None] * self.gamma
        return by_L, by_P, self.L.T @ by_A, by_gamma

    def slope(self) -> float:
        """Return the norm of the gradient with respect to all factors."""
        return math.sqrt(sum(frobenius2(part) for part in self._slopes()))

    def factors(self) -> Factors:
        """Return the singular vectors of the lifted matrix."""
        return self.arrays.unlift(self.L, self.beta, self.P, self.gamma)


class _NonNegativeBlocks(_Blocks):
    """The current factors and F with L ≥ 0 and P ≥ 0."""

    def __init__(self, problem: Problem, arrays: LiftedArrays, factors: Factors) -> None:
        # A first estimate of the curvature of the loss in A, which the steps correct.
        self.bend = problem.steepest if 0 < problem.steepest < math.inf else 1.0
        super().__init__(problem, arrays, _map(_positive, factors))

    def update_P(self) -> None:
        """Set one column after another to its minimum: P_j = (P_j + (Z − P·LᵀL)_j/‖L_j‖²)₊."""
        norms = column_norms(self.L)
        safe = self.xp.where(norms > 0, norms, self.xp.ones_like(norms))
        self.L, self.Z = self.L / safe[None, :], self.Z / safe[None, :]
        self.P, self.beta = self.P * safe[None, :], self.beta * safe[:, None]
        G, columns = self.L.T @ self.L, _columns(self.P)
        for _ in range(_SWEEPS):
            for j in range(len(columns)):
                if float(G[j, j]) > 0:
                    rest = self.Z[:, j : j + 1] - self.xp.concat(columns, axis=1) @ G[:, j : j + 1]
                    columns[j] = _positive(columns[j] + rest / G[j, j])
        self.P = self.xp.concat(columns, axis=1)

    def update_L(self) -> None:
        """Take one projected step per column, with an upper bound of the curvature."""
        arrays, xp = self.arrays, self.xp
        target, K, outer = arrays.back(self.P), self.P.T @ self.P, self.beta @ self.beta.T
        quadratic = 2 * arrays.xi * K + 2 * arrays.lam * outer
        loss, E = arrays.loss_terms(self.a)
        columns = _columns(self.L)
        for j in [j for _ in range(_SWEEPS) for j in range(len(columns))]:
            beta, own = self.beta[j : j + 1, :], float(quadratic[j, j])
            linear = xp.concat(columns, axis=1) @ quadratic[:, j : j + 1]
            linear = linear - 2 * arrays.xi * target[:, j : j + 1]
            gradient = linear + arrays.pull(E @ beta.T)
            for _ in range(60):
                steepness = own + self.bend * float(outer[j, j])
                if not steepness > self.tiny:
                    break
                delta = _positive(columns[j] - gradient / steepness) - columns[j]
                if not float(xp.max(xp.abs(delta))) > 0:
                    break
                a = self.a + arrays.features(delta, arrays.image(delta)) @ beta
                new_loss, new_E = arrays.loss_terms(a)
                change = inner(linear, delta) + own / 2 * frobenius2(delta)
                if new_loss - loss + change <= 0:
                    columns[j] = _positive(columns[j] + delta)
                    self.a, loss, E = a, new_loss, new_E
                    self.bend *= 0.9
                    break
                self.bend *= 2
        self.L = xp.concat(columns, axis=1)

    def slope(self) -> float:
        """Return the norm of the projected gradient: at a zero entry only its inward part counts."""
        by_L, by_P, *rest = self._slopes()
        by_L = self.xp.where((self.L > 0) | (by_L < 0), by_L, self.xp.zeros_like(by_L))
        by_P = self.xp.where((self.P > 0) | (by_P < 0), by_P, self.xp.zeros_like(by_P))
        return math.sqrt(sum(frobenius2(part) for part in (by_L, by_P, *rest)))

    def factors(self) -> Factors:
        """Return the unrotated columns, those of W with norm one, since a rotation changes signs."""
        return self.arrays.unrotated(self.L, self.beta, self.P, self.gamma)


def _columns(x: Array) -> list[Array]:
    return [x[:, j : j + 1] for j in range(x.shape[1])]


def _positive(x: Array) -> Array:
    xp = namespace(x)
    return xp.where(x > 0, x, xp.zeros_like(x))


def _map(function: Callable[[Array], Array], factors: Factors) -> Factors:
    """Apply a function to the entries of W and H, but not to β and γ, which have no sign constraint."""
    W, H = function(factors.components), function(factors.codes)
    return Factors(W, H, factors.beta, factors.gamma)


def _principal_factors(
    arrays: LiftedArrays, rank: int, nonnegative: bool, rng: np.random.Generator
) -> Factors:
    """Return about the leading singular triplets of X, with signs their larger parts (NNDSVD); β = γ = 0."""
    xp = arrays.data.xp
    n, p = arrays.data.shape
    T = random_like(arrays.targets, rng, p, min(rank + 5, n, p))
    for _ in range(6):
        T = arrays.data.transpose_times(xp.linalg.qr(arrays.data.times(T))[0])
        T, _ = xp.linalg.qr(T)
    codes = arrays.data.times(T)
    V = eigh_descending(codes.T @ codes)[1][:, :rank]
    W, codes = T @ V, codes @ V * arrays.data.scale
    if arrays.root_weight is not None:
        codes = codes / arrays.root_weight
    if nonnegative:  # a small constant in place of zeros, so that no column becomes zero at once
        plus = column_norms(_positive(W)) * column_norms(_positive(codes))
        minus = column_norms(_positive(-W)) * column_norms(_positive(-codes))
        sign = xp.where(plus >= minus, xp.ones_like(plus), -xp.ones_like(plus))
        W, codes = (_positive(x * sign[None, :]) for x in (W, codes))
        W, codes = (xp.where(x > 0, x, 1e-2 * xp.mean(x) + 0 * x) for x in (W, codes))
    q, kappa = arrays.covariates.shape[1], arrays.n_outputs
    return Factors(W, codes, zeros_like_of(W, rank, kappa), zeros_like_of(W, q, kappa))
