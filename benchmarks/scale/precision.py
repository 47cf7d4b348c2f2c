"""float32 against float64 on the same numbers, and objectives evaluated by plain NumPy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.scale import planted
from superfactor import SMFClassifier

Row = dict[str, Any]
ASKED = 1e-4


def precision(quick: bool = False) -> Iterator[Row]:
    """Whole fits in both types, from the same values."""
    n, source, rank = 200_000, planted.Dense(2_000, 20, 10), 20
    if quick:
        n, source, rank = 3_000, planted.Dense(40, 3, 3), 3
    X, y = planted.in_memory(source, n)
    row: Row = {"n": n, "p": source.p, "classes": source.classes, "rank": rank}
    for kind in ("float32", "float64"):
        X = X.astype(kind, copy=False)
        start = time.perf_counter()
        model = SMFClassifier(rank, xi=1.0, lam=1.0, certify=None).fit(X, y)
        row[f"{kind} s"] = time.perf_counter() - start
        row[f"{kind} objective"] = model.objective_
        row[f"{kind} objective, by NumPy"] = objective(model, X, y)
    exact = row["float64 objective"]
    yield row | {"relative difference": abs(row["float32 objective"] / exact - 1), "asked at most": ASKED}


def objective(model: SMFClassifier, X: Any, y: np.ndarray) -> float:
    """F of a fitted filter model with an intercept, in float64, block by block.

    F = Σ_i log Σ_c exp(a_ic) − a_iy_i + ξ‖X − XWWᵀ‖² + λ‖Wβ‖², with a = XWβ + γ and a_i0 = 0.
    """
    atoms, coef = np.asarray(model.components_, float), np.asarray(model.factor_coef_, float)
    intercept = np.asarray(model.intercept_, float)
    total = model.lam * float(np.sum((coef @ atoms) ** 2))
    for a, b in pairwise([*range(0, len(y), planted.BLOCK), len(y)]):
        rows = np.asarray(X[a:b], dtype=float)
        codes = rows @ atoms.T
        activations = codes @ coef.T + intercept
        if len(coef) == 1:  # log-odds of the second class
            activations = np.hstack([np.zeros_like(activations), activations])
        top = activations.max(axis=1)
        sums = np.log(np.exp(activations - top[:, None]).sum(axis=1)) + top
        total += float(np.sum(sums - activations[np.arange(b - a), y[a:b]]))
        rows -= codes @ atoms
        total += model.xi * float(np.vdot(rows, rows))
    return total
