"""What a search says while it runs: `verbose`, scikit-learn's callbacks, and `on_progress`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn import config_context, get_config

from superfactor.estimators.progress import Announcer, drawn_bar, draws_bars
from superfactor.selection.search.board import Board


class SearchProgress(Announcer):
    """Looks at the board of a search, and tells of every score that is new there.

    Each is one task for scikit-learn's callbacks, named "score"; the final fit is one more, "refit". A
    callback whose ``on_fit_task_end`` returns True ends the search, and so does the `listener`, called as
    ``listener(done, total)``. Both can read ``cv_results_`` and ``best_score_`` as if it had ended then:
    `conclude` makes these of scores (splits, candidates, 3).
    """

    def __init__(
        self,
        search: Any,
        X: Any,
        y: Any,
        metadata: dict[str, Any],
        *,
        board: Board,
        points: list[dict[str, Any]],
        listener: Callable[[int, int], Any] | None,
        conclude: Callable[[np.ndarray], None],
    ):
        self._board, self._points = board, points
        self._listener, self._conclude = listener, conclude
        self._told = np.zeros_like(board.done)
        self.total = self._told.size
        # Folds skip checks of scikit-learn's that users of a callback may want, and threads know no settings.
        self._config = get_config()
        self._bar: Any = None
        super().__init__(search, X, y, metadata, tasks=self.total + bool(search.refit))
        self._hear(0)

    @property
    def n_reported(self) -> int:
        """How many scores have been told of."""
        return int(np.count_nonzero(self._told))

    def __call__(self) -> bool:
        """Tell what is new: True to stop."""
        new = np.argwhere(self._board.done & ~self._told)
        if not len(new):
            return False
        scores = self._board.scores
        with config_context(**self._config):
            if self.has_callbacks or self._listener is not None:
                self._conclude(scores)
            return any([self._tell(int(k), int(i), scores) for k, i in new])

    def _tell(self, k: int, i: int, scores: np.ndarray) -> bool:
        """Of candidate i in fold k."""
        self._told[k, i] = True
        where = f"split {k + 1} of {len(scores)}"
        if self.verbose > 1:
            point = _in_words(self._points[i])
            self.say(f"{where}: {point}  score {scores[k, i, 0]:.4g}  ({self.elapsed()})")
        if self.verbose and self._told[k].all():
            best = np.fmax.reduce(scores[k, :, 0])
            self.say(f"{where}: {len(self._points)} candidates, best score {best:.4g}")
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.n_reported)
        stops = self.task("score")
        return self._hear(self.n_reported) or stops

    def _hear(self, done: int) -> bool:
        return self._listener is not None and bool(self._listener(done, self.total + 1))

    @contextmanager
    def shown(self) -> Iterator[None]:
        """While scores come in: a bar, on a terminal and if people want to see something."""
        if self.verbose and draws_bars(sys.stderr):
            self._bar = drawn_bar(self.name, "search", self.total, "scores", sys.stderr)
        try:
            yield
        finally:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def choice(self) -> None:
        """Say what has been chosen, before it is fitted to all samples."""
        if self.verbose:
            search = self.estimator
            self.say(f"{self.n_reported} of {self.total} scores in {self.elapsed()}")
            chosen = _in_words(search.best_params_)
            self.say(f"chosen: {chosen}, mean score {search.best_score_:.4g}")

    def end(self) -> None:
        """Say that it is over, once the search is complete."""
        if self.verbose and self.estimator.refit:
            self.say(f"fitted to all samples in {self.estimator.refit_time_:.3g} s")
        self._hear(self.total + 1)
        self.complete()


def _in_words(point: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in point.items()
    )
