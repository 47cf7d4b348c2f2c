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


P = ParamSpec("P")
R = TypeVar("R")


def with_callbacks(method: Callable[P, R]) -> Callable[P, R]:
    """scikit-learn's decorator of the same name, where it has one; it says nothing of types."""
    return method if _with_callbacks is None else cast(Callable[P, R], _with_callbacks(method))


__all__ = ["CallbackSupportMixin", "PassProgress", "Progress", "users_stacklevel", "with_callbacks"]

# Passes shorter than this are over before anyone has read about them.
_SHORTEST = 0.3
# Cells of a bar: more look empty. And of terminals with room for the estimator's name, and for rows.
_LONGEST, _ROOM = 40, (50, 80)


def users_stacklevel() -> int:
    """The `stacklevel` at which a warning given by the caller shows the user's own line.

    Between the two lie frames of this package and of scikit-learn: its decorator around ``fit``,
    pipelines, searches.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _package(frame) in ("superfactor", "sklearn", "joblib"):
        level, frame = level + 1, frame.f_back
    return level


def _package(frame: Any) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


class Progress:
    """Prints, and tells the callbacks of an estimator, after every iteration of a solver.

    Each iteration is one task for scikit-learn's callbacks, named "iteration". A solver that tries
    other starts asks again without a new iteration: a task named "restart", and nothing printed. A
    callback whose ``on_fit_task_end`` returns True stops the fit; it can read
    ``estimator.objective_`` and ``estimator.n_iter_``.

    Parameters
    ----------
    estimator : the estimator being fitted
    X, y, metadata : what the callbacks are shown
    """

    def __init__(self, estimator: Any, X: Any, y: Any, metadata: dict[str, Any]):
        self.estimator = estimator
        self.name = type(estimator).__name__
        self.verbose = int(estimator.verbose)
        self._start = time.perf_counter()
        self._shown = {"X": X, "y": y, "metadata": metadata or None}
        self._last = 0
        self._context: Any = None
        if hasattr(estimator, "_init_callback_context"):
            # How many iterations it takes is not known in advance.
            context = estimator._init_callback_context(max_subtasks=None)
            if getattr(estimator, "_skl_callbacks", None):
                self._context = context
                context.call_on_fit_task_begin(estimator=estimator, **self._shown)

    def begin(self, shape: tuple[int, ...], solver: str) -> None:
        """Say what is about to be fitted."""
        if self.verbose:
            estimator = self.estimator
            self._say(
                f"{estimator.model} model, {shape[0]} samples x {shape[1]} features, "
                f"{estimator.n_components} components, solver {solver}"
            )
            if estimator.checkpoint is not None and os.path.exists(estimator.checkpoint):
                self._say(f"resuming from {os.fspath(estimator.checkpoint)!r}")

    @property
    def callback(self) -> Any:
        """Itself where somebody listens, None otherwise: silent fits pay nothing."""
        return self if self.verbose > 1 or self._context is not None else None

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
            self._say(f"iteration {iteration:>4}  objective {objective:.10g}  ({self._elapsed()})")
        if self._context is None:
            return False
        self.estimator.n_iter_, self.estimator.objective_ = iteration, objective
        task = self._context.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self.estimator, **self._shown)
        return bool(task.call_on_fit_task_end(estimator=self.estimator, **self._shown))

    def end(self, reason: str) -> None:
        """Say how it went, once the estimator is complete."""
        if self.verbose:
            estimator = self.estimator
            self._say(f"{estimator.n_iter_} iterations in {self._elapsed()}: {reason}")
            self._say(f"objective {estimator.objective_:.10g}")
            if estimator.certificate_ is not None:
                self._say(estimator.certificate_.statement)
        if self._context is not None:
            # The estimator itself is complete, so that its copy needs no further attributes.
            self._context.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=dict, **self._shown
            )

    def _elapsed(self) -> str:
        return f"{time.perf_counter() - self._start:.3g} s"

    def _say(self, line: str) -> None:
        print(f"[{self.name}] {line}")


class PassProgress:
    """A bar for every pass over X on a terminal that rich can draw on; elsewhere a line when it is over.

    A pass begins with ``(0, total)``, or else its first block, and ends with ``(total, total)``. One that is
    over in a moment is not shown.

    Parameters
    ----------
    name : of the estimator
    stream : where to draw
    """

    def __init__(self, name: str, stream: TextIO):
        self._name, self._stream = name, stream
        self._draws = stream.isatty() and find_spec("rich") is not None
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
                self._bar = _drawn(self._name, self._passes, total, self._stream)
            self._bar.update(self._bar.task_ids[0], completed=done)

    def clear(self) -> None:
        """Take the bar off the screen, as at the end of a pass; for a pass that breaks off."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _drawn(name: str, number: int, total: int, stream: TextIO) -> Any:
    """A bar of rich on the screen, on one line: a narrow one leaves out what matters less."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    console = Console(file=stream)
    named, counted = (console.width >= room for room in _ROOM)
    width = len(f"{total:,}")  # of every count, so that the bar stays put
    rows = TextColumn(f"{{task.completed:>{width},.0f}} of {{task.total:,.0f}} rows")
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None, table_column=Column(max_width=_LONGEST)),
        TaskProgressColumn(),
        *([rows] if counted else []),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    bar.add_task(f"[{name}] pass {number}" if named else f"pass {number}", total=total)
    bar.start()
    return bar
