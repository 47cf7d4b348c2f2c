"""Scores as they come in: folds write them on a board, in whichever process, and the search reads it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np


class Board:
    """Test score, seconds to fit and seconds to score of every candidate in every fold, NaN where not done.

    With a file, copies of the board in other processes show the same numbers. On another machine, where the
    file is not, a copy is a board of its own: what a fold returns is then the first that the search hears.

    Parameters
    ----------
    n_splits, n_candidates : int
    file : path or None
        None for a search in one process.
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
        """Whether somebody wants to stop."""
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
    # Where open files cannot be removed, they are left to the system.
    with TemporaryDirectory(prefix="superfactor-", ignore_cleanup_errors=True) as folder:
        yield Board(n_splits, n_candidates, Path(folder) / "scores")
