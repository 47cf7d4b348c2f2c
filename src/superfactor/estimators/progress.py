"""Progress of a fit: `verbose` output, and scikit-learn's callbacks if the installed version has them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from typing import Any, ParamSpec, TextIO, TypeVar, cast

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:
    _with_callbacks = None

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replacement if the installed scikit-learn has no callbacks."""


#: Whether the installed scikit-learn has callbacks, and `with_callbacks` wraps a method.
has_callbacks = _with_callbacks is not None

P = ParamSpec("P")
R = TypeVar("R")


def with_callbacks(method: Callable[P, R]) -> Callable[P, R]:
    """Apply scikit-learn's decorator of the same name, if it exists, and keep the method's type."""
    return method if _with_callbacks is None else cast(Callable[P, R], _with_callbacks(method))


__all__ = [
    "Announcer",
    "CallbackSupportMixin",
    "PassProgress",
    "Progress",
    "drawn_bar",
    "draws_bars",
    "has_callbacks",
    "with_callbacks",
]

# Passes that take fewer seconds than this are not shown.
_SHORTEST = 0.3
# Most characters of a bar; terminal widths from which on the estimator's name and the counts are shown.
_LONGEST, _ROOM = 40, (50, 80)


class Announcer:
    """Prints lines for an estimator, and calls its callbacks for the fit and for tasks within it.

    Callbacks receive X, y and metadata. `tasks` is the largest number of tasks, None if it is not known.
    """

    name: str
    verbose: int

    def __init__(self, estimator: Any, X: Any, y: Any, metadata: dict[str, Any], tasks: int | None = None):
        self.estimator = estimator
        self.name = type(estimator).__name__
        self.verbose = int(estimator.verbose)
        self._start = time.perf_counter()
        self._shown = {"X": X, "y": y, "metadata": metadata or None}
        self._context: Any = None
        if hasattr(estimator, "_init_callback_context"):
            context = estimator._init_callback_context(max_subtasks=tasks)
            if getattr(estimator, "_skl_callbacks", None):
                self._context = context
                context.call_on_fit_task_begin(estimator=estimator, **self._shown)

    @property
    def has_callbacks(self) -> bool:
        """Return whether the estimator has scikit-learn callbacks."""
        return self._context is not None

    def task(self, name: str) -> bool:
        """Call the callbacks for a finished task; return True if one of them requests a stop."""
        if self._context is None:
            return False
        task = self._context.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self.estimator, **self._shown)
        return bool(task.call_on_fit_task_end(estimator=self.estimator, **self._shown))

    @contextmanager
    def task_of(self, name: str, part: Any) -> Iterator[None]:
        """Run a task that fits another estimator, `part`; callbacks that support it are passed on."""
        if self._context is None:
            yield
            return
        task = self._context.subcontext(task_name=name)
        with task.propagate_callback_context(part):
            task.call_on_fit_task_begin(estimator=self.estimator, **self._shown)
            yield
        task.call_on_fit_task_end(estimator=self.estimator, **self._shown)

    def complete(self) -> None:
        """Call the callbacks for the end of the fit."""
        if self._context is not None:
            # The estimator is complete, so its copy needs no further attributes.
            self._context.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=dict, **self._shown
            )

    def elapsed(self) -> str:
        """Return the seconds since the start as text."""
        return f"{time.perf_counter() - self._start:.3g} s"

    def say(self, line: str) -> None:
        """Print a line with the estimator's name."""
        print(f"[{self.name}] {line}")


