"""The figures of scale by name; rows are printed and kept as they come, so that a run may be stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.tables import show

Row = dict[str, Any]
FIGURES = ("growth", "memory", "million", "precision", "cluster", "faults")


def measured(name: str, quick: bool, keep: Callable[[list[Row]], None]) -> None:
    """Measure one figure; `keep(rows)` is called with all rows so far whenever there is another."""
    # Only here: of all figures, two need Dask.
    figure: Callable[[bool], Iterator[Row]] = getattr(import_module(f"benchmarks.scale.{name}"), name)
    rows: list[Row] = []
    start = time.perf_counter()
    with threadpool_limits(1, user_api="blas"):
        for row in figure(quick):
            rows.append(row)
            keep(rows)
            show(f"{name}, after {time.perf_counter() - start:.0f} s", [row])
