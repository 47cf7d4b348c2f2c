"""X of every kind: shapes, entries, columns that say nothing or the same, and scales over sixteen orders."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
Generator = np.random.Generator

SHAPES = ("wide", "nearly square", "tall")
ENTRIES = ("normal", "low rank", "counts", "binary", "shifted")
DEFECTS = ("none", "none", "equal columns", "equal rows", "constant", "zero column", "rank")
SCALES = ("none", "none", "none", "column", "column", "columns", "all columns", "row", "rows", "all")
#: Of scales: 10^−8 to 10^8.
ORDERS = 8.0


def shape(rng: Generator) -> tuple[int, int]:
    """n from 6 to 40 and p from 3 to 80."""
    kind = rng.choice(SHAPES)
    n = int(rng.integers(6, 41))
    if kind == "wide":
        n = min(n, 36)
        return n, int(rng.integers(2 * n, max(2 * n + 1, 81)))
    if kind == "nearly square":
        return n, int(rng.integers(n + 1, 2 * n))
    return n, int(rng.integers(3, max(4, n)))


def entries(rng: Generator, n: int, p: int) -> tuple[Array, str]:
    """X (n, p) of about size one, and what it is like."""
    kind = str(rng.choice(ENTRIES))
    X = rng.standard_normal((n, p))
    if kind == "low rank":
        k = int(rng.integers(1, 5))
        X = 0.3 * X + rng.standard_normal((n, k)) @ rng.standard_normal((k, p))
    elif kind == "counts":
        X = rng.poisson(np.exp(0.5 * rng.standard_normal(p)), (n, p)).astype(float)
    elif kind == "binary":
        X = (rng.random((n, p)) < rng.uniform(0.1, 0.9, p)).astype(float)
    elif kind == "shifted":
        X = X + 10 ** rng.uniform(-1, 1.5) * rng.standard_normal(p)
    return X, kind


def spoiled(rng: Generator, X: Array) -> tuple[Array, str]:
    """X with columns or rows that say nothing, or the same as others."""
    n, p = X.shape
    kind = str(rng.choice(DEFECTS))
    X = X.copy()
    some = rng.permutation(p)[: int(rng.integers(1, max(2, p // 2)))]
    if kind == "equal columns":
        X[:, some] = X[:, rng.integers(p, size=len(some))]
    elif kind == "equal rows":
        rows = rng.permutation(n)[: n // 3]
        X[rows] = X[rng.integers(n, size=len(rows))]
    elif kind == "constant":
        X[:, some] = rng.integers(1, 4, len(some))
    elif kind == "zero column":
        X[:, some] = 0.0
    elif kind == "rank":  # small whole numbers: the rank is exact
        k = int(rng.integers(1, min(n, p)))
        X = (rng.integers(-3, 4, (n, k)) @ rng.integers(-3, 4, (k, p))).astype(float)
        X[0] += 1.0  # never all zero
    return X, kind


def scaled(rng: Generator, X: Array) -> tuple[Array, str, float]:
    """X with columns or rows in units of their own, how, and the size of a usual entry."""
    n, p = X.shape
    kind = str(rng.choice(SCALES))
    by_column, by_row = np.ones(p), np.ones(n)
    c = 10 ** rng.uniform(-ORDERS, ORDERS)
    if rng.random() < 0.5:  # one that is large hides all others
        c = max(c, 1 / c)
    if kind == "column":
        by_column[rng.integers(p)] = c
    elif kind == "columns":
        by_column[rng.permutation(p)[: int(rng.integers(2, max(3, p // 2)))]] = c
    elif kind == "all columns":
        by_column = 10 ** rng.uniform(-ORDERS, ORDERS, p)
    elif kind == "row":
        by_row[rng.integers(n)] = c
    elif kind == "rows":
        by_row = 10 ** rng.uniform(-ORDERS / 2, ORDERS / 2, n)
    elif kind == "all":
        by_row[:] = c
    usual = float(np.median(by_column) * np.median(by_row))
    return by_row[:, None] * X * by_column, kind, usual
