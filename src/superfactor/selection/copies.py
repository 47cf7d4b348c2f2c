"""Copies: samples with the same name, identical rows and nearly identical rows.

A copy of a training sample in a test part is predicted by recognition. On such samples even shuffled labels
are predicted, so that copies belong in one fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.utils.validation import _num_samples

from superfactor._words import listed
from superfactor.estimators.inputs import as_numpy

# Rows are nearly identical if their distance is below this share of the median distance, and of the median
# distance to the fifth nearest sample. With noise of a tenth of the spread the share is .1 to .15. Images of
# one person, which are samples of their own, reach .24 of the fifth nearest.
_NEAR = 0.2
_NEIGHBOR = 5
# Distances are computed between so many samples at most; beyond, only identical rows are found.
MOST_SAMPLES = 20_000
# Columns of a random projection, which preserves distances to 20 %, and the margin within which distances
# are computed again from all columns.
_SKETCH, _MARGIN = 16, 1.6
# Entries of a block in memory.
_ENTRIES = 1 << 20
# Pairs that are looked at again for each sample; more of them connect the same samples.
_MOST_NEAR = 5
# Rows, pairs of rows and columns for an estimate of how rare coincidences are.
_ROWS, _SHIFTS, _COLUMNS = 200, 5, 2000
# Copies are expected by chance in less than one of so many tables, with columns that depend on each other as
# if there were half as many.
_TABLES, _DEPENDENCE = 100, 2
# Squared distances below this share of squared lengths are rounding errors of float32.
_ROUNDING = 1e-4
# Names in a message.
_SHOWN = 3
#: What copies among samples do that a model is evaluated on.
COUNTED = "every copy counts, so that intervals are too narrow"


@dataclass(frozen=True, eq=False)
class Copies:
    """Groups of samples that are copies of each other.

    Attributes
    ----------
    groups : array of shape (n,) of int
        The number of the group of each sample. A sample without copies is a group of its own.
    reasons : tuple of str
        What the copies have in common: "name" (the same name), "identical" (the same row), "near" (rows that
        differ by little).

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.selection import find_copies
    >>> X = np.random.default_rng(0).standard_normal((40, 100))
    >>> found = find_copies(np.vstack([X, X[:2]]))
    >>> found.reasons, found.members
    (('identical',), [[0, 40], [1, 41]])
    >>> print(found.statement())
    2 pairs of samples are identical (0 and 40; 1 and 41)
    """

    groups: Any
    reasons: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.members)

    @property
    def members(self) -> list[list[int]]:
        """Positions of the samples of each group with more than one."""
        order = np.argsort(self.groups, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(self.groups[order])) + 1)
        return sorted(part.tolist() for part in parts if len(part) > 1)

    def statement(self, ids: Sequence[Any] | None = None) -> str:
        """Return a sentence about the copies, without a full stop; `ids` (n,) name the samples."""
        members = self.members
        pairs = all(len(own) == 2 for own in members)
        if pairs:
            what = f"{len(members):,} pairs of samples" if len(members) > 1 else "2 samples"
        else:
            what = f"{sum(map(len, members)):,} samples"
            what += f" in {len(members):,} groups" if len(members) > 1 else ""
        how = {"identical": "identical", "near": "nearly identical"}
        alike = " or ".join(text for reason, text in how.items() if reason in self.reasons)
        verbs = ["have the same name"] * ("name" in self.reasons) + [f"are {alike}"] * bool(alike)
        shown = "; ".join(_some(own, ids) for own in members[:_SHOWN])
        rest = len(members) - _SHOWN
        more = f"; and {rest:,} more {'pairs' if pairs else 'groups'}" if rest > 0 else ""
        return f"{what} {' or '.join(verbs)} ({shown}{more})"

    def for_folds(self, sizes: Callable[[Any], Sequence[int]], n_folds: int) -> Any:
        """Return the groups (n,) that folds keep together; None if there are none or folds cannot.

        They cannot if a class has samples in fewer groups than there are folds, or if a group has more than
        a tenth of the samples. `sizes` returns the number of the groups (n,) in each class.
        """
        if not self:
            return None
        n = len(self.groups)
        wanted = min(n_folds, *sizes(np.arange(n)))
        fits = np.bincount(self.groups).max() <= max(2, n / 10) and min(sizes(self.groups)) >= wanted
        return self.groups if fits else None

    def warn(self, splits: Iterable[tuple[Any, Any]], *, kept: bool) -> None:
        """Warn about copies that folds keep together, or that are on both sides of one of these splits."""
        if not self:
            return
        if kept:
            consequence = "copies stay in one fold"
        elif any(np.isin(self.groups[train], self.groups[test]).any() for train, test in splits):
            consequence = "some are in the training and in the test part of a fold, which inflates scores"
        else:
            return
        warnings.warn(f"X: {self.statement()}; {consequence}", UserWarning, stacklevel=2)


def _some(own: list[int], ids: Sequence[Any] | None) -> str:
    called = [str(i if ids is None else ids[i]) for i in own]
    if len(set(called)) == 1:
        return f"{called[0]}, {len(called)} times"
    shown = called if len(called) <= _SHOWN else [*called[:_SHOWN], f"{len(called) - _SHOWN} more"]
    return listed(shown)


def find_copies(X: Any, *, ids: Sequence[Any] | None = None) -> Copies:
    """Find samples with the same name, identical rows and nearly identical rows.

    Searches and `nested_scores` keep such samples in one fold, unless `cv` or `groups` are given. To keep
    them together in folds of your own, pass ``groups=find_copies(X).groups``.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
    ids : sequence of n_samples names, optional
        Samples with the same name are copies. Empty names and None are unknown.

    Returns
    -------
    copies : Copies
        The groups, and a statement. It is false if there are no copies.

    Notes
    -----
    Rows are nearly identical if their distance, after every column is scaled to variance 1, is less than 0.2
    of the median distance between samples, and less than 0.2 of the median distance to the fifth nearest
    sample. With more than 20,000 samples only identical rows are found. In tables with few columns or few
    different values equal rows are expected by chance, and are not reported.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.selection import find_copies
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 100))
    >>> again = X[:3] + 0.1 * rng.standard_normal((3, 100))
    >>> print(find_copies(np.vstack([X, again])).statement())
    3 pairs of samples are nearly identical (0 and 40; 1 and 41; 2 and 42)
    >>> bool(find_copies(X))
    False
    """
    table = numbers_of(X)
    n = _num_samples(X)
    edges, reasons = [np.empty((0, 2), dtype=int)], []

    def add(reason: str, pairs: Any) -> None:
        if len(pairs):
            reasons.append(reason)
            edges.append(pairs)

    if ids is not None:
        known = [None if name is None or name != name or name == "" else str(name) for name in ids]
        add("name", _equal(known))
    if table is not None and n > 1 and table.shape[1]:
        exactly, nearly = _are_rare(table)
        same = _equal(_digests(table)) if exactly else edges[0]
        add("identical", same)
        others = np.delete(np.arange(n), same[:, 1])
        if nearly and 2 * _NEIGHBOR < len(others) <= MOST_SAMPLES:
            add("near", _near(table, others))
    pairs = np.concatenate(edges)
    graph = sp.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return Copies(connected_components(graph, directed=False)[1], tuple(reasons))


def group_folds(stratified: bool, n_splits: int) -> Any:
    """Return the folds of scikit-learn that keep groups together."""
    return StratifiedGroupKFold(n_splits) if stratified else GroupKFold(n_splits)


def numbers_of(X: Any) -> Any:
    """Return X (n, p) as an array or CSR matrix of numbers; None for others, such as a list of texts."""
    X = as_numpy(X)
    if sp.issparse(X):
        return X.tocsr()
    if hasattr(X, "iloc"):
        plain = all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in X.dtypes)
        return X.to_numpy() if plain else _coded(X)
    if not isinstance(X, np.ndarray):
        try:
            X = np.asarray(X)
        except (TypeError, ValueError):
            return None
    return X if X.ndim == 2 and X.dtype.kind in "fiub" else None


def _coded(X: Any) -> Any:
    """Return a DataFrame (n, p) as numbers, with words as codes."""
    import pandas as pd

    def column(values: Any) -> Any:
        if pd.api.types.is_numeric_dtype(values.dtype):
            return values.to_numpy(dtype=float, na_value=np.nan)
        return pd.factorize(values)[0].astype(float)

    return np.column_stack([column(X.iloc[:, j]) for j in range(X.shape[1])])


def _equal(keys: Sequence[Any]) -> Any:
    """Return pairs (m, 2) of the first sample with a key and each later one; None is no key."""
    first: dict[Any, int] = {}
    found = [(first.setdefault(key, i), i) for i, key in enumerate(keys) if key is not None]
    pairs = [pair for pair in found if pair[0] != pair[1]]
    return np.array(pairs, dtype=int).reshape(-1, 2)


def _digests(X: Any) -> list[int]:
    """Return a hash of each row of X (n, p)."""
    found: list[int] = []
    for block in _blocks(X):
        if sp.issparse(block):
            block = block.copy()
            block.sum_duplicates()
            block.eliminate_zeros()
            cuts = zip(block.indptr[:-1], block.indptr[1:], strict=True)
            found += [hash(block.indices[a:b].tobytes() + block.data[a:b].tobytes()) for a, b in cuts]
        else:
            block = np.ascontiguousarray(block + 0)  # −0 becomes 0
            found += [hash(row.tobytes()) for row in block]
    return found


def _blocks(X: Any) -> Iterator[Any]:
    """Yield blocks of rows."""
    size = max(1, _ENTRIES // max(1, X.shape[1]))
    return (X[start : start + size] for start in range(0, X.shape[0], size))


def _dense(X: Any) -> Any:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def _are_rare(X: Any) -> tuple[bool, bool]:
    """Return whether identical, and nearly identical, rows are too rare to be expected by chance.

    In each column, random pairs of samples have the same value, or one that is as near as in nearly
    identical rows, with some probability. If columns were independent, the product of these would be the
    probability of equal rows.
    """
    n, p = X.shape
    rng = np.random.default_rng(0)
    rows = rng.permutation(n)[:_ROWS]
    columns = np.arange(p) if p <= _COLUMNS else np.sort(rng.permutation(p)[:_COLUMNS])
    some = X[rows][:, columns] if sp.issparse(X) else X[np.ix_(rows, columns)]
    some = some.astype(np.float64)
    reach = _NEAR * np.sqrt(2) * _moments(some)[1]
    shifts = range(1, min(_SHIFTS, len(rows) - 1) + 1)
    differ = np.zeros((2, len(columns)))
    with np.errstate(invalid="ignore", over="ignore"):
        for shift in shifts:
            apart = abs(some - some[np.roll(np.arange(len(rows)), shift)])
            differ += [_larger(apart, 0 * columns), _larger(apart, reach)]
    pairs = 1 + len(shifts) * len(rows)
    needed = _DEPENDENCE * np.log(_TABLES * n) * len(columns) / p
    exactly, nearly = -np.log1p(-differ / pairs).sum(axis=1) > needed
    return bool(exactly), bool(nearly)


def _larger(values: Any, limit: Any) -> Any:
    """Return how many values in each column of (m, p) are above the limits (p,)."""
    if sp.issparse(values):
        values = values.tocsr()
        above = values.data > limit[values.indices]
        return np.bincount(values.indices[above], minlength=values.shape[1])
    return (values > limit).sum(axis=0)


def _near(X: Any, others: Any) -> Any:
    """Return pairs (m, 2) of samples among `others` whose rows are nearly identical."""
    mean, scale, missing = _moments(X)
    Y, limit = _sketch(X, mean, scale, others)
    # Missing values are means in the projection, so that copies are farther from each other there.
    pairs = others[_close(Y, np.sqrt(_MARGIN**2 + 60 * missing) * limit)]
    size = max(1, _ENTRIES // X.shape[1])
    parts = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    near = [_distances(X, scale, part) < limit for part in parts]
    return pairs[np.concatenate(near)] if near else pairs


@np.errstate(over="ignore", invalid="ignore")
def _moments(X: Any) -> tuple[Any, Any, float]:
    """Return means and standard deviations (p,) of observed values, and the share of missing ones.

    The standard deviation of a column that does not vary is ∞.
    """
    count, total, squares = np.zeros((3, X.shape[1]))
    # Values are counted from the first row, so that a large mean leaves the variance exact.
    origin = 0.0 if sp.issparse(X) else np.nan_to_num(_dense(X[:1])[0], posinf=0.0, neginf=0.0)
    for block in _blocks(X):
        if sp.issparse(block):
            block = block.astype(np.float64)
            count += block.shape[0]
            total += np.asarray(block.sum(axis=0)).ravel()
            squares += np.asarray(block.multiply(block).sum(axis=0)).ravel()
            continue
        values = block.astype(np.float64) - origin
        missing = np.isnan(values) if np.isnan(values.sum()) else None
        count += len(values) if missing is None else (~missing).sum(axis=0)
        if missing is not None:
            values[missing] = 0
        total += values.sum(axis=0)
        squares += np.einsum("ij,ij->j", values, values)
    mean = total / np.maximum(count, 1)
    variance = squares / np.maximum(count, 1) - mean**2
    varies = np.isfinite(variance) & (variance > 1e-12 * mean**2)
    scale = np.sqrt(np.where(varies, variance, np.inf))
    return np.where(varies, mean + origin, 0.0), scale, float(1 - count.mean() / X.shape[0])


def _standardized(rows: Any, mean: Any, scale: Any) -> Any:
    """Return rows (b, p) of variance 1 in float32; means are subtracted from dense rows only."""
    if sp.issparse(rows):
        return rows.multiply(1 / scale).tocsr().astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        found = (rows - mean) / scale
        return np.where(np.isfinite(found), found, 0.0).astype(np.float32)


def _sketch(X: Any, mean: Any, scale: Any, others: Any) -> tuple[Any, float]:
    """Project standardized rows at random, and return the limit of distances.

    Returns
    -------
    Y : (m, k) of float32, with about the distances of the rows at `others`
    limit : the distance below which rows are nearly identical
    """
    p = X.shape[1]
    rng = np.random.default_rng(0)
    count = min(_ROWS, 2 * _ENTRIES // max(p, len(others)))
    some = rng.permutation(len(others))[: max(_NEIGHBOR, count)]
    basis = _standardized(X[others[some]], mean, scale).T
    # Signs preserve distances as well as normal numbers do.
    signs = (rng.integers(0, 2, (p, _SKETCH), dtype=np.int8) * 2 - 1).astype(np.float32)
    signs /= np.float32(np.sqrt(_SKETCH))
    parts, size = [], max(1, _ENTRIES // p)
    for start in range(0, len(others), size):
        Z = _standardized(X[others[start : start + size]], mean, scale)
        squares = Z.multiply(Z).sum(axis=1) if sp.issparse(Z) else np.einsum("ij,ij->i", Z, Z)
        products = Z @ basis
        products = products.toarray() if sp.issparse(products) else products
        parts.append((Z @ signs, products, np.asarray(squares).ravel()))
    Y, products, squares = (np.concatenate(each) for each in zip(*parts, strict=True))
    D = np.sqrt(np.maximum(squares[:, None] + squares[some] - 2 * products, 0))
    D[some, np.arange(len(some))] = np.inf
    typical = min(np.median(D), np.median(np.partition(D, _NEIGHBOR - 1, axis=0)[_NEIGHBOR - 1]))
    # Next to a few huge samples, which determine the scale, differences of others are rounding errors.
    exact = typical**2 > _ROUNDING * np.median(squares)
    return Y - Y.mean(axis=0), _NEAR * float(typical) * bool(exact)


def _close(Y: Any, limit: float) -> Any:
    """Return pairs (m, 2) of rows of Y that are nearer than `limit`, a few nearest ones for each row."""
    found = [np.empty((0, 2), dtype=int)]
    squares, ones = np.einsum("ij,ij->i", Y, Y), np.ones(len(Y), dtype=Y.dtype)
    # Squared distances are then one product.
    left, right = np.column_stack([-2 * Y, squares, ones]), np.column_stack([Y, ones, squares])
    size = max(1, _ENTRIES // len(Y))
    for start in range(0, len(Y), size):
        D = left[start : start + size] @ right[start:].T
        rows, columns = np.divmod(np.flatnonzero(limit**2 > D), D.shape[1])
        later = columns > rows
        rows, columns = rows[later], columns[later]
        order = np.lexsort((D[rows, columns], rows))
        rows, columns = rows[order], columns[order]
        kept = np.arange(len(rows)) - np.searchsorted(rows, rows) < _MOST_NEAR
        found.append(np.column_stack([rows[kept], columns[kept]]) + start)
    return np.concatenate(found)


def _distances(X: Any, scale: Any, pairs: Any) -> Any:
    """Return the distances (m,) of pairs (m, 2) of rows in units of `scale`; missing values differ by 0."""
    left, right = X[pairs[:, 0]], X[pairs[:, 1]]
    if sp.issparse(X):
        apart = (left.astype(np.float64) - right).multiply(1 / scale).tocsr()
        return np.sqrt(np.asarray(apart.multiply(apart).sum(axis=1)).ravel())
    apart = (left.astype(np.float64) - right) / scale
    return np.sqrt(np.nansum(apart**2, axis=1))
