"""Other places to start from, for problems whose first answer is not proven optimal (docs/method.md §6)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from superfactor._arrays import Array, frobenius2, full_like_of, namespace
from superfactor.lifting import fit_ridge
from superfactor.solvers.descent import Descent
from superfactor.solvers.solution import Monitor
from superfactor.solvers.subspace import Point, SubspaceProblem


@dataclass(frozen=True)
class Effort:
    """How much to spend on other starts, by the cost of one Newton step.

    Early values say little about where a start will end, so where steps are cheap every start goes far;
    where they are dear, fewer starts go less far.
    """

    factors: tuple[float, ...]  # multiples of λ for ridge starts
    path: tuple[float, ...]  # multiples of λ on the way down
    random: int
    steps: int
    patience: int  # so many starts in a row that end where the first answer is are enough
    finished: int

    @classmethod
    def for_work(cls, work: float) -> Effort:
        if work > 1e8:
            return cls((1.0, 1e4), (1e2,), 2, 5, 5, 1)
        return cls(
            (1.0, 1e2, 1e4, 1e6),
            (1e4, 1e3, 1e2, 1e1),
            min(max(int(2e7 / work), 4), 16),
            min(max(int(8e6 / work), 6), 40),
            40 if work < 2e5 else 10,
            3,
        )


def ridge_subspace(inside: SubspaceProblem, point: Point, lam: float) -> tuple[Array, Array, Array]:
    """Ridge regression on the whole basis, then the proximal point of its residuals (η = 1/(2λ)).

    Returns W (k, r), the ridge solution A (k, κ) and γ (q, κ).
    """
    problem, k = inside.problem, inside.basis.size
    xp = namespace(inside.D)
    ridge = xp.concat([full_like_of(inside.D, k, lam), problem.covariate_ridge])
    theta, _, pulled = fit_ridge(inside.design, ridge, point.theta, max_iter=10, tol=1e-5)
    A = theta[:k, :]
    if lam > 0:
        W = inside.leading(pulled[:k, :] / (2 * problem.xi**0.5 * lam**0.5))
    else:
        W = loud_directions(inside, A)
    return W, A, theta[k:, :]


def loud_directions(inside: SubspaceProblem, A: Array) -> Array:
    """The directions of A (k, κ) themselves, filled up by PCA."""
    loud = 1e3 * math.sqrt(float(namespace(A).max(inside.D)))
    return inside.leading(A * (loud / (math.sqrt(frobenius2(A)) + 1e-300)))


def starting_points(
    inside: SubspaceProblem, current: Point, effort: Effort, rng: np.random.Generator
) -> Iterator[Point]:
    """PCA, ridge solutions at several λ, a path from large λ down, and random subspaces."""
    problem, r = inside.problem, inside.rank
    xp = namespace(inside.D)

    def polished(W: Array, A: Array | None = None, gamma: Array | None = None) -> Point:
        beta = None if A is None else W.T @ A
        return inside.polish(W, beta, gamma, max_iter=8, tol=1e-4)

    pca = polished(inside.leading())
    yield pca
    for _ in range(effort.random // 2):
        yield polished(xp.linalg.qr(problem.random(rng, inside.basis.size, r))[0])
    for factor in effort.factors:
        W, A, gamma = ridge_subspace(inside, current, problem.lam * factor)
        yield polished(W, A, gamma)
        yield polished(loud_directions(inside, A), A, gamma)
    point = pca
    for factor in effort.path:
        easier = SubspaceProblem(replace(problem, lam=problem.lam * factor), inside.basis, r)
        descent = Descent(easier, Monitor(), polish=4)
        point = easier.at(point.W, point.beta, point.gamma)
        point, _ = descent.run(descent.proximal(point), 0.0, 3)
        yield inside.at(point.W, point.beta, point.gamma)
    for _ in range(effort.random - effort.random // 2):
        yield polished(xp.linalg.qr(problem.random(rng, inside.basis.size, r))[0])


def promising(
    inside: SubspaceProblem,
    points: Iterator[Point],
    effort: Effort,
    known: float,
    goal: float,
    monitor: Monitor,
) -> list[Point]:
    """Short descents from every start, longer ones from the better; the lowest first.

    `known` is the objective of the first answer: starts that keep ending there end the search.
    """

    def descended(point: Point, steps: int) -> Point:
        descent = Descent(inside, Monitor(), polish=4)
        return descent.run(descent.proximal(point), goal, steps)[0]

    found: list[Point] = []
    for point in points:
        found.append(descended(point, effort.steps))
        recent = found[-effort.patience :]
        same = len(recent) == effort.patience and all(abs(p.F - known) <= 10 * goal for p in recent)
        if same or monitor.poll(known):
            break
    for share in (2, 4):  # half of them twice as far, a quarter four times
        found.sort(key=lambda point: point.F)
        for i in range(max(len(found) // share, 1)):
            if abs(found[i].F - known) > 10 * goal and not monitor.poll(known):
                found[i] = descended(found[i], share * effort.steps)
    return sorted(found, key=lambda point: point.F)
