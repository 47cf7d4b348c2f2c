"""All folds of a search, here or in other processes: they write scores on a board that the search reads."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from superfactor._files import TemporaryFolder

# Seconds between two looks at what other processes have done: often enough for a bar to move smoothly.
INTERVAL = 0.1

#: Of (train, test, *, post): `score_fold` without its other arguments.
Fold = Callable[..., Any]


class Board:
    """Test score, seconds to fit and seconds to score of every candidate in every fold, NaN where not done.

    With a file, copies of the board in other processes show the same numbers. On another machine, where the
    file is not, a copy is a board of its own, and the search knows of a fold's scores when it returns.
    """

    def __init__(self, n_splits: int, n_candidates: int, file: Path | None = None):
        self._shape, self._file, self._home = (n_splits, n_candidates, 3), file, os.getpid()
        self._open("w+")
        self._numbers[:] = np.nan

    def _open(self, mode: Any) -> None:
        # The last number says whether to stop: NaN, go on.
        size = int(np.prod(self._shape)) + 1
        if self._file is None:
            self._numbers = np.full(size, np.nan)
        else:
            self._numbers = np.memmap(self._file, dtype=np.float64, mode=mode, shape=(size,))
        self._rows = self._numbers[:-1].reshape(self._shape)

    def __getstate__(self) -> dict[str, Any]:
        return {"_shape": self._shape, "_file": self._file, "_home": self._home}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        try:
            self._open("r+")
        except OSError:
            self._file = None
            self._open("w+")

    @property
    def is_shared(self) -> bool:
        """Whether other processes can write on it."""
        return self._file is not None

    @property
    def scores(self) -> np.ndarray:
        """A copy of all numbers: (splits, candidates, 3)."""
        return np.array(self._rows)

    @property
    def done(self) -> Any:
        """Which candidates are scored in which folds: (splits, candidates), bool."""
        # By the seconds: a score may be no number.
        return ~np.isnan(self._rows[:, :, 1])

    @property
    def n_scored(self) -> int:
        """How many scores there are, over all folds."""
        return int(np.count_nonzero(self.done))

    @property
    def stopped(self) -> bool:
        """Whether a stop is requested."""
        return not np.isnan(self._numbers[-1])

    def stop(self) -> None:
        """Ask every fold to end after its candidate."""
        self._numbers[-1] = 1.0

    def post(self, split: int, candidate: int, row: np.ndarray) -> bool:
        """Write the three numbers of a candidate; True where its fold should end."""
        place = self._rows[split, candidate]
        # The score first: who sees the seconds of a candidate takes its score as written.
        place[0], place[2], place[1] = row[0], row[2], row[1]
        return self.stopped

    def post_fold(self, split: int, rows: np.ndarray) -> None:
        """Write the numbers of a whole fold: (candidates, 3)."""
        self._rows[split] = rows

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """While a fold works in another process: Ctrl-C reaches it through the board alone.

        A terminal sends the signal to all its processes, and an exception here would lose the fold.
        """
        if os.getpid() == self._home or threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)


@contextmanager
def board_for(n_splits: int, n_candidates: int, *, shared: bool) -> Iterator[Board]:
    """A new board, with a temporary file where other processes will write on it."""
    if not shared:
        yield Board(n_splits, n_candidates)
        return
    with TemporaryFolder() as folder:
        yield Board(n_splits, n_candidates, folder / "scores")


def score_here(fold: Fold, splits: list[Any], board: Board, watch: Callable[[], bool]) -> None:
    """Fold after fold; `watch` is called after every score, and says whether to stop."""

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
    over, raised = threading.Event(), []

    def look() -> None:
        try:
            while not over.wait(INTERVAL):
                if watch():
                    board.stop()
        except BaseException as error:
            raised.append(error)
            board.stop()

    thread = threading.Thread(target=look, name="superfactor-search", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if raised:
        raise raised[0]
