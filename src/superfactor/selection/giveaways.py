"""Columns that give the outcome away: one alone separates the classes, or orders the times, without error.

Such a column may have been recorded after the outcome, or because of it: a code, a date, a dose. Genes may
separate classes too; several features that do so are a fact about the classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, stdtr

from superfactor._words import COPIES, GIVEN_AWAY, listed
from superfactor.estimators.inputs import column_names
from superfactor.outcomes import Outcome
from superfactor.selection.copies import numbers_of
from superfactor.selection.rows.preprocessing import is_transformer
from superfactor.spectrum.rows import column_positions

# The largest probability that any column does so by chance.
_CHANCE = 1e-4
# A correlation beyond this is as good as the outcome.
_CORRELATION = 0.99
# Of more columns there is no warning, because genes may separate classes well; and as many are named.
_FEW = 3
# Entries of a block in memory.
_ENTRIES = 1 << 20


@dataclass(frozen=True)
class Giveaway:
    """A column that gives the outcome away.

    Attributes
    ----------
    name : of the column
    score : AUC or concordance, which is 1, or the absolute correlation
    covariate : whether it is a covariate
    """

    name: str
    score: float
    covariate: bool


@dataclass(frozen=True)
class Giveaways:
    """The columns that give an outcome of this kind away; false without any."""

    columns: tuple[Giveaway, ...]
    outcome: Outcome

    def __bool__(self) -> bool:
        return bool(self.columns)

    @property
    def raise_question(self) -> bool:
        """Whether this is one feature, or a covariate; several features that do so are a fact."""
        return len(self.columns) == 1 or any(column.covariate for column in self.columns)

    def statement(self, advice: str = "drop {}") -> str:
        """Return a sentence without a full stop; `advice` contains {} for "it" or "them"."""
        names = [repr(column.name) for column in sorted(self.columns, key=lambda c: not c.covariate)]
        one, rest = len(names) == 1, len(names) - _FEW
        who = listed(names if rest <= 0 else [*names[:_FEW], f"{rest:,} more features"])
        if self.outcome.name in ("classes", "flags"):
            what = f"alone separate{'s' * one} the classes without error"
        elif self.outcome.name == "times":
            what = f"alone order{'s' * one} all event times (concordance 1)"
        else:
            lowest = min(column.score for column in self.columns)
            what = f"alone {'is' if one else 'are'} as good as the outcome (correlation {lowest:.3f})"
        if not self.raise_question:
            return f"{who} {what}"
        were = "it was" if one else "they were"
        then = advice.format("it" if one else "them")
        return f"{who} {what}; if {were} recorded after or because of the outcome, {then}"

    def warn(self) -> None:
        """Warn if these are few columns, or covariates among them."""
        if self.raise_question or 0 < len(self.columns) <= _FEW:
            warnings.warn(f"X: {self.statement()}", UserWarning, stacklevel=3)

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return plain values."""
        return [vars(column) for column in self.columns]


def find_giveaways(
    outcome: Outcome,
    truth: Any,
    labelled: Any,
    X: Any,
    *,
    names: Sequence[str] | None = None,
    covariate_columns: Any = None,
    exposure_column: Any = None,
    covariates: Any = None,
) -> Giveaways:
    """Return the columns of X (n, p), and of a table of covariates, that give the outcome away.

    Parameters
    ----------
    truth : (m, …), coded values of the samples at positions `labelled` (m,)
    names : of the columns of X, by default those of a DataFrame
    covariate_columns, exposure_column : columns of X, as in an estimator
    """
    score = _SCORES.get(outcome.name)
    found: list[Giveaway] = []
    given = [(X, False), *([(covariates, True)] if covariates is not None else [])]
    tables = [(table, beside, numbers_of(table)) for table, beside in given]
    p = sum(0 if values is None else values.shape[1] for _, _, values in tables)
    for table, beside, values in tables:
        if values is None or score is None:
            continue
        called = names if names is not None and not beside else column_names(table)
        roles = (None, None) if beside else (covariate_columns, exposure_column)
        inside, left_out = (
            [] if role is None else column_positions(role, values.shape[1], called, "X") for role in roles
        )
        own = values if len(labelled) == values.shape[0] else values[labelled]
        for j, value in score(own, truth, p):
            if j not in left_out and not _has_words(table, j):
                name = f"column {j}" if called is None else str(called[j])
                found.append(Giveaway(name, float(value), beside or j in inside))
    return Giveaways(tuple(found), outcome)


def _has_words(table: Any, j: int) -> bool:
    """Return whether column j of a DataFrame has several words, which have no order."""
    if not hasattr(table, "iloc"):
        return False
    column = table.iloc[:, j]
    return getattr(column.dtype, "kind", "O") not in "fiub" and column.nunique() > 2


@contextmanager
def reported() -> Iterator[None]:
    """Ignore warnings about copies and about such columns in parts of samples: all had them before."""
    with warnings.catch_warnings():
        for pattern in (COPIES, GIVEN_AWAY):
            warnings.filterwarnings("ignore", f"X: {pattern}", UserWarning)
        yield


def given_columns(search: Any) -> dict[str, Any]:
    """Return the columns of X that a search does not factorize, unless they are those of a transformer."""
    if is_transformer(getattr(search, "preprocess", None)):
        return {}
    return {
        name: getattr(search, name)
        for name in ("covariate_columns", "exposure_column")
        if getattr(search, name, None) is not None
    }


