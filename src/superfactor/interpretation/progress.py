"""How far a long computation has come: silence, a bar, or a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[int, int], object]


@contextmanager
def reporting(progress: Any, label: str) -> Iterator[Report]:
    """A function of (done, total) to call along the way.

    Parameters
    ----------
    progress : None or False, True (a bar on the standard error), or a function of (done, total)
    label : what the bar says
    """
    if progress is None or progress is False:
        yield lambda done, total: None
    elif progress is True:
        with _bar() as bar:
            task = bar.add_task(label)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    elif callable(progress):
        yield progress
    else:
        raise TypeError(
            f"progress={progress!r}: None, True or a function of (done, total) is required"
        )


def _bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError as error:
        raise ImportError(
            'progress=True: the bar needs rich, which is not installed: pip install "superfactor[cli]"'
        ) from error
    return Progress(console=Console(stderr=True))
