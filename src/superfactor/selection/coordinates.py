"""Few coordinates in place of many features, with the same inner products between samples.

Everything a fit knows of wide X is its Gram matrix XXᵀ = U·Σ²·Uᵀ (docs/method.md §8). The rows of UΣ, at
most n numbers a sample, have the same Gram matrix; so folds, centring, fits and predictions on them are
those on X itself. Standardising is the exception: it changes the inner products, so it comes before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from superfactor.spectrum import DataMatrix, compress

# Besides None.
PREPROCESSING = ("center", "standardize")


def short_rows(X: Any) -> Any:
    """Rows (n, min(n, p)) with the inner products of the rows of X (n, p); X itself where p is small."""
    compression = compress(DataMatrix(X))
    if compression is None:
        return X
    data = compression.original
    rows = compression.rows * (compression.values * data.scale)[None, :]
    # As many columns as X could have rank: a model may ask for more components than X has.
    missing = min(data.shape) - rows.shape[1]
    return np.pad(rows, ((0, 0), (0, missing))) if missing else rows


def scaler_of(preprocess: str | None) -> StandardScaler | None:
    """The first step of a pipeline that preprocesses like this."""
    return None if preprocess is None else StandardScaler(with_std=preprocess == "standardize")


class FoldRows:
    """X (n, p) as each fold sees it: preprocessed by its training part, in few coordinates.

    Parameters
    ----------
    X : (n, p), NumPy or SciPy-sparse, the columns to factorize
    covariates : (n, q) or None, columns of X that are not factorized but preprocessed like all
    extra : (n, q') or None, covariates from elsewhere, used as they are
    weight : (n,) or None
    """

    def __init__(self, X: Any, covariates: Any, extra: Any, weight: Any, preprocess: str | None):
        if preprocess is not None and sp.issparse(X):
            raise ValueError(
                f"preprocess={preprocess!r}: centring would make sparse X dense; None is allowed "
                "(scale the columns before, for example with MaxAbsScaler)"
            )
        self.covariates, self.extra = covariates, extra
        self.weight, self.preprocess = weight, preprocess
        self.squared_norm = DataMatrix(X).sum_of_squares()
        # One Gram matrix for all folds; standardised folds need one each, of X itself.
        self.X = X if preprocess == "standardize" else short_rows(X)

    @property
    def n_covariates(self) -> int:
        return sum(0 if C is None else int(C.shape[1]) for C in (self.covariates, self.extra))

    def factorized(self, train: Any) -> Any:
        """All samples (n, m) preprocessed by those at `train`, without covariates."""
        return self._scaled(self.X, train)

    def seen_by(self, train: Any) -> Any:
        """All samples (n, m + q + q') as a fit on those at `train` sees them, covariates last."""
        rows = self.factorized(train)
        if self.preprocess == "standardize":
            rows = short_rows(rows)
        blocks = [rows]
        if self.covariates is not None:
            blocks.append(self._scaled(self.covariates, train))
        if self.extra is not None:
            blocks.append(self.extra)
        if len(blocks) == 1:
            return rows
        return sp.hstack(blocks, format="csr") if sp.issparse(rows) else np.hstack(blocks)

    def _scaled(self, block: Any, train: Any) -> Any:
        scaler = scaler_of(self.preprocess)
        if scaler is None:
            return block
        weight = None if self.weight is None else self.weight[train]
        return scaler.fit(block[train], sample_weight=weight).transform(block)
