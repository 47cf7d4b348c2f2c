"""Association of single features with an outcome, and its p-values, in dense blocks of columns.

- Classes: the Mann–Whitney test of each class against the rest, corrected for ties, and the AUC. The AUC is
  the probability that a sample of the class has a larger value of the feature than one of the rest.
- Numbers: Pearson's correlation and its t-test.
- Times: the score test of a Cox model of the feature alone, with Breslow's ties. With R_i the samples at risk
  at the event i, in its stratum, z = Σ_i (x_i − mean over R_i) / √(Σ_i variance over R_i).

All take weights. In means, AUCs, correlations and standard deviations a weight of 2 is a sample that appears
twice. Tests count samples as (Σw)²/Σw², which does not depend on the unit of the weights: weights state how
much a sample counts, and not how often it was observed.
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


def against_rest(X: Any, codes: Any, count: int, weight: Any = None) -> Statistics:
    """Compare each class with all others.

    Parameters
    ----------
    X : (n, b)
    codes : (n,), class numbers; every class has a sample
    count : number of classes K
    weight : (n,) > 0, or None

    Returns
    -------
    statistics : arrays (K, b)
        ``mean`` in the class and ``mean_rest``; ``difference_in_sd``, their difference divided by the
        standard deviation within the two groups, ±∞ if ``perfect``: no class has variance, and all values in
        the class are larger, or all are smaller, than those of the rest; ``auc``; ``p``.
    """
    weight, number = _weights(weight, len(codes))
    n = weight.sum()
    member = np.zeros((count, len(codes)))
    member[codes, np.arange(len(codes))] = weight
    size = member.sum(axis=1)[:, None]
    rest = n - size
    total, center = member @ X, weight @ X / n
    mean, mean_rest = total / size, (n * center - total) / rest
    perfect = _perfect(X, codes, count)
    X = X - center
    sums, squares = member @ X, weight @ X**2
    within = squares - sums**2 * (1 / size + 1 / rest)  # the columns of X add up to 0
    within = np.where(within > _ROUNDING * n * center**2, within, 0.0)
    freedom = max(n - 2, min(n, 1.0))  # weights may add up to 1
    ranks = _midranks(X, weight) - n / 2
    auc = 0.5 + member @ ranks / (size * rest)  # U = Σ_i w_i·rank_i in the class
    # The variance of the AUC given the ranks, which includes ties.
    squared = (member**2).sum(axis=1)[:, None]
    own, others = size**2 / squared, rest**2 / (weight @ weight - squared)  # effective numbers of samples
    spread = weight @ ranks**2 / n**3 * (number / (number - 1 if number > 1 else np.inf))
    variance = spread * (1 / own + 1 / others)
    z = _over(np.abs(auc - 0.5) - 0.5 / (own * others), np.sqrt(variance))  # continuity correction
    return {
        "mean": mean,
        "mean_rest": mean_rest,
        "difference_in_sd": np.where(
            perfect, np.copysign(np.inf, mean - mean_rest), _over(mean - mean_rest, np.sqrt(within / freedom))
        ),
        "perfect": perfect,
        "auc": auc,
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


def with_numbers(X: Any, Y: Any, weight: Any = None) -> Statistics:
    """Return ``mean``, ``outcome_correlation`` and its ``p`` (K, b), for X (n, b), Y (n, K), weights (n,)."""
    weight, number = _weights(weight, len(Y))
    n = weight.sum()
    center = weight @ X / n
    X, Y = X - center, Y - weight @ Y / n
    squares = weight @ X**2
    squares = np.where(squares > _ROUNDING * n * center**2, squares, 0.0)
    size = np.sqrt(np.outer(weight @ Y**2, squares))
    r = np.clip(_over((weight[:, None] * Y).T @ X, size), -1.0, 1.0)
    freedom = number - 2
    if freedom <= 0:
        p = np.ones_like(r)
    else:
        with np.errstate(divide="ignore"):
            p = 2 * stdtr(freedom, -np.abs(r) * np.sqrt(freedom / (1 - r**2)))
    return {"mean": np.broadcast_to(center, r.shape), "outcome_correlation": r, "p": p}


def with_times(X: Any, event: Any, time: Any, strata: Any = None, weight: Any = None) -> Statistics:
    """Return ``mean``, ``z`` and its ``p`` (1, b).

    X is (n, b), events (n,) are 0 and 1; samples are compared within the strata (n,), if any.
    """
    weight, number = _weights(weight, len(time))
    weight = weight * (number / weight.sum())
    center = weight @ X / number
    X = X - center
    sets = RiskSets.of(time, np.ones(len(time), dtype=bool), strata)
    happened = event == 1
    begin, end = (
        sets.begin[happened],
        sets.last[happened] + 1,
    )  # of the risk sets of the events, in their order

    def over_risk_sets(x: Any) -> Any:
        sums = np.concatenate([np.zeros((1, x.shape[1])), np.cumsum(x[sets.order], axis=0)])
        return sums[end] - sums[begin]

    at_risk = over_risk_sets(weight[:, None])
    first, second = (over_risk_sets(weight[:, None] * x) / at_risk for x in (X, X**2))
    deaths = weight[happened]
    variance = deaths @ (second - first**2)
    variance = np.where(variance > _ROUNDING * number * center**2, variance, 0.0)
    z = _over(deaths @ (X[happened] - first), np.sqrt(variance))
    return {"mean": center[None], "z": z[None], "p": 2 * ndtr(-np.abs(z))[None]}


def _weights(weight: Any, n: int) -> tuple[Any, float]:
    """Return the weights (n,), 1 by default, and the effective number of samples."""
    if weight is None:
        return np.ones(n), float(n)
    return weight, float(weight.sum() ** 2 / (weight @ weight))


def _midranks(X: Any, weight: Any) -> Any:
    """Return the weight of the samples below each entry of X (n, b), and half of that of its ties."""
    columns = np.ascontiguousarray(X.T)  # sorted faster by a third
    if np.ptp(weight) == 0:
        return weight[0] * (rankdata(columns, axis=1).T - 0.5)
    below = np.insert(np.cumsum(weight[np.argsort(columns, axis=1)], axis=1), 0, 0.0, axis=1)
    first, last = (rankdata(columns, method, axis=1) for method in ("min", "max"))
    return 0.5 * (np.take_along_axis(below, first - 1, 1) + np.take_along_axis(below, last, 1)).T


def _over(a: Any, b: Any) -> Any:
    """Return a/b, or 0 where b is 0."""
    return np.where(b > 0, a / np.where(b > 0, b, 1.0), 0.0)
