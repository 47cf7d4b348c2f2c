"""Products of arrays with one row per sample, "tall", and small arrays.

Tall arrays (…, n, k) have the library, device and floating type of X. Small arrays, without a dimension n,
are NumPy's float64. Results of products are stored by columns: sums over the few outputs of a row are then
fast.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from superfactor._arrays import Array, device, eps, namespace, to_numpy


def there(x: Any, like: Array) -> Array:
    """Return a small array in the library, device and floating type of a tall one."""
    if type(like) is np.ndarray:
        return np.asarray(x, dtype=like.dtype)
    return namespace(like).asarray(np.ascontiguousarray(x), dtype=like.dtype, device=device(like))


def here(x: Array) -> Any:
    """Return a small array in NumPy's float64."""
    return np.asarray(x if isinstance(x, float | int) else to_numpy(x), dtype=np.float64)


def dot(J: Array, w: Any) -> Array:
    """Return Jw (…, n, κ) for tall J (n, m) or (…, n, m), small w (…, m, κ)."""
    xp, w = namespace(J), there(w, J)
    if J.ndim == w.ndim == 2:  # the usual case, in fewer calls
        return (w.T @ J.T).T
    turned = xp.matrix_transpose(w)
    if J.ndim > 2:
        return xp.matrix_transpose(turned @ xp.matrix_transpose(J))
    *many, kappa, m = turned.shape
    flat = xp.reshape(turned, (math.prod(many) * kappa, m)) @ J.T
    return xp.matrix_transpose(xp.reshape(flat, (*many, kappa, J.shape[0])))


def pull(J: Array, E: Array) -> Any:
    """Return JᵀE (…, m, κ), small, for tall J (n, m) or (…, n, m) and E (…, n, κ)."""
    xp = namespace(J)
    if J.ndim == E.ndim == 2:
        return here((E.T @ J).T)
    turned = xp.matrix_transpose(E)
    if J.ndim > 2:
        return here(xp.matrix_transpose(turned @ J))
    *many, kappa, n = turned.shape
    flat = xp.reshape(turned, (math.prod(many) * kappa, n)) @ J
    return here(xp.matrix_transpose(xp.reshape(flat, (*many, kappa, J.shape[1]))))


def beside(*parts: Array) -> Array:
    """Return tall arrays as one, side by side; leading dimensions are broadcast."""
    xp = namespace(*parts)
    many = max((part.shape[:-2] for part in parts), key=len)
    return xp.concat([xp.broadcast_to(part, (*many, *part.shape[-2:])) for part in parts], axis=-1)


def norms(T: Array) -> Any:
    """Return the norms of the columns (k,)."""
    return here(namespace(T).linalg.vector_norm(T, axis=0))


def orthonormal(T: Array, S: Array | None = None) -> Array:
    """Return an orthonormal basis of the columns of T (N, k), or of their parts outside the orthonormal S."""
    size, least = norms(T), 1e-12 if eps(T) < 1e-10 else 1e-5
    T = dot(T, np.eye(len(size))[:, size > 0] / size[size > 0])
    for _ in range(3):
        if S is not None:
            T = T - dot(S, pull(S, T))
        K = pull(T, T)
        if np.abs(K - np.eye(len(K))).max(initial=0) < least:
            break
        values, V = np.linalg.eigh(K)
        kept = values > least
        T = dot(T, V[:, kept] / np.sqrt(values[kept]))
    return T
