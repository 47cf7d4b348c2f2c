"""Other places to start from, for problems whose first answer is not proven optimal (docs/method.md §6)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from superfactor._arrays import Array, frobenius2, full_like_of, namespace, random_like
from superfactor.options import Options
from superfactor.solution import Monitor
from superfactor.solvers.newton.descent import Stride, descend, proximal
from superfactor.solvers.newton.rounds import rounds
from superfactor.solvers.newton.state import RESTARTING, Run, State
from superfactor.subspace import Inside, Point, fit_ridge


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
    def for_work(cls, work: float, options: Options) -> Effort:
        """By the operations of one Newton step."""
        if work > options.dear_step:
            return cls((1.0, 1e4), (1e2,), 2, 5, 5, 1)
        return cls(
            (1.0, 1e2, 1e4, 1e6),
            (1e4, 1e3, 1e2, 1e1),
            min(max(int(2e7 / work), 4), 16),
            min(max(int(8e6 / work), 6), 40),
            40 if work < options.cheap_step else 10,
            3,
        )


def ridge_subspace(inside: Inside, point: Point, lam: float) -> tuple[Array, Array, Array]:
    """Ridge regression on the whole basis, then the proximal point of its residuals (η = 1/(2λ)).

    Returns W (k, r), the ridge solution A (k, κ) and γ (q, κ).
    """
    problem, k = inside.problem, inside.basis.size
    xp = namespace(inside.D)
    ridge = xp.concat([full_like_of(inside.D, k, lam), problem.covariate_ridge])
    coef, _, pulled = fit_ridge(inside.loss, ridge, point.coef, max_iter=10, tol=1e-5)
    A = coef[:k, :]
    if lam > 0:
        W = inside.leading(pulled[:k, :] / (2 * problem.xi**0.5 * lam**0.5))
    else:
        W = loud_directions(inside, A)
    return W, A, coef[k:, :]


def loud_directions(inside: Inside, A: Array) -> Array:
    """The directions of A (k, κ) themselves, filled up by PCA."""
    loud = 1e3 * math.sqrt(float(namespace(A).max(inside.D)))
    return inside.leading(A * (loud / (math.sqrt(frobenius2(A)) + 1e-300)))


def starting_points(
    inside: Inside, current: Point, effort: Effort, rng: np.random.Generator
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
        yield polished(xp.linalg.qr(random_like(inside.D, rng, inside.basis.size, r))[0])
    for factor in effort.factors:
        W, A, gamma = ridge_subspace(inside, current, problem.lam * factor)
        yield polished(W, A, gamma)
        yield polished(loud_directions(inside, A), A, gamma)
    point = pca
    for factor in effort.path:
        easier = inside.at_weights(replace(problem, lam=problem.lam * factor))
        point = _short(easier, easier.at(point.W, point.beta, point.gamma), 0.0, 3)
        yield inside.at(point.W, point.beta, point.gamma)
    for _ in range(effort.random - effort.random // 2):
        yield polished(xp.linalg.qr(random_like(inside.D, rng, inside.basis.size, r))[0])


def promising(
    inside: Inside,
    points: Iterator[Point],
    effort: Effort,
    known: float,
    goal: float,
    monitor: Monitor,
) -> list[Point]:
    """Short descents from every start, longer ones from the better; the lowest first.

    `known` is the objective of the first answer: starts that keep ending there end the search.
    """

    found: list[Point] = []
    for point in points:
        found.append(_short(inside, point, goal, effort.steps))
        recent = found[-effort.patience :]
        same = len(recent) == effort.patience and all(abs(p.F - known) <= 10 * goal for p in recent)
        if same or monitor.poll(known):
            break
    for share in (2, 4):  # half of them twice as far, a quarter four times
        found.sort(key=lambda point: point.F)
        for i in range(max(len(found) // share, 1)):
            if abs(found[i].F - known) > 10 * goal and not monitor.poll(known):
                found[i] = _short(inside, found[i], goal, share * effort.steps)
    return sorted(found, key=lambda point: point.F)


def _short(inside: Inside, point: Point, goal: float, steps: int) -> Point:
    """A proximal step and a few others, of which nobody keeps a history."""
    monitor = Monitor()
    point, stride = proximal(inside, point, Stride.of(inside.problem), monitor, polish=4)
    return descend(inside, point, stride, monitor, goal, limit=steps, polish=4).point


def supervised_start(state: State) -> State:
    """From the ridge solution, where that is lower."""
    inside = state.inside
    W, A, gamma = ridge_subspace(inside, state.point, state.problem.lam)
    new = inside.polish(W, W.T @ A, gamma, max_iter=10, tol=1e-10)
    return replace(state, point=new) if new.F < state.point.F else state


def other_starts(state: State, run: Run) -> State:
    """Short descents from other places inside the subspace; the most promising are finished."""
    state = replace(state, phase=RESTARTING)
    run.observe(state, True)
    problem, value = state.problem, state.supervised
    work = state.work(min(problem.n_outputs, state.rank))
    effort = Effort.for_work(work, problem.options)
    points = starting_points(state.inside, state.point, effort, run.rng)
    found = promising(state.inside, points, effort, state.point.F, 1e-5 * value, run.monitor)
    held = [replace(state, point=point).held() for point in found[: effort.finished * 4]]
    best, seen = state.held(), [state.point.F]
    for start in held:
        if len(seen) > effort.finished or run.monitor.stopped:
            break
        if any(abs(start.F - other) <= 1e-7 * value for other in seen):
            continue  # the same valley again
        seen.append(start.F)
        state = rounds(state.back_to(start), run)
        if state.point.F < best.F:
            best = state.held()
            run.observe(state, False)
    return state.back_to(best)
