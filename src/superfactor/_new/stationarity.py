"""Measures of stationarity: the gradient mapping, without and with the rank constraint.

    G(Z, τ) = (Z − Π_Θ(Z − τ∇f(Z)))/τ

is zero exactly at the stationary points of f over Θ. For Z in Θ it is at most as long as ∇f(Z), and equal to
it without a constraint. With the rank constraint, one step of Algorithm 1 replaces the projected step.

Points are triples (A, B, γ) on the search side of a problem: A (N, κ), B (N, other), γ (q, κ). θ = [A, B] has
rank at most r. These are dense arrays, for small problems and for tests.
"""

from __future__ import annotations

from superfactor._arrays import Array, namespace
from superfactor._new.lpgd import Dense, project_rank
from superfactor._new.problem import Problem
from superfactor.constraints import ConvexSet, Point, WholeSpace, norm, resolve_constraint
from superfactor.constraints.base import parts_of, same_form

Triple = tuple[Array, Array, Array]


def gradient_mapping(
    Z: Point, gradient: Point, step_size: float, constraint: ConvexSet | None = None
) -> Point:
    """Return G(Z, τ) = (Z − Π_Θ(Z − τ∇f(Z)))/τ, which is zero exactly at stationary points of f over Θ.

    Parameters
    ----------
    Z : array or tuple of arrays
        A point of Θ.
    gradient : array or tuple of arrays
        ∇f(Z), in the form of Z.
    step_size : float
        τ > 0.
    constraint : ConvexSet, optional
        Θ; without it the mapping is the gradient itself.

    Examples
    --------
    The first entry is at its bound and does not move; the second one does.

    >>> import numpy as np
    >>> from superfactor.constraints import NonNegative
    >>> gradient_mapping(np.array([0.0, 1.0]), np.array([3.0, 2.0]), 0.1, NonNegative())
    array([0., 2.])
    """
    target = resolve_constraint(constraint).project(_step(Z, gradient, step_size))
    parts = zip(parts_of(Z), parts_of(target), strict=True)
    return same_form(Z, tuple((z - t) / step_size for z, t in parts))


def low_rank_step(
    Z: Triple, gradient: Triple, step_size: float, rank: int, constraint: ConvexSet | None = None
) -> Triple:
    """Return one step of Algorithm 1: θ ← Π_r(Π_Θ(θ − τ∇_θ)), γ ← Π_Θ(γ − τ∇_γ)."""
    A, B, gamma = resolve_constraint(constraint).project(_step(Z, gradient, step_size))
    theta = project_rank(namespace(A, B).concat([A, B], axis=1), rank)
    kappa = int(A.shape[1])
    return theta[:, :kappa], theta[:, kappa:], gamma


def stationarity(
    Z: Triple, gradient: Triple, step_size: float, rank: int, constraint: ConvexSet | None = None
) -> float:
    """Return ‖Z − Π_r(Π_Θ(Z − τ∇f))‖/τ, which is zero exactly at the fixed points of Algorithm 1.

    Parameters
    ----------
    Z : tuple of arrays (A, B, γ)
        With [A, B] of rank at most `rank`.
    gradient : tuple of arrays
        ∇f(Z), as from `lifted_gradient`.
    step_size : float
        τ > 0.
    rank : int
        r.
    constraint : ConvexSet, optional
        Θ.

    Examples
    --------
    The two leading directions of X, with targets 0:

    >>> import numpy as np
    >>> from superfactor._new.problem import state
    >>> from superfactor.losses import SquaredError
    >>> X, y = np.diag([1.2, 0.8, 0.4]), np.zeros((3, 1))
    >>> problem = state("filter", X, y, SquaredError(), xi=1.0, lam=0.1, fit_intercept=False)
    >>> Z = np.zeros((3, 1)), np.diag([1.2, 0.8, 0.0]), np.zeros((0, 1))
    >>> stationarity(Z, lifted_gradient(problem, *Z), step_size=0.1, rank=2) < 1e-12
    True
    """
    target = low_rank_step(Z, gradient, step_size, rank, constraint)
    return norm(tuple(z - t for z, t in zip(Z, target, strict=True))) / step_size


def lifted_gradient(problem: Problem, A: Array, B: Array, gamma: Array) -> Triple:
    """Return the gradient (∇_A, ∇_B, ∇_γ) of F in the problem's own units; X̃ is made dense.

    ``∇_A = Φᵀ(ω∘∇ℓ) + 2λA``, ``∇_B = 2ξ(B − X̃)``, ``∇_γ = X'ᵀ(ω∘∇ℓ) + 2ρ∘γ``.

    Parameters
    ----------
    problem : Problem
    A : array (N, κ)
        Lifted coefficients; N is p in the filter model and n in the feature model.
    B : array (N, other side)
        The reconstruction of X, with the search side in rows.
    gamma : array (q, κ)
        Coefficients of the covariates.
    """
    theta = namespace(A, B).concat([A, B], axis=1)
    F = Dense(problem.rows, problem.model, problem.xi, problem.lam, WholeSpace())
    _, slope, of_gamma = F.objective(theta, gamma)
    kappa = int(A.shape[1])
    return slope[:, :kappa], slope[:, kappa:], of_gamma


def _step(Z: Point, gradient: Point, step_size: float) -> Point:
    if not step_size > 0:
        raise ValueError(f"step_size={step_size!r}: a positive number is required")
    parts = zip(parts_of(Z), parts_of(gradient), strict=True)
    return same_form(Z, tuple(z - step_size * g for z, g in parts))
