"""The dual side of the logistic loss: negative entropy on the probability simplex.

A dual point ``g = p − y`` carries probabilities ``p = g + y`` of the classes ``1..κ`` and
``p_0 = 1 − Σp``. With one-hot ``Y`` (without class 0) and all sums over the κ+1 classes

    ``ℓ*(y, g) = Σ_c p_c log p_c`` on the simplex, ``+inf`` elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from superfactor._arrays import Array, namespace


def simplex_point(G: Array, Y: Array) -> tuple[Array, Array]:
    """Return the probabilities ``(p_0, p)`` of dual points, shapes ``(n, 1)`` and ``(n, κ)``."""
    xp = namespace(G, Y)
    # (1 − Σy) − Σg instead of 1 − Σp: for y ≠ 0 this is −Σg, exact down to the smallest p_0.
    base = (1.0 - xp.sum(Y, axis=1, keepdims=True)) - xp.sum(G, axis=1, keepdims=True)
    return base, G + Y


def _slack(p: Array) -> float:
    """Return how far below zero rounding of ``g + y`` and of the sum for ``p_0`` can put a zero."""
    return 4.0 * int(p.shape[1]) * float(namespace(p).finfo(p.dtype).eps)


def times_own_log(x: Array) -> Array:
    """Return ``x log x``; 0 at 0, and below 0, where rounding may put a zero."""
    xp = namespace(x)
    safe = xp.where(x > 0, x, xp.ones_like(x))
    return safe * xp.log(safe)


def conjugate(G: Array, Y: Array) -> Array:
    """Return the negative entropy, shape ``(n,)``; components below zero by rounding count as zero."""
    xp = namespace(G, Y)
    base, p = simplex_point(G, Y)
    slack = _slack(p)
    inside = xp.all(p >= -slack, axis=1) & (base[:, 0] >= -slack)
    value = xp.sum(times_own_log(p), axis=1) + times_own_log(base)[:, 0]
    return xp.where(inside, value, xp.full_like(value, math.inf))


def imbalance(G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
    """Return ``n = Σ_i w_i y_i`` and the surplus ``s − n = Σ_i w_i g_i``, both over all κ+1 classes."""
    xp = namespace(G, Y, weights)
    base_target = 1.0 - xp.sum(Y, axis=1, keepdims=True)
    counts = xp.matmul(weights, xp.concat([base_target, Y], axis=1))
    surplus = xp.matmul(weights, G)
    return counts, xp.concat([-xp.sum(surplus)[None], surplus])


def rebalanced(G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
    """Project onto the simplex; then mix with one shared vector until ``Σ_i w_i p_i = Σ_i w_i y_i``."""
    for i, (counts, surplus) in enumerate(steps):
        G = _mixed(G, Y, counts, surplus) if i else _inside(G, Y, counts)
    return G


def _mixed(G: Array, Y: Array, counts: Array, surplus: Array) -> Array:
    """``p' = (1−t)p + tρ`` with ``ρ = [n + (1−t)/t·(n−s)]/Σw``, ``n = Σwy``, ``s = Σwp``.

    Takes the smallest ``t`` that leaves ρ in the simplex: ``1/t = 1 + min_{s_c > n_c} n_c/(s_c − n_c)``
    over all κ+1 classes. ``t = 0`` if all classes are balanced; ``t = 1`` is always feasible.
    """
    xp = namespace(G, Y)
    total = xp.sum(counts)
    # A surplus below this, relative to Σw, counts as 0: n/surplus would overflow.
    positive = surplus > 1e-30 * total
    room = xp.where(
        positive, counts / xp.where(positive, surplus, xp.ones_like(surplus)), xp.full_like(surplus, math.inf)
    )
    k = xp.min(room)  # (1−t)/t
    if not bool(xp.isfinite(k)):
        return G
    t = 1.0 / (1.0 + k)
    rho = xp.clip((counts - k * surplus) / total, min=0.0)
    # In terms of g, not of p, so that a small g_c keeps its relative accuracy.
    return (1.0 - t) * G + t * (rho[None, 1:] - Y)


def _inside(G: Array, Y: Array, counts: Array) -> Array:
    """Move ``G`` onto the simplex, and off the classes whose total weight is zero.

    A class that no sample has must get probability zero everywhere: ``Σ w_i p_ic = 0`` has no other
    solution. Renormalising keeps the other probabilities; mixing would replace them.
    """
    xp = namespace(G, Y, counts)
    if not bool(xp.sum(counts) > 0):
        return G
    base, p = simplex_point(G, Y)
    p = xp.concat([base, p], axis=1)
    absent = xp.broadcast_to((counts <= 0)[None, :], p.shape)
    bad = (p < 0) | (absent & (p != 0))
    if not bool(xp.any(bad)):
        return G
    p = xp.where(bad, xp.zeros_like(p), p)
    # A row of zeros gets the class frequencies, whose sum is positive since Σw is.
    frequencies = xp.broadcast_to((counts / xp.sum(counts))[None, :], p.shape)
    row = xp.sum(p, axis=1, keepdims=True)
    p = xp.where(row > 0, p, frequencies)
    p = p / xp.where(row > 0, row, xp.ones_like(row))
    # Rows that were on the simplex stay exactly as they are.
    return xp.where(xp.any(bad, axis=1, keepdims=True), p[:, 1:] - Y, G)
