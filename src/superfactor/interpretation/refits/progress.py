"""How far a long computation has come, and what takes longer than anybody waits who has not asked for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[int, int], object]

# Longer than this nobody waits for what was not asked for.
MOST_SECONDS = 10
# So many fits are timed before the rest is estimated.
_TIMED = 3
# Ridge regression, tuned in folds, takes some ten seconds for such a table.
MOST_ENTRIES = 10_000_000


class TooLong(Exception):
    """The rest would take longer than anybody waits."""


def patient(progress: Report | None = None) -> Report:
    """`progress`, but TooLong as soon as all of the work is seen to take more than MOST_SECONDS."""
    # Time at work: a machine that others use does not change what is shown.
    begin = time.process_time()

    def report(done: int, total: int) -> None:
        spent = time.process_time() - begin
        if done >= _TIMED and spent / done * total > MOST_SECONDS:
            raise TooLong
        if progress is not None:
            progress(done, total)

    return report


def is_quick(shape: tuple[int, ...], outputs: int) -> bool:
    """Whether regressions of so many outputs on X of this shape (n, p) are; wide tables count as (n, n)."""
    n, p = shape
    return n * min(n, p) * outputs <= MOST_ENTRIES


def in_parallel(function: Callable[..., Any], arguments: Iterable[Any], n_jobs: int | None) -> Iterator[Any]:
    """What the function gives for each of the tuples of arguments, in their order, as soon as it is there."""
    from joblib import Parallel, delayed

    jobs = (delayed(function)(*given) for given in arguments)
    found: Iterator[Any] = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    return found


@contextmanager
def reporting(progress: Any, label: str) -> Iterator[Report]:
    """A function of (done, total) to call along the way; True is a bar with this label on stderr."""
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
            'progress=True: the bar needs rich, which is not installed: pip install "superfactor[cli]"'
        ) from error
    return Progress(console=Console(stderr=True))
