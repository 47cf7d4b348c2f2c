"""`Adjuster`: subtract from the features what a batch, a site or an age explains of them.

With Z (n, q) the centred confounders of the training samples, categories as indicators of all levels:

    B = Z⁺X,   X ← X − ZB.

In the training samples, every column of X and every factor of X is then uncorrelated with Z. From a new
sample, (z − z̄)B is subtracted with the same z̄ and B.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from superfactor.preprocessing.cells import is_missing
from superfactor.preprocessing.columns import (
    checked_table,
    column,
    is_frame,
    names_of,
    numbers,
    positions_of,
    refuse_missing,
)
from superfactor.preprocessing.levels import LevelIndicators

# Whole numbers in y are classes up to this many different values; with more they are measurements.
MOST_CLASSES = 20
# Entries of a block of columns that is processed at a time, and the fewest columns of a block.
_BLOCK, _NARROWEST = 1_000_000, 8


class Adjuster(TransformerMixin, BaseEstimator):
    """Subtract from the features what confounders among the columns of X explain of them.

    Confounders (batch, site, scanner) are removed from X, whereas covariates enter the classifier. A column
    may be both: then name it in `keep` too.

    Parameters
    ----------
    confounders : column name(s), position(s) or boolean mask, default=()
        Columns of X. Text, categories, booleans and whole numbers of up to ten different values (codes 1,
        2, 3 of batches) are categories, with an indicator for every level. From other numbers a linear
        effect is removed.
    keep : column name(s), position(s) or boolean mask, default=()
        Columns, such as covariates, that stay unchanged; they may contain NaN and text.
    spare_y : bool, default=False
        Estimate the effect of the confounders jointly with that of y, and remove the former only:
        B = (Z − YY⁺Z)⁺X. Use it if batches have unequal shares of the classes; otherwise differences between
        classes are partly removed too. Effects that cannot be separated from y stay. ``fit`` requires y and
        uses labelled samples only; ``transform`` does not need y and adjusts all samples.
    shrink : bool, default=False
        Remove less from a feature if its difference between batches may be due to chance: the share
        ``max(0, 1 − k·s²/‖ZB‖²)``, with k the rank of Z and s² the variance within batches (James and
        Stein). Useful for few samples, where least squares fits chance differences and adds noise to new
        samples.
    keep_missing : bool, default=False
        Missing values (NaN) of features stay in ``transform``, for a model that completes them in new
        samples; ``fit`` does not accept any. If False, they are an error.

    Attributes
    ----------
    confounders_ : list of str
        Names of the confounders.
    levels_ : dict from str to list of str
        The levels of categorical confounders.
    mean_ : ndarray of shape (q,)
        z̄, in the columns ``confounder_names_``, over samples with known values.
    coef_ : ndarray of shape (q, n_adjusted)
        B: the change of each feature per unit of a column of Z.
    confounder_names_ : list of q str
        Names of the columns of Z, such as ``batch=A`` for an indicator.
    kept_ : list of int
        The positions of the columns that ``transform`` returns.
    explained_ : float
        The share of the variance of the features that was removed from the training samples.
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    superfactor.interpretation.confounding : how much of each factor confounders explain, before and after.

    Notes
    -----
    If a confounder is NaN, or has a level that did not occur at ``fit``, nothing is removed for it (z = z̄).
    One UserWarning reports the number of such samples.

    If the classes are distributed unevenly over the batches, differences between batches and differences
    between classes cannot be separated: the part of the classes that the batches explain is removed too.

    In addition to X, ``fit`` needs less memory than a copy of X, and ``transform`` twice the size of its
    output. A DataFrame, or confounders between the features, require one more copy of the features.

    Fit it on training samples only, as a Pipeline does; otherwise test samples influence what is removed.

    Examples
    --------
    >>> import pandas as pd
    >>> from superfactor.preprocessing import Adjuster
    >>> X = pd.DataFrame({"gene": [1.0, 2.0, 11.0, 12.0], "batch": ["A", "A", "B", "B"]})
    >>> adjuster = Adjuster("batch").set_output(transform="pandas")
    >>> adjuster.fit_transform(X)
       gene
    0   6.0
    1   7.0
    2   6.0
    3   7.0
    >>> round(adjuster.explained_, 3)
    0.99
    """

    #: Of steps in model files of version 1.1.
    keep_missing: bool = False

    def __init__(
        self,
        confounders: Any = (),
        *,
        keep: Any = (),
        spare_y: bool = False,
        shrink: bool = False,
        keep_missing: bool = False,
    ):
        self.confounders = confounders
        self.keep = keep
        self.spare_y = spare_y
        self.shrink = shrink
        self.keep_missing = keep_missing

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn z̄ and B.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The features and, among its columns, the confounders.
        y : labels or targets (n_samples,) or (n_samples, n_targets)
            Ignored without `spare_y`. With it, samples where y is None or NaN are not used, since class and
            batch cannot be separated in them. (A code such as -1 is a class here.)
        """
        X = checked_table(self, X, reset=True)
        spared = np.empty((X.shape[0], 0))
        if self.spare_y:
            X, spared = _labelled(X, y)
        confounders = positions_of(self.confounders, self, f"confounders={self.confounders!r}")
        keep = positions_of(self.keep, self, f"keep={self.keep!r}")
        others = {*confounders, *keep}
        self._confounders, self._keep = confounders, keep
        self._adjusted = [j for j in range(self.n_features_in_) if j not in others]
        if not self._adjusted:
            raise ValueError(
                f"confounders={self.confounders!r}, keep={self.keep!r}: at least one feature to adjust is "
                f"required, but X has n_features={self.n_features_in_}"
            )
        self.kept_: list[int] = sorted({*self._adjusted, *keep})
        names = names_of(self)
        self.confounders_: list[Any] = [names[j] for j in confounders]
        columns = [column(X, j) for j in confounders]
        coding = LevelIndicators.learn(columns, self.confounders_)
        self._levels = coding.levels
        self.levels_: dict[Any, Any] = {
            name: levels
            for name, levels in zip(coding.names, coding.levels, strict=True)
            if levels is not None
        }
        self.confounder_names_: Any = coding.column_names
        features = self._features(X)
        Z = coding.encode(columns) if columns else np.empty((len(features), 0))
        known = ~np.isnan(Z)
        self.mean_: Any = np.where(known, Z, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        self._least_squares(_centred(Z, self.mean_), features, spared)
        return self

    def _least_squares(self, Z: Any, features: Any, spared: Any) -> None:
        """Estimate B (q, p) jointly with the basis `spared` (n, m), and find features that equal ZB."""
        n, q = Z.shape
        U, scaled = column_space(Z - spared @ (spared.T @ Z), self.mean_)
        k = U.shape[1]
        if q and k >= n - 1:
            raise ValueError(
                f"confounders={self.confounders!r}: they distinguish all n_samples={n}, as a category with "
                "one level per sample does, and explain everything; fewer are required"
            )
        p, free = features.shape[1], max(n - 1 - k - spared.shape[1], 1)
        self.coef_: Any = np.empty((q, p))
        own, total, left = np.empty(p), np.empty(p), np.empty(p)
        for part in _column_blocks(n, p):
            block = features[:, part].astype(np.float64)
            constant = np.ptp(block, axis=0) == 0
            block -= block.mean(axis=0)
            inside = U.T @ block  # (k, columns)
            inside[:, constant] = 0.0  # constant features stay exactly constant
            own[part], total[part] = _squares(inside), _squares(block)
            if self.shrink:
                within = total[part] - own[part] - _squares(spared.T @ block)
                inside *= _beyond_chance(own[part], k * within / free)
            self.coef_[:, part] = scaled @ inside
            block -= Z @ self.coef_[:, part]
            left[part] = _squares(block)
        self.explained_: float = 1 - float(left.sum() / total.sum()) if total.sum() > 0 else 0.0
        # Only rounding is left of these features; a StandardScaler would scale it up.
        self._flat = np.flatnonzero((own > 0) & (total - own <= 1e-12 * total))
        self._flat_mean = features[:, self._flat].mean(axis=0, dtype=np.float64)

    def transform(self, X: Any) -> Any:
        """Return the features without what confounders explain of them.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        adjusted : array of shape (n_samples, n_features minus confounders that are not in `keep`)
            In the order of X. A DataFrame if columns in `keep` of a DataFrame contain text; see also
            ``set_output``.
        """
        return self._handed_on(X, adjust=True)

    def unadjusted(self, X: Any) -> Any:
        """Return the same columns as ``transform`` with nothing removed, for comparison."""
        return self._handed_on(X, adjust=False)

    def confounder_parts(self, X: Any) -> list[Any]:
        """Return the columns of Z (n_samples, levels or 1) of each confounder, NaN where not known."""
        check_is_fitted(self)
        Z = self._encoded(checked_table(self, X, reset=False))
        return [Z[:, group] for group in LevelIndicators(self.confounders_, self._levels).groups]

    def _handed_on(self, X: Any, *, adjust: bool) -> Any:
        check_is_fitted(self)
        X = checked_table(self, X, reset=False)
        features = self._features(X, keep_missing=self.keep_missing)
        if adjust:
            Z = self._encoded(X)
            self._warn_of_unknown(Z)
            features = self._adjust(features, _centred(Z, self.mean_))
        kept = self.kept_
        if len(kept) == len(self._adjusted):
            return features
        places = {j: k for k, j in enumerate(kept)}
        beside = [places[j] for j in self._keep]
        try:
            values = numbers(X, self._keep, "columns to keep")
        except (TypeError, ValueError):
            return self._with_words(X, features)
        out = np.empty((len(features), len(kept)), dtype=np.result_type(features, values))
        out[:, [places[j] for j in self._adjusted]] = features
        out[:, beside] = values
        return out

    def _adjust(self, features: Any, Z: Any) -> Any:
        """Return X − ZB; the mean for features that confounders explain completely."""
        adjusted = np.empty_like(features, order="C")
        for part in _column_blocks(*features.shape):
            adjusted[:, part] = features[:, part] - Z @ self.coef_[:, part]
        if len(self._flat):
            part, mean = adjusted[:, self._flat], self._flat_mean
            size = np.abs(Z @ self.coef_[:, self._flat]) + np.abs(mean)
            near = np.abs(part - mean) <= 100 * np.finfo(adjusted.dtype).eps * size
            adjusted[:, self._flat] = np.where(near, mean, part)
        return adjusted

    def _with_words(self, X: Any, features: Any) -> Any:
        """Return kept columns that contain text: a DataFrame if X is one, otherwise an array of objects."""
        own = {j: features[:, k] for k, j in enumerate(self._adjusted)}
        columns = [own[j] if j in own else column(X, j) for j in self.kept_]
        if not is_frame(X):
            return np.stack([np.asarray(values, dtype=object) for values in columns], axis=1)
        names = [X.columns[j] for j in self.kept_]
        if not hasattr(X, "iloc"):
            return type(X)(dict(zip(names, columns, strict=True)))
        import pandas as pd

        table = pd.DataFrame(dict(enumerate(columns)), index=X.index)
        table.columns = names
        return table

    def _features(self, X: Any, *, keep_missing: bool = False) -> Any:
        names = names_of(self)
        features = numbers(X, self._adjusted, "features")
        said = None if keep_missing else "features to adjust must have none"
        refuse_missing(features, [names[j] for j in self._adjusted], said)
        return features

    def _encoded(self, X: Any) -> Any:
        """Return Z (n, q), NaN where unknown."""
        if not self._confounders:
            return np.empty((X.shape[0], 0))
        coding = LevelIndicators(self.confounders_, self._levels)
        return coding.encode([column(X, j) for j in self._confounders])

    def _warn_of_unknown(self, Z: Any) -> None:
        groups = LevelIndicators(self.confounders_, self._levels).groups
        said = []
        for name, group in zip(self.confounders_, groups, strict=True):
            # A categorical confounder that was always missing at fit has no level and no column.
            own = Z[:, group]
            count = int(np.isnan(own).any(axis=1).sum()) if own.shape[1] else len(Z)
            if count:
                said.append(f"{name!r} in {count} of {len(Z)}")
        if said:
            warnings.warn(
                f"confounders: {', '.join(said)} samples has no value, or one that did not occur at fit; "
                "nothing is removed for it in these samples",
                UserWarning,
                stacklevel=4,
            )

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return names of the columns that ``transform`` returns."""
        check_is_fitted(self)
        return _check_feature_names_in(self, input_features)[self.kept_]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = bool(self.spare_y)
        return tags


def _labelled(X: Any, y: Any) -> tuple[Any, Any]:
    """Return the labelled samples of X, and an orthonormal basis (n, m) of their encoded labels."""
    if y is None:
        raise ValueError("y=None: spare_y=True requires y to be passed, but the target y is None")
    y = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    y = y[:, None] if y.ndim == 1 else y
    n = X.shape[0]
    if len(y) != n:
        raise ValueError(f"y: {len(y)} samples, but X has {n}; the numbers must agree")
    known = ~np.vectorize(is_missing, otypes=[bool])(y).any(axis=1)
    if not known.any():
        raise ValueError(f"y: none of the {n} samples has a label; spare_y=True requires some")
    if not known.all():
        X, y = _safe_indexing(X, np.flatnonzero(known)), y[known]
    columns = [_as_classes(values) for values in y.T]
    Y = LevelIndicators.learn(columns, [f"y{j}" for j in range(len(columns))]).encode(columns)
    mean = Y.mean(axis=0)
    return X, column_space(Y - mean, mean)[0]


def _as_classes(values: Any) -> Any:
    """Return whole numbers of few different values, which are class codes, as text; others unchanged."""
    if values.dtype.kind == "O":  # numbers with missing values may be objects
        values = np.array(values.tolist())
    if values.dtype.kind not in "iuf":
        return values
    known = np.unique(values)
    if len(known) > MOST_CLASSES or np.any(known != np.round(known)):
        return values
    return values.astype(str)


def _column_blocks(n: int, p: int) -> Iterator[slice]:
    """Return slices of all p columns; blocks avoid a copy of the whole table in double precision."""
    step = max(_BLOCK // n, _NARROWEST)
    return (slice(first, min(first + step, p)) for first in range(0, p, step))


def _squares(columns: Any) -> Any:
    """Return the sum of squares of each column."""
    return np.einsum("ij,ij->j", columns, columns)


def _beyond_chance(own: Any, chance: Any) -> Any:
    """Return the share of each sum of squares `own` that exceeds the part `chance` due to chance."""
    return np.clip(1 - np.divide(chance, own, out=np.zeros_like(own), where=own > 0), 0, 1)


def column_space(Z: Any, mean: Any) -> tuple[Any, Any]:
    """Return U (n, k), an orthonormal basis of the columns of Z (n, q), and M (q, k) with Z⁺ = MUᵀ.

    Z is centred by `mean` (q,). A column that is only rounding compared with its mean is constant. Columns
    are scaled to equal norm first, so that their units do not matter.
    """
    n, q = Z.shape
    size = np.sqrt(np.sum(Z**2, axis=0))
    varies = size > 1e-13 * np.sqrt(n) * np.abs(mean)
    size = np.where(varies, size, 1.0)
    U, s, Vt = np.linalg.svd(np.where(varies, Z, 0.0) / size, full_matrices=False)
    kept = s > (s[0] if len(s) else 0.0) * max(n, q) * np.finfo(s.dtype).eps
    return U[:, kept], Vt[kept].T / s[kept] / size[:, None]


def _centred(Z: Any, mean: Any) -> Any:
    """Return z − z̄, and 0 where z is not known."""
    return np.where(np.isnan(Z), 0.0, Z - mean)