class Progress(Announcer):
    """Prints progress and calls an estimator's callbacks after every iteration of a solver.

    Each iteration is one task for scikit-learn's callbacks, named "iteration". A solver that tries other
    starts reports them without a new iteration: the task is named "restart", and nothing is printed. A
    callback whose ``on_fit_task_end`` returns True stops the fit. It can read ``estimator.objective_`` and
    ``estimator.n_iter_``.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, metadata: dict[str, Any]):
        super().__init__(estimator, X, y, metadata)
        self._last = 0

    def begin(self, shape: tuple[int, ...], solver: str) -> None:
        """Print what will be fitted."""
        if self.verbose:
            estimator = self.estimator
            self.say(
                f"{estimator.model} model, {shape[0]} samples x {shape[1]} features, "
                f"{estimator.n_components} components, solver {solver}"
            )
            if estimator.checkpoint is not None and os.path.exists(estimator.checkpoint):
                self.say(f"resuming from {os.fspath(estimator.checkpoint)!r}")

    @property
    def callback(self) -> Any:
        """Return itself if progress is shown or callbacks exist, otherwise None to save time."""
        return self if self.verbose > 1 or self.has_callbacks else None

    @cached_property
    def on_block(self) -> PassProgress | None:
        """Return an object that shows passes over an X read in blocks; None if nothing is shown."""
        watched = self.verbose > (0 if sys.stderr.isatty() else 1)
        return PassProgress(self.name, sys.stderr) if watched else None

    def or_when(self, stop: Callable[[], bool]) -> Callable[[int, float], bool]:
        """Return a callback for solvers that stops if a callback requests it or `stop()` is True."""
        own = self.callback

        def callback(iteration: int, objective: float) -> bool:
            stopped = own is not None and own(iteration, objective)
            return stopped or stop()

        return callback

    @contextmanager
    def passes(self) -> Iterator[None]:
        """Remove an unfinished bar at the end of the context."""
        try:
            yield
        finally:
            if self.on_block is not None:
                self.on_block.clear()

    def __call__(self, iteration: int, objective: float) -> bool:
        """Report an iteration; return True to stop the fit."""
        name = "iteration" if iteration > self._last else "restart"
        self._last = iteration
        if self.verbose > 1 and name == "iteration":
            self.say(f"iteration {iteration:>4}  objective {objective:.10g}  ({self.elapsed()})")
        if not self.has_callbacks:
            return False
        self.estimator.n_iter_, self.estimator.objective_ = iteration, objective
        return self.task(name)

    def end(self, reason: str) -> None:
        """Print a summary, once the estimator is complete."""
        if self.verbose:
            estimator = self.estimator
            self.say(f"{estimator.n_iter_} iterations in {self.elapsed()}: {reason}")
            self.say(f"objective {estimator.objective_:.10g}")
            if estimator.certificate_ is not None:
                self.say(estimator.certificate_.statement)
        self.complete()


class PassProgress:
    """Shows each pass over X: a bar on a terminal supported by rich, otherwise a line at the end.

    A pass starts with ``(0, total)`` or its first block and ends with ``(total, total)``. Short passes are
    not shown.
    """

    def __init__(self, name: str, stream: TextIO):
        self._name, self._stream = name, stream
        self._draws = draws_bars(stream)
        self._passes, self._done, self._total = 0, 0, 0
        self._begun = 0.0
        self._bar: Any = None  # rich's bar while it is shown

    def __call__(self, done: int, total: int) -> None:
        """Update after a block of rows: `done` of `total` rows are done."""
        now = time.perf_counter()
        if done == 0 or done <= self._done or self._done == self._total:
            self.clear()
            self._passes, self._begun = self._passes + 1, now
        self._done, self._total = done, total
        if now - self._begun < _SHORTEST:
            return
        if done >= total:
            self.clear()
            if not self._draws:
                seconds = int(now - self._begun)
                clock = f"{seconds // 60}:{seconds % 60:02}"
                line = f"[{self._name}] pass {self._passes}  {total:,} rows  {clock}"
                print(line, file=self._stream, flush=True)
        elif self._draws:
            if self._bar is None:
                label = f"pass {self._passes}"
                self._bar = drawn_bar(self._name, label, total, "rows", self._stream)
            self._bar.update(self._bar.task_ids[0], completed=done)

    def clear(self) -> None:
        """Remove the bar from the screen, at the end of a pass or if it is interrupted."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def draws_bars(stream: TextIO) -> bool:
    """Return whether bars can be drawn: the stream is a terminal and rich is installed."""
    return stream.isatty() and find_spec("rich") is not None


def drawn_bar(name: str, label: str, total: int, unit: str, stream: TextIO) -> Any:
    """Return a progress bar of rich on one line; on narrow terminals, less important parts are left out."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    console = Console(file=stream)
    named, counted = (console.width >= room for room in _ROOM)
    width = len(f"{total:,}")  # constant width of counts, so that the bar does not move
    count = TextColumn(f"{{task.completed:>{width},.0f}} of {{task.total:,.0f}} {unit}")
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None, table_column=Column(max_width=_LONGEST)),
        TaskProgressColumn(),
        *([count] if counted else []),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    bar.add_task(f"[{name}] {label}" if named else label, total=total)
    bar.start()
    return bar
