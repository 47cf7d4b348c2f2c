"""The leading eigenvectors of a symmetric matrix that is known by its products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from superfactor._new.tall import orthonormal


def leading_eigenvectors(
    times: Callable[[Any], Any],
    start: Any,
    rank: int,
    tol: float,
    corrected: Callable[[Any, Any], Any] = lambda R, values: R,
    rounds: int = 100,
) -> tuple[Any, Any, Any]:
    """Return the leading eigenpairs of M (m, m) by Rayleigh and Ritz in a subspace that grows by residuals.

    Parameters
    ----------
    times : callable
        T (m, k) ↦ MT.
    start : array (m, j)
        The first subspace; columns may be dependent.
    rank : int
    tol : float
        Largest residual, relative to the largest eigenvalue.
    corrected : callable, optional
        Residuals R (m, k) and Ritz values (k,) ↦ the directions that extend the subspace (Davidson); R by
        default (Lanczos).
    rounds : int

    Returns
    -------
    values (r,), vectors (m, r), residuals (r,)
        Ritz values in descending order, Ritz vectors, the norms of their residuals; r ≤ rank.
    """
    basis, image = np.empty((len(start), 0)), np.empty((len(start), 0))
    most, fresh = 10 * rank + 3 * start.shape[1], start
    for _ in range(rounds):
        fresh = orthonormal(fresh, basis)
        basis, image = np.hstack([basis, fresh]), np.hstack([image, times(fresh)])
        K = basis.T @ image
        values, V = np.linalg.eigh((K + K.T) / 2)
        turn = V[:, ::-1]
        values, V = values[::-1][:rank], turn[:, :rank]
        S = basis @ V
        R = image @ V - S * values
        size = np.linalg.norm(R, axis=0)
        bad = size > tol * np.abs(values).max(initial=0.0)
        if not bad.any() or fresh.shape[1] == 0:
            break
        fresh = corrected(R, values)[:, bad]
        if basis.shape[1] > most:  # go on with its best part
            basis, image = basis @ turn[:, : 3 * rank], image @ turn[:, : 3 * rank]
    return values, S, size
