"""Few coordinates in place of many features, with the same inner products between samples.

Everything a fit knows of wide X is its Gram matrix XXᵀ = U·Σ²·Uᵀ (docs/method.md §8). The rows of UΣ, at
most n numbers a sample, have the same Gram matrix; so centring, fits and predictions on them are those on
X itself. What changes the inner products, standardising or completing gaps, comes before.

Folds are sealed: the coordinates of a fold are those of its training rows UΣQᵀ, and any other row x has
xᵀQ in them. What x has outside the span of Q is nothing to a model of the training rows, whose atoms lie in
it. So no number in a test row changes a bit of what is learned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_array

from superfactor.estimators import inputs
from superfactor.estimators.covariates import CovariateEncoder, codes_inside, learn_inside
from superfactor.estimators.inputs import take
from superfactor.options import Options
from superfactor.selection.rows.blocks import fold_type, taken
from superfactor.selection.rows.preprocessing import fresh, has_gaps, quiet, scaler_of
from superfactor.selection.rows.range import LONGEST, longest_in, shortened, too_long
from superfactor.spectrum import DataMatrix, compress

# So many columns of a float32 X are multiplied in float64 at a time.
_COLUMNS = 8192

Pair = tuple[Any, Any]


def short_rows(X: Any, gram: Any = None) -> Any:
    """Rows (n, min(n, p)) with the inner products of the rows of X (n, p); X itself where p is small.

    `gram` is XXᵀ (n, n), where it is known.
    """
    return sealed(X, X[:0], gram)[0]


def sealed(inside: Any, outside: Any, gram: Any = None, products: Any = None) -> Pair:
    """Training rows (n, p) and others (k, p) in min(n, p) coordinates that the training rows alone determine.

    These keep their inner products with each other and with the others, `gram` (n, n) and `products` (k, n)
    where known. Both as they are where p is small, or where what a transformer made of the training rows
    cannot be squared, which is for the fit to say.
    """
    gram = _gram(inside) if gram is None else gram
    if gram is None or not np.isfinite(np.trace(gram)):
        return inside, outside
    compression = compress(DataMatrix(inside), gram=gram)
    if compression is None:
        return inside, outside
    # As many columns as X could have rank: a model may ask for more components than X has.
    missing = min(inside.shape) - len(compression.values)
    known = compression.rows * compression.values[None, :]
    others = compression.coordinates(
        outside, lambda: _products(outside, inside) if products is None else products
    )
    padded = [np.pad(rows, ((0, 0), (0, missing))) for rows in (known, others)]
    return padded[0], padded[1]


def _gram(X: Any) -> Any:
    """XXᵀ (n, n) of wide X in float64, else None. An entry depends on two rows only, to the last bit."""
    if not Options().compression_pays(X.shape, X.nnz if sp.issparse(X) else None):
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # of rows that may belong to no fit
        return DataMatrix(X).gram()


def _products(A: Any, B: Any) -> Any:
    """ABᵀ in float64."""
    if sp.issparse(A):
        return (A.astype(np.float64, copy=False) @ B.astype(np.float64, copy=False).T).toarray()
    if A.dtype == np.float64:
        return A @ B.T
    parts = [slice(start, start + _COLUMNS) for start in range(0, A.shape[1], _COLUMNS)]
    return sum(A[:, part].astype(np.float64) @ B[:, part].astype(np.float64).T for part in parts)


class FoldRows:
    """X (n, p) as each fold sees it: preprocessed by its training part, in few coordinates of that.

    Parameters
    ----------
    X : (n, p), NumPy or SciPy-sparse, the columns to factorize
    covariates : (n, q) or None, columns of X that are not factorized but preprocessed like all
    extra : (n, q') or None, covariates from elsewhere, used as they are
    weight : (n,) or None
    preprocess : None, "center" or "standardize"
    imputer : completes X, a transformer that is not fitted; None where X has no gaps
    exposures : (n, 1) or None, what counts are out of, which nothing may change
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
        exposures: Any = None,
    ):
        self._sparse = sp.issparse(X)
        if preprocess == "center" and self._sparse:
            raise ValueError(
                "preprocess='center': centring would make sparse X dense; None and 'standardize', which "
                "leaves the means of sparse X, are allowed"
            )
        self.X, self.covariates, self.extra = X, covariates, extra
        self.weight, self.preprocess, self.imputer = weight, preprocess, imputer
        self.exposures = exposures
        # One Gram matrix for all folds; what folds change needs one each.
        self._changed = preprocess == "standardize" or imputer is not None
        self._gram = None if self._changed else _gram(X)
        self._long = _all_too_long(X, covariates, extra)
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

    def exposed(self, rows: Any, at: Any) -> Any:
        """Rows of the samples at `at`, their exposures behind them where there are any."""
        return rows if self.exposures is None else joined([rows, self.exposures[at]])

    def roles(self, width: int) -> dict[str, Any]:
        """Parameters of an estimator: which columns of `exposed` rows are what; without these, `width`."""
        found: dict[str, Any] = {"covariate_columns": list(range(width - self.n_covariates, width)) or None}
        return found if self.exposures is None else {**found, "exposure_column": width}

    def factorized(self, y: Any, *, preprocessed: bool = False) -> Any:
        """All samples (n, m) preprocessed by all of them, without covariates, in few coordinates.

        Tall rows are X itself, and no copy, if they are preprocessed already.
        This is no fold: rows that no fit could take are shortened, so that the units of a grid exist.
        """
        X = shortened(self.X, LONGEST / self.n_samples)
        _refuse_nothing(X, self.centred)
        everyone = np.arange(self.n_samples)
        if self._keeps_columns(self.n_samples) and preprocessed:
            rows = X
        elif self._keeps_columns(self.n_samples):
            rows = self._taken(X, everyone, everyone[:0])[0]
        elif self._changed:
            rows = short_rows(self._preprocessed(X, X[:0], everyone)[0])
        else:
            rows = short_rows(X, self._gram if X is self.X else None)
            rows = self._scaled(rows, rows[:0], everyone)[0]
        return shortened(rows, longest_in(rows) / self.n_samples)

    def seen_by(self, train: Any, test: Any, y: Any) -> Pair:
        """The samples at `train` and those at `test` (·, m + q + q') as a fit on the former sees them.

        Covariates are the last columns. The labels `y` (n,) are for transformers that ask for them, and only
        those at `train`. A row that is too long for any fit (`superfactor.selection.rows.range`) is shortened
        at `test`, and a ValueError at `train`.
        """
        if np.isin(train, self._long).any():
            raise ValueError(
                f"X: the root of the sum of squares is above {LONGEST:.0e} in a single row, beyond which "
                "squares leave the range of float64. Rescale X"
            )
        rows, covariates = self._parts(train, test, y)
        blocks = [rows, covariates, self._of(self.extra, train, test)]
        inside, outside = zip(*(block for block in blocks if block is not None), strict=True)
        return joined(inside), joined([shortened(block, longest_in(block)) for block in outside])

    def _parts(self, train: Any, test: Any, y: Any) -> tuple[Pair, Pair | None]:
        """The columns to factorize, in few coordinates, and the covariates among them."""
        covariates = self._of(self.covariates, train, test)
        if covariates is not None:
            covariates = self._scaled(*covariates, train)
        if self._keeps_columns(len(train)):
            return self._taken(self.X, train, test), covariates
        inside, outside = (take(self.X, at, axis=0) for at in (train, test))
        short = shortened(outside, LONGEST)
        if self._changed:
            inside, outside = self._preprocessed(inside, short, train)
            return sealed(inside, shortened(outside, LONGEST)), covariates
        gram = products = None
        if self._gram is not None:
            gram, products = (self._gram[np.ix_(at, train)] for at in (train, test))
            long = np.flatnonzero(np.isin(test, self._long))
            products[long] = _products(take(short, long, axis=0), inside)
        return self._scaled(*sealed(inside, short, gram, products), train), covariates

    def _keeps_columns(self, n_train: int) -> bool:
        """Return whether folds with so many training samples keep the columns of X."""
        if self._sparse or self.imputer is not None or self._gram is not None:
            return False
        return not Options().compression_pays((n_train, self.n_factorized))

    def _taken(self, X: Any, train: Any, test: Any) -> Pair:
        """Return rows of X at `train` and at `test`, scaled by those at `train`, with no other copy."""
        scaler = scaler_of(self.preprocess, sparse=False)
        with np.errstate(over="ignore", invalid="ignore"):  # the fit refuses what it cannot use
            return taken(X, train, test, scaler, self.weight, fold_type(self.X, self.preprocess))

    def _of(self, block: Any, train: Any, test: Any) -> Pair | None:
        """Covariates at `train` and `test`, missing numbers replaced by the median of those at `train`."""
        if block is None:
            return None
        inside, outside = (take(block, at, axis=0) for at in (train, test))
        return _filled(inside, shortened(outside, LONGEST))

    def _preprocessed(self, inside: Any, outside: Any, train: Any) -> Pair:
        """Completed and scaled, as the rows at `train` teach."""
        if self.imputer is not None:
            with quiet():
                step = clone(self.imputer).set_output(transform="default").fit(inside)
                inside, outside = (_made_of(step, rows) for rows in (inside, outside))
        return self._scaled(inside, outside, train)

    def _scaled(self, inside: Any, outside: Any, train: Any) -> Pair:
        scaler = scaler_of(self.preprocess, sparse=self._sparse)
        if scaler is None:
            return inside, outside
        weight = None if self.weight is None else self.weight[train]
        with np.errstate(over="ignore", invalid="ignore"):  # the fit says what it cannot take
            scaler.fit(inside, sample_weight=weight)
            return tuple(_made_of(scaler, rows) for rows in (inside, outside))


