"""LPGD, low-rank projected gradient descent: Algorithm 1 of the paper as printed, in the user's units.

    θ ← Π_r(Π_Θ(θ − τ∇_θF)),      γ ← Π_Θ(γ − τ∇_γF)

θ = [A, B] is N × (κ + other) with the search side in rows. Before Π_r a step is c·[0, X̃] + [N, (1 − c)B], c
= 2ξτ: a multiple of X̃ = diag(√w)X and a matrix of low rank. So θ is kept in thin factors
(`superfactor._new.thin`), unless Θ needs its entries (`Dense`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import Array, namespace, one_blas_thread
from superfactor._new.answer import Answer, answer_at, random_factors, split
from superfactor._new.constants import theorem_constants
from superfactor._new.problem import Problem
from superfactor._new.rows import Rows
from superfactor._new.tall import here, there
from superfactor._new.thin import Coordinates, compressible
from superfactor.constraints import ConvexSet, Product, norm, resolve_constraint
from superfactor.models import Factors
from superfactor.solution import History, Monitor

MOST_STEPS = 1000
# A run whose objective has grown by this factor has diverged.
_DIVERGED = 1e30


def solve(
    problem: Problem,
    rank: int,
    *,
    step_size: float | Literal["auto"] = "auto",
    max_iter: int | None = None,
    tol: float = 1e-8,
    constraint: ConvexSet | None = None,
    start: Factors | Literal["pca", "random"] | None = None,
    random_state: int | np.random.Generator | None = 0,
    callback: Callable[[int, float], bool] | None = None,
    compress: bool | None = None,
) -> Answer:
    """Minimise F over all points of low rank, by the paper's Algorithm 1.

    The iterates are those of the paper for F in the user's units. With sample weights w, the samples of B
    (and of A in the feature model) are in units of √w, so a weight of 2 is equivalent to the sample twice.

    Parameters
    ----------
    problem : Problem
    rank : int
    step_size : float or {"auto"}
        τ. "auto" is 1/L, with which no step increases F if there is no constraint. For a loss whose curvature
        has no bound it begins with the curvature at activations 0, and is halved wherever F would increase. A
        larger step inside the theorem's window may increase F, if the model is not of rank r (docs/errata.md
        §9).
    max_iter : int, optional
        1000 if None; with `tol` = 0 exactly that many.
    tol : float
        Stop when two steps in a row move (θ, γ) by at most this, relative to its norm.
    constraint : ConvexSet, optional
        A convex set Θ on (A, B, γ): A is (p, κ) in the filter model and (n, κ) in the feature model, B (n,
        p), γ (q, κ). With sample weights, sets that are not rotation invariant are projected on without the
        weights.
    start : Factors or {"pca", "random"}, optional
        Factors in the user's units (any number of columns), "random" (of the size of X), or "pca" (also for
        None): B = Π_r(X), A = 0, γ = 0.
    random_state : int, Generator or None
    callback : callable, optional
        (iteration, objective) -> True to stop.
    compress : bool, optional
        Whether to keep θ in thin factors; None: if Θ allows it (no constraint, or Frobenius balls on A and
        B). The iterates are the same.

    Returns
    -------
    answer : Answer
        Π_r is the last operation, so the point may lie outside Θ; `violation` and `reason` say how far.
    """
    set_ = resolve_constraint(constraint)
    if compress is None:
        compress = compressible(set_)
    elif compress and not compressible(set_):
        raise ValueError(f"constraint={constraint!r} does not allow compress=True")
    tau, adapts = default_step(problem) if step_size == "auto" else (float(step_size), False)
    if not 0 < tau < math.inf:
        raise ValueError(f"step_size={step_size!r}: a positive number or 'auto' is required")
    if start is not None and not isinstance(start, Factors) and start not in ("pca", "random"):
        raise ValueError(f"start={start!r}: Factors, 'pca' or 'random' are required")
    n, p = problem.shape
    width = (
        min(rank, n, p + problem.rows.outputs)
        if problem.model == "feature"
        else min(rank, p, n + problem.rows.outputs)
    )
    monitor = Monitor(MOST_STEPS if max_iter is None else max_iter, callback)
    with one_blas_thread:
        if start == "random":
            start = random_factors(problem, width, np.random.default_rng(random_state))
        lifted = (Coordinates if compress else Dense)(
            problem.rows.rescaled(1.0), problem.model, *problem.users_weights, set_
        )
        first = lifted.begin(
            None if isinstance(start, str) or start is None else split(problem, start), width
        )
        state, reason, converged, mapping = iterate(first, tau, tol, monitor, adapts)
        violation = state.violation
        if violation > 0:
            reason += f"; the rank projection leaves the constraint by at most {violation:.2g}"
        point = (*state.factored(), here(state.gamma))
        return answer_at(
            problem, rank, point, float(state.value), monitor,
            reason=reason, converged=converged, gradient_mapping=mapping, violation=violation,
        )  # fmt: skip


def default_step(problem: Problem) -> tuple[float, bool]:
    """Return τ = 1/L, and whether it must adapt, since L holds near activations 0 only."""
    L = theorem_constants(problem).L
    adapts = math.isinf(L)
    if adapts:
        rows = problem.rows
        H = rows.loss.curvature(0 * rows.Y, rows.Y)
        steepest = float(here(namespace(rows.Y).max(H.by_row(there(np.eye(rows.outputs), rows.Y)))))
        L = theorem_constants(problem, steepest=max(steepest, 1e-300)).L
    if not 0 < L < math.inf:
        raise ValueError("step_size='auto': this loss has no curvature at 0; give a number instead")
    return 1 / L, adapts


def iterate(
    state: Any, tau: float, tol: float, monitor: Monitor, adapts: bool = False
) -> tuple[Any, str, bool, float]:
    """Take steps of size τ until two in a row move Z = (θ, γ) by at most `tol`·‖Z‖.

    Return the last point (the last finite one of a run that diverges), why the iteration ended, whether the
    tolerance was reached, and ‖Z_t − Z_{t+1}‖/τ of the last step. With `tol` = 0 only the monitor ends it.
    With `adapts`, τ is halved wherever F would increase.
    """
    calm, mapping, limit = 0, math.nan, _DIVERGED * (1 + abs(state.value))
    for _ in range(monitor.max_iter):
        new, moved = state.advance(tau)
        while (
            adapts and not new.value <= state.value + 1e-12 * abs(state.value) and moved > 1e-12 * state.size
        ):
            tau /= 2
            new, moved = state.advance(tau)
        if not abs(new.value) <= limit:
            return state, f"diverged: the step size {tau:.3g} is too large for the curvature", False, mapping
        state, mapping = new, moved / tau
        monitor.record(float(state.value), tau, "lpgd")
        calm = calm + 1 if tol > 0 and moved <= tol * state.size else 0
        if calm == 2:
            return state, "the gradient mapping is below the tolerance", True, mapping
        if monitor.stopped:
            break
    return state, monitor.stop_reason or f"reached the limit of {monitor.max_iter} iterations", False, mapping


# --- θ as a dense array ------------------------------------------------------------------------------------

#: (θ, γ) -> f, ∇_θf, ∇_γf; γ and its gradient may be None.
Objective: TypeAlias = Callable[[Array, Array | None], tuple[float, Array, Array | None]]
#: (θ, γ) -> the nearest point of Θ.
Projection: TypeAlias = Callable[[Array, Array | None], tuple[Array, Array | None]]


def truncated_svd(theta: Array, rank: int) -> tuple[Array, Array, Array]:
    """Return U (a, r), σ (r,), Vᵀ (r, b) of the best rank-r approximation of θ (a, b)."""
    U, s, Vt = namespace(theta).linalg.svd(theta, full_matrices=False)
    return U[:, :rank], s[:rank], Vt[:rank, :]


def project_rank(theta: Array, rank: int) -> Array:
    """Return Π_r(θ), the nearest matrix of rank at most r."""
    U, s, Vt = truncated_svd(theta, rank)
    return (U * s[None, :]) @ Vt


@dataclass(frozen=True)
class Full:
    """θ (a, b) of rank at most r and γ (any shape, or None), with f and its gradients."""

    theta: Array
    gamma: Array | None
    rank: int
    objective: Objective
    project: Projection | None
    outputs: int = 0  # columns of θ that are A

    @cached_property
    def evaluated(self) -> tuple[float, Array, Array | None]:
        return self.objective(self.theta, self.gamma)

    @property
    def value(self) -> float:
        return float(self.evaluated[0])

    @property
    def size(self) -> float:
        return norm(_parts(self.theta, self.gamma))

    def advance(self, tau: float) -> tuple[Full, float]:
        _, slope, slope_gamma = self.evaluated
        theta, gamma = self.theta - tau * slope, self.gamma
        if gamma is not None and slope_gamma is not None:
            gamma = gamma - tau * slope_gamma
        if self.project is not None:
            theta, gamma = self.project(theta, gamma)
        new = replace(self, theta=project_rank(theta, self.rank), gamma=gamma)
        return new, norm(self._away(new.theta, gamma))

    @property
    def violation(self) -> float:
        """The largest entry of Z − Π_Θ(Z)."""
        if self.project is None:
            return 0.0
        away = self._away(*self.project(self.theta, self.gamma))
        return max(float(namespace(x).max(namespace(x).abs(x))) if math.prod(x.shape) else 0.0 for x in away)

    def factored(self) -> tuple[Array, Any, Array]:
        """Return L (N, r), β (r, κ), P (other, r) with A = Lβ and B = LPᵀ."""
        U, s, Vt = truncated_svd(self.theta, self.rank)
        right = s[:, None] * Vt
        return U, here(right[:, : self.outputs]), right[:, self.outputs :].T

    def _away(self, theta: Array, gamma: Array | None) -> tuple[Array, ...]:
        return _parts(theta - self.theta, None if gamma is None else gamma - self.gamma)


def _parts(theta: Array, gamma: Array | None) -> tuple[Array, ...]:
    return (theta,) if gamma is None else (theta, gamma)


class Dense:
    """F as a function of θ = [A, B] and γ, and Π_Θ for a set on (A, B, γ), all in the library of X."""

    def __init__(self, rows: Rows, model: str, xi: float, lam: float, constraint: ConvexSet) -> None:
        self.rows, self.model, self.xi, self.lam, self.constraint = rows, model, xi, lam, constraint
        X = rows.blocks.take(slice(None) if rows.in_memory else np.arange(rows.shape[0]))
        X = rows.rooted(X.toarray() if sp.issparse(X) else X) / rows.scale
        self.X = X.T if model == "filter" else X

    def objective(self, theta: Array, gamma: Array) -> tuple[float, Array, Array]:
        rows, filters, xp = self.rows, self.model == "filter", namespace(theta)
        A, off = theta[:, : rows.outputs], theta[:, rows.outputs :] - self.X
        loss, E = rows.evaluate(rows.unrooted(self.X.T @ A if filters else A) + rows.Z @ gamma)
        E1, rho = rows.unrooted(E), there(rows.rho, gamma)[:, None]
        value = float(loss) + self.xi * float(xp.sum(off**2)) + self.lam * float(xp.sum(A**2))
        slope = xp.concat([(self.X @ E1 if filters else E1) + 2 * self.lam * A, 2 * self.xi * off], axis=1)
        return value + float(xp.sum(rho * gamma**2)), slope, rows.Z.T @ E + 2 * rho * gamma

    def project(self, theta: Array, gamma: Array) -> tuple[Array, Array]:
        """Return Π_Θ; sets that depend on the entries see samples without √w."""
        rows, filters, set_ = self.rows, self.model == "filter", self.constraint
        A, B = theta[:, : rows.outputs], theta[:, rows.outputs :]
        point = (A, B.T if filters else B, gamma)
        of_samples = not filters, True, False
        sets = set_.factors if isinstance(set_, Product) else (set_,) * 3
        plain = [by and not one.rotation_invariant for by, one in zip(of_samples, sets, strict=True)]
        point = tuple(rows.unrooted(x) if by else x for by, x in zip(plain, point, strict=True))
        point = tuple(rows.rooted(x) if by else x for by, x in zip(plain, set_.project(point), strict=True))
        return namespace(theta).concat([point[0], point[1].T if filters else point[1]], axis=1), point[2]

    def begin(self, factors: tuple[Array, Any, Array, Any] | None, rank: int) -> Full:
        """Return the point of factors L, β, P, γ; by default that of PCA."""
        rows, xp, like = self.rows, namespace(self.X), self.X
        if factors is None:
            A, gamma = np.zeros((self.X.shape[0], rows.outputs)), np.zeros((len(rows.rho), rows.outputs))
            B = project_rank(self.X, rank)
        else:
            L, beta, P, gamma = factors
            A, B = L @ there(beta, L), there(L, like) @ there(P, like).T
        theta = xp.concat([there(A, like), B], axis=1)
        return Full(theta, there(gamma, like), rank, self.objective, self.project, rows.outputs)


@dataclass(frozen=True)
class LowRankSolution:
    """The result of `minimize`.

    Attributes
    ----------
    theta : array (a, b)
        θ of rank at most r.
    gamma : array or None
        γ in the shape of the start.
    objective : float
        f(θ, γ).
    history : History
        Objective, seconds and step of every iteration.
    reason : str
        Why the iteration stopped, in words.
    converged : bool
        Whether the tolerance was reached.
    gradient_mapping : float
        ‖Z_t − Z_{t+1}‖/τ of the last step.
    violation : float
        The largest entry of Z − Π_Θ(Z); Π_r is the last operation of a step and may leave Θ.
    """

    theta: Array
    gamma: Array | None
    objective: float
    history: History
    reason: str
    converged: bool
    gradient_mapping: float
    violation: float

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.history)


def minimize(
    objective: Objective,
    rank: int,
    start: Array | tuple[Array, Array | None],
    *,
    step_size: float,
    max_iter: int = 1000,
    tol: float = 1e-8,
    project: Projection | None = None,
    callback: Callable[[int, float], bool] | None = None,
) -> LowRankSolution:
    """Minimise a smooth f(θ, γ) over rank θ ≤ `rank` and (θ, γ) ∈ Θ by Algorithm 1.

    Parameters
    ----------
    objective : callable
        (θ, γ) -> (f, ∇_θf, ∇_γf), with γ = ∇_γf = None if there is no γ.
    rank : int
        r ≥ 1.
    start : array (a, b), or a pair
        θ_0 of any rank, or the pair (θ_0, γ_0).
    step_size : float
        τ. If the curvature of f is at most L, 1/L never increases f. If L/μ < 3 and f has a stationary point
        of rank r, 2/(μ + L) gives the best rate.
    max_iter : int
    tol : float
        Stop when two steps in a row move (θ, γ) by at most this, relative to its norm; 0 runs exactly
        `max_iter` iterations.
    project : callable, optional
        (θ, γ) -> Π_Θ(θ, γ); None for no constraint.
    callback : callable, optional
        (iteration, objective) -> True to stop.

    Returns
    -------
    solution : LowRankSolution

    Examples
    --------
    Matrix completion: f = ‖mask·(θ − D)‖², L = 2.

    >>> import numpy as np
    >>> D = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0])
    >>> mask = np.ones((3, 3))
    >>> mask[0, 0] = 0
    >>> def squares(theta, gamma):
    ...     R = mask * (theta - D)
    ...     return np.sum(R**2), 2 * R, None
    >>> found = minimize(squares, 1, mask * D, step_size=0.5, max_iter=5000, tol=1e-12)
    >>> bool(abs(found.theta[0, 0] - 1.0) < 1e-6)
    True
    """
    theta, gamma = start if isinstance(start, tuple) else (start, None)
    _check(rank, step_size, theta, gamma)
    monitor = Monitor(max_iter, callback)
    end, reason, converged, mapping = iterate(
        Full(theta, gamma, rank, objective, project), step_size, tol, monitor
    )
    return LowRankSolution(
        end.theta, end.gamma, end.value, monitor.history, reason, converged, mapping, end.violation
    )


def _check(rank: int, step_size: float, theta: Array, gamma: Array | None) -> None:
    if not isinstance(rank, Integral) or isinstance(rank, bool) or rank < 1:
        raise ValueError(f"rank={rank!r}: an integer >= 1 is required")
    number = isinstance(step_size, Real) and not isinstance(step_size, bool)
    if not number or not 0 < step_size < math.inf:
        raise ValueError(f"step_size={step_size!r}: a finite number > 0 is required")
    if getattr(theta, "ndim", None) != 2:
        raise ValueError(
            "start: a matrix θ or a pair (θ, γ) is required, but θ is "
            f"{type(theta).__name__} of shape {tuple(getattr(theta, 'shape', ()))}"
        )
    for name, part in (("θ", theta), ("γ", gamma)):
        if part is not None and not bool(namespace(part).all(namespace(part).isfinite(part))):
            raise ValueError(f"start: {name} contains NaN or infinity; finite numbers are required")
