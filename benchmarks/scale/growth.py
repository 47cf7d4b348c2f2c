"""How the cost of an iteration grows with the samples, the stored values of X and the outputs κ.

All fits go through sums over blocks of samples, small ones too, and end after eight iterations at most.
Three costs, from coarse to fine:

- an iteration: the whole fit, its start included, divided by its steps (the entries of ``history_``: Newton,
  proximal and escaping steps)
- a question: the whole fit divided by the sums over all samples that it asked for
- a round: one question of each kind that an iteration is made of, medians added up: the loss and its
  gradient in the basis (``evaluate``), their curvature (``curvature``), the gradient over X (``pull``)

Exponents are slopes of log seconds against log size, by least squares over all sizes of a series.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.scale import ledger, planted
from superfactor import SMFClassifier

Row = dict[str, Any]
RANK = 5
ITERATIONS = 8
ROUND = ("evaluate", "pull")
COSTS = ("s an iteration", "s a question", "s a round")
SAMPLES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
QUICK_SAMPLES = (4_000, 8_000, 16_000)
OUTPUTS = (1, 2, 5, 10, 20, 50)
QUICK_OUTPUTS = (1, 2, 4)
# A short fit is repeated until it has taken so many seconds, or has been repeated five times.
BUDGET = 3.0


def growth(quick: bool = False) -> Iterator[Row]:
    """A row for every size, and for every series its exponents."""
    samples, outputs = (QUICK_SAMPLES, QUICK_OUTPUTS) if quick else (SAMPLES, OUTPUTS)
    many, width, words = (8_000, 40, 1_000) if quick else (200_000, 200, 20_000)
    budget = 0.0 if quick else BUDGET
    dense, sparse = planted.Dense(width, RANK, 3), planted.Sparse(words, 3)
    yield from _series("dense, samples", "n", [(dense, n) for n in samples], budget)
    yield from _series("sparse, stored values", "nnz", [(sparse, n) for n in samples], budget)
    kinds = [(planted.Dense(width, RANK, k + 1), many) for k in outputs]
    yield from _series("dense, outputs", "κ", kinds, budget)


def _series(
    name: str, axis: str, cases: list[tuple[planted.Dense | planted.Sparse, int]], budget: float
) -> Iterator[Row]:
    rows = []
    for source, n in cases:
        rows.append({"series": name, **measured(source, n, budget)})
        yield rows[-1]
    yield {"series": name, "exponent in": axis, **exponents(axis, rows)}


def exponents(axis: str, rows: list[Row]) -> Row:
    """The exponent of each cost along the axis."""
    sizes = np.log([row[axis] for row in rows])
    return {cost: float(np.polyfit(sizes, np.log([row[cost] for row in rows]), 1)[0]) for cost in COSTS}


def measured(source: planted.Dense | planted.Sparse, n: int, budget: float) -> Row:
    """Sizes and costs of a fit; of repeated ones the least."""
    X, y = planted.in_memory(source, n)
    found = [_fit(X, y)]
    while len(found) < 5 and sum(row["fit s"] for row in found) < budget:
        found.append(_fit(X, y))
    least = {cost: min(row[cost] for row in found) for cost in ("fit s", *COSTS)}
    nnz = int(X.nnz) if hasattr(X, "nnz") else X.size
    return {"n": n, "p": source.p, "nnz": nnz, "κ": source.classes - 1, **found[0], **least}


def _fit(X: Any, y: np.ndarray) -> Row:
    with ledger.kept(len(y)) as asked, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # eight iterations are what is asked for
        start = time.perf_counter()
        model = SMFClassifier(RANK, xi=1.0, lam=1.0, certify=None, max_iter=ITERATIONS).fit(X, y)
        seconds = time.perf_counter() - start
    return {
        "fit s": seconds,
        "iterations": model.n_iter_,
        "questions": asked.count,
        "s an iteration": seconds / model.n_iter_,
        "s a question": seconds / asked.count,
        "s a round": asked.curvature + sum(map(asked.median, ROUND)),
    }
