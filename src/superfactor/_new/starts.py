"""Where a search starts: from PCA, from ridge regression, from random subspaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from superfactor._new.newton import CALL, Inside, Point, fit_ridge
from superfactor._new.tall import beside, dot, pull

Start = tuple[Any, Any, Any]  # W (k, r), β (r, κ), γ (q, κ)

# Schedules of (ξ, λ), as factors: a few steps at each before the descent proper.
DATA_FIRST = (1e3, 1e3), (1e2, 1e2), (1e1, 1e1)
LABELS_FIRST = (1e-3, 1.0), (1e-2, 1.0), (1e-1, 1.0)
# Starts in a batch cost less each than alone, and more than this number find nothing more.
_MOST = 24
# Steps of a descent; a descent also ends where it cannot get lower than the best.
_STEPS = 40


def pca_start(inside: Inside) -> Start:
    """Return the leading directions of X with coefficients 0."""
    rows, r = inside.rows, inside.rank
    return np.eye(inside.basis.size, r), np.zeros((r, rows.outputs)), np.zeros((len(rows.rho), rows.outputs))


def ridge_start(inside: Inside, lam: float) -> Start:
    """Return the subspace of the proximal point of the ridge solution, and the solution's β and γ in it.

    The leading eigenvectors of D + QQᵀ, Q = ΦᵀE/(2√(ξλ)) at the ridge solution, minimise the lower bound
    there.
    """
    basis, rows = inside.basis, inside.rows
    k, q = basis.size, len(rows.rho)
    J = beside(dot(basis.Phi, basis.turn), rows.Z)
    w = fit_ridge(rows, J, np.concatenate([np.full(k, lam), rows.rho]), np.zeros((k + q, rows.outputs)))
    Q = pull(J, rows.evaluate(dot(J, w))[1])[:k] / (2 * np.sqrt(inside.xi * lam))
    W = np.linalg.eigh(np.diag(basis.d) + Q @ Q.T)[1][:, : -inside.rank - 1 : -1]
    return W, W.T @ w[:k], w[k:]


def other_starts(
    inside: Inside,
    best: Point,
    budget: float,
    rng: np.random.Generator,
    stopped: Callable[[float], bool] = lambda F: False,
) -> tuple[Point, int, int]:
    """Return the lowest point of descents from other starts, side by side, for about `budget` operations.

    Returns
    -------
    best : Point
    starts : int
        Their number.
    agreed : int
        How many ended at the value of the given point.
    """
    rows, goal, count, agreed = inside.rows, 1e-6 * (best.F - inside.unsupervised), 0, 0
    end, first = rows.work + budget, float(best.F)
    product = 8.0 * rows.shape[0] * inside.basis.size * rows.outputs
    # As many as the budget pays; and as many as cost no more than the calls themselves.
    size = max(int(np.clip(max(budget / 480 - 2 * CALL, CALL) / product, 2, _MOST)) // 3, 1)
    for starts, schedule in _candidates(inside, size, rng):
        at, count = Point.stacked(starts), count + len(starts)
        for of_xi, of_lam in schedule:
            stage = replace(inside, xi=inside.xi * of_xi, lam=inside.lam * of_lam)
            at = stage.at(at.W, at.beta, at.gamma)
            for _ in range(2):
                at, *_ = stage.newton(at)
        at = inside.at(at.W, at.beta, at.gamma)
        for _ in range(_STEPS):
            at, left, _ = inside.newton(at)
            i = int(np.argmin(at.F))
            if at.F[i] < best.F:
                best = inside.at(at.W[i], at.beta[i], at.gamma[i])
            going = (left > goal) & (at.F - 30 * left < best.F - goal)
            over = rows.work > end or stopped(float(best.F))
            done = at.F if over or not going.any() else at.F[~going]
            agreed += int((np.abs(done - first) <= goal).sum())
            if over or not going.any():
                break
            if not going.all():
                at = inside.at(at.W[going], at.beta[going], at.gamma[going])
        if over:
            break
    return best, count, agreed


def _candidates(
    inside: Inside, size: int, rng: np.random.Generator
) -> Iterator[tuple[list[Start], tuple[tuple[float, float], ...]]]:
    """Yield three batches of starts, each with a schedule: PCA or ridge regressions, and random subspaces."""
    pca = pca_start(inside)
    random = [(np.linalg.qr(rng.standard_normal(pca[0].shape))[0], *pca[1:]) for _ in range(3 * size)]
    yield [pca, *random][:size], DATA_FIRST
    yield [pca, *random[size:]][:size], LABELS_FIRST
    ridge = [ridge_start(inside, inside.lam * factor) for factor in (1.0, 1e2, 1e4)[:size]]
    yield [*ridge, *random[2 * size :]][:size], ()
