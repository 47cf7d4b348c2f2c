"""Bounds of rounding errors, which certificates take into account (docs/method.md §19).

The rounding errors of a sum of k terms behave like independent ones: their total stays below λ√k·u times the
sum of the sizes of the terms with a probability of at least 1 − 2exp(−λ²/2) (Higham and Mary, SIAM J. Sci.
Comput. 41, 2019). Here u is half of ε, the distance between 1 and the next number. For λ = 4 the bound is
2√k·ε.
"""

from __future__ import annotations

import math

import numpy as np

_DOUBLE = float(np.finfo(np.float64).eps)


def product_rounding(terms: int, epsilon: float = _DOUBLE) -> float:
    """Return the relative bound for sums of `terms` products: |computed − a·b| ≤ bound · |a|·|b|."""
    return 2 * math.sqrt(max(terms, 1)) * epsilon


def eigen_rounding(size: int, epsilon: float = _DOUBLE) -> float:
    """Return the backward error of eigenvalues and singular values of a matrix of this size.

    Relative to the norm of the matrix.
    """
    return 4 * math.sqrt(max(size, 1)) * epsilon
