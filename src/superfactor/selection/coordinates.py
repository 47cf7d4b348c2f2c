"""Few coordinates in place of many features, with the same inner products between samples.

Everything a fit knows of wide X is its Gram matrix XXᵀ = U·Σ²·Uᵀ (docs/method.md §8). The rows of UΣ, at
most n numbers a sample, have the same Gram matrix; so folds, centring, fits and predictions on them are
those on X itself. What changes the inner products, standardising or completing gaps, comes before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_array

from superfactor.estimators import inputs
from superfactor.estimators.covariates import CovariateEncoder, codes_inside, learn_inside
from superfactor.selection.preprocessing import fresh, quiet, scaler_of
from superfactor.spectrum import DataMatrix, compress


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


class FoldRows:
    """X (n, p) as each fold sees it: preprocessed by its training part, in few coordinates.

    Parameters
    ----------
    X : (n, p), NumPy or SciPy-sparse, the columns to factorize
    covariates : (n, q) or None, columns of X that are not factorized but preprocessed like all
    extra : (n, q') or None, covariates from elsewhere, used as they are
    weight : (n,) or None
    preprocess : None, "center" or "standardize"
    imputer : completes X, a transformer that is not fitted; None where X has no gaps
    """

    #: Whether preprocessing is shown the labels of the training part.
    sees_labels = False

    def __init__(
        self,
        X: Any,
        covariates: Any,
        extra: Any,
        weight: Any,
        preprocess: str | None,
        imputer: Any = None,
    ):
        self._sparse = sp.issparse(X)
        if preprocess == "center" and self._sparse:
            raise ValueError(
                "preprocess='center': centring would make sparse X dense; None and 'standardize', which "
                "leaves the means of sparse X, are allowed"
            )
        self.covariates, self.extra = covariates, extra
        self.weight, self.preprocess, self.imputer = weight, preprocess, imputer
        # One Gram matrix for all folds; what folds change needs one each, of X itself.
        self._changed = preprocess == "standardize" or imputer is not None
        self.X = X if self._changed else short_rows(X)
        self.squared_norm = _squared_norm(X)
        self.n_factorized = int(X.shape[1])

    @property
    def n_samples(self) -> int:
        """n."""
        return int(self.X.shape[0])

    @property
    def n_covariates(self) -> int:
        """q + q'."""
        return sum(0 if C is None else int(C.shape[1]) for C in (self.covariates, self.extra))

    @property
    def centred(self) -> bool:
        """Whether means are taken off."""
        return self.preprocess is not None and not self._sparse

    @property
    def recentring(self) -> str | None:
        """How folds inside a fold preprocess: they take means off again, if any were taken off before."""
        return "center" if self.centred else None

    def factorized(self, y: Any) -> Any:
        """All samples (n, m) preprocessed by all of them, without covariates."""
        return self._parts(np.arange(self.n_samples), y)[0]

    def seen_by(self, train: Any, y: Any) -> Any:
        """All samples (n, m + q + q') as a fit on those at `train` sees them, covariates last.

        The labels `y` (n,) are for transformers that ask for them, and only those at `train`.
        """
        rows, covariates = self._parts(train, y)
        blocks = [short_rows(rows) if self._changed else rows]
        beside = (covariates, _filled(self.extra, train))
        blocks += [block for block in beside if block is not None]
        if len(blocks) == 1:
            return blocks[0]
        return sp.hstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.hstack(blocks)

    def _parts(self, train: Any, y: Any) -> tuple[Any, Any]:
        """The columns to factorize and the covariates among them, as a fit on `train` sees them."""
        X = self.X
        if self.imputer is not None:
            with quiet():
                X = clone(self.imputer).set_output(transform="default").fit(X[train]).transform(X)
        covariates = _filled(self.covariates, train)
        if covariates is not None:
            covariates = self._scaled(covariates, train)
        return self._scaled(X, train), covariates

    def _scaled(self, block: Any, train: Any) -> Any:
        scaler = scaler_of(self.preprocess, sparse=self._sparse)
        if scaler is None:
            return block
        weight = None if self.weight is None else self.weight[train]
        return scaler.fit(block[train], sample_weight=weight).transform(block)


class TransformedRows(FoldRows):
    """The same for a transformer of the user's own, which sees X as the user gave it.

    Parameters
    ----------
    X : (n, …), anything whose rows can be taken
    columns : covariates among the columns of what the transformer makes of it, names or positions
    transformer : not fitted
    y : labels (n,) as ``fit`` takes them
    """

    sees_labels = True

    def __init__(self, X: Any, columns: Any, extra: Any, weight: Any, transformer: Any, y: Any):
        self.X, self.extra, self.weight = X, extra, weight
        self.preprocess = self.imputer = None
        self._sparse = False  # what a transformer does to means is its own
        self._columns, self._transformer, self._changed = columns, transformer, True
        everyone = np.arange(int(X.shape[0]))
        step, made = self._made(everyone, y)
        # Levels of words are those of all samples: a rare one may be missing from a fold.
        self._words = learn_inside(made, columns)[1]
        data, self.covariates = self._split(step, made, everyone)
        self.squared_norm, self.n_factorized = _squared_norm(data), int(data.shape[1])

    def _made(self, train: Any, y: Any) -> tuple[Any, Any]:
        """The transformer, fitted to the samples at `train`, and what it makes of all."""
        step = fresh(self._transformer, self.X)
        with quiet():
            step.fit(_safe_indexing(self.X, train), y[train])
            return step, step.transform(self.X)

    def _parts(self, train: Any, y: Any) -> tuple[Any, Any]:
        return self._split(*self._made(train, y), train)

    def _split(self, step: Any, made: Any, train: Any) -> tuple[Any, Any]:
        """The columns to factorize and the covariates of what the transformer made."""
        names = inputs.column_names(made)
        columns = inputs.covariate_indices(self._columns, made.shape[1], names)
        numbers = codes_inside(made, columns, self._words)
        data = check_array(
            numbers,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            input_name="X",
            ensure_all_finite=False,
        )
        rest, inside = inputs.split_columns(data, columns)
        _refuse_gaps(rest, step)
        return rest, _filled(gaps_again(self._words, self._words.expand(inside)), train)


def gaps_again(words: CovariateEncoder, covariates: Any) -> Any:
    """Covariates (n, q) with NaN for numbers that were missing: folds fill them from their training part."""
    if covariates is None or not words.gaps:
        return covariates
    found = np.array(covariates)
    starts = words.starts(len(words.levels) + len(words.medians))
    for j in words.gaps:
        at = starts[j]
        found[found[:, at + 1] == 1, at] = np.nan
    return found


def _filled(block: Any, train: Any) -> Any:
    """Covariates (n, q), missing numbers replaced by the median of the samples at `train`."""
    if block is None or not np.isnan(np.sum(block)):
        return block
    with np.errstate(all="ignore"), quiet():
        medians = np.nan_to_num(np.nanmedian(block[train], axis=0))
    return np.where(np.isnan(block), medians, block)


def _refuse_gaps(X: Any, step: Any) -> None:
    """Raise a ValueError where a user's transformer leaves values that no fit can take."""
    values = X.data if sp.issparse(X) else X
    if np.isfinite(np.sum(values)):
        return
    if np.isnan(values).any():
        raise ValueError(
            f"preprocess={type(step).__name__}: NaN is left in what it makes of X; a transformer of your own "
            "has to fill gaps itself, as make_pipeline(LowRankImputer(), …) does"
        )
    if np.isinf(values).any():
        raise ValueError(f"preprocess={type(step).__name__}: infinity is in what it makes of X")


def _squared_norm(X: Any) -> float:
    """‖X‖², gaps left out."""
    if sp.issparse(X) or not np.isnan(np.sum(X)):
        return DataMatrix(X).sum_of_squares()
    return float(np.nansum(np.square(X)))
