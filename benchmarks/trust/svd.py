"""Singular values of a badly scaled matrix, all of them to many digits, in long double.

LAPACK's singular values are right to 1e-16 of the *largest*. Where columns differ by sixteen orders, nothing
is left of the small ones. Householder QR of sorted rows with pivoted columns errs by a last digit of every
row, one-sided Jacobi by a last digit of every singular value (Drmač and Veselić, SIAM J. Matrix Anal. 29,
2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any

#: Rounding of the long double, 5e-20 where it has 64 bits; that of a double where it has no more.
EPS = float(np.finfo(np.longdouble).eps)
SWEEPS = 30


def accurate_svd(X: Array) -> tuple[Array, Array, Array]:
    """L (n, m), σ (m,) descending and V (p, m) with X = L·diag(σ)·Vᵀ, in long double; zero σ are left out.

    Parameters
    ----------
    X : (n, p)
    """
    X = np.asarray(X, dtype=np.longdouble)
    sizes = np.sqrt((X * X).sum(axis=0))
    order = np.argsort(-sizes, kind="stable")
    Q, R = pivoted_qr(X.T[order])
    rows, turned = orthogonal_rows(R, Q.T)
    sigma = np.sqrt((rows * rows).sum(axis=1))
    # What rounding of each feature may have left in this direction.
    noise = 1e3 * EPS * (np.abs(turned) @ sizes[order])
    kept = np.flatnonzero(sigma > noise)
    kept = kept[np.argsort(-sigma[kept], kind="stable")]
    V = np.empty((X.shape[1], len(kept)), dtype=np.longdouble)
    V[order] = turned[kept].T
    return (rows[kept] / sigma[kept, None]).T, sigma[kept], V


def pivoted_qr(M: Array) -> tuple[Array, Array]:
    """Q (p, m) with orthonormal columns and R (m, n), M = QR, by reflections; columns are not moved."""
    M = M.copy()
    p, n = M.shape
    m = min(p, n)
    reflections, done = [], np.zeros(n, dtype=bool)
    for k in range(m):
        left = np.where(done, -1.0, (M[k:] ** 2).sum(axis=0))
        j = int(np.argmax(left))
        done[j] = True
        v = M[k:, j].copy()
        norm = np.sqrt(v @ v)
        if norm == 0:
            m = k
            break
        v[0] += norm if v[0] >= 0 else -norm
        v /= np.sqrt(v @ v)
        M[k:] -= 2 * np.outer(v, v @ M[k:])
        reflections.append(v)
    Q = np.eye(p, m, dtype=M.dtype)
    for k in reversed(range(m)):
        v = reflections[k]
        Q[k:] -= 2 * np.outer(v, v @ Q[k:])
    return Q, M[:m]


def orthogonal_rows(R: Array, Q: Array) -> tuple[Array, Array]:
    """J·R with orthogonal rows and J·Q, J (m, m) orthogonal: one-sided Jacobi, m/2 pairs of rows at once."""
    m, n = R.shape
    both = np.concatenate([R, Q], axis=1)
    seats = list(range(m + m % 2))
    for _ in range(SWEEPS):
        turned = False
        for _ in range(len(seats) - 1):
            half = len(seats) // 2
            pairs = [
                (i, j) for i, j in zip(seats[:half], seats[: half - 1 : -1], strict=True) if max(i, j) < m
            ]
            turned |= _turn(both, n, *np.array(pairs, dtype=int).reshape(-1, 2).T)
            seats = [seats[0], seats[-1], *seats[1:-1]]
        if not turned:
            break
    return both[:, :n], both[:, n:]


def _turn(both: Array, n: int, i: Array, j: Array) -> bool:
    """Make rows i and j orthogonal, in place, and say whether any was not."""
    first, second = both[i], both[j]
    a, b = (first[:, :n] ** 2).sum(axis=1), (second[:, :n] ** 2).sum(axis=1)
    c = (first[:, :n] * second[:, :n]).sum(axis=1)
    off = np.abs(c) > 16 * EPS * np.sqrt(a * b)
    if not off.any():
        return False
    zeta = (b - a) / (2 * np.where(off, c, 1))
    t = np.where(zeta >= 0, 1, -1) / (np.abs(zeta) + np.sqrt(1 + zeta * zeta))
    t = np.where(off, t, 0)[:, None]
    cos = 1 / np.sqrt(1 + t * t)
    both[i], both[j] = cos * (first - t * second), cos * (second + t * first)
    return True
