"""Progress of long computations, and a time limit for work that the user did not request."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[int, int], object]

# The time limit of optional work.
MOST_SECONDS = 10
# The number of fits that are timed before the total is estimated.
_TIMED = 3
# Tuned ridge regression takes about ten seconds for a table with so many entries.
MOST_ENTRIES = 10_000_000


class TooLong(Exception):
    """The work would exceed the time limit."""


def time_limited(progress: Report | None = None) -> Report:
    """Return `progress` that raises TooLong as soon as the estimated total exceeds MOST_SECONDS."""
    # CPU time, so that other work on the machine does not change the result.
    begin = time.process_time()

    def report(done: int, total: int) -> None:
        spent = time.process_time() - begin
        if done >= _TIMED and spent / done * total > MOST_SECONDS:
            raise TooLong
        if progress is not None:
            progress(done, total)

    return report


def is_quick(shape: tuple[int, ...], outputs: int) -> bool:
    """Return whether regressions of `outputs` on X (n, p) stay below the limit; wide X count as (n, n)."""
    n, p = shape
    return n * min(n, p) * outputs <= MOST_ENTRIES


def in_parallel(function: Callable[..., Any], arguments: Iterable[Any], n_jobs: int | None) -> Iterator[Any]:
    """Yield the result of the function for each tuple of arguments, in order, as soon as it is ready."""
    from joblib import Parallel, delayed

    jobs = (delayed(function)(*given) for given in arguments)
    found: Iterator[Any] = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    return found


@contextmanager
def reporting(progress: Any, label: str) -> Iterator[Report]:
    """Yield a function of (done, total) that reports progress; True shows a bar with this label on stderr."""
    if progress is None or progress is False:
        yield lambda done, total: None
    elif progress is True:
        with _bar() as bar:
            task = bar.add_task(label)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    elif callable(progress):
        yield progress
    else:
        raise TypeError(f"progress={progress!r}: None, True or a function of (done, total) is required")


def _bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError as error:
        raise ImportError(
            'progress=True: the bar requires rich, which is not installed: pip install "superfactor[cli]"'
        ) from error
    return Progress(console=Console(stderr=True))
