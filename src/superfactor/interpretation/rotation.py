"""Varimax: the rotation in which every factor has few large weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Angles below this (radians) no longer change a printed digit.
_ANGLE = 1e-9
_SWEEPS = 200


def varimax(weights: Any) -> Any:
    """The rotation R (r, r), orthogonal, that makes ``R.T @ weights`` simple.

    It maximises Kaiser's criterion, Σ_j Var_i(l_ij²) over the weights l_j of the turned factors:
    each factor's squared weights are as unequal as they can be. Factors are turned two at a time by
    the best angle, which has a closed form, until no pair moves; so the criterion never falls. Zero
    factors stay where they are. No row normalisation.

    Parameters
    ----------
    weights : (r, p)
    """
    L = np.array(weights, dtype=np.float64)
    r = len(L)
    R = np.eye(r)
    used = [j for j in range(r) if np.any(L[j])]
    L /= max(np.max(np.abs(L), initial=0.0), np.finfo(float).tiny)
    for _ in range(_SWEEPS):
        largest = 0.0
        for a, i in enumerate(used):
            for j in used[a + 1 :]:
                angle = _best_angle(L[i], L[j])
                if abs(angle) > _ANGLE:
                    turn = np.array(
                        [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
                    )
                    L[[i, j]] = turn @ L[[i, j]]
                    R[:, [i, j]] = R[:, [i, j]] @ turn.T
                largest = max(largest, abs(angle))
        if largest <= _ANGLE:
            break
    return R


def _best_angle(x: Any, y: Any) -> float:
    """The angle in (−π/4, π/4] by which turning the plane of x, y (p,) helps most."""
    u, v = x * x - y * y, 2 * x * y
    p = len(x)
    mean_u, mean_v = u.mean(), v.mean()
    sine = 2 * (u @ v / p - mean_u * mean_v)
    cosine = (u @ u - v @ v) / p - (mean_u**2 - mean_v**2)
    return math.atan2(sine, cosine) / 4
