"""All folds of a search, here or in other processes, watched and stopped on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from superfactor.selection.board import Board

# Seconds between two looks at what other processes have done: often enough for a bar to move smoothly.
INTERVAL = 0.1

#: Of (train, test, *, post): `score_fold` without its other arguments.
Fold = Callable[..., Any]


def score_here(fold: Fold, splits: list[Any], board: Board, watch: Callable[[], bool]) -> None:
    """Fold after fold, so that finished ones tell of all candidates whenever the search ends.

    Parameters
    ----------
    fold : scores the candidates of one split
    splits : of (train, test)
    board : where the scores go
    watch : called after every score, and says whether to stop
    """

    def post(split: int, candidate: int, row: np.ndarray) -> bool:
        board.post(split, candidate, row)
        if watch():
            board.stop()
        return board.stopped

    for k, (train, test) in enumerate(splits):
        fold(train, test, post=partial(post, k))
        if board.stopped:
            return


def score_in_parallel(
    fold: Fold, splits: list[Any], board: Board, watch: Callable[[], bool], n_jobs: int | None
) -> None:
    """As `score_here`, several folds at once; `watch` is called from a thread, a few times a second."""
    tasks = (delayed(_score_elsewhere)(fold, board, k, train, test) for k, (train, test) in enumerate(splits))
    try:
        with _watched(board, watch):
            folds = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
            for k, rows in enumerate(folds):
                board.post_fold(k, rows)
    except BrokenExecutor:
        # Ctrl-C on a terminal ends processes without work, and they take the others with them. What had
        # been scored is on the board.
        if not watch():
            raise
    watch()  # a last look


def _score_elsewhere(fold: Fold, board: Board, k: int, train: Any, test: Any) -> Any:
    with board.heeded():
        if board.stopped:
            return board.scores[k]
        return fold(train, test, post=partial(board.post, k))


@contextmanager
def _watched(board: Board, watch: Callable[[], bool]) -> Iterator[None]:
    """Within it, a thread looks at the board; an exception of `watch` stops the search and comes out here."""
    over, raised = Event(), []

    def look() -> None:
        try:
            while not over.wait(INTERVAL):
                if watch():
                    board.stop()
        except BaseException as error:
            raised.append(error)
            board.stop()

    thread = Thread(target=look, name="superfactor-search", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if raised:
        raise raised[0]
