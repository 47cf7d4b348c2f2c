"""Varimax: the rotation in which each factor has few large weights."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

# Sweeps stop when the relative increase of the criterion is at most this.
_GAIN = 1e-10
_SWEEPS = 100


def varimax(weights: Any) -> Any:
    """Return the orthogonal R (r, r) that makes ``R.T @ weights`` simple, for weights (r, p).

    It maximises Kaiser's criterion, Σ_j Var_i(l_ij²) over the weights l_j of the rotated factors, without row
    normalisation. Pairs of factors are rotated by the best angle, which has a closed form, until the
    criterion stops increasing; it never decreases. Zero factors are not rotated.
    """
    L = np.array(weights, dtype=np.float64, order="C")  # rows are rotated in place
    L /= max(np.max(np.abs(L), initial=0.0), np.finfo(float).tiny)
    R = np.eye(len(L))
    pairs = list(combinations(np.flatnonzero(np.any(L, axis=1)).tolist(), 2))
    for _ in range(_SWEEPS):
        gain = 0.0
        for i, j in pairs:
            angle, gained = _best_turn(L[i], L[j])
            gain += gained
            _turn(L, i, j, angle)
            _turn(R.T, i, j, angle)
        if gain <= _GAIN * np.var(L**2, axis=1).sum():
            break
    return R


def _best_turn(x: Any, y: Any) -> tuple[float, float]:
    """Return the best angle to rotate x, y (p,), and the increase of the criterion.

    x² + y² stays; u = x² − y² and v = 2xy turn by twice the angle φ, so that the criterion is
    (Var u − Var v)·cos(4φ)/4 + Cov(u, v)·sin(4φ)/2 and a constant.
    """
    p = len(x)
    u, v = x * x - y * y, 2 * x * y
    u -= u.mean()
    v -= v.mean()
    cosine, sine = float(u @ u - v @ v) / p, 2 * float(u @ v) / p
    return math.atan2(sine, cosine) / 4, (math.hypot(sine, cosine) - cosine) / 4


def _turn(rows: Any, i: int, j: int, angle: float) -> None:
    """Rotate two of the rows in place."""
    c, s = math.cos(angle), math.sin(angle)
    rows[i], rows[j] = c * rows[i] + s * rows[j], c * rows[j] - s * rows[i]
