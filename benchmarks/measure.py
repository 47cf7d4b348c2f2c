"""Time, memory and machine: measured the same way for everybody."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np


class TakesTooLong(Exception):
    """A job that had to be ended."""


def seconds(job: Callable[[], Any], repeats: int = 5) -> float:
    """Median of warm runs."""
    job()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def isolated(job: Callable[..., Any], *arguments: Any, limit: float) -> Any:
    """job(*arguments) in a process of its own, which is ended after `limit` seconds.

    No job inherits the memory or the threads of an earlier one, and a peer that hangs does not stop the
    others. Processes are forked from one that has only imported the common libraries.
    """
    kind = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
    context: Any = get_context(kind)
    if kind == "forkserver":
        context.set_forkserver_preload(["benchmarks.methods"])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, job, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            raise TakesTooLong(f"not finished in {limit:g} s")
        found, error = receiver.recv()
    except EOFError:
        raise RuntimeError("ended without an answer") from None
    finally:
        process.kill()
        process.join()
    if error is not None:
        raise RuntimeError(error)
    return found


def _send(sender: Connection, job: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        sender.send((job(*arguments), None))
    except Exception as error:
        sender.send((None, f"{type(error).__name__}: {error}"))


def peak_megabytes(job: Callable[[], Any]) -> float:
    """By how much the process grew at most while the job ran.

    Resident memory and not what Python has allocated: much of what BLAS and C libraries take, Python
    never sees. For an isolated process only, since a freed page may still be there from earlier.
    """
    with suppress(OSError):  # the peak so far, of loading data, is not the job's
        Path("/proc/self/clear_refs").write_text("5")
    before = _most_resident()
    job()
    return _most_resident() - before


def _most_resident() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))
    import resource

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (1e6 if sys.platform == "darwin" else 1e3)


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

    import superfactor

    processor = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = names[0] if names else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "superfactor": superfactor.__version__,
        "date": date.today().isoformat(),
    }
