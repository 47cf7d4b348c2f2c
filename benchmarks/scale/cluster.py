"""Two Dask workers against one and against one plain process, and what a step costs on a cluster.

Workers and the plain process have one thread each; scheduler and client share the processor with them.
Workers have X in memory before a fit is timed. A step is a question to all samples.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.scale import ledger, planted
from benchmarks.scale.workers import cluster as processes
from benchmarks.scale.workers import collections, enlarged, fit, persisted
from superfactor import SMFClassifier

Row = dict[str, Any]
SMALL = planted.Dense(100, 3, 3, "float64")
SMALL_SAMPLES = 2_000
LIMIT = 600.0
FASTER, APART, OVERHEAD = 1.5, 1e-7, 10.0


def cluster(quick: bool = False) -> Iterator[Row]:
    """A row for every way to fit, what they say of each other, and the overhead at a small size."""
    n, source, rank, chunk = 400_000, planted.Dense(500, 10, 5, "float64"), 10, planted.BLOCK
    if quick:
        n, source, rank, chunk = 2_000, SMALL, 3, 500
    size = {"n": n, "p": source.p, "classes": source.classes, "rank": rank}
    seconds, objective = measure.isolated(plain, source, n, rank, limit=LIMIT)
    yield {"who": "plain process", **size, "s": seconds, "objective": objective}
    spent = {}
    with processes(1) as client:
        for workers, who in ((1, "1 worker"), (2, "2 workers")):
            enlarged(client, workers)
            fit(client, *collections(SMALL, SMALL_SAMPLES, 500), 3)  # imports do not count
            X, y = persisted(client, *collections(source, n, chunk))
            spent[workers], model = fit(client, X, y, rank)
            del X, y
            row = {"s": spent[workers], "iterations": model.n_iter_, "objective": model.objective_}
            row["relative difference"] = abs(model.objective_ / objective - 1)
            yield {"who": who, **size, **row, "asked at most": APART}
        yield {"who": "2 workers against 1", "times faster": spent[1] / spent[2], "asked at least": FASTER}
        yield {"who": "overhead", **overhead(client, repeats=2 if quick else 7)}


def plain(source: planted.Dense, n: int, rank: int) -> tuple[float, float]:
    """Seconds and objective of a fit on one core; for a process of its own."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    X, y = planted.in_memory(source, n)
    return _local(X, y, rank)


def _local(X: Any, y: np.ndarray, rank: int) -> tuple[float, float]:
    start = time.perf_counter()
    model = SMFClassifier(rank, xi=1.0, lam=1.0, certify=None).fit(X, y)
    return time.perf_counter() - start, model.objective_


def overhead(client: Any, repeats: int) -> Row:
    """Milliseconds that a step takes longer on the cluster than in this process, at a small size.

    By the whole fit, for which the workers must also be given their samples, and by the questions alone.
    Medians of repeated fits.
    """
    from superfactor.distributed.samples import RemoteSamples

    n, rank = SMALL_SAMPLES, SMALL.rank
    X, y = planted.in_memory(SMALL, n)
    held = persisted(client, *collections(SMALL, n, n // 2))
    here, there, questions, iterations, alone = [], [], 0, 0, []
    for _ in range(repeats + 1):
        with ledger.kept(n) as local:
            here.append(_local(X, y, rank)[0])
        with ledger.kept(n, RemoteSamples) as remote:
            seconds, model = fit(client, *held, rank)
        there.append(seconds)
        questions, iterations = remote.count, model.n_iter_
        alone.append((remote.total - local.total) / questions)
    # The first of each is a warm-up.
    more = float(np.median(there[1:]) - np.median(here[1:]))
    return {
        "n": n,
        "questions": questions,
        "iterations": iterations,
        "cluster fit s": float(np.median(there[1:])),
        "plain fit s": float(np.median(here[1:])),
        "ms a question, whole fit": 1e3 * more / questions,
        "ms an iteration, whole fit": 1e3 * more / iterations,
        "ms a question, alone": 1e3 * float(np.median(alone[1:])),
        "asked at most ms": OVERHEAD,
    }
