"""What a fit says while it runs: `verbose`, and scikit-learn's callbacks where it has them."""

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
        """Stands in where the installed scikit-learn has no callbacks."""


#: Whether the installed scikit-learn has callbacks, and `with_callbacks` wraps a method.
has_callbacks = _with_callbacks is not None

P = ParamSpec("P")
R = TypeVar("R")


def with_callbacks(method: Callable[P, R]) -> Callable[P, R]:
    """scikit-learn's decorator of the same name, where it has one; it says nothing of types."""
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

# Passes shorter than this are over before anyone has read about them.
_SHORTEST = 0.3
# Cells of a bar: more look empty. And of terminals with room for the estimator's name, and for counts.
_LONGEST, _ROOM = 40, (50, 80)


class Announcer:
    """Prints lines for an estimator, and tells its callbacks of tasks: the fit, and those within it.

    Callbacks are shown X, y and metadata; `tasks` there will be at most, None where that is not known.
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
        """Whether the estimator has callbacks of scikit-learn's."""
        return self._context is not None

    def task(self, name: str) -> bool:
        """Tell the callbacks of a task that is over: True where one of them wants to stop."""
        if self._context is None:
            return False
        task = self._context.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self.estimator, **self._shown)
        return bool(task.call_on_fit_task_end(estimator=self.estimator, **self._shown))

    @contextmanager
    def task_of(self, name: str, part: Any) -> Iterator[None]:
        """While a task is the fit of another estimator, `part`: callbacks that go along hear of it too."""
        if self._context is None:
            yield
            return
        task = self._context.subcontext(task_name=name)
        with task.propagate_callback_context(part):
            task.call_on_fit_task_begin(estimator=self.estimator, **self._shown)
            yield
        task.call_on_fit_task_end(estimator=self.estimator, **self._shown)

    def complete(self) -> None:
        """Tell the callbacks that the fit is over."""
        if self._context is not None:
            # The estimator itself is complete, so that its copy needs no further attributes.
            self._context.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=dict, **self._shown
            )

    def elapsed(self) -> str:
        """Seconds since the beginning, for people."""
        return f"{time.perf_counter() - self._start:.3g} s"

    def say(self, line: str) -> None:
        """Print a line with the estimator's name."""
        print(f"[{self.name}] {line}")


class Progress(Announcer):
    """Prints, and tells the callbacks of an estimator, after every iteration of a solver.

    Each iteration is one task for scikit-learn's callbacks, named "iteration". A solver that tries
    other starts asks again without a new iteration: a task named "restart", and nothing printed. A
    callback whose ``on_fit_task_end`` returns True stops the fit; it can read
    ``estimator.objective_`` and ``estimator.n_iter_``.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, metadata: dict[str, Any]):
        super().__init__(estimator, X, y, metadata)
        self._last = 0

    def begin(self, shape: tuple[int, ...], solver: str) -> None:
        """Say what is about to be fitted."""
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
        """Itself where somebody listens, None otherwise: silent fits pay nothing."""
        return self if self.verbose > 1 or self.has_callbacks else None

    @cached_property
    def on_block(self) -> PassProgress | None:
        """What watches the passes over an X that is read in blocks; None where nothing is shown."""
        watched = self.verbose > (0 if sys.stderr.isatty() else 1)
        return PassProgress(self.name, sys.stderr) if watched else None

    def or_when(self, stop: Callable[[], bool]) -> Callable[[int, float], bool]:
        """A callback for solvers: what listeners say, or that somebody wants to stop."""
        listening = self.callback

        def callback(iteration: int, objective: float) -> bool:
            heard = listening is not None and listening(iteration, objective)
            return heard or stop()

        return callback

    @contextmanager
    def passes(self) -> Iterator[None]:
        """While X may be read in passes: no half-drawn bar is left behind."""
        try:
            yield
        finally:
            if self.on_block is not None:
                self.on_block.clear()

    def __call__(self, iteration: int, objective: float) -> bool:
        """After an iteration: True to stop."""
        name = "iteration" if iteration > self._last else "restart"
        self._last = iteration
        if self.verbose > 1 and name == "iteration":
            self.say(f"iteration {iteration:>4}  objective {objective:.10g}  ({self.elapsed()})")
        if not self.has_callbacks:
            return False
        self.estimator.n_iter_, self.estimator.objective_ = iteration, objective
        return self.task(name)

    def end(self, reason: str) -> None:
        """Say how it went, once the estimator is complete."""
        if self.verbose:
            estimator = self.estimator
            self.say(f"{estimator.n_iter_} iterations in {self.elapsed()}: {reason}")
            self.say(f"objective {estimator.objective_:.10g}")
            if estimator.certificate_ is not None:
                self.say(estimator.certificate_.statement)
        self.complete()


class PassProgress:
    """A bar for every pass over X on a terminal that rich can draw on; elsewhere a line when it is over.

    A pass begins with ``(0, total)``, or else its first block, and ends with ``(total, total)``. One that is
    over in a moment is not shown.
    """

    def __init__(self, name: str, stream: TextIO):
        self._name, self._stream = name, stream
        self._draws = draws_bars(stream)
        self._passes, self._done, self._total = 0, 0, 0
        self._begun = 0.0
        self._bar: Any = None  # of rich, while it is on the screen

    def __call__(self, done: int, total: int) -> None:
        """After each block of rows: so many are done, of so many in all."""
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
        """Take the bar off the screen, as at the end of a pass; for a pass that breaks off."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def draws_bars(stream: TextIO) -> bool:
    """Whether bars can be drawn there: on a terminal, by rich."""
    return stream.isatty() and find_spec("rich") is not None


def drawn_bar(name: str, label: str, total: int, unit: str, stream: TextIO) -> Any:
    """A bar of rich on a terminal, on one line: a narrow one leaves out what matters less."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    console = Console(file=stream)
    named, counted = (console.width >= room for room in _ROOM)
    width = len(f"{total:,}")  # of every count, so that the bar stays put
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
