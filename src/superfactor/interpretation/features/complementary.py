"""Complementary pairs: disjoint halves of the samples, and the expected number of chance selections.

Shah and Samworth (Variable selection with error control, JRSS B 75, 2013; docs/method.md §18). The samples
are split B times into two disjoint halves, and a fit to each half selects q of p features. Consider the
features that a fit selects no more often than at random. The expected number of them that are selected in a
share of at least τ of the 2B halves is at most C(τ, B)·q²/p, where

    C = 1/(2(2τ − 1 − 1/(2B)))      for ½ < τ ≤ ¾,        4(1 − τ + 1/(2B))/(1 + 1/B)      for ¾ < τ ≤ 1

if the share of pairs in which both halves select a feature has a unimodal distribution, and C = 1/(2τ − 1)
without this assumption.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from superfactor.estimators.parameters import shown

# The number of attempts to draw a split in which both halves have every class.
_DRAWS = 1000


def error_factor(threshold: float, n_pairs: int) -> float:
    """Return C(τ, B) for a unimodal distribution."""
    if threshold <= 0.75:
        return 1 / (2 * (2 * threshold - 1 - 1 / (2 * n_pairs)))
    return 4 * (1 - threshold + 1 / (2 * n_pairs)) / (1 + 1 / n_pairs)


def how_many(p: int, expected_false: float, threshold: float, n_pairs: int) -> int:
    """Return the largest q of p features with C·q²/p ≤ `expected_false` for which the bound holds."""
    C = error_factor(threshold, n_pairs)
    # The paper's assumption on θ² = (q/p)².
    above = threshold - 0.5
    reach = min(1 / 3, max(above, (above - 1 / (2 * n_pairs)) / 0.75))
    q = math.floor(min(math.sqrt(p * expected_false / C), p * math.sqrt(reach) - 1e-9))
    if q < 1:
        least = f"for {p} features a number >= {C / p:.2g}" if p > 1 else "more than one feature"
        raise ValueError(f"expected_false={shown(expected_false)}: {least} is required")
    return q


def complementary_halves(strata: Any, groups: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return sorted positions of the samples in two disjoint halves, with equal shares of each stratum (n,).

    Strata >= 0, of samples with an outcome, are in both halves. Samples of a group (n,) stay together.
    """
    required = np.unique(strata[strata >= 0])
    units = np.arange(len(strata)) if groups is None else np.unique(groups, return_inverse=True)[1]
    kinds = _kinds(strata, units)
    for _ in range(_DRAWS):
        second = _sides(kinds, rng)[units]
        halves = np.flatnonzero(~second), np.flatnonzero(second)
        if all(len(np.intersect1d(required, strata[half])) == len(required) for half in halves):
            return halves
    raise ValueError(
        "groups: no split into halves keeps groups together and has every class in both; more groups of "
        "each class are required"
    )


def _kinds(strata: Any, units: Any) -> Any:
    """Return the stratum of each unit: the rarest among its samples."""
    values, codes = np.unique(strata, return_inverse=True)
    has = np.zeros((units.max() + 1, len(values)), dtype=bool)
    has[units, codes] = True
    return np.where(has, has.sum(axis=0), len(strata) + 1).argmin(axis=1)


def _sides(kinds: Any, rng: np.random.Generator) -> Any:
    """Return which units (u,) are in the second half: a random half of each kind."""
    second = np.zeros(len(kinds), dtype=bool)
    larger = bool(rng.integers(2))  # the half that gets the odd unit; alternates
    for kind in np.unique(kinds):
        own = rng.permutation(np.flatnonzero(kinds == kind))
        second[own[: (len(own) + larger) // 2]] = True
        larger ^= len(own) % 2 == 1
    return second
