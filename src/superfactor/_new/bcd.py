"""Block coordinate descent over the factors, also for supervised NMF.

On the search side the factors are L (N, r) and P (other, r) with Ã = Lβ and B̃ = LPᵀ. One iteration updates
each block once in

    F = Σ_i ω_i ℓ(y_i, (ΦLβ)_i + γᵀx'_i) + ξ‖X̃ − LPᵀ‖² + λ‖Lβ‖² + Σ_j ρ_j‖γ_j‖²,

====== ========================================== ==============================================
block  free                                       L, P ≥ 0
====== ========================================== ==============================================
P      least squares, exact                       one column after another, each exact
β, γ   ridge regression by Newton's method        the same (β and γ have no sign)
L      Newton's method by conjugate gradients     one column after another, one majorised step
====== ========================================== ==============================================

No update increases F. Unlike the default solver, this one finds at best a stationary point, without a proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from superfactor._arrays import Array, namespace, one_blas_thread
from superfactor._new.answer import Answer, Parts, answer_at, random_factors, split
from superfactor._new.conjugate import conjugate_gradients
from superfactor._new.models import MODELS, Filter
from superfactor._new.newton import fit_ridge
from superfactor._new.problem import Problem
from superfactor._new.subspace import leading_basis
from superfactor._new.tall import beside, dot, here, norms, orthonormal, pull, there
from superfactor.models import Factors
from superfactor.solution import Monitor

MOST_STEPS = 500
# Passes over the columns of P and of L in one iteration with signs.
_SWEEPS = 3


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
) -> Answer:
    """Minimise F over the factors W, H, β, γ, one block after another.

    Parameters
    ----------
    problem : Problem
    rank : int
    nonnegative : bool
        Whether W ≥ 0 and H ≥ 0 are required: supervised non-negative matrix factorization.
    max_iter : int, optional
        500 if None.
    tol : float
        Stop when three iterations in a row lower F by at most this, relative to the loss and ridge in it;
        0 runs exactly `max_iter` iterations.
    random_state : int, Generator or None
    start : Factors or {"pca", "random"}, optional
        Factors in the user's units, "random" or "pca" (also for None). With signs, negative entries of W and
        H are set to 0, and "pca" takes the larger signed parts of singular vectors (NNDSVD).
    callback : callable, optional
        (iteration, objective) -> True to stop.
    """
    width, rng = min(rank, *problem.shape), np.random.default_rng(random_state)
    monitor = Monitor(MOST_STEPS if max_iter is None else max_iter, callback)
    if not (start is None or isinstance(start, Factors) or start in ("pca", "random")):
        raise ValueError(f"start={start!r}: Factors, 'pca' or 'random' are required")
    with one_blas_thread:
        if start == "random":
            start = random_factors(problem, width, rng)
            if nonnegative:
                start = replace(start, components=np.abs(start.components), codes=np.abs(start.codes))
        first = (
            split(problem, start)
            if isinstance(start, Factors)
            else _principal(problem, width, nonnegative, rng)
        )
        blocks = (SignedBlocks if nonnegative else Blocks)(problem, first)
        reason, converged = _descend(blocks, tol, monitor)
        return answer_at(
            problem,
            rank,
            blocks.users_parts(),
            blocks.F,
            monitor,
            factors=blocks.factors(),
            reason=reason,
            converged=converged,
            gradient_mapping=blocks.slope(),
        )


def _descend(blocks: Blocks, tol: float, monitor: Monitor) -> tuple[str, bool]:
    calm = 0
    for _ in range(monitor.max_iter):
        before = blocks.F
        blocks.sweep()
        monitor.record(blocks.F, 1.0, "bcd")
        calm = calm + 1 if tol > 0 and before - blocks.F <= tol * blocks.supervised else 0
        if calm == 3:
            return "three iterations in a row lowered the objective by less than the tolerance", True
        if monitor.stopped:
            break
    return monitor.stop_reason or f"reached the limit of {monitor.max_iter} iterations", False


class Blocks:
    """The factors in the units of X̃ and Ã, the image Z of L, activations a with their gradient E, and F."""

    def __init__(self, problem: Problem, parts: Parts) -> None:
        self.problem, self.rows, self.xi, self.lam = problem, problem.rows, problem.xi, problem.lam
        self.model: Any = MODELS[problem.model](problem.rows)
        self.L, beta, P, self.gamma = parts
        self.beta, self.P = beta * problem.unit, P / problem.rows.scale
        self.refresh()

    def refresh(self) -> None:
        """Compute everything that depends on the factors."""
        self.Z = self.model.image(self.L)
        self.a = dot(self.model.design(self.L, self.Z), self.beta) + dot(self.rows.Z, self.gamma)
        loss, self.E = self.rows.evaluate(self.a)
        self.loss = float(loss)
        self.F = self.supervised + self.reconstruction(self.L, self.Z)

    @property
    def supervised(self) -> float:
        """Loss and ridge, the part of F without reconstruction."""
        ridge = self.lam * float(np.vdot(pull(self.L, self.L), self.beta @ self.beta.T))
        return self.loss + ridge + float(self.rows.rho @ (self.gamma**2).sum(1))

    def reconstruction(self, L: Array, Z: Array) -> float:
        """Return ξ‖X̃ − LPᵀ‖²."""
        cross, square = np.trace(pull(Z, self.P)), np.vdot(pull(L, L), pull(self.P, self.P))
        return self.xi * (self.rows.total - 2 * float(cross) + float(square))

    def sweep(self) -> None:
        """Update all blocks once. An update that increases F by rounding is discarded."""
        held = dict(vars(self))
        self.update_P()
        self.update_coefficients()
        self.update_L()
        self.refresh()
        if not held["F"] >= self.F:
            vars(self).update(held)

    def update_P(self) -> None:
        """Orthonormalise L without changing Ã, then set P = X̃L."""
        Q = orthonormal(self.L)
        self.L, self.beta = Q, pull(Q, self.L) @ self.beta
        self.Z = self.P = self.model.image(Q)

    def update_coefficients(self) -> None:
        """Ridge regression on the features of L, turned so that λ‖Lβ‖² is a plain ridge."""
        values, V = np.linalg.eigh(pull(self.L, self.L))
        kept = values > 1e2 * self.rows.eps * values.max(initial=0.0)
        root, V = np.sqrt(values[kept]), V[:, kept]
        J = beside(dot(self.model.design(self.L, self.Z), V / root), self.rows.Z)
        ridge = np.concatenate([np.full(len(root), self.lam), self.rows.rho])
        start = np.vstack([(V * root).T @ self.beta, self.gamma])

        def value(w: Any) -> float:
            return float(self.rows.evaluate(dot(J, w))[0]) + float(ridge @ (w**2).sum(1))

        # From saturated activations Newton's method is slow, and the problem is convex.
        w = fit_ridge(self.rows, J, ridge, min(start, 0 * start, key=value), tol=1e-12)
        self.beta, self.gamma, self.a = V / root @ w[: len(root)], w[len(root) :], dot(J, w)

    def quadratic(self) -> tuple[Array, Any]:
        """Return T (N, r) and M (r, r): without the loss, F has the gradient LM − 2ξT in L."""
        curve = 2 * self.xi * pull(self.P, self.P) + 2 * self.lam * self.beta @ self.beta.T
        return self.model.back(self.P), curve

    def update_L(self) -> None:
        """Two Newton steps on F as a function of L, which is convex if the loss is."""
        model, rows, xp = self.model, self.rows, namespace(self.L)
        target, curve = self.quadratic()
        fixed = dot(rows.Z, self.gamma)
        outer = self.beta @ self.beta.T

        def at(L: Array, Z: Array) -> tuple[float, Array, Array]:
            a = dot(model.design(L, Z), self.beta) + fixed
            f, E = rows.evaluate(a)
            ridge = self.lam * float(np.vdot(pull(L, L), outer))
            return float(f) + ridge + self.reconstruction(L, Z), a, E

        f, a, E = at(self.L, self.Z)
        # Coordinates in which the curvature without the loss is the identity.
        floor = 1e2 * rows.eps * np.diag(curve).max(initial=0.0) + 1e-300
        T = np.linalg.inv(np.linalg.cholesky(curve + floor * np.eye(len(curve))))
        bend = T @ self.beta  # V = Y·T changes the activations by Φ(Y·bend)
        for _ in range(2):
            gradient = dot(self.L, curve) - 2 * self.xi * target + dot(model.gradient(E), self.beta.T)
            slope, H = dot(gradient, T.T), rows.curvature(a)

            def times(y: Array, H: Any = H) -> Array:
                V = dot(xp.reshape(y, self.L.shape), bend)
                h = H.times(model.design(V, model.image(V)))
                return y + xp.reshape(dot(model.gradient(h), bend.T), (-1,))

            y, _ = conjugate_gradients(times, xp.reshape(slope, (-1,)), lambda y: y, 1e-4, 50)
            Y = xp.reshape(y, self.L.shape)
            step, decrease = dot(Y, T), float(np.trace(pull(slope, Y)))
            if not decrease > 4 * rows.eps * abs(f):
                return
            Z_step, t = model.image(step), 1.0
            while t > 1e-10:
                L, Z = self.L - t * step, self.Z - t * Z_step
                new = at(L, Z)
                if new[0] <= f - 1e-4 * t * decrease:
                    break
                t /= 2 if t > 0.1 else 8
            else:
                return
            self.L, self.Z, (f, a, E) = L, Z, new

    def slopes(self) -> tuple[Array, Array, Any, Any]:
        """Return ∇F with respect to L, P, β and γ."""
        target, curve = self.quadratic()
        of_L = dot(self.model.gradient(self.E), self.beta.T) + dot(self.L, curve) - 2 * self.xi * target
        LL = pull(self.L, self.L)
        of_P = 2 * self.xi * (dot(self.P, LL) - self.Z)
        of_beta = pull(self.model.design(self.L, self.Z), self.E) + 2 * self.lam * LL @ self.beta
        return of_L, of_P, of_beta, pull(self.rows.Z, self.E) + 2 * self.rows.rho[:, None] * self.gamma

    def slope(self) -> float:
        """Return the norm of the gradient with respect to all factors."""
        return math.sqrt(sum(float((norms(part) ** 2).sum()) for part in self.slopes()))

    def users_parts(self) -> Parts:
        return self.L, self.beta / self.problem.unit, self.P * self.rows.scale, self.gamma

    def factors(self) -> Factors | None:
        """Return factors to show in place of the singular vectors of θ."""
        return None


class SignedBlocks(Blocks):
    """The factors with L ≥ 0 and P ≥ 0."""

    def __init__(self, problem: Problem, parts: Parts) -> None:
        # A first estimate of the curvature of the loss, which the steps correct.
        steepest = problem.rows.loss.curvature_bounds(problem.rows.outputs)[1]
        self.bend = steepest if 0 < steepest < math.inf else 1.0
        L, beta, P, gamma = parts
        super().__init__(problem, (_positive(L), beta, _positive(P), gamma))

    def update_P(self) -> None:
        """Set one column after another to its minimum: P_j = (P_j + (Z − P·LᵀL)_j/‖L_j‖²)₊."""
        size = norms(self.L)
        size = np.where(size > 0, size, 1.0)
        self.L, self.Z = dot(self.L, np.diag(1 / size)), dot(self.Z, np.diag(1 / size))
        self.P, self.beta = dot(self.P, np.diag(size)), self.beta * size[:, None]
        G, columns, xp = pull(self.L, self.L), _columns(self.P), namespace(self.P)
        for j in [*range(len(columns))] * _SWEEPS:
            if G[j, j] > 0:
                rest = self.Z[:, j : j + 1] - dot(xp.concat(columns, axis=1), G[:, j : j + 1])
                columns[j] = _positive(columns[j] + rest / float(G[j, j]))
        self.P = xp.concat(columns, axis=1)

    def update_L(self) -> None:
        """Take one projected step per column, with an upper bound of the curvature."""
        model, rows, xp = self.model, self.rows, namespace(self.L)
        target, curve = self.quadratic()
        columns, outer = _columns(self.L), (self.beta**2).sum(1)
        loss, E = rows.evaluate(self.a)
        for j in [*range(len(columns))] * _SWEEPS:
            linear = dot(xp.concat(columns, axis=1), curve[:, j : j + 1]) - 2 * self.xi * target[:, j : j + 1]
            gradient = linear + model.gradient(dot(E, self.beta[j : j + 1].T))
            for _ in range(60):
                steepness = float(curve[j, j] + self.bend * outer[j])
                delta = _positive(columns[j] - gradient / max(steepness, 1e-300)) - columns[j]
                if not steepness > 0 or not float(xp.max(xp.abs(delta))) > 0:
                    break
                a = self.a + dot(model.design(delta, model.image(delta)), self.beta[j : j + 1])
                new, new_E = rows.evaluate(a)
                change = float(pull(linear, delta)[0, 0] + curve[j, j] / 2 * pull(delta, delta)[0, 0])
                if float(new) - float(loss) + change <= 0:
                    columns[j] = _positive(columns[j] + delta)
                    self.a, loss, E = a, new, new_E
                    self.bend *= 0.9
                    break
                self.bend *= 2
        self.L = xp.concat(columns, axis=1)

    def slopes(self) -> tuple[Array, Array, Any, Any]:
        """Return the projected gradient: at a zero entry only its inward part counts."""
        of_L, of_P, *rest = super().slopes()
        inward = [
            namespace(x).where((x > 0) | (g < 0), g, 0 * g) for x, g in ((self.L, of_L), (self.P, of_P))
        ]
        return (*inward, *rest)

    def factors(self) -> Factors:
        """Return the columns as they are, those of W with norm one, since a rotation changes signs."""
        L, beta, P, gamma = self.users_parts()
        W, codes = (L, P) if isinstance(self.model, Filter) else (P, L)
        size = norms(W)
        size = np.where(size > 0, size, 1.0)
        codes = self.rows.unrooted(dot(codes, np.diag(size)))
        beta = beta * size[:, None] if isinstance(self.model, Filter) else beta / size[:, None]
        return Factors(there(W / size, codes), codes, there(beta, codes), there(gamma, codes))


def _columns(x: Array) -> list[Array]:
    return [x[:, j : j + 1] for j in range(x.shape[1])]


def _positive(x: Array) -> Array:
    return namespace(x).where(x > 0, x, 0 * x)


def _principal(problem: Problem, rank: int, nonnegative: bool, rng: np.random.Generator) -> Parts:
    """Return about the leading singular triplets of X, with signs their larger parts (NNDSVD); β = γ = 0."""
    rows = problem.rows
    basis = leading_basis(Filter(rows), rank, rng)
    W = here(basis.vectors(np.eye(basis.size, min(rank, basis.size))))
    codes = rows.times(W) * rows.scale
    if nonnegative:  # a small constant in place of zeros, so that no column becomes zero at once
        xp = namespace(codes)
        plus, minus = (norms(_positive(s * W)) * norms(_positive(s * codes)) for s in (1, -1))
        sign = np.diag(np.where(plus >= minus, 1.0, -1.0))
        W, codes = _positive(W @ sign), _positive(dot(codes, sign))
        W, codes = (
            np.where(W > 0, W, 1e-2 * W.mean()),
            xp.where(codes > 0, codes, 1e-2 * xp.mean(codes) + 0 * codes),
        )
    beta, gamma = np.zeros((W.shape[1], rows.outputs)), np.zeros((len(rows.rho), rows.outputs))
    return (W, beta, codes, gamma) if problem.model == "filter" else (codes, beta, W, gamma)