class TransformedRows(FoldRows):
    """The same for a transformer of the user's own, which sees X as the user gave it.

    Parameters
    ----------
    X : (n, …), anything whose rows can be taken
    columns : covariates among the columns of what the transformer makes of it, names or positions
    exposure : the column of exposures among them, or None
    transformer : not fitted
    y : labels (n,) as ``fit`` takes them
    """

    sees_labels = True

    def __init__(
        self, X: Any, columns: Any, extra: Any, weight: Any, transformer: Any, y: Any, exposure: Any = None
    ):
        self.X, self.extra, self.weight = X, extra, weight
        self.preprocess = self.imputer = None
        self._sparse = False  # what a transformer does to means is its own
        self._columns, self._transformer, self._changed = columns, transformer, True
        self._exposure, self.exposures = exposure, None
        X = shortened(X, LONGEST / self.n_samples)
        step = self._learned(X, y)
        with quiet():
            made = step.transform(X)
        # Levels of words are those of all samples: a rare one may be missing from a fold.
        self._words = learn_inside(made, columns)[1]
        self.exposures = inputs.exposures_in(made, exposure)
        data, self.covariates = self._split(step, made)
        self._long = _all_too_long(self.X, extra)
        self.n_factorized = int(data.shape[1])

    def _learned(self, X: Any, y: Any) -> Any:
        """The transformer, fitted to X and labels (n,)."""
        step = fresh(self._transformer, self.X)
        with quiet():
            return step.fit(X, y)

    def factorized(self, y: Any, *, preprocessed: bool = False) -> Any:
        """All samples (n, m), transformed by all of them, without covariates, in few coordinates."""
        X = shortened(self.X, LONGEST / self.n_samples)
        step = self._learned(X, y)
        with quiet():
            rows = self._split(step, step.transform(X))[0]
        _refuse_nothing(rows, centred=False)
        return shortened(short_rows(rows), longest_in(rows) / self.n_samples)

    def _parts(self, train: Any, test: Any, y: Any) -> tuple[Pair, Pair | None]:
        inside, outside = (_safe_indexing(self.X, at) for at in (train, test))
        step = self._learned(inside, y[train])
        with quiet():
            made = [step.transform(rows) for rows in (inside, shortened(outside, LONGEST))]
        (inside, own), (outside, others) = (self._split(step, rows) for rows in made)
        covariates = None if own is None else _filled(own, others)
        return sealed(inside, shortened(outside, LONGEST)), covariates

    def _split(self, step: Any, made: Any) -> tuple[Any, Any]:
        """The columns to factorize and the covariates of what the transformer made."""
        names = inputs.column_names(made)
        columns = inputs.covariate_indices(self._columns, made.shape[1], names)
        exposure = inputs.exposure_index(self._exposure, columns, made.shape[1], names)
        numbers = codes_inside(made, columns, self._words)
        data = check_array(
            numbers,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            input_name="X",
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
        rest, inside = inputs.split_apart(data, columns, exposure)
        _refuse_gaps(rest, step)
        return rest, gaps_again(self._words, self._words.expand(inside))


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


def _all_too_long(*blocks: Any) -> Any:
    """Positions of the samples that are too long for any fit in one of the blocks."""
    long = [too_long(block, LONGEST) for block in blocks if block is not None]
    return np.unique(np.concatenate(long))


def _made_of(step: Any, rows: Any) -> Any:
    """What a fitted step makes of rows; of none, none."""
    return step.transform(rows) if rows.shape[0] else rows


def _refuse_nothing(X: Any, centred: bool) -> None:
    """Raise a ValueError where preprocessing leaves nothing of X: all of it 0, or all columns constant."""
    values = X.data if sp.issparse(X) else X
    high = np.fmax.reduce(values, axis=0, initial=-np.inf)
    low = np.fmin.reduce(values, axis=0, initial=np.inf)
    size = np.maximum(np.abs(high), np.abs(low))
    # Rounding may tell the values of a constant column from each other.
    spread = high / 2 - low / 2 > 1e-13 * size if centred else (size > 0) & np.isfinite(size)
    if not np.any(spread):
        raise ValueError("X: all zero after preprocessing; features that vary are required")


def joined(blocks: Any) -> Any:
    """Blocks of columns side by side; sparse where the first one is."""
    if len(blocks) == 1:
        return blocks[0]
    return sp.hstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.hstack(blocks)


def _filled(inside: Any, outside: Any) -> Pair:
    """Covariates, missing numbers replaced by the median of those inside."""
    if not has_gaps(inside) and not has_gaps(outside):
        return inside, outside
    with np.errstate(all="ignore"), quiet():
        medians = np.nan_to_num(np.nanmedian(inside, axis=0))
    return tuple(np.where(np.isnan(rows), medians, rows) for rows in (inside, outside))


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