def _separating(X: Any, truth: Any, p: int) -> Iterator[tuple[int, float]]:
    """Columns of X (m, p) in which the ranges of the classes (m,) have nothing in common."""
    low, high = _ranges(X, truth)
    order = np.argsort(low, axis=0)
    low, high = (np.take_along_axis(ends, order, axis=0) for ends in (low, high))
    for j in np.flatnonzero((high[:-1] < low[1:]).all(axis=0)):
        column = _column(X, int(j))
        sizes = np.unique(truth[~np.isnan(column)], return_counts=True)[1]
        # K! orders of the classes, of all arrangements of the samples.
        chance = gammaln(len(sizes) + 1) + gammaln(sizes + 1).sum() - gammaln(sizes.sum() + 1)
        if chance + np.log(p) < np.log(_CHANCE):
            yield int(j), 1.0


def _separating_labels(X: Any, truth: Any, p: int) -> Iterator[tuple[int, float]]:
    """The same for several labels (m, κ) of 0 and 1."""
    seen = set()
    for column in truth.T:
        known = np.flatnonzero(~np.isnan(column))
        for j, value in _separating(X[known], column[known].astype(int), p * truth.shape[1]):
            if j not in seen:
                seen.add(j)
                yield j, value


def _ranges(X: Any, codes: Any) -> tuple[Any, Any]:
    """Return the smallest and the largest value of each class in each column (K, p); NaN is ignored."""
    names = np.unique(codes)
    low, high = np.full((len(names), X.shape[1]), np.inf), np.full((len(names), X.shape[1]), -np.inf)
    size = max(1, _ENTRIES // max(1, X.shape[1]))
    for start in range(0, X.shape[0], size):
        block, own = X[start : start + size], codes[start : start + size]
        for k, name in enumerate(names):
            rows = block[np.flatnonzero(own == name)]
            if rows.shape[0] and sp.issparse(rows):
                low[k] = np.minimum(low[k], rows.min(axis=0).toarray().ravel())
                high[k] = np.maximum(high[k], rows.max(axis=0).toarray().ravel())
            elif rows.shape[0]:
                low[k] = np.fmin(low[k], np.fmin.reduce(rows, axis=0))
                high[k] = np.fmax(high[k], np.fmax.reduce(rows, axis=0))
    return low, high


def _correlated(X: Any, truth: Any, p: int) -> Iterator[tuple[int, float]]:
    """Columns of X (m, p) whose absolute correlation with a column of numbers (m, κ) is above 0.99."""
    values = np.asarray(truth, dtype=float).reshape(len(truth), -1)
    m, best = len(values), np.zeros(X.shape[1])
    if m < 3:
        return
    values = values - values.mean(axis=0)
    size = X.shape[1] if sp.issparse(X) else max(1, _ENTRIES // m)
    for start in range(0, X.shape[1], size):
        part = X[:, start : start + size].astype(float)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # columns without a value
            if sp.issparse(part):
                squares = np.asarray(part.multiply(part).sum(axis=0)).ravel()
                squares -= np.asarray(part.sum(axis=0)).ravel() ** 2 / m
            else:
                part = np.nan_to_num(part - np.nanmean(part, axis=0))
                squares = (part**2).sum(axis=0)
            scale = np.sqrt(np.outer((values**2).sum(axis=0), np.maximum(squares, 0)))
            r = np.abs(part.T @ values).T / scale
        best[start : start + size] = np.nan_to_num(r, posinf=0.0).max(axis=0)
    for j in np.flatnonzero(best > _CORRELATION):
        r = min(best[j], 1 - 1e-15)
        chance = 2 * stdtr(m - 2, -r * np.sqrt((m - 2) / (1 - r**2))) * p * values.shape[1]
        if chance < _CHANCE:
            yield int(j), float(best[j])


def _counted(X: Any, truth: Any, p: int) -> Iterator[tuple[int, float]]:
    """The same for counts, with exposures as last column if they have two."""
    return _correlated(X, truth[:, :1] if np.ndim(truth) == 2 else truth, p)


def _ordering(X: Any, truth: Any, p: int) -> Iterator[tuple[int, float]]:
    """Columns of X (m, p) that order the event times: truth has columns event and time."""
    event, time = truth[:, 0] > 0, truth[:, 1]
    order = np.argsort(time, kind="stable")
    event, time = event[order], time[order]
    later = np.searchsorted(time, time, side="right")  # the first sample with a later time
    rows = np.flatnonzero(event & (later < len(time)))
    # An event is the first among those at risk with this probability.
    chance = np.log(2 * p) - np.log(len(time) - later[rows] + 1).sum()
    if not len(rows) or chance >= np.log(_CHANCE):
        return
    size = max(1, _ENTRIES // len(time))
    for start in range(0, X.shape[1], size):
        part = X[order, start : start + size] if not sp.issparse(X) else X[order][:, start : start + size]
        part = part.toarray() if sp.issparse(part) else np.asarray(part, dtype=float)
        for sign in (1, -1):
            most = np.maximum.accumulate((sign * part)[::-1], axis=0)[::-1]
            first = (sign * part[rows] > most[later[rows]]).all(axis=0)
            yield from ((start + int(j), 1.0) for j in np.flatnonzero(first))


def _column(X: Any, j: int) -> Any:
    column = X[:, [j]]
    return np.asarray(column.toarray() if sp.issparse(column) else column, dtype=float).ravel()


_SCORES: dict[str, Callable[[Any, Any, int], Iterator[tuple[int, float]]]] = {
    "classes": _separating,
    "flags": _separating_labels,
    "numbers": _correlated,
    "counts": _counted,
    "times": _ordering,
}
