"""How features go with scores: means, variances and covariances of X and S = XV, from sums over samples.

With weights D = diag(w)/Σw, and X and S centred by their weighted means:

    C = SᵀDS (r, r),    K = XᵀDS (p, r),    σ_j² = x_jᵀDx_j.

One product with X gives K; where S is not known yet, one more. Sums over blocks of samples add up, so that
an array, a file and a cluster take the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, namespace, wide
from superfactor.spectrum import DataMatrix

# Of a mean square: a smaller variance is rounding, that of a constant.
_CONSTANT = 1e-14


@dataclass(frozen=True)
class Moments:
    """Weighted moments of features and scores, in NumPy's float64 and in the units of X and V.

    Attributes
    ----------
    total : Σw
    feature_mean, feature_scale : (p,), the mean and the standard deviation of each feature
    score_mean : (r,)
    C : (r, r), the covariance of the scores
    K : (p, r), the covariance of each feature with each score
    """

    total: float
    feature_mean: Any
    feature_scale: Any
    score_mean: Any
    C: Any
    K: Any

    @classmethod
    def of(cls, sums: tuple[Any, ...], scale: float) -> Moments:
        """From the added `score_sums` of all samples, X̃ = diag(√w)X/scale."""
        total, columns, squares, scores, CC, KK = sums
        mean, score_mean = columns / total, scores / total
        variance = squares / total - mean**2
        variance = np.where(variance > _CONSTANT * (squares / total), variance, 0.0)
        K = KK / total - np.outer(mean, score_mean)
        C = CC / total - np.outer(score_mean, score_mean)
        # What is constant goes with nothing.
        K[variance == 0] = 0.0
        return cls(
            float(total),
            mean * scale,
            np.sqrt(variance) * scale,
            score_mean * scale,
            (C + C.T) / 2 * scale**2,
            K * scale**2,
        )

    @property
    def variance(self) -> float:
        """Σ_j σ_j², the variance of X."""
        return float(np.sum(self.feature_scale**2))


def score_sums(X: DataMatrix, V: Array) -> tuple[Array, tuple[Any, ...]]:
    """X̃V (n, r), and sums: Σw, X̃ᵀ√w (p,), Σx̃² (p,), (X̃V)ᵀ√w (r,), (X̃V)ᵀX̃V (r, r), X̃ᵀX̃V (p, r).

    The large products are made of scores without their mean, which float32 would drown in; what the mean
    adds to them is added in float64.
    """
    scores = X.times(V)
    xp, fine, n = namespace(scores), wide(scores), X.shape[0]
    if X.root_weight is None:
        root = xp.ones((n, 1), dtype=fine.dtype, device=X.device)
    else:
        root = wide(X.root_weight)
    total = xp.sum(root**2)
    sums = xp.sum(root * fine, axis=0)
    mean = sums / total
    centred = fine - root * mean[None, :]
    corner = centred.T @ centred + total * mean[:, None] * mean[None, :]
    columns, squares = X.column_sums()
    K = wide(X.transpose_times(centred)) + columns[:, None] * mean[None, :]
    return scores, (total, columns, squares, sums, corner, K)


def moments_of(X: Any, V: Any, sample_weight: Any = None) -> tuple[Any, Moments]:
    """The scores XV (n, r) and their moments, of arrays in memory: X (n, p) dense or sparse, V (p, r)."""
    data = DataMatrix(X, sample_weight)
    scores, sums = score_sums(data, V)
    if data.root_weight is not None:
        scores = scores / data.root_weight
    return scores, Moments.of(sums, 1.0)
