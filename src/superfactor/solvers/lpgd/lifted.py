"""Algorithm 1 for the filter and the feature model."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from superfactor._arrays import (
    Array,
    eye_like,
    frobenius2,
    namespace,
    one_blas_thread,
    random_like,
    zeros_like_of,
)
from superfactor.constraints import ConvexSet, Product, resolve_constraint
from superfactor.models import Factors, LiftedArrays
from superfactor.options import Options
from superfactor.problem import Problem
from superfactor.solution import Monitor, Solution
from superfactor.solvers.factored import answer, random_factors
from superfactor.solvers.lpgd.compressed import CompressedState, Coordinates, compressible
from superfactor.solvers.lpgd.dense import DenseState, Ended, iterate
from superfactor.spectrum import truncated_svd
from superfactor.theory.constants import theorem_constants

_DEFAULT_ITERATIONS = 1000


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
) -> Solution:
    """Minimise F over all points of low rank, by the paper's Algorithm 1.

    The steps are θ ← Π_r(Π_Θ(θ − τ∇_θF)), γ ← Π_Θ(γ − τ∇_γF). The iterates are those of the paper for F in
    the user's units. With sample weights w, the samples of B (and of A in the feature model) are in units of
    √w, so a weight of 2 is equivalent to the sample twice.

    Parameters
    ----------
    problem : Problem
        The problem to minimise.
    rank : int
        Number of factors.
    step_size : float or {"auto"}
        τ. "auto" is 1/L, with which no step increases F if there is no constraint. A larger step inside the
        theorem's window may increase F, if the model is not of rank r (docs/errata.md §9).
    max_iter : int, optional
        1000 if None; with `tol` = 0 exactly that many.
    tol : float
        Stop when two steps in a row move (θ, γ) by at most this, relative to its norm.
    constraint : ConvexSet, optional
        A convex set Θ on (A, B, γ). It sees A as (p, κ) in the filter model and (n, κ) in the feature
        model, B as (n, p), γ as (q, κ); see `ExplicitProblem` for sample weights.
    start : Factors or {"pca", "random"}, optional
        Factors in the user's units (any number of columns), "random" (of the size of X, drawn with
        `random_state`), or "pca" (also for None): B = Π_r(X), A = 0, γ = 0.
    random_state : int, Generator or None, default=0
        Draws what is random.
    callback : callable, optional
        ``(iteration, objective) -> True`` to stop.
    compress : bool, optional
        Whether to use the coordinates of X's singular vectors; None: if Θ allows it (no constraint, or
        Frobenius balls on A and B). The iterates are the same.

    Returns
    -------
    solution : Solution
        Factors in the user's units, history and reason of the end.

    Notes
    -----
    If Θ does not allow it, θ is a dense array of the size of X. Π_r is the last operation, so the result may
    lie outside Θ. `Solution.violation` and the reason report the distance.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import resolve_link
    >>> from superfactor.problem import state
    >>> from superfactor.solvers import lpgd, newton
    >>> X, y = np.random.default_rng(0).standard_normal((20, 5)), np.arange(20) % 2
    >>> problem = state("filter", X, y, resolve_link("logistic", 1), xi=1.0, lam=5.0)
    >>> found = lpgd.solve(problem, rank=2, max_iter=5000)
    >>> found.reason
    'the gradient mapping is below the tolerance'
    >>> bool(abs(found.objective / newton.solve(problem, rank=2).objective - 1) < 1e-6)
    True
    """
    set_ = resolve_constraint(constraint)
    if compress is None:
        compress = compressible(set_)
    elif compress and not compressible(set_):
        raise ValueError(f"constraint={constraint!r} does not allow compress=True")
    tau = default_step(problem) if step_size == "auto" else float(step_size)
    if not 0 < tau < math.inf:
        raise ValueError(f"step_size={step_size!r}: a positive number or 'auto' is required")
    arrays = problem.arrays()
    width = min(rank, arrays.side, arrays.other_side + arrays.n_outputs)
    monitor = Monitor(_DEFAULT_ITERATIONS if max_iter is None else max_iter, callback)
    rng = np.random.default_rng(random_state)
    if start == "random":
        start = random_factors(arrays, width, rng)
    elif isinstance(start, str) and start != "pca":
        raise ValueError(f"start={start!r}: Factors, 'pca' or 'random' are required")
    factors = start if isinstance(start, Factors) else None
    with one_blas_thread:
        end: Ended[Any]
        if compress:
            first = _compressed_start(arrays, problem.options, set_, width, factors, rng)
            end = iterate(first, tau, tol, monitor)
            L, beta, P = end.state.product()
            gamma, activations, violation = first.at.out(end.state.gamma), end.state.a, 0.0
        else:
            explicit = ExplicitProblem(arrays, set_)
            end = iterate(_dense_start(explicit, width, factors), tau, tol, monitor)
            L, beta, P = _product(explicit, end.state.theta, width)
            gamma, violation = end.state.gamma, end.state.violation
            activations = arrays.activations(L @ beta, gamma)
        outside = f"; the rank projection leaves the constraint by at most {violation:.2g}"
        return answer(
            problem,
            arrays,
            arrays.unlift(L, beta, P, gamma),
            rank,
            activations,
            monitor,
            objective=end.state.value,
            reason=end.reason + (outside if violation > 0 else ""),
            converged=end.converged,
            gradient_mapping=end.mapping,
            violation=violation,
        )


def default_step(problem: Problem) -> float:
    """Return 1/L: Π_r then minimises an upper bound of F that equals F at the current point."""
    L = theorem_constants(problem).L
    if math.inf == L:
        # For counts: L over all activations between the start 0 and those that fit the counts.
        Y = problem.arrays().targets
        at_zero = problem.loss.steepest(problem.loss.residual(0.0 * Y, Y), Y)
        L = theorem_constants(problem, steepest=max(problem.steepest, at_zero)).L
    if not 0 < L < math.inf:
        raise ValueError("step_size='auto': the curvature of this loss has no bound, give a number instead")
    return 1 / L


def _compressed_start(
    arrays: LiftedArrays,
    options: Options,
    constraint: ConvexSet,
    rank: int,
    factors: Factors | None,
    rng: np.random.Generator,
) -> CompressedState:
    at = Coordinates(arrays, constraint, options)
    m, kappa, xp = at.m, at.kappa, at.xp
    short_rows, long_rows = (0, kappa) if at.left else (kappa, 0)
    if factors is None:
        guess = at.into(random_like(arrays.targets, rng, m, min(rank, m)))
        F = at.gram.principal(guess)
        S = xp.concat([F, zeros_like_of(F, short_rows, F.shape[1])])
        gamma = zeros_like_of(F, arrays.covariates.shape[1], kappa)
        return CompressedState(at, rank, S, at.long_range(F, long_rows), gamma)
    L, beta, P = arrays.split(factors)
    rows = at.into(beta).T * at.share
    gamma = at.into(factors.gamma)
    if at.left:
        return CompressedState(at, rank, at.to_short(L), at.long(P, rows), gamma)
    S = xp.concat([at.to_short(P), rows])
    return CompressedState(at, rank, S, at.long(L, rows[:0, :]), gamma)


def _dense_start(explicit: ExplicitProblem, rank: int, factors: Factors | None) -> DenseState:
    arrays, xp = explicit.arrays, namespace(explicit.X)
    if factors is None:
        U, s, Vt = truncated_svd(explicit.X, min(rank, *explicit.X.shape))
        zeros = zeros_like_of(U, arrays.side, explicit.kappa)
        theta = xp.concat([zeros, (U * s[None, :]) @ Vt], axis=1)
        gamma = zeros_like_of(U, arrays.covariates.shape[1], explicit.kappa)
    else:
        L, beta, P = arrays.split(factors)
        theta = xp.concat([L @ beta / arrays.unit, L @ P.T * arrays.data.scale], axis=1)
        gamma = factors.gamma
    return DenseState(theta, gamma, rank, explicit.objective, explicit.project)


def _product(explicit: ExplicitProblem, theta: Array, rank: int) -> tuple[Array, Array, Array]:
    U, s, Vt = truncated_svd(theta, rank)
    right = s[:, None] * Vt
    beta, C = right[:, : explicit.kappa] * explicit.arrays.unit, right[:, explicit.kappa :]
    return U, beta, C.T / explicit.arrays.data.scale


class ExplicitProblem:
    """F as a function of θ = [A, B] and γ, and Π_Θ for a set on (A, B, γ).

    θ is N × (κ + other), with the search side in rows, in the user's units. A set receives A (p, κ) in the
    filter model and (n, κ) in the feature model, B (n, p) and γ (q, κ). With sample weights, the distance
    counts sample i w_i times. For entrywise sets this makes no difference. Rotation invariant sets are
    applied to samples in units of √w, and for other sets the projection ignores the weights.
    """

    def __init__(self, arrays: LiftedArrays, constraint: ConvexSet) -> None:
        self.arrays: LiftedArrays = arrays
        self.constraint: ConvexSet = constraint
        self.kappa: int = arrays.n_outputs
        self.xi, self.lam = arrays.users_weights
        scale, like = arrays.data.scale, arrays.targets
        if arrays.side <= arrays.other_side:
            self.X = arrays.image(eye_like(like, arrays.side)).T * scale
        else:
            self.X = arrays.back(eye_like(like, arrays.other_side)) * scale

    def objective(self, theta: Array, gamma: Array | None) -> tuple[float, Array, Array | None]:
        arrays, xp = self.arrays, namespace(theta)
        A, B = theta[:, : self.kappa], theta[:, self.kappa :]
        loss, E = arrays.loss_terms(arrays.activations(A * arrays.unit, gamma))
        distance = B - self.X
        value = loss + self.xi * frobenius2(distance) + self.lam * frobenius2(A)
        value += arrays.covariate_penalty(gamma)
        slope_A = arrays.pull(E) * arrays.unit + 2 * self.lam * A
        slope = xp.concat([slope_A, 2 * self.xi * distance], axis=1)
        ridge = 2 * arrays.covariate_ridge[:, None]
        return value, slope, arrays.covariates.T @ E + ridge * gamma

    def project(self, theta: Array, gamma: Array | None) -> tuple[Array, Array | None]:
        xp, by_samples = namespace(theta), self.arrays.model.by_samples
        A, B = theta[:, : self.kappa], theta[:, self.kappa :]
        A, B, gamma = self._project((A, by_samples(B), gamma), self.constraint)
        return xp.concat([A, by_samples(B)], axis=1), gamma

    def _project(
        self, point: tuple[Array, Array, Array], constraint: ConvexSet
    ) -> tuple[Array, Array, Array]:
        """Return Π_Θ of (A, B, γ) with the samples in units of √w."""
        root = self.arrays.root_weight
        if root is None:
            return tuple(constraint.project(point))
        if isinstance(constraint, Product):
            weighted = (self.arrays.model.searches_samples, True, False)
            return tuple(
                _unweighted(factor, part, root if by_sample else None)
                for factor, part, by_sample in zip(constraint.factors, point, weighted, strict=True)
            )
        if constraint.rotation_invariant:
            return tuple(constraint.project(point))
        A, B, gamma = point
        by_A = root if self.arrays.model.searches_samples else 1.0
        A, B, gamma = constraint.project((A / by_A, B / root, gamma))
        return A * by_A, B * root, gamma


def _unweighted(constraint: ConvexSet, part: Array, root: Array | None) -> Array:
    if root is None or constraint.rotation_invariant:
        return constraint.project(part)
    return constraint.project(part / root) * root
