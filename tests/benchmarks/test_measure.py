import time

import numpy as np
import pytest
from benchmarks import measure
from benchmarks.clock import Clock, time_to


def _grow(megabytes):
    return measure.peak_megabytes(lambda: np.ones(int(megabytes * 1e6 / 8)).sum())


def _fail():
    raise ValueError("no")


def test_a_job_answers_from_its_own_process():
    assert measure.isolated(divmod, 7, 2, limit=30) == (3, 1)


def test_a_job_that_takes_too_long_is_ended():
    with pytest.raises(measure.TakesTooLong, match=r"not finished in 0\.2 s"):
        measure.isolated(time.sleep, 60, limit=0.2)


def test_an_error_comes_back_in_words():
    with pytest.raises(RuntimeError, match="ValueError: no"):
        measure.isolated(_fail, limit=30)


def test_peak_memory_is_that_of_the_job():
    assert measure.isolated(_grow, 80, limit=30) == pytest.approx(80, abs=8)


def test_the_clock_stands_still_while_an_objective_is_evaluated():
    clock = Clock(limit=100)

    def slow():
        time.sleep(0.2)
        return 1.0

    clock.evaluate(slow)
    assert clock.seconds < 0.1 and clock.steps[0][1] == 1.0


def test_a_clock_stops_near_its_goal_but_not_below_it():
    clock = Clock(limit=100, goal=(5.0, 0.1))
    assert [clock.record(value) for value in (9.0, 4.0, 5.05)] == [False, False, True]


def test_a_clock_stops_when_its_time_is_over():
    clock = Clock(limit=0.0)
    assert clock.record(1.0) and clock.stopped and clock.iterations == 1


def test_time_to_is_that_of_the_first_iteration_that_is_low_enough():
    steps = [(1.0, 9.0), (2.0, 3.0), (3.0, 4.0), (4.0, 2.0)]
    assert time_to(steps, 4.0) == 2.0
    assert time_to(steps, 1.0) is None
