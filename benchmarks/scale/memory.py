"""Peak memory of a fit that reads X in passes, against the number of samples.

Each fit runs in a process of its own, with 64 MiB of scikit-learn's ``working_memory``. Peaks are of resident
memory without the pages of mapped files (``RssAnon``, sampled) and with them (``ru_maxrss``); interpreter and
libraries are part of both, but not of the fit's own memory. What must grow with n is taken off: the codes
(n × r) and y. ``scratch`` are the temporary files in which the search keeps its own tall matrices.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import config_context

from benchmarks import measure
from benchmarks.scale import planted

Row = dict[str, Any]
RANK, CLASSES = 10, 4
SAMPLES = {"npy": (100_000, 200_000, 400_000, 800_000), "zarr": (100_000, 400_000)}
QUICK_SAMPLES = {"npy": (2_000, 4_000), "zarr": (2_000, 4_000)}
ASKED = 0.2
LIMIT = 300.0
EVERY = 0.005


def memory(quick: bool = False) -> Iterator[Row]:
    """A row for every storage and size, and for every storage by how much the peaks differ."""
    samples, width, working = (QUICK_SAMPLES, 50, 1) if quick else (SAMPLES, 500, 64)
    source = planted.Dense(width, RANK, CLASSES)
    for kind, sizes in samples.items():
        rows = []
        for n in sizes:
            with tempfile.TemporaryDirectory() as folder:
                path, y = planted.on_disk(source, n, Path(folder), kind)
                np.save(Path(folder) / "y.npy", y)
                found = measure.isolated(fitted, path, working, limit=LIMIT)
            rows.append({"storage": kind, "n": n, "p": width, **found})
            yield rows[-1]
        yield {"storage": kind, "asked at most": ASKED, **spreads(rows)}


def spreads(rows: list[Row]) -> Row:
    """max/min − 1 of the peaks."""
    keys = ("anonymous MB, less codes and y", "resident MB, less codes and y", "fit's own MB")
    peaks = {key: [row[key] for row in rows] for key in keys}
    return {key: max(peak) / min(peak) - 1 for key, peak in peaks.items()}


def fitted(path: Path, working_memory: int) -> Row:
    """Fit the file at `path`, and tell how much memory that took at most; for a process of its own."""
    from threadpoolctl import threadpool_limits

    from superfactor import SMFClassifier, row_blocks

    scratch = path.parent / "scratch"
    scratch.mkdir()
    tempfile.tempdir = str(scratch)
    y = np.load(path.parent / "y.npy")
    before = _anonymous()
    one_thread = threadpool_limits(1, user_api="blas")
    with config_context(working_memory=working_memory), one_thread, _Watch(scratch) as watch:
        model = SMFClassifier(RANK, xi=1.0, lam=1.0, certify="residual").fit(row_blocks(path), y)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    resident /= 1e6 if sys.platform == "darwin" else 1e3
    codes, labels = model.codes_.nbytes / 1e6, y.nbytes / 1e6
    grows = codes + labels
    return {
        "before MB": before,
        "anonymous MB": watch.anonymous,
        "resident MB": resident,
        "codes and y MB": grows,
        "anonymous MB, less codes and y": watch.anonymous - grows,
        "resident MB, less codes and y": resident - grows,
        "fit's own MB": watch.anonymous - before - codes,
        "scratch MB": watch.scratch,
        "iterations": model.n_iter_,
    }


class _Watch:
    """Looks every few milliseconds how much memory and scratch space is in use; keeps the most."""

    def __init__(self, folder: Path) -> None:
        self.anonymous = self.scratch = 0.0
        self._folder, self._over = folder, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        due, over = 0.0, False
        while not over:
            over = self._over.wait(EVERY)
            self.anonymous = max(self.anonymous, _anonymous())
            begun = time.monotonic()
            if begun >= due:
                self.scratch = max(self.scratch, _megabytes(self._folder))
                # Where files are many, a tenth of the time goes into them; where they are few, a short fit
                # on a busy machine is looked at often enough too.
                due = begun + 10 * (time.monotonic() - begun)


def _anonymous() -> float:
    """Return the anonymous resident memory in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1.024e-3 for line in lines if line.startswith("RssAnon"))


def _megabytes(folder: Path) -> float:
    """Return the size of all files in a folder, without those that are deleted meanwhile."""
    total = 0
    for place, _, names in os.walk(folder):  # codespell:ignore walk
        for name in names:
            with suppress(FileNotFoundError):
                total += os.stat(os.path.join(place, name)).st_size
    return total / 1e6
