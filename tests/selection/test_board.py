"""The board that folds write their scores on."""

import os
import pickle
import signal

import numpy as np
import pytest
from joblib import Parallel, delayed

from superfactor.selection.search.board import Board, board_for

ROW = np.array([0.5, 1.0, 2.0])


@pytest.mark.parametrize("shared", [False, True])
def test_what_is_written_can_be_read(shared):
    with board_for(2, 3, shared=shared) as board:
        assert board.is_shared == shared
        assert board.n_scored == 0 and np.isnan(board.scores).all()
        assert not board.post(1, 2, ROW)
        assert not board.post(0, 0, np.array([np.nan, 1.0, 2.0]))  # a score that is no number
        board.stop()
        assert board.post(1, 0, ROW)
        assert board.done.tolist() == [[True, False, False], [True, False, True]]
        np.testing.assert_array_equal(board.scores[1], [ROW, [np.nan] * 3, ROW])
        scores = board.scores
    np.testing.assert_array_equal(scores[1, 2], ROW)  # when the file is gone


def test_copies_show_the_same():
    with board_for(2, 3, shared=True) as board:
        copy = pickle.loads(pickle.dumps(board))
        copy.post(1, 1, ROW)
        assert board.done.tolist() == [[False] * 3, [False, True, False]]
        board.stop()
        assert copy.stopped


def test_where_the_file_is_not_a_copy_is_its_own():
    with board_for(2, 3, shared=True) as board:
        sent = pickle.dumps(board)
    copy = pickle.loads(sent)
    assert not copy.post(0, 0, ROW)
    assert copy.n_scored == 1


def interrupt_myself(board):
    before = signal.getsignal(signal.SIGINT)  # some ignore it already: whatever runs in the background
    with board.heeded():
        signal.raise_signal(signal.SIGINT)
        board.post(0, 0, ROW)
    return os.getpid(), signal.getsignal(signal.SIGINT) == before


def test_ctrl_c_does_not_reach_a_fold_in_another_process():
    with board_for(1, 1, shared=True) as board:
        ((pid, restored),) = Parallel(n_jobs=2)(delayed(interrupt_myself)(board) for _ in range(1))
        assert pid != os.getpid()
        assert restored
        assert board.n_scored == 1


def test_here_it_does():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupt_myself(Board(1, 1))
    finally:
        signal.signal(signal.SIGINT, before)
