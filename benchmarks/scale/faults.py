"""Fits on two Dask workers, one of which is killed at a random moment.

The moment is between 20 and 80 per cent of the time of an undisturbed fit. Workers generate their own data,
and generate lost data again.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.scale import planted
from benchmarks.scale.workers import START, cluster, collections, fit

Row = dict[str, Any]
FITS, ASKED = 10, 1e-7


def faults(quick: bool = False) -> Iterator[Row]:
    """The fit that is left alone, and those that are not."""
    n, source, rank, chunk, fits = 80_000, planted.Dense(300, 8, 5, "float64"), 8, 10_000, FITS
    if quick:
        n, source, rank, chunk, fits = 8_000, planted.Dense(60, 3, 3, "float64"), 3, 1_000, 1
    rng = np.random.default_rng(0)
    with cluster(2) as client:
        X, y = collections(source, n, chunk)
        fit(client, X, y, rank)  # imports do not count
        whole, model = fit(client, X, y, rank)
        undisturbed = model.objective_
        yield {"fit": 0, "s": whole, "objective": undisturbed}
        for number in range(1, fits + 1):
            client.wait_for_workers(2, timeout=START)
            share = float(rng.uniform(0.2, 0.8))
            victim = rng.choice(sorted(client.run(os.getpid).values()))
            timer = threading.Timer(share * whole, os.kill, (int(victim), signal.SIGKILL))
            timer.start()
            seconds, model = fit(client, X, y, rank)
            late = timer.is_alive()  # the fit was over before
            timer.cancel()
            yield {
                "fit": number,
                "s": seconds,
                "objective": model.objective_,
                "killed at": share,
                "killed": not late,
                "relative difference": abs(model.objective_ / undisturbed - 1),
                "asked at most": ASKED,
                "said": "; ".join(model.recovered_),
            }
