"""How the cost of a whole fit grows with n, p, the rank r and the number of outputs κ.

One axis is doubled while the others stay; the exponent is the slope of log seconds against log size, by
least squares. It is that of these sizes, not of a limit: fixed costs flatten it where fits are short, and a
method that needs fewer iterations on more data (LPGD) may even get faster. Of the release, which would
take minutes, it is that of one iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data, measure, runs
from benchmarks.cases import Case
from benchmarks.methods import METHODS

BASE = {"n": 500, "p": 4000, "r": 8, "κ": 1}
AXES: dict[str, tuple[int, ...]] = {
    "n": (250, 500, 1000, 2000),
    "p": (4000, 8000, 16000, 32000),
    "r": (4, 8, 16, 32),
    "κ": (1, 2, 4, 8),
}
QUICK_BASE = {"n": 60, "p": 200, "r": 4, "κ": 1}
QUICK_AXES: dict[str, tuple[int, ...]] = {"n": (40, 80, 160, 320)}
LEAST_POINTS = 4


def growth(quick: bool = False) -> list[dict[str, Any]]:
    """One row per method and axis: sizes, seconds, exponent."""
    base, axes = (QUICK_BASE, QUICK_AXES) if quick else (BASE, AXES)
    limit, budget = (2.0, 0.1) if quick else (15.0, 0.5)
    return [row for axis, sizes in axes.items() for row in along(axis, sizes, base, limit, budget)]


def along(
    axis: str, sizes: Sequence[int], base: dict[str, int], limit: float, budget: float
) -> list[dict[str, Any]]:
    """The rows of one axis.

    Who takes longer than `limit` seconds is not asked at larger sizes. Fits are repeated within `budget`.
    """
    rows: list[dict[str, Any]] = [
        {"axis": axis, "method": method.name, "model": method.model, "sizes": [], "seconds": []}
        for method in METHODS
    ]
    for size in sizes:
        with runs.on_disk(planted(base | {axis: size})) as file:
            for index, row in enumerate(rows):
                if "note" in row:
                    continue
                try:
                    found = measure.isolated(_seconds, file, index, budget, limit, limit=2 * limit)
                except (measure.TakesTooLong, RuntimeError) as error:
                    row["note"] = str(error)
                else:
                    row["sizes"].append(size)
                    row["seconds"].append(found)
    return [row | {"exponent": exponent(row["sizes"], row["seconds"])} for row in rows]


def planted(size: dict[str, int]) -> Case:
    """Return a case of that size, without a test part."""
    n, p, rank, classes = size["n"], size["p"], size["r"], size["κ"] + 1
    X, y = data.microarray(n, p, rank, classes=classes)
    return Case(str(size), X, y, X[:0], y[:0], rank)


def _seconds(file: Path, index: int, budget: float, limit: float) -> float:
    """Median of a few fits; of one iteration where a whole fit would take minutes."""
    method, case = runs.prepared(file, index)
    if method.iterating is not None:
        step = method.iterating(case)
        times = [step()]
        while sum(times) < budget:
            times.append(step())
        return float(np.median(times))
    first = runs.run(method, case, limit)
    if first.clock.stopped:
        raise measure.TakesTooLong(f"not finished in {limit:g} s")
    fits = runs.repeated(method, case, first, budget, most=3)
    return float(np.median([fit.seconds for fit in fits]))


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float | None:
    """The slope of log seconds against log size; None for fewer than four points."""
    if len(seconds) < LEAST_POINTS:
        return None
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def exponents(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with one row per method and one column per axis, named with its sizes."""
    spans: dict[str, list[int]] = {}
    for row in rows:
        spans[row["axis"]] = max(spans.get(row["axis"], []), row["sizes"], key=len)
    found: dict[Any, dict[str, Any]] = {}
    for row in rows:
        method = {"method": row["method"], "model": row["model"]}
        line, sizes = found.setdefault(tuple(method.values()), method), spans[row["axis"]]
        line[f"{row['axis']} {sizes[0]:,} to {sizes[-1]:,}"] = row["exponent"]
    return list(found.values())
