"""What a model has to be compared with: plain methods, tuned as carefully, on the same samples.

They see the few coordinates that a fold has (`superfactor.selection.rows.coordinates`), and each is tuned by
its likelihood in the same inner folds as the model itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.utils.extmath import randomized_svd

from superfactor.outcomes import COVARIATES, Outcome
from superfactor.outcomes.ridge import OFF
from superfactor.spectrum import DataMatrix

RANKS = (2, 3, 5, 10, 20)
#: From this many samples in the outer training part on, tuning uses fewer folds and may end early.
MANY = 10_000
# Up to so many columns all axes are found, beyond those of a random subspace: as scikit-learn's PCA has it.
_ALL_AXES = 500
# Up to so many columns their products with each other are fewer numbers than what they spare.
_MOST_PRODUCTS = 4000
# A likelihood is clearly lower if it is lower by this share.
_CLEARLY = 1e-3


def baseline_rows(
    outcome: Outcome,
    inside: Any,
    outside: Any,
    n_covariates: int,
    truth: Any,
    asked: Any,
    inner: Any,
    columns: int,
    balanced: bool = False,
    unlabelled: Any = None,
    last_use: bool = False,
) -> dict[str, Any]:
    """What every baseline but the one that always says the same predicts: (n', k).

    Parameters
    ----------
    inside, outside : (n, m + q) to learn from and (n', m + q) to predict, covariates last, preprocessed by
        those inside
    truth, asked : (n, …) and (n', …), of either
    inner : list of (fit, score), positions among those inside
    columns : k
    balanced : every class weighs the same, however many samples it has
    unlabelled : (u, m + q) of samples without a label, which principal components may see, or None
    last_use : the rows inside and outside may be changed
    """
    width = int(inside.shape[1]) - n_covariates
    strangers = inside[:0, :width] if unlabelled is None else unlabelled[:, :width]
    spectra = _spectra(inside[:, :width], strangers, inner)
    size = spectra.deviation()
    # As many as every fold allows; where fewer, the last ranks are the same.
    most = max(1, min(RANKS[-1], *(len(fit) - 1 for fit, _ in inner), width))
    axes_of = {number: spectra.axes(number, most) for number in (*range(len(inner)), None)}
    del spectra  # it may hold several matrices of products
    C = dense(inside[:, width:])
    mean, spread = C.mean(axis=0), C.std(axis=0)

    def beside(rows: Any) -> Any:
        """Covariates with variance 1."""
        return (dense(rows[:, width:]) - mean) / np.where(spread > 0, spread, 1.0)

    def scaled(rows: Any, *, copied: bool) -> Any:
        """The first principal component has variance 1, and so has every covariate."""
        if sp.issparse(rows):
            return sp.hstack([rows[:, :width] / size, beside(rows)], "csr")
        covariates = beside(rows)
        found = np.divide(rows, rows.dtype.type(size), out=rows) if copied else rows / rows.dtype.type(size)
        found[:, width:] = covariates
        return found

    def fitted(fold: _Fold, A: Any, B: Any, penalties: Any) -> Iterable[Any]:
        weight = outcome.baseline_weights(fold.truth, balanced)
        found = outcome.ridge_rows(A, fold.truth, B, np.asarray(penalties), weight, columns)
        exposures = outcome.exposures(fold.asked)
        return found if exposures is None else (exposures * rows for rows in found)

    def pca(fold: _Fold, tried: slice) -> Iterable[Any]:
        centre, axes = axes_of[fold.number]
        axes = axes.astype(inside.dtype, copy=False)

        def scores(rows: Any) -> Any:
            found = dense(rows[:, :width] @ axes).astype(np.float64, copy=False)
            return np.hstack([(found - centre @ axes) / size, beside(rows)])

        number = np.arange(most + n_covariates)
        penalties = [
            np.where((number >= rank) & (number < most), OFF, 1 / strength)
            for rank in sorted({min(rank, most) for rank in RANKS})
            for strength in outcome.few_strengths
        ]
        known = scores(inside)  # once for both parts
        A = known if fold.fit is None else known[fold.fit]
        B = scores(outside) if fold.score is None else known[fold.score]
        return fitted(fold, A, B, penalties[tried])

    def ridge(first: int, strengths: tuple[float, ...]) -> Any:
        """On the columns from the first on."""
        penalties = [np.full(width + n_covariates - first, 1 / strength) for strength in strengths]

        def of(rows: Any, at: Any) -> Any:
            if first:
                return beside(rows if at is None else rows[at])
            if at is None:  # the last regression of all, if there are no covariates
                return scaled(rows, copied=last_use and not n_covariates)
            return scaled(rows[at], copied=True)

        def method(fold: _Fold, tried: slice) -> Iterable[Any]:
            A = of(inside, fold.fit)
            B = of(outside, None) if fold.score is None else of(inside, fold.score)
            return fitted(fold, A, B, penalties[tried])

        return method

    methods = {outcome.pca_name: pca, outcome.ridge_name: ridge(0, outcome.strengths)}
    # From the strongest penalty on the likelihood rises, then falls. With many samples the rest is left out.
    rising = {outcome.ridge_name: len(outcome.strengths)} if len(truth) >= MANY else {}
    if n_covariates:
        methods[COVARIATES] = ridge(width, outcome.few_strengths)
    # The data have been checked.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        likelihoods: dict[str, Any] = dict.fromkeys(methods, 0.0)
        for number, (fit, score) in enumerate(inner):
            fold = _Fold(number, fit, score, truth[fit], truth[score])
            for name, method in methods.items():
                each = (outcome.likelihood(fold.asked, P) for P in method(fold, slice(None)))
                found = _until_falling(each, rising[name]) if name in rising else list(each)
                likelihoods[name] += np.array(found)
        best = {name: int(np.argmax(each)) for name, each in likelihoods.items()}
        fold = _Fold(None, None, None, truth, asked)
        # A regression may begin where the one before it ended, which saves little if samples are many.
        first = dict(best) if rising else dict.fromkeys(best, 0)
        return {
            name: list(method(fold, slice(first[name], best[name] + 1)))[-1]
            for name, method in methods.items()
        }


def _until_falling(likelihoods: Iterable[float], count: int) -> list[float]:
    """Return these until one is clearly below the best, and −∞ in place of the others."""
    found: list[float] = []
    for likelihood in likelihoods:
        found.append(likelihood)
        if max(found) - likelihood > _CLEARLY * abs(max(found)):
            break
    return found + [-np.inf] * (count - len(found))


@dataclass(frozen=True)
class _Fold:
    """Positions of the samples to fit and to score, and their truth; None for all inside and all outside."""

    number: int | None
    fit: Any
    score: Any
    truth: Any
    asked: Any


class _Spectra:
    """Principal axes of X (n, m) inside, and of those of its rows that each inner fold learns from."""

    def __init__(self, X: Any, strangers: Any, inner: Any):
        self._X, self._strangers, self._inner = X, strangers, inner

    def deviation(self) -> float:
        """The standard deviation along the first of all."""
        return first_deviation(self._X)

    def axes(self, number: int | None, most: int) -> tuple[Any, Any]:
        """The mean (m,) and the leading axes (m, most) of this fold, of all rows where it has no number."""
        X = self._X if number is None else self._X[self._inner[number][0]]
        if self._strangers.shape[0]:
            X = (sp.vstack if sp.issparse(X) else np.vstack)([X, self._strangers])
        model = (TruncatedSVD if sp.issparse(X) else PCA)(n_components=most, random_state=0).fit(X)
        return getattr(model, "mean_", np.zeros(X.shape[1])), model.components_.T


class _SpectraOfSums(_Spectra):
    """The same of tall X, from sums over rows: each is read once, whatever the folds."""

    def __init__(self, X: Any, strangers: Any, inner: Any):
        super().__init__(X, strangers, inner)
        n, self._parts = len(X), [_Sums.of(X[score]) for _, score in inner]
        self._apart = [len(np.union1d(*both)) == n == sum(map(len, both)) for both in inner]
        each = np.sort(np.concatenate([score for _, score in inner]))
        once = len(each) == n and bool(np.all(each == np.arange(n)))
        self._whole = reduce(add, self._parts) if once else _Sums.of(X)
        self._others = _Sums.of(strangers) if len(strangers) else None

    def deviation(self) -> float:
        gram = self._whole.gram
        return _first_deviation(lambda v: gram @ v, gram.shape[1], self._whole.n)

    def axes(self, number: int | None, most: int) -> tuple[Any, Any]:
        sums = self._whole
        if number is not None:
            fit = self._inner[number][0]
            sums = sums - self._parts[number] if self._apart[number] else _Sums.of(self._X[fit])
        return (sums if self._others is None else sums + self._others).axes(most)


def _spectra(X: Any, strangers: Any, inner: Any) -> _Spectra:
    n, m = X.shape
    few = m <= min(n, _MOST_PRODUCTS) and not sp.issparse(X)
    return _SpectraOfSums(X, strangers, inner) if few else _Spectra(X, strangers, inner)


@dataclass(frozen=True)
class _Sums:
    """How many rows (n, m), their sum, and their products with each other, in float64."""

    n: int
    total: Any
    gram: Any

    @classmethod
    def of(cls, rows: Any) -> Self:
        return cls(len(rows), rows.sum(axis=0, dtype=np.float64), DataMatrix(rows).feature_gram())

    def __add__(self, other: Self) -> Self:
        return type(self)(self.n + other.n, self.total + other.total, self.gram + other.gram)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.n - other.n, self.total - other.total, self.gram - other.gram)

    def axes(self, most: int) -> tuple[Any, Any]:
        mean = self.total / self.n
        around = self.gram - np.outer(self.n * mean, mean)
        if len(mean) <= _ALL_AXES:
            return mean, np.linalg.eigh(around)[1][:, ::-1][:, :most]
        return mean, randomized_svd(around, most, random_state=0)[0]


def first_deviation(X: Any) -> float:
    """The standard deviation of X (n, m) along its first principal component, nearly."""
    return _first_deviation(lambda v: X.T @ (X @ v), *X.shape[::-1])


def _first_deviation(products: Callable[[Any], Any], m: int, n: int) -> float:
    """The same where `products` multiplies by XᵀX (m, m)."""
    v = np.random.default_rng(0).standard_normal(m)
    size = 0.0
    for _ in range(20):  # of the power method
        v = products(v / np.linalg.norm(v))
        size = float(np.linalg.norm(v))
        if size == 0.0:
            return 1.0
    return float(np.sqrt(size / n))


def dense(X: Any) -> Any:
    """X as a NumPy array."""
    return np.asarray(X.todense()) if sp.issparse(X) else np.asarray(X)
