"""Directions that all candidates of a path share: ridge regressions on all of X with several penalties σ.

Where the loss is quadratic, the solution with one factor is A = (G + σ)⁻¹b, b = X̃ᵀE of the best model without
factors: a ridge regression. The weights ξ and λ only determine the penalty σ. Several factors span as many
ridge regressions (docs/method.md §8). A few penalties therefore give directions close to the solutions at all
weights, and the subspace need not grow round by round at each pair. All penalties cost the products of the
smallest one only, since conjugate gradients solve them in the same Krylov space. For classes, whose
curvature differs between samples, this does not help: on text it costs more than the rounds it saves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from superfactor._arrays import Array, to_numpy
from superfactor.problem import Problem
from superfactor.samples import Block, Design, Plain, Vectors
from superfactor.subspace import Basis, Inside

# Neighbouring penalties differ by about this factor.
_RATIO = 2.5
# The possible decrease of F is about the square of the relative residual.
_TOL, _LIMIT = 1e-6, 500
# With more columns to regress on, there are more directions than a basis should have.
_COLUMNS = 4
# Of the largest column: what is left of means that were taken off is rounding.
_NOTHING = 1e-8


def ridge_directions(problem: Problem, weights: Iterable[tuple[float, float]]) -> Vectors | None:
    """Return directions (N, j) of the compact problem, whose span is close to the solutions at these (ξ, λ).

    None where growing a subspace takes little time, or where the loss is not quadratic.
    """
    problem = problem.compact
    low, high = problem.loss.curvature_bounds(problem.n_outputs)
    few = problem.n_outputs + problem.n_covariates <= _COLUMNS
    grows = min(problem.shape) > problem.options.whole_range and not problem.model.searches_samples
    if not (grows and few and low == high and problem.epsilon < 1e-10):
        return None

    def power(T: Array) -> Array:
        return to_numpy(problem.samples.sum(Block.power, T))

    ridges = [problem.restated(*pair).lam * 2 / high for pair in weights]
    B = _regressed_on(problem)
    if min(ridges) <= 0 or not B.shape[1]:
        return None
    largest = float(np.max((B * power(B)).sum(axis=0) / (B**2).sum(axis=0)))
    weakest, strongest = min(ridges), max(*ridges, largest)
    count = 1 + round(np.log(strongest / weakest) / np.log(_RATIO))
    return Plain(shifted_solutions(power, B, np.geomspace(weakest, strongest, count)))


def _regressed_on(problem: Problem) -> Array:
    """Return X̃ᵀE without factors and what each covariate adds to it (N, κ + q), without rounding errors."""
    gamma = to_numpy(Inside(Basis.empty(problem), 0).without_factors.gamma)

    def pulled(gamma: Array) -> Array:
        return to_numpy(problem.model.pulled(problem.side, Design(None), gamma).array())

    first = pulled(gamma)
    moved = [gamma + np.eye(len(gamma))[:, [j]] for j in range(len(gamma))]
    B = np.concatenate([first, *((pulled(other) - first)[:, :1] for other in moved)], axis=1)
    size = np.sqrt((B**2).sum(axis=0))
    return B[:, size > _NOTHING * size.max()]


def shifted_solutions(
    power: Callable[[Array], Array], B: Array, shifts: Array, tol: float = _TOL, limit: int = _LIMIT
) -> Array:
    """Return about (G + σ)⁻¹b for each column of B (N, c) and each σ of `shifts`, ascending: (N, j·c).

    `power(T)` returns GT. Conjugate gradients solve the smallest shift. The residuals at the other shifts are
    multiples of its residuals (Frommer and Maass 1999), so they need no products.
    """
    more = (shifts - shifts[0])[:, None]
    R, square = B.copy(), (B**2).sum(axis=0)
    enough = tol**2 * square
    P = np.repeat(B[None], len(shifts), axis=0)
    X = np.zeros_like(P)
    # The factor by which the residuals at a shift (j, c) are smaller, now and one step ago.
    share, earlier = np.ones((2, len(shifts), B.shape[1]))
    step, turn = np.ones(B.shape[1]), np.zeros(B.shape[1])
    for _ in range(limit):
        # Smaller shifts converge later, so the shifts that are not solved yet are the first ones.
        on = int(np.count_nonzero((share**2 * square > enough).any(axis=1)))
        if not on:
            break
        share, earlier = share[:on], earlier[:on]
        image = power(P[0]) + shifts[0] * P[0]
        before, step = step, _over(square, (P[0] * image).sum(axis=0))
        slower = before * earlier * (1 + step * more[:on]) + step * turn * (earlier - share)
        later = _over(share * earlier * before, slower)
        X[:on] += (step * _over(later, share))[:, None, :] * P[:on]
        R -= step * image
        square, last = (R**2).sum(axis=0), square
        turn = _over(square, last)
        P[:on] *= (turn * _over(later, share) ** 2)[:, None, :]
        P[:on] += later[:, None, :] * R
        earlier, share = share, later
    return np.concatenate(list(X), axis=1)


def _over(a: Array, b: Array) -> Array:
    """Return a/b (…), and 0 where b is 0 because the column is solved."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=np.abs(b) > 1e-280)
