import time

import numpy as np
import pytest
from benchmarks import measure
from benchmarks.clock import time_to


def _grow(megabytes):
    return measure.peak_megabytes(lambda: np.ones(int(megabytes * 1e6 / 8)).sum())


def _fail():
    raise ValueError("no")


def test_a_job_that_takes_too_long_is_ended():
    with pytest.raises(measure.TakesTooLong, match=r"not finished in 0\.2 s"):
        measure.isolated(time.sleep, 60, limit=0.2)


def test_an_error_comes_back_in_words():
    with pytest.raises(RuntimeError, match="ValueError: no"):
        measure.isolated(_fail, limit=30)


def test_peak_memory_is_that_of_the_job():
    assert measure.isolated(_grow, 80, limit=30) == pytest.approx(80, abs=8)


def test_time_to_is_that_of_the_first_iteration_that_is_low_enough():
    steps = [(1.0, 9.0), (2.0, 3.0), (3.0, 4.0), (4.0, 2.0)]
    assert time_to(steps, 4.0) == 2.0
    assert time_to(steps, 1.0) is None
