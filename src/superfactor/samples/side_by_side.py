"""Several points side by side: coefficients (…, m, κ) and activations (…, n, κ).

Activations lie in memory column after column, (…, κ, n): sums over a sample's few outputs are then sums of
long columns. And the columns of all points are one matrix, whose product with J is one.
"""

from __future__ import annotations

import math

from superfactor._arrays import Array, namespace


def times(J: Array, coef: Array) -> Array:
    """J·coef (…, n, κ) for J (n, m) and coef (…, m, κ)."""
    xp, (*points, m, kappa) = namespace(J), coef.shape
    flat = xp.reshape(xp.matrix_transpose(coef), (math.prod(points) * kappa, m)) @ J.T
    return xp.matrix_transpose(xp.reshape(flat, (*points, kappa, J.shape[0])))


def transpose_times(J: Array, E: Array) -> Array:
    """JᵀE (…, m, κ) for J (n, m) and E (…, n, κ)."""
    xp, (*points, n, kappa) = namespace(J), E.shape
    flat = xp.reshape(xp.matrix_transpose(E), (math.prod(points) * kappa, n)) @ J
    return xp.matrix_transpose(xp.reshape(flat, (*points, kappa, J.shape[1])))


def as_columns(a: Array) -> Array:
    """(…, n, κ) as a tall matrix (n, …κ)."""
    xp, (*points, n, kappa) = namespace(a), a.shape
    return xp.reshape(xp.matrix_transpose(a), (math.prod(points) * kappa, n)).T


def as_points(rows: Array, like: Array) -> Array:
    """A tall matrix (n, …κ) as (…, n, κ), the shape of `like`."""
    xp, (*points, n, kappa) = namespace(rows), like.shape
    return xp.matrix_transpose(xp.reshape(rows.T, (*points, kappa, n)))
