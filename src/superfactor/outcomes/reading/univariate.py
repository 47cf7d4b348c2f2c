"""Association of single features with an outcome, and its p-values, in dense blocks of columns.

- Classes: the Mann–Whitney test of each class against the rest, corrected for ties, and the AUC. The AUC is
  the probability that a sample of the class has a larger value of the feature than one of the rest.
- Numbers: Pearson's correlation and its t-test.
- Times: the score test of a Cox model of the feature alone, with Breslow's ties. With R_i the samples at risk
  at the event i, z = Σ_i (x_i − mean over R_i) / √(Σ_i variance over R_i).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr, stdtr
from scipy.stats import rankdata

from superfactor.losses.survival.risk_sets import RiskSets

# Entries of a dense block: small compared with X, large compared with the overhead of a step.
_ENTRIES = 2**20
# A variance below this share of the mean square is rounding error; the feature is constant.
_ROUNDING = 1e-24
# So is a range within a class below this share of the whole range; values may come from float32.
_ROUNDING_OF_RANGE = 1e-6

Statistics = dict[str, Any]


def by_columns(X: Any, compute: Callable[[Any], Statistics]) -> Statistics:
    """Apply `compute` to dense blocks (n, b) of the columns of X and join the arrays to (outputs, p)."""
    parts = [compute(block) for block in _blocks(X)]
    return {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}


def _blocks(X: Any) -> Iterator[Any]:
    n, p = X.shape
    width = max(_ENTRIES // max(n, 1), 1)
    for start in range(0, p, width):
        block = X[:, start : start + width]
        block = block.toarray() if sp.issparse(block) else block
        yield np.asarray(block, dtype=np.float64)


def against_rest(X: Any, codes: Any, count: int) -> Statistics:
    """Compare each class with all others.

    Parameters
    ----------
    X : (n, b)
    codes : (n,), class numbers; every class has a sample
    count : number of classes K

    Returns
    -------
    statistics : arrays (K, b)
        ``mean`` in the class and ``mean_rest``; ``difference_in_sd``, their difference divided by the
        standard deviation within the two groups, ±∞ if ``perfect``: no class has variance, and all values in
        the class are larger, or all are smaller, than those of the rest; ``auc``; ``p``.
    """
    n = len(codes)
    member = np.zeros((count, n))
    member[codes, np.arange(n)] = 1
    size = member.sum(axis=1)[:, None]
    rest = n - size
    total, center = member @ X, X.mean(axis=0)
    mean, mean_rest = total / size, (n * center - total) / rest
    perfect = _perfect(X, codes, count)
    X = X - center
    sums, squares = member @ X, np.sum(X**2, axis=0)
    within = squares - sums**2 * (1 / size + 1 / rest)  # the columns of X add up to 0
    within = np.where(within > _ROUNDING * n * center**2, within, 0.0)
    # Each column is contiguous in memory, so that sorting is faster by a third.
    ranks = rankdata(np.ascontiguousarray(X.T), axis=1).T - (n + 1) / 2
    # U − size·rest/2, and its variance given the ranks, which includes ties.
    more = member @ ranks
    variance = size * rest / (n * (n - 1)) * np.sum(ranks**2, axis=0)
    z = _over(np.abs(more) - 0.5, np.sqrt(variance))  # continuity correction
    return {
        "mean": mean,
        "mean_rest": mean_rest,
        "difference_in_sd": np.where(
            perfect,
            np.copysign(np.inf, mean - mean_rest),
            _over(mean - mean_rest, np.sqrt(within / max(n - 2, 1))),
        ),
        "perfect": perfect,
        "auc": 0.5 + more / (size * rest),
        "p": np.where(variance > 0, np.minimum(2 * ndtr(-z), 1.0), 1.0),
    }


def _perfect(X: Any, codes: Any, count: int) -> Any:
    """Return (K, b): no class has variance in the feature, and it separates the class from the rest.

    A class and its rest must have two samples each, since one sample never has variance.
    """
    parts = [X[codes == k] for k in range(count)]
    low, high = (np.array([reduce(part, axis=0) for part in parts]) for reduce in (np.min, np.max))
    reach = _ROUNDING_OF_RANGE * (high.max(axis=0) - low.min(axis=0))
    constant = np.all(high - low <= reach, axis=0)
    found = np.zeros(low.shape, dtype=bool)
    for k, part in enumerate(parts):
        others = np.arange(count) != k
        if 2 <= len(part) <= len(codes) - 2 and constant.any():
            above = low[k] > high[others].max(axis=0) + reach
            found[k] = constant & (above | (high[k] < low[others].min(axis=0) - reach))
    return found


def with_numbers(X: Any, Y: Any) -> Statistics:
    """Return ``mean``, ``outcome_correlation`` and its ``p`` (K, b), for X (n, b) and Y (n, K)."""
    n, center = len(Y), X.mean(axis=0)
    X, Y = X - center, Y - Y.mean(axis=0)
    squares = np.sum(X**2, axis=0)
    squares = np.where(squares > _ROUNDING * n * center**2, squares, 0.0)
    size = np.sqrt(np.outer(np.sum(Y**2, axis=0), squares))
    r = np.clip(_over(Y.T @ X, size), -1.0, 1.0)
    freedom = n - 2
    if freedom < 1:
        p = np.ones_like(r)
    else:
        with np.errstate(divide="ignore"):
            p = 2 * stdtr(freedom, -np.abs(r) * np.sqrt(freedom / (1 - r**2)))
    return {"mean": np.broadcast_to(center, r.shape), "outcome_correlation": r, "p": p}


def with_times(X: Any, event: Any, time: Any) -> Statistics:
    """Return ``mean``, ``z`` and its ``p`` (1, b), for X (n, b), events (n,) of 0 and 1 and times (n,)."""
    n, center = len(time), X.mean(axis=0)
    X = X - center
    sets = RiskSets.of(time, np.ones(n, dtype=bool))
    last = sets.last[event == 1]  # where the risk sets of the events end
    at_risk = (last + 1)[:, None]
    first = np.cumsum(X[sets.order], axis=0)[last] / at_risk
    second = np.cumsum(X[sets.order] ** 2, axis=0)[last] / at_risk
    variance = np.sum(second - first**2, axis=0)
    variance = np.where(variance > _ROUNDING * n * center**2, variance, 0.0)
    z = _over(np.sum(X[event == 1] - first, axis=0), np.sqrt(variance))
    return {"mean": center[None], "z": z[None], "p": 2 * ndtr(-np.abs(z))[None]}


def _over(a: Any, b: Any) -> Any:
    """Return a/b, or 0 where b is 0."""
    return np.where(b > 0, a / np.where(b > 0, b, 1.0), 0.0)
