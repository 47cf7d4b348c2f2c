"""Where descents begin: PCA, ridge regressions with and without the largest directions, and at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.trust.descent import descend
from benchmarks.trust.search import Coordinates, Point

Array = Any

#: Factors of λ, and how many of the largest directions are left out, of the ridge regressions.
RIDGES = ((1.0, 0), (1.0, 1), (1.0, 2), (30.0, 0), (1e3, 0), (1e3, 1))
RIDGE_ITERATIONS = 80


def starts(c: Coordinates, count: int, rng: np.random.Generator) -> Point:
    """So many starts: all informed ones, then random ones."""
    (N, r), (_, kappa), (q, _) = c.shapes
    null = np.zeros((q, kappa))
    if c.given.ridge.size and c.given.ridge[-1] == 0:
        null[-1] = c.given.loss.null()
    order = np.eye(N)
    points = [(order[:, :r], np.zeros((r, kappa)), null)]
    for (_, dropped), A, gamma in zip(RIDGES, *ridge_regressions(c, null), strict=True):
        directions = np.linalg.svd(A, full_matrices=False)[0]
        for j in {min(r, kappa), 1}:
            # Filled up with the leading directions that A leaves out, or with all.
            first = [order, np.roll(order, -dropped, axis=1)][int(rng.integers(2))] if dropped else order
            W = np.linalg.qr(np.hstack([directions[:, :j], first]))[0][:, :r]
            points.append((W, W.T @ A, gamma))
    size = np.sqrt(c.d / max(c.d[0], np.finfo(float).tiny)) if N else c.d
    while len(points) < count:
        noise = rng.standard_normal((N, r))
        kind = len(points) % 3
        if kind == 1:  # large directions favoured
            noise = (size[:, None] + 1e-6) ** rng.uniform(0, 2) * noise
        elif kind == 2:  # some of the leading directions left out
            chosen = rng.permutation(min(N, 2 * r + 2))[:r]
            noise = order[:, chosen] + 10 ** rng.uniform(-4, -0.5) * noise
        W = np.linalg.qr(noise)[0]
        unit = 1 / np.sqrt((W**2).T @ c.bends + np.finfo(float).tiny)[:, None]
        beta = 10 ** rng.uniform(-1, 1.5) * unit * rng.standard_normal((r, kappa))
        points.append((W, beta, null))
    return Point(*(np.array(part) for part in zip(*points, strict=True)))


def ridge_regressions(c: Coordinates, null: Array) -> tuple[Array, Array]:
    """A (b, N, κ) and γ (b, q, κ) of ridge regressions whose rank is free, by RIDGES."""
    N, kappa = len(c.d), c.given.loss.n_outputs
    factors = np.array([factor for factor, _ in RIDGES])[:, None, None]
    left = np.array([np.arange(N) >= dropped for _, dropped in RIDGES])[:, :, None]
    lam, ridge = c.given.lam * factors, c.ridge
    bends = c.bends[:, None] + 2 * (lam - c.given.lam)
    unit = left / np.sqrt(bends + np.finfo(float).tiny)
    units = np.concatenate(
        [
            np.broadcast_to(unit, (len(RIDGES), N, kappa)).reshape(len(RIDGES), -1),
            np.broadcast_to(c.gamma_unit, (len(RIDGES), *null.shape)).reshape(len(RIDGES), -1),
            np.broadcast_to(lam[:, :, 0], (len(RIDGES), 1)),
        ],
        axis=1,
    )

    def value(rows: Array) -> tuple[Array, Array]:
        half = rows.shape[1] // 2
        units, x = rows[:, half:], rows[:, :half] * rows[:, half:]
        A = x[:, : N * kappa].reshape(-1, N, kappa)
        gamma = x[:, N * kappa : -1].reshape(len(x), *null.shape)
        own = units[:, -1][:, None, None]
        with np.errstate(all="ignore"):
            loss, E = c.given.loss(c.Phi @ A + c.Z @ gamma)
            loss = loss + (own * A * A).sum(axis=(1, 2)) + (ridge * gamma**2).sum(axis=(1, 2))
            parts = (c.Phi.T @ E + 2 * own * A, c.Z.T @ E + 2 * ridge * gamma)
            slope = np.concatenate([part.reshape(len(x), -1) for part in parts], axis=1)
        slope = np.concatenate([slope * units[:, :-1], np.zeros_like(rows[:, half - 1 :])], axis=1)
        bad = ~np.isfinite(loss) | ~np.isfinite(slope).all(axis=1)
        loss[bad], slope[bad] = np.inf, 0.0
        return loss, slope

    x = np.zeros_like(units)
    with np.errstate(all="ignore"):
        first = np.where(c.gamma_unit > 0, null / c.gamma_unit, 0).ravel()
    x[:, N * kappa : -1] = first
    ends = descend(value, np.concatenate([x, units], axis=1), RIDGE_ITERATIONS)[0]
    ends = ends[:, : units.shape[1]] * units
    A = ends[:, : N * kappa].reshape(-1, N, kappa)
    return A, ends[:, N * kappa : -1].reshape(len(ends), *null.shape)
