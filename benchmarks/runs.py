"""Whole fits of a method on a case, in a process of their own: see `measure.isolated`."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cases import Case, dense
from benchmarks.clock import Clock
from benchmarks.methods import METHODS, Fitted, Method


@dataclass(frozen=True)
class Run:
    """One whole fit: its seconds, what the clock kept, the result."""

    seconds: float
    clock: Clock
    fitted: Fitted


@contextmanager
def on_disk(case: Case) -> Iterator[Path]:
    """A file to read the case from, which takes less memory than to be sent it."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "case.pickle"
        with file.open("wb") as stream:
            pickle.dump(case, stream, protocol=5)
        yield file


def read(file: Path) -> Case:
    """What lies in it."""
    with file.open("rb") as stream:
        case: Case = pickle.load(stream)
    return case


def prepared(file: Path, index: int) -> tuple[Method, Case]:
    """Return method and case after a first fit, so that imports and setup do not count."""
    case = read(file)
    METHODS[index].fit(dense(40, 50, 2, held_out=1), Clock(0.02))
    return METHODS[index], case


def run(method: Method, case: Case, limit: float) -> Run:
    """One fit; `limit` is for the methods that look at the clock."""
    clock = Clock(limit)
    fitted = method.fit(case, clock)
    return Run(clock.seconds, clock, fitted)


def repeated(method: Method, case: Case, first: Run, budget: float, most: int = 5) -> list[Run]:
    """That fit and more of the same until the seconds of the budget are spent."""
    runs = [first]
    while len(runs) < most and sum(run.seconds for run in runs) < budget:
        runs.append(run(method, case, first.clock.limit))
    return runs
