"""A Dask cluster of processes on loopback, and collections that their workers make themselves."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from benchmarks.scale import planted
from superfactor.distributed import DaskSMFClassifier

START = 30.0


@contextmanager
def cluster(workers: int) -> Iterator[Client]:
    """So many processes of one thread, and of one BLAS thread; what Dask says of lost ones is not shown."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    options = {"processes": True, "n_workers": workers, "threads_per_worker": 1, "memory_limit": 0}
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    try:
        with (
            LocalCluster(host="127.0.0.1", dashboard_address="127.0.0.1:0", env=one, **options) as processes,
            Client(processes, set_as_default=False, timeout=START) as client,
        ):
            enlarged(client, workers)
            yield client
    finally:
        logger.setLevel(level)


def enlarged(client: Client, workers: int) -> None:
    """Have the cluster be of so many workers, at least."""
    client.cluster.scale(workers)
    client.wait_for_workers(workers, timeout=START)


def collections(source: planted.Dense, n: int, chunk: int = planted.BLOCK) -> tuple[Any, Any]:
    """X (n, p) and y (n,) as Dask arrays that workers make, and make again if lost; chunks divide a block."""
    X, y = [], []
    for a, b in pairwise([*range(0, n, chunk), n]):
        made = dask.delayed(_rows, nout=2)(source, a, b)
        X.append(da.from_delayed(made[0], (b - a, source.p), source.dtype))
        y.append(da.from_delayed(made[1], (b - a,), np.int64))
    return da.concatenate(X), da.concatenate(y)


def _rows(source: planted.Dense, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    number, first = divmod(start, planted.BLOCK)
    X, y = source.block(number, first + stop - start)
    return X[first:], y[first:]


def persisted(client: Client, *arrays: Any) -> Any:
    """The same, made and held by the workers."""
    held = client.persist(list(arrays))
    with client.as_current():
        wait(held, timeout=600)
    return held


def fit(client: Client, X: Any, y: Any, rank: int) -> tuple[float, DaskSMFClassifier]:
    """Seconds of a whole fit without certificate, and the model; a loss is not warned of, but kept."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Dask worker .* was lost", UserWarning)
        model = DaskSMFClassifier(rank, xi=1.0, lam=1.0, certify=None, client=client).fit(X, y)
    return time.perf_counter() - start, model
