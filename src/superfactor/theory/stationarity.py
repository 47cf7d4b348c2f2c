"""How far a point is from being stationary: the gradient mapping, without and with the rank.

    G(Z, τ) = (Z − Π_Θ(Z − τ∇f(Z)))/τ

is zero exactly at the stationary points of f over Θ, never longer than ∇f(Z) for Z in Θ, and equal
to it without constraint. With the rank, one step of Algorithm 1 takes the place of the projected
step.

Points are triples (A, B, γ) as seen from the search side of a problem: A (N, κ),
B (N, other), γ (q, κ), and θ = [A, B] (N, κ + other) is the matrix of rank at most r, for both
models. These are dense arrays: meant for small problems and for tests.
"""

from __future__ import annotations

from superfactor._arrays import Array, eye_like, namespace
from superfactor.constraints import ConvexSet, Point, norm, resolve_constraint
from superfactor.constraints.base import parts_of, same_form
from superfactor.problem import Problem
from superfactor.spectrum import project_rank

__all__ = [
    "gradient_mapping",
    "lifted_gradient",
    "low_rank_step",
    "stationarity",
]


def gradient_mapping(
    Z: Point, gradient: Point, step_size: float, constraint: ConvexSet | None = None
) -> Point:
    """G(Z, τ) for a point Z of Θ with gradient ∇f(Z), in the form of Z (array or tuple)."""
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
    """One step of Algorithm 1: θ ← Π_r(Π_Θ(θ − τ∇_θ)), γ ← Π_Θ(γ − τ∇_γ)."""
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
    """‖Z − Π_r(Π_Θ(Z − τ∇f))‖/τ: zero exactly where Algorithm 1 with step τ stands still."""
    target = low_rank_step(Z, gradient, step_size, rank, constraint)
    return norm(tuple(z - t for z, t in zip(Z, target, strict=True))) / step_size


def lifted_gradient(
    problem: Problem, A: Array, B: Array, gamma: Array
) -> tuple[Array, Array, Array]:
    """(∇_A, ∇_B, ∇_γ) of F in the problem's own units; forms X̃ densely.

    ∇_A = Φᵀ(ω∘∇ℓ) + 2λA,    ∇_B = 2ξ(B − X̃),    ∇_γ = X'ᵀ(ω∘∇ℓ) + 2ρ∘γ
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
