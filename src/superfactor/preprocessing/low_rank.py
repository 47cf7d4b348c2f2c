"""`LowRankImputer`: fill missing values from factors of the observed ones."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from superfactor._arrays import Array
from superfactor.preprocessing.cells import listed
from superfactor.preprocessing.columns import advising_reindex, names_of, refuse_large
from superfactor.preprocessing.completion import Completion, FillingFactors
from superfactor.preprocessing.masking import MaskedFits
from superfactor.spectrum.rows import column_positions


class LowRankImputer(TransformerMixin, BaseEstimator):
    """Fill missing values (NaN) by probabilistic PCA, for tables with correlated columns.

    Columns are standardised by their observed values, so they may have different units. The filled table is
    modelled as a few factors plus noise, and factors are shrunk according to the noise. The number of factors
    is the one that predicts hidden entries best. No label is used: training and new samples are filled in the
    same way.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        The largest number of factors; 0 fills with the mean. "auto" hides 5 % of the observed entries and
        tries 0, 1, 2, 3, 5, 8, 12, … factors, and the numbers between two of these if the error falls by a
        fifth. It takes the fewest factors whose error is within 0.2 % of the smallest one, or below 0.001
        (ten times `tol`, if larger).
    max_components : int, default=60
        The largest number that "auto" tries. For n samples and p features at most min(n − 1, p) − 1 are used.
    passthrough_columns : column name(s), index(es) or boolean mask, optional
        Columns that stay unchanged, including NaN, and are not used, such as covariates and confounders. In
        a pandas DataFrame they may contain text; the output is then a DataFrame too.
    keep_empty_features : bool, default=False
        Keep columns without any value at ``fit``, filled with 0. Columns then have the same positions
        whichever samples are fitted.
    tol : float, default=1e-4
        The iteration stops when the fill changes by less than this many standard deviations (root mean
        square).
    max_iter : int, default=300
    random_state : int, RandomState instance or None, default=0
        Seed of the choice of hidden entries.

    Attributes
    ----------
    n_components_ : int
        Number of factors above the noise.
    mean_, scale_ : ndarray (p,)
        Mean and scale of the p columns that are filled. `mean_` also fills samples without any value.
    components_ : ndarray ``(n_components_, p)``
        Orthonormal, for the standardised columns.
    rms_error_ : float
        Root mean square error of the hidden entries, filled as in new samples, in standard deviations of
        their columns. Columns are weighted by their number of missing entries. Filling with the mean has an
        error of about 1. NaN if there are too few entries to hide; a warning is raised if the error of the
        missing entries may be different.
    rms_errors_ : dict from int to float
        The error by number of components. Hidden entries have equal weight, except for the chosen number.
    n_iter_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Columns without any value are left out of the output, with a warning that names them, unless
    `keep_empty_features`. Observed values never change: a table without NaN is returned as a copy.
    ``fit_transform(X)`` equals ``fit(X).transform(X)`` exactly, and each row is filled independently.

    The fixed point of the iteration is that of Josse and Husson's regularised iterative PCA [1]_; it is
    computed with Anderson acceleration. ``fit`` needs up to three times the memory of X in addition to X;
    ``transform`` needs little more than its output.

    References
    ----------
    .. [1] Josse, Husson (2016), missMDA: a package for handling missing values in multivariate data
       analysis. Journal of Statistical Software 70.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from superfactor.preprocessing import LowRankImputer
    >>> X = load_breast_cancer().data
    >>> gone = np.random.default_rng(0).random(X.shape) < 0.1
    >>> imputer = LowRankImputer()
    >>> filled = imputer.fit_transform(np.where(gone, np.nan, X))
    >>> error = ((filled - X) / X.std(axis=0))[gone]
    >>> bool(np.sqrt(np.mean(error**2)) < 0.5)  # by the means of the columns: 1.0
    True
    """

    _parameter_constraints = {  # noqa: RUF012  (scikit-learn's name and type)
        "n_components": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "max_components": [Interval(Integral, 1, None, closed="left")],
        "keep_empty_features": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        max_components: int = 60,
        passthrough_columns: Any = None,
        keep_empty_features: bool = False,
        tol: float = 1e-4,
        max_iter: int = 300,
        random_state: Any = 0,
    ):
        self.n_components = n_components
        self.max_components = max_components
        self.passthrough_columns = passthrough_columns
        self.keep_empty_features = keep_empty_features
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn means, scales and factors from X (n_samples, n_features), NaN where missing; y is ignored."""
        self._validate_params()
        X = self._checked(X, reset=True)
        self._choose_columns(X)
        Z, missing = self._take(X)
        refuse_large(Z, self._names_used)
        self.mean_, self.scale_ = _standardise(Z, missing)
        best, fill = self._learn_from_hidden(Z, missing)
        completion = Completion(Z, missing)
        completion.fill = fill
        factors = completion.run(best, self.tol, self.max_iter)
        self.n_iter_ = completion.n_iter
        if completion.change > self.tol:
            warnings.warn(
                f"LowRankImputer: the fill still changes by {completion.change:.1g} standard deviations "
                f"after max_iter={self.max_iter}; the values are usable, but a larger max_iter or fewer "
                "components are needed for convergence",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.components_, self.n_components_ = factors.components, len(factors.components)
        self._factors = FillingFactors(
            np.zeros_like(factors.mean), factors.components, factors.ridge, factors.codes[:0]
        )
        self.mean_ = self.mean_ + factors.mean * self.scale_
        return self

    def transform(self, X: Any) -> Array:
        """Return X (n_samples, n_features) with its missing values filled, as a new array."""
        check_is_fitted(self)
        given, X = X, self._checked(X, reset=False)
        out = X[:, self._kept] if len(self._kept) < X.shape[1] else X.copy()
        empty = out[:, self._empty]
        out[:, self._empty] = np.where(np.isnan(empty), 0.0, empty)
        self._factors.complete(out, self._places, self.mean_, self.scale_, self._names_used)
        return self._with_words(given, out)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return names of the columns of ``transform``: those of X without columns that had no value."""
        check_is_fitted(self)
        return _check_feature_names_in(self, input_features)[self._kept]

    # --- steps of fit ------------------------------------------------------------------------------------

    def _checked(self, X: Any, *, reset: bool) -> Array:
        if sp.issparse(X):
            raise TypeError(
                "X: sparse matrices have no missing values to fill (an entry not stored is 0); leave the "
                "imputer out, or give X.toarray() with NaN"
            )
        if words := self._words(X):
            X = X.copy(deep=False)
            for j in words:  # they are passed through unchecked
                X.isetitem(j, np.nan)
        with advising_reindex(self, X):
            return validate_data(
                self, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
            )

    def _words(self, X: Any) -> list[int]:
        """Return positions of passthrough columns of a DataFrame that contain text, such as a batch."""
        if self.passthrough_columns is None or not hasattr(X, "isetitem"):
            return []
        handed = self._handed_on(X.shape[1], [str(name) for name in X.columns])
        return [j for j in handed if np.asarray(X.iloc[:, j]).dtype.kind not in "iufb"]

    def _handed_on(self, count: int, names: list[str] | None) -> list[int]:
        given, said = self.passthrough_columns, f"passthrough_columns={self.passthrough_columns!r}"
        return [] if given is None else column_positions(given, count, names, said)

    def _with_words(self, X: Any, out: Array) -> Any:
        """Return the output with the text columns of X; a DataFrame if there are any."""
        words = self._words(X)
        if not words:
            return out
        table = X.iloc[:, self._kept].copy(deep=False)
        for place, j in enumerate(self._kept):
            if j not in words:
                table.isetitem(place, out[:, place])
        return table

    def _choose_columns(self, X: Array) -> None:
        """Set which columns are filled, which are passed through, and their positions in the output."""
        names = getattr(self, "feature_names_in_", None)
        used = np.ones(X.shape[1], dtype=bool)
        used[self._handed_on(X.shape[1], None if names is None else list(names))] = False
        if not used.any():
            raise ValueError(
                f"passthrough_columns={self.passthrough_columns!r}: all n_features={X.shape[1]} of X are "
                "passed through; at least one to fill is required, or leave the imputer out"
            )
        empty = used & np.isnan(X).all(axis=0)
        self._empty = np.flatnonzero(empty) if self.keep_empty_features else np.empty(0, dtype=int)
        if empty.any() and empty.sum() == used.sum():
            raise ValueError("X: no column has a value; at least one observed number is required")
        if empty.any() and not self.keep_empty_features:
            shown = [str(j) if names is None else repr(names[j]) for j in np.flatnonzero(empty)]
            warnings.warn(
                f"X: {len(shown)} column(s) without any value left out: {listed(shown)}",
                UserWarning,
                stacklevel=3,
            )
        self._kept = np.flatnonzero(~empty | self.keep_empty_features)
        self._used = np.flatnonzero(used & ~empty)
        self._places = np.searchsorted(self._kept, self._used)

    @property
    def _names_used(self) -> list[str]:
        names = names_of(self)
        return [names[j] for j in self._used]

    def _take(self, X: Array) -> tuple[Array, Array]:
        """Return a copy of the columns to fill, with 0 for missing entries, and positions of the latter."""
        Z = X[:, self._used] if len(self._used) < X.shape[1] else X.copy()
        Z = np.ascontiguousarray(Z)
        missing = np.flatnonzero(np.isnan(Z)).astype(_integers(Z.size))
        Z.reshape(-1)[missing] = 0.0
        return Z, missing

    def _learn_from_hidden(self, Z: Array, missing: Array) -> tuple[int, Any]:
        """Return the rank, and the fill (m,) from which the completion starts; only fills of Z change."""
        limit = max(min(Z.shape[0] - 1, Z.shape[1]) - 1, 0)
        auto = self.n_components == "auto"
        path = _path(min(limit, self.max_components if auto else int(self.n_components)))
        rng = check_random_state(self.random_state)
        fits = MaskedFits(Z, missing, rng, self.tol, self.max_iter)
        if not fits:
            self.rms_errors_, self.rms_error_ = {}, np.nan
            return path[0 if auto else -1], 0.0
        best, errors = fits.choose(path, fewest=auto)
        found = fits.settle(best)
        self.rms_error_, self.rms_errors_ = found.error, errors | {best: found.error}
        if found.doubt:
            warnings.warn(
                "X: the error of filled values is uncertain: its estimate depends on which of the known "
                "values are hidden",
                UserWarning,
                stacklevel=3,
            )
        return best, found.fill

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _integers(size: int) -> Any:
    """Return the smallest integer type for positions among this many entries."""
    return np.int32 if size <= np.iinfo(np.int32).max else np.int64


def _path(most: int) -> list[int]:
    """Return 0, 1, 2, 3, 5, 8, 12, 18, … up to `most`: each is about 1.5 times the one before."""
    ranks = [0]
    while ranks[-1] < most:
        ranks.append(min(ranks[-1] + max(ranks[-1] + 1, 2) // 2, most))
    return ranks


def _standardise(Z: Array, missing: Array) -> tuple[Array, Array]:
    """Scale the observed values of each column to mean 0 and s.d. 1, in place; missing ones are 0.

    Constant columns get the scale 1.
    """
    n, p = Z.shape
    flat = Z.reshape(-1)
    counts = n - np.bincount(missing % p, minlength=p)
    mean = (Z.sum(axis=0, dtype=np.float64) / counts).astype(Z.dtype)
    Z -= mean
    flat[missing] = 0.0
    scale = np.sqrt(np.einsum("ij,ij->j", Z, Z, dtype=np.float64) / counts).astype(Z.dtype)
    constant = scale <= 10 * np.finfo(Z.dtype).eps * np.abs(mean)
    scale[constant] = 1.0
    Z /= scale
    Z[:, constant] = 0.0
    return mean, scale
