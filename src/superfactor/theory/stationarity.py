"""Measures of stationarity: the gradient mapping, without and with the rank constraint.

    G(Z, τ) = (Z − Π_Θ(Z − τ∇f(Z)))/τ

is zero exactly at the stationary points of f over Θ. For Z in Θ it is at most as long as ∇f(Z), and equal to
it without a constraint. With the rank constraint, one step of Algorithm 1 replaces the projected step.

Points are triples (A, B, γ) on the search side of a problem: A (N, κ), B (N, other), γ (q, κ). For both
models θ = [A, B] (N, κ + other) has rank at most r. These are dense arrays, for small problems and for tests.
"""

from __future__ import annotations

from superfactor._arrays import Array, eye_like, namespace
from superfactor.constraints import ConvexSet, Point, norm, resolve_constraint
from superfactor.constraints.base import parts_of, same_form
from superfactor.problem import Problem
from superfactor.spectrum import project_rank


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
        Θ.

    Returns
    -------
    mapping : array or tuple of arrays
        In the form of Z; without a constraint the gradient itself.

    Examples
    --------
    The first entry is at its bound and does not move; the second one does.

    >>> import numpy as np
    >>> from superfactor.constraints import NonNegative
    >>> from superfactor.theory import gradient_mapping
    >>> gradient_mapping(np.array([0.0, 1.0]), np.array([3.0, 2.0]), 0.1, NonNegative())
    array([0., 2.])
    """
    target = resolve_constraint(constraint).project(_step(Z, gradient, step_size))
    parts = zip(parts_of(Z), parts_of(target), strict=True)
    return same_form(Z, tuple((z - t) / step_size for z, t in parts))


def low_rank_step(
    Z: tuple[Array, Array, Array],
    gradient: tuple[Array, Array, Array],
    step_size: float,
    rank: int,
    constraint: ConvexSet | None = None,
) -> tuple[Array, Array, Array]:
    """Return one step of Algorithm 1: θ ← Π_r(Π_Θ(θ − τ∇_θ)), γ ← Π_Θ(γ − τ∇_γ)."""
    A, B, gamma = resolve_constraint(constraint).project(_step(Z, gradient, step_size))
    theta = project_rank(namespace(A, B).concat([A, B], axis=1), rank)
    kappa = int(A.shape[1])
    return theta[:, :kappa], theta[:, kappa:], gamma


def stationarity(
    Z: tuple[Array, Array, Array],
    gradient: tuple[Array, Array, Array],
    step_size: float,
    rank: int,
    constraint: ConvexSet | None = None,
) -> float:
    """Return ‖Z − Π_r(Π_Θ(Z − τ∇f))‖/τ, the scaled length of a step of Algorithm 1.

    It is zero exactly at the fixed points of Algorithm 1.

    Parameters
    ----------
    Z : tuple of arrays (A, B, γ)
        A (N, κ), B (N, other side of X), γ (q, κ), with [A, B] of rank at most `rank`.
    gradient : tuple of arrays
        ∇f(Z), as from `lifted_gradient`.
    step_size : float
        τ > 0.
    rank : int
        r.
    constraint : ConvexSet, optional
        Θ.

    Returns
    -------
    length : float

    Examples
    --------
    The two leading directions of X, with targets 0:

    >>> import numpy as np
    >>> from superfactor.losses import SquaredError
    >>> from superfactor.problem import state
    >>> from superfactor.theory import lifted_gradient, stationarity
    >>> X, y = np.diag([1.2, 0.8, 0.4]), np.zeros((3, 1))
    >>> problem = state("filter", X, y, SquaredError(), xi=1.0, lam=0.1, fit_intercept=False)
    >>> Z = np.zeros((3, 1)), np.diag([1.2, 0.8, 0.0]), np.zeros((0, 1))
    >>> stationarity(Z, lifted_gradient(problem, *Z), step_size=0.1, rank=2) < 1e-12
    True
    """
    target = low_rank_step(Z, gradient, step_size, rank, constraint)
    return norm(tuple(z - t for z, t in zip(Z, target, strict=True))) / step_size


def lifted_gradient(problem: Problem, A: Array, B: Array, gamma: Array) -> tuple[Array, Array, Array]:
    """Return the gradient (∇_A, ∇_B, ∇_γ) of F in the problem's own units; X̃ is made dense.

    ``∇_A = Φᵀ(ω∘∇ℓ) + 2λA``, ``∇_B = 2ξ(B − X̃)``, ``∇_γ = X'ᵀ(ω∘∇ℓ) + 2ρ∘γ``.

    Parameters
    ----------
    problem : Problem
        F.
    A : array of shape (N, κ)
        Lifted coefficients; N is p in the filter model and n in the feature model.
    B : array of shape (N, other side)
        The reconstruction of X, with the search side in rows.
    gamma : array of shape (q, κ)
        γ, coefficients of the covariates.

    Returns
    -------
    gradient : tuple of arrays
        In the shapes of A, B and γ.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import SquaredError
    >>> from superfactor.problem import state
    >>> from superfactor.theory import lifted_gradient
    >>> X, y = np.diag([1.2, 0.8, 0.4]), np.zeros((3, 1))
    >>> problem = state("filter", X, y, SquaredError(), xi=1.0, lam=0.1, fit_intercept=False)
    >>> A, B, gamma = np.zeros((3, 1)), np.diag([1.2, 0.8, 0.0]), np.zeros((0, 1))
    >>> lifted_gradient(problem, A, B, gamma)[1].round(1)
    array([[ 0. ,  0. ,  0. ],
           [ 0. ,  0. ,  0. ],
           [ 0. ,  0. , -0.8]])
    """
    arrays = problem.arrays()
    _, E = arrays.loss_terms(arrays.activations(A, gamma))
    X = arrays.back(eye_like(arrays.targets, arrays.other_side))
    return (
        arrays.pull(E) + 2 * arrays.lam * A,
        2 * arrays.xi * (B - X),
        arrays.covariates.T @ E + 2 * arrays.covariate_ridge[:, None] * gamma,
    )


def _step(Z: Point, gradient: Point, step_size: float) -> Point:
    if not step_size > 0:
        raise ValueError(f"step_size={step_size!r}: a positive number is required")
    parts = zip(parts_of(Z), parts_of(gradient), strict=True)
    return same_form(Z, tuple(z - step_size * g for z, g in parts))
