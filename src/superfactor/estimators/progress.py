"""What a fit says while it runs: `verbose`, and scikit-learn's callbacks where it has them."""

from __future__ import annotations

import sys
import time
from typing import Any

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where the installed scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Stand in for the decorator of the same name."""
        return method


__all__ = ["CallbackSupportMixin", "Progress", "users_stacklevel", "with_callbacks"]


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

    @property
    def callback(self) -> Any:
        """Itself where somebody listens, None otherwise: silent fits pay nothing."""
        return self if self.verbose > 1 or self._context is not None else None

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
