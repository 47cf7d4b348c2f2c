"""Where 95 % of new samples of a class would lie, were they normally distributed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import f

# A plane needs at least this many samples for a covariance that means anything.
FEWEST_SAMPLES = 4
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Ellipse:
    """A class on r factors; any two of them give an ellipse {x: (x−m)ᵀS⁻¹(x−m) = radius²}.

    Attributes
    ----------
    mean : m (r,)
    covariance : S (r, r), with denominator n − 1
    radius : of a plane: √(2(n−1)(n+1)/(n(n−2))·F), F the 95 % quantile of F(2, n−2); √5.99 for large n
    """

    mean: Any
    covariance: Any
    radius: float

    def extent(self) -> tuple[Any, Any]:
        """The lowest and highest point of the ellipses on each factor (r,), (r,)."""
        reach = self.radius * np.sqrt(np.diag(self.covariance))
        return self.mean - reach, self.mean + reach


def ellipse(scores: Any) -> Ellipse | None:
    """The ellipse of a class with these scores (n, r); None where there are too few samples."""
    n = len(scores)
    if n < FEWEST_SAMPLES:
        return None
    quantile = f.ppf(LEVEL, 2, n - 2)
    radius = float(np.sqrt(2 * (n - 1) * (n + 1) / (n * (n - 2)) * quantile))
    return Ellipse(scores.mean(axis=0), np.atleast_2d(np.cov(scores, rowvar=False)), radius)
