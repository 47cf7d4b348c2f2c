"""Few coordinates in place of many features, with the same inner products between samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["short_rows"]

Floats = NDArray[np.float64]


def short_rows(X: Floats) -> Floats:
    """Rows (n, n) with the inner products of the rows of X (n, p), where p ≥ 2n; else X itself.

    They are those of UΣ, X = UΣVᵀ: principal components, the largest first. A method that looks at inner
    products only learns the same from them, and sooner.
    """
    n, p = X.shape
    if p < 2 * n:
        return X
    R: Any = np.linalg.qr(X.T, mode="r")  # XXᵀ = RᵀR
    U, values, _ = np.linalg.svd(R.T)
    # What rounding leaves of a value that is zero is no direction: scaled up it would be noise.
    values[values <= n * np.finfo(float).eps * values[0]] = 0.0
    rows: Floats = U * values
    return rows
