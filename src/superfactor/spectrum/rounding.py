"""How much floating-point arithmetic may change: the bounds that certificates allow for (docs/method.md §19).

Rounding errors of a sum of k terms add up like independent ones: their total stays below λ√k·u times the sum
of the terms' sizes with a probability of at least 1 − 2exp(−λ²/2) (Higham and Mary, SIAM J. Sci. Comput. 41,
2019), u half of the distance ε between 1 and the next number. With λ = 4 that is 2√k·ε.
"""

from __future__ import annotations

import math

import numpy as np

_DOUBLE = float(np.finfo(np.float64).eps)


def product_rounding(terms: int, epsilon: float = _DOUBLE) -> float:
    """For sums of so many products: |computed − a·b| ≤ this · |a|·|b|."""
    return 2 * math.sqrt(max(terms, 1)) * epsilon


def eigen_rounding(size: int, epsilon: float = _DOUBLE) -> float:
    """For eigenvalues and singular values of a matrix of this side: the change of the matrix that explains
    their errors, relative to its norm.
    """
    return 4 * math.sqrt(max(size, 1)) * epsilon
