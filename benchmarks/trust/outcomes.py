"""y of every kind, planted in X or not, with missing values."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
Generator = np.random.Generator

#: With Breslow's ties and with Efron's, compared all with all or in strata.
TIMES = ("times", "times, Efron", "times in strata", "times in strata, Efron")
KINDS = ("two classes", "classes", "numbers", "counts", *TIMES, "flags", "mixed")
MISSING = 0.2


def scores(rng: Generator, X: Array, count: int) -> Array:
    """What outcomes follow (n, count): some columns of X, whatever their units, and noise."""
    n, p = X.shape
    some = rng.permutation(p)[: int(rng.integers(1, min(p, 6) + 1))]
    centred = X[:, some] - X[:, some].mean(axis=0)
    spread = centred.std(axis=0)
    signal = centred / np.where(spread > 0, spread, 1) @ rng.standard_normal((len(some), count))
    return float(rng.choice([0.0, 1.0, 3.0])) * signal + rng.standard_normal((n, count))


def labels(rng: Generator, X: Array, n_classes: int) -> Array:
    """Class numbers (n,), none of which is missing."""
    codes = np.argmax(scores(rng, X, n_classes), axis=1)
    codes[rng.permutation(len(codes))[:n_classes]] = np.arange(n_classes)
    return codes


def flags(rng: Generator, X: Array) -> Array:
    """Return flags (n, κ) of 0 and 1, with missing values or without; the first two samples differ in all."""
    count = int(rng.integers(2, 5))
    y = (scores(rng, X, count) > rng.normal(0, 0.7, count)).astype(float)
    if rng.random() < 0.6:
        y[rng.random(y.shape) < MISSING] = np.nan
    y[0] = rng.integers(0, 2, count)
    y[1] = 1 - y[0]
    return y


def numbers(rng: Generator, X: Array) -> Array:
    """Targets (n,) or (n, κ) in some unit, far from zero or not."""
    count = int(rng.choice([1, 1, 2, 3]))
    y = 10 ** rng.uniform(-2, 2) * (scores(rng, X, count) + rng.choice([0.0, 0.0, 30.0]))
    return y[:, 0] if count == 1 and rng.random() < 0.8 else y


def counts(rng: Generator, X: Array) -> Array:
    """Counts (n,) or (n, κ), many or few, of which each column has some; sometimes rates."""
    count = int(rng.choice([1, 1, 2]))
    mean = 10 ** rng.uniform(-1, 3)
    y = rng.poisson(mean * np.exp(np.clip(0.5 * scores(rng, X, count), -4, 4))).astype(float)
    y[0] = np.maximum(y[0], 1.0)
    if rng.random() < 0.2:
        y = y / rng.uniform(1, 5, (len(y), 1))
    return y[:, 0] if count == 1 and rng.random() < 0.8 else y


def times(rng: Generator, X: Array) -> Array:
    """Events and times (n, 2), with ties or without; the first two in time are events."""
    risk = np.clip(scores(rng, X, 1)[:, 0], -6, 6)
    seen = rng.exponential(np.exp(-risk))
    until = np.quantile(seen, rng.uniform(0.4, 1.0)) * rng.uniform(0.5, 1.5, len(seen))
    event, time = seen <= until, np.minimum(seen, until)
    if rng.random() < 0.5:
        time = np.ceil(np.argsort(np.argsort(time)) / int(rng.integers(2, 6)))
    event[np.argsort(time)[:2]] = True
    return np.column_stack([event.astype(float), time])


def times_in_strata(rng: Generator, X: Array) -> Array:
    """Events, times and strata (n, 3): the first two in time are of one stratum, others may be alone."""
    y = times(rng, X)
    stratum = rng.integers(0, int(rng.integers(2, 5)), len(y)).astype(float)
    first = np.argsort(y[:, 1])[[0, 1, -1]]
    stratum[first] = stratum[first[0]]
    return np.column_stack([y, stratum])


def mixed(rng: Generator, X: Array) -> Array:
    """A class number, a number, an event and a time (n, 4), each outcome with or without missing values.

    The first samples have all of them, and so have the first two in time and the last.
    """
    n_classes = int(rng.integers(2, 4))
    code = labels(rng, X, n_classes)
    y = np.column_stack([code, numbers(rng, X).reshape(len(X), -1)[:, 0], times(rng, X)])
    kept = needed_of_mixed(y)
    full = y[kept]
    if rng.random() < 0.7:
        for columns in ([0], [1], [2, 3]):
            y[np.ix_(rng.random(len(y)) < MISSING, columns)] = np.nan
    y[kept] = full
    return y


def needed_of_mixed(y: Array) -> Array:
    """Samples that y (n, 4) cannot do without: one of each class, two numbers, three times."""
    numbered = np.flatnonzero(~np.isnan(y[:, 1]))[:2]
    present = np.flatnonzero(~np.isnan(y[:, 0]))
    each = present[np.unique(y[present, 0], return_index=True)[1]]
    return np.concatenate([each, numbered, np.argsort(y[:, 3])[[0, 1]], [np.nanargmax(y[:, 3])]])


def who_has_none(rng: Generator, kind: str, y: Array) -> Array:
    """Return which outcomes are missing (n,): none, or about a fifth, but not all of a class."""
    absent = np.zeros(len(y), dtype=bool)
    if rng.random() < 0.7:
        return absent
    absent = rng.random(len(y)) < MISSING
    if kind in ("two classes", "classes"):
        first = np.unique(y, return_index=True)[1]
    elif kind in TIMES:
        first = np.argsort(y[:, 1])[[0, 1, -1]]
    elif kind == "mixed":
        first = needed_of_mixed(y)
    else:
        first = np.arange(2)
    absent[first] = False
    return absent
