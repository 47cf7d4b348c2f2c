"""A million samples of two thousand features, ten classes, rank 20, float32: one whole fit on two cores.

From a file that is read in passes, and from memory. A bare pass reads every page of the file, in the blocks
and with the threads of the fit; what the passes of a fit would take by that measure is not compute. The file
has just been written: what of it fits into memory, the system still has there. The objective of that fit is
evaluated once more, in float64 by plain NumPy.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.scale import planted
from benchmarks.scale.precision import objective
from superfactor import SMFClassifier, row_blocks
from superfactor._arrays import cores
from superfactor.estimators.inputs import block_cuts
from superfactor.spectrum import RowSource

Row = dict[str, Any]
ASKED = 120.0


def million(quick: bool = False) -> Iterator[Row]:
    """The fit from a file, then from memory."""
    n, source, rank = 1_000_000, planted.Dense(2_000, 20, 10), 20
    if quick:
        n, source, rank = 4_000, planted.Dense(40, 3, 3), 3
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        path, y = planted.on_disk(source, n, Path(folder))
        print(f"  made in {time.perf_counter() - start:.0f} s", flush=True)
        size = {"n": n, "p": source.p, "classes": source.classes, "rank": rank}
        X = row_blocks(path)
        bare = bare_pass(X)
        with counted() as read:
            row, model = whole_fit(X, y, rank)
        passes = sum(read) / n
        row |= {"bare pass s": bare, "passes": passes, "s beyond reading": row["s"] - passes * bare}
        row |= {"asked at most": ASKED}
        yield {"X": "file", **size, **row}
        exact = objective(model, np.load(path, mmap_mode="r"), y)
        apart = abs(model.objective_ / exact - 1)
        yield {"X": "NumPy, float64", **size, "objective": exact, "relative difference": apart}
        del model
        row, _ = whole_fit(np.load(path), y, rank)
        yield {"X": "memory", **size, **row, "asked at most": ASKED}


def whole_fit(X: Any, y: np.ndarray, rank: int) -> tuple[Row, SMFClassifier]:
    """Seconds of one fit, with its certificate, and the model."""
    start = time.perf_counter()
    model = SMFClassifier(rank, xi=1.0, lam=1.0, certify="residual").fit(X, y)
    seconds = time.perf_counter() - start
    return {
        "s": seconds,
        "iterations": model.n_iter_,
        "objective": model.objective_,
        "certificate": str(model.certificate_.statement),
    }, model


def bare_pass(X: RowSource) -> float:
    """Seconds to read every page of X once, as a fit does."""

    def touch(span: tuple[int, int]) -> float:
        return float(X.read(*span).reshape(-1)[::512].sum())  # a page is 4096 bytes

    start = time.perf_counter()
    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(touch, pairwise(block_cuts(X))))
    return time.perf_counter() - start


@contextmanager
def counted() -> Iterator[list[int]]:
    """How many rows sources are asked for meanwhile."""
    read, method = list[int](), RowSource.read

    def counting(self: RowSource, start: int, stop: int) -> np.ndarray:
        read.append(stop - start)
        return method(self, start, stop)

    with mock.patch.object(RowSource, "read", counting):
        yield read
