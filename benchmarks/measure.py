"""Time, memory and machine: measured the same way for everybody."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np


def seconds(job: Callable[[], Any], repeats: int = 5) -> float:
    """Median of warm runs."""
    job()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def side_by_side(jobs: dict[str, Callable[[], Any]], repeats: int = 5) -> dict[str, float]:
    """Median of warm runs of several jobs taken in turns, so that a slow moment hits all of them."""
    for job in jobs.values():
        job()
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - start)
    return {name: float(np.median(found)) for name, found in times.items()}


def peak_megabytes(job: Callable[[], Any]) -> float:
    """Largest memory allocated by NumPy and Python beyond what was there before."""
    tracemalloc.start()
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def import_seconds(statement: str, after: str = "pass", repeats: int = 7) -> float:
    """Median time of an import statement in a fresh interpreter that has run `after` already."""
    code = f"{after}; import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(repeats)
    ]
    return float(np.median(times))


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    import scipy
    import sklearn

    processor = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as lines:
            names = [
                line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
            ]
        processor = names[0] if names else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
