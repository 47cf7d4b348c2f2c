"""y of every kind, planted in X or not: classes, numbers and times, with gaps."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
Generator = np.random.Generator

KINDS = ("two classes", "classes", "numbers", "times")
GAPS = 0.2


def scores(rng: Generator, X: Array, count: int) -> Array:
    """What outcomes follow (n, count): some columns of X, whatever their units, and noise."""
    n, p = X.shape
    some = rng.permutation(p)[: int(rng.integers(1, min(p, 6) + 1))]
    centred = X[:, some] - X[:, some].mean(axis=0)
    spread = centred.std(axis=0)
    told = centred / np.where(spread > 0, spread, 1) @ rng.standard_normal((len(some), count))
    return float(rng.choice([0.0, 1.0, 3.0])) * told + rng.standard_normal((n, count))


def labels(rng: Generator, X: Array, n_classes: int) -> Array:
    """Class numbers (n,), none of which is missing."""
    codes = np.argmax(scores(rng, X, n_classes), axis=1)
    codes[rng.permutation(len(codes))[:n_classes]] = np.arange(n_classes)
    return codes


def numbers(rng: Generator, X: Array) -> Array:
    """Targets (n,) or (n, κ) in some unit, far from zero or not."""
    count = int(rng.choice([1, 1, 2, 3]))
    y = 10 ** rng.uniform(-2, 2) * (scores(rng, X, count) + rng.choice([0.0, 0.0, 30.0]))
    return y[:, 0] if count == 1 and rng.random() < 0.8 else y


def times(rng: Generator, X: Array) -> Array:
    """Events and times (n, 2), with ties or without."""
    risk = np.clip(scores(rng, X, 1)[:, 0], -6, 6)
    seen = rng.exponential(np.exp(-risk))
    until = np.quantile(seen, rng.uniform(0.4, 1.0)) * rng.uniform(0.5, 1.5, len(seen))
    event, time = seen <= until, np.minimum(seen, until)
    if rng.random() < 0.5:
        time = np.ceil(np.argsort(np.argsort(time)) / int(rng.integers(2, 6)))
    event[np.argsort(time)[:2]] = True
    return np.column_stack([event.astype(float), time])


def who_has_none(rng: Generator, kind: str, y: Array) -> Array:
    """Whose outcome is not known (n,): nobody's, or those of about a fifth, but of no class all."""
    absent = np.zeros(len(y), dtype=bool)
    if rng.random() < 0.7:
        return absent
    absent = rng.random(len(y)) < GAPS
    if kind in ("two classes", "classes"):
        first = np.unique(y, return_index=True)[1]
    elif kind == "times":
        first = np.argsort(y[:, 1])[[0, 1, -1]]
    else:
        first = np.arange(2)
    absent[first] = False
    return absent
