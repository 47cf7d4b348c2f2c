"""How much each further factor could add, and where to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.utils import check_array

from superfactor.spectrum import DataMatrix

# The Gram matrix of a side up to this size is decomposed in full; beyond, only its top is found.
_FULL_SIDE = 2000


@dataclass(frozen=True)
class Scree:
    """The singular values of a data matrix.

    Attributes
    ----------
    singular_values : array of shape (k,)
        σ, descending.
    share : array of shape (k,)
        σ²/‖X‖², the share of the total sum of squares.
    total : float
        ‖X‖², that of all singular values and not of the first k alone.
    elbow : int
        The rank after which little is gained, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.selection import scree
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 20)) + 0.1 * rng.standard_normal((60, 20))
    >>> found = scree(X, n_values=5)
    >>> found.share.round(2)
    array([0.58, 0.24, 0.18, 0.  , 0.  ])
    >>> found.elbow
    3
    """

    singular_values: np.ndarray
    share: np.ndarray
    total: float
    elbow: int


def scree(X: Any, *, n_values: int | None = None, center: bool = True) -> Scree:
    """Singular values of X (n, p), and the rank at their elbow.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
    n_values : int, optional
        How many to compute; default min(50, n_samples, n_features).
    center : bool, default=True
        Take the mean of each feature off first (sparse X stays sparse). Without it the first value
        is mostly that of the means.

    Returns
    -------
    scree : Scree
        The largest values, their shares and the elbow.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.selection import scree
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 20)) + 0.1 * rng.standard_normal((60, 20))
    >>> scree(X).elbow  # three directions and noise
    3
    """
    X = check_array(X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32])
    k = min(50 if n_values is None else n_values, *X.shape)
    if k < 1:
        raise ValueError(f"n_values={n_values}: a number from 1 to {min(X.shape)} is required")
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel() * float(center)
    data = DataMatrix(X)
    total = data.sum_of_squares() - X.shape[0] * float(mean @ mean)
    total = max(total, 0.0)
    if min(X.shape) <= _FULL_SIDE:
        squares = np.linalg.eigvalsh(_gram(data, mean))[::-1][:k]
    else:
        start = np.random.default_rng(0).standard_normal(min(X.shape))
        squares = np.sort(svds(_centred(X, mean), k, v0=start, return_singular_vectors=False))
        squares = squares[::-1] ** 2
    values = np.sqrt(np.maximum(squares, 0.0))
    share = values**2 / total if total > 0 else np.zeros(k)
    return Scree(values, share, total, elbow(values))


def _gram(data: DataMatrix, mean: np.ndarray) -> Any:
    """The Gram matrix of the smaller side of X − 1·meanᵀ, in float64."""
    n, p = data.shape
    K: np.ndarray = data.gram()
    if n > p:
        return K - n * np.outer(mean, mean)
    if not mean.any():
        return K
    rows = K.mean(axis=1)  # X·mean
    return K - rows[:, None] - rows[None, :] + rows.mean()


def _centred(X: Any, mean: np.ndarray) -> LinearOperator:
    """X − 1·meanᵀ through its products."""
    return LinearOperator(
        X.shape,
        matvec=lambda v: X @ v.ravel() - mean @ v.ravel(),
        rmatvec=lambda u: X.T @ u.ravel() - mean * u.sum(),
        dtype=np.float64,
    )


def elbow(values: Any) -> int:
    """The number of values before the curve flattens: the point farthest below its chord.

    Parameters
    ----------
    values : array-like of shape (k,)
        Descending, for example singular values.

    Returns
    -------
    rank : int
        From 1 to k. The chord joins the first value and the last; the farthest point below it is
        where the curve has stopped falling, so the factors before it are counted.

    Examples
    --------
    >>> from superfactor.selection import elbow
    >>> elbow([10.0, 9.0, 1.0, 0.9, 0.8])
    2
    """
    v = np.asarray(values, dtype=float)
    v = v[v > 1e-6 * max(v[0], 0.0)]  # centring leaves a last value of rounding errors
    if v.size < 3 or not v[0] > v[-1]:
        return 1
    chord = np.linspace(v[0], v[-1], v.size)
    return max(int(np.argmax(chord - v)), 1)
