"""Means, variances and covariances of features X and scores S = XV, from sums over samples.

With weights D = diag(w)/Σw, and X and S centred by their weighted means:

    C = SᵀDS (r, r),    K = XᵀDS (p, r),    σ_j² = x_jᵀDx_j.

K needs one product with X, and one more if S is not known yet. Sums over blocks of samples add up, so the
same code serves an array, a file and a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, eps, namespace, wide
from superfactor.spectrum import DataMatrix

# Relative to the mean square: a feature with a smaller variance is constant up to rounding.
_CONSTANT = 1e-14
# Relative to the variance from rounding: a combination of codes with less than this is spare rank.
_ROUNDING = 100.0


@dataclass(frozen=True)
class Moments:
    """Weighted moments of features and scores, in NumPy's float64 and in the units of X and V."""

    total: float  # Σw
    feature_mean: Any  # (p,), the mean and the standard deviation of each feature
    feature_scale: Any
    score_mean: Any  # (r,)
    C: Any  # (r, r), the covariance of the scores; zero for spare rank, which is only rounding errors
    K: Any  # (p, r), the covariance of each feature with each score

    @classmethod
    def of(cls, sums: tuple[Any, ...], scale: float) -> Moments:
        """Return the moments from the summed `score_sums` of all samples, X̃ = diag(√w)X/scale."""
        total, columns, squares, scores, CC, KK, rounding = sums
        mean, score_mean = columns / total, scores / total
        variance = squares / total - mean**2
        variance = np.where(variance > _CONSTANT * (squares / total), variance, 0.0)
        K = (KK.T / total - np.outer(score_mean, mean)).T
        C = CC / total - np.outer(score_mean, score_mean)
        # A constant feature has no covariance.
        K[variance == 0] = 0.0
        # Rounding of products in the type of X, and of float64 sums as large as mean squares.
        floor = rounding / total + np.finfo(float).eps * np.diag(CC) / total
        C, K = _without_spare(C, K, _ROUNDING * floor)
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
        """The variance of X, Σ_j σ_j²."""
        return float(np.sum(self.feature_scale**2))


def _without_spare(C: Any, K: Any, floor: Any) -> tuple[Any, Any]:
    """Return C (r, r) and K (p, r) without directions of codes whose variance is that of rounding.

    Parameters
    ----------
    floor : (r,), variance of each code that rounding may cause
    """
    used = np.diag(C) > floor
    scale = np.sqrt(np.where(used, np.diag(C), 1.0))
    values, U = np.linalg.eigh(np.where(np.outer(used, used), C / np.outer(scale, scale), 0.0))
    reach = np.abs(U).T @ np.where(used, np.sqrt(floor) / scale, 1.0)
    kept = values > reach**2
    if np.all(kept):
        return C, K
    U = np.where(used[:, None], U[:, kept], 0.0)
    project = U @ U.T * (scale / scale[:, None])
    return project.T @ C @ project, K @ project


def score_sums(X: DataMatrix, V: Array) -> tuple[Array, tuple[Any, ...]]:
    """Return X̃V (n, r) and sums.

    The sums are Σw, X̃ᵀ√w (p,), Σx̃² (p,), (X̃V)ᵀ√w (r,), (X̃V)ᵀX̃V (r, r), X̃ᵀX̃V (p, r), and
    ε²‖X̃‖²‖v_j‖² (r,), the squared rounding error of each code.

    The large products use centred scores, since float32 would lose the digits next to a large mean. The part
    of the mean is added in float64.
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
    # Computed by columns, the memory order of the product.
    K = (wide(X.transpose_times(centred)).T + mean[:, None] * columns[None, :]).T
    rounding = eps(scores) ** 2 * xp.sum(squares) * xp.linalg.diagonal(wide(V).T @ wide(V))
    return scores, (total, columns, squares, sums, corner, K, rounding)


def moments_of(X: Any, V: Any, sample_weight: Any = None) -> tuple[Any, Moments]:
    """Return the scores XV (n, r) and their moments, of X (n, p), dense or sparse, and V (p, r)."""
    data = DataMatrix(X, sample_weight)
    scores, sums = score_sums(data, V)
    if data.root_weight is not None:
        scores = scores / data.root_weight
    return scores, Moments.of(sums, 1.0)
