"""Descents by L-BFGS, all of them side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any

MEMORY = 12
HALVINGS = 12
#: A descent ends after so many iterations in a row that win less than this share of its value.
CALM, LITTLE = 4, 1e-9


def descend(
    objective: Callable[[Array], tuple[Array, Array]], x: Array, iterations: int
) -> tuple[Array, Array]:
    """The ends (b, d) of descents from the rows of x, and their values (b,).

    Parameters
    ----------
    objective : values (b,) and slopes (b, d) at rows (b, d)
    x : (b, d)
    iterations : of each descent, at most
    """
    ends = x.copy()
    values, slopes = objective(ends)
    going = np.flatnonzero(np.isfinite(values))
    x, value, slope = ends[going], values[going], slopes[going]
    moves: list[tuple[Array, Array, Array]] = []
    calm = np.zeros(len(going), dtype=int)
    for _ in range(iterations):
        if not len(going):
            break
        step = -_inverse_hessian(moves, slope)
        uphill = ~((step * slope).sum(axis=1) < 0)
        step[uphill] = -slope[uphill]
        new, new_value, new_slope = _shorter(objective, x, value, slope, step)
        s, y = new - x, new_slope - slope
        sy = (s * y).sum(axis=1)
        # A pair that does not curve upwards teaches nothing: it counts as none.
        moves.append((s, y, np.where(sy > 1e-12 * (y * y).sum(axis=1), sy, np.inf)))
        del moves[:-MEMORY]
        calm = np.where(value - new_value <= LITTLE * np.abs(value), calm + 1, 0)
        x, value, slope = new, new_value, new_slope
        ends[going], values[going] = x, value
        on = calm < CALM
        if not on.all():
            going, calm, x, value, slope = going[on], calm[on], x[on], value[on], slope[on]
            moves = [(s[on], y[on], sy[on]) for s, y, sy in moves]
    return ends, values


def _inverse_hessian(moves: list[tuple[Array, Array, Array]], g: Array) -> Array:
    """H·g (b, d), the two loops of L-BFGS."""
    q = g.copy()
    kept = []
    for s, y, sy in reversed(moves):
        a = (s * q).sum(axis=1) / sy
        q -= a[:, None] * y
        kept.append(a)
    size = 1 / np.sqrt((g * g).sum(axis=1) + np.finfo(float).tiny)
    if moves:
        _, y, sy = moves[-1]
        size = np.where(np.isfinite(sy), sy / ((y * y).sum(axis=1) + np.finfo(float).tiny), size)
    q *= size[:, None]
    for (s, y, sy), a in zip(moves, reversed(kept), strict=True):
        q += (a - (y * q).sum(axis=1) / sy)[:, None] * s
    return q


def _shorter(objective: Any, x: Array, value: Array, slope: Array, step: Array) -> tuple[Array, Array, Array]:
    """The ends of steps, halved until the value falls as much as it should; else the old points."""
    along = (step * slope).sum(axis=1)
    new, new_value, new_slope = x.copy(), value.copy(), slope.copy()
    left, t = np.arange(len(x)), 1.0
    for _ in range(HALVINGS):
        trial = x[left] + t * step[left]
        trial_value, trial_slope = objective(trial)
        falls = trial_value <= value[left] + 1e-4 * t * along[left]
        done = left[falls]
        new[done], new_value[done], new_slope[done] = (trial[falls], trial_value[falls], trial_slope[falls])
        left, t = left[~falls], t / 2 if t > 1e-2 else t / 8
        if not len(left):
            break
    return new, new_value, new_slope
