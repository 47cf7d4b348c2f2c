"""Data for the experiments, their quick forms, and one that does nothing."""

import os
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from matplotlib.figure import Figure
from tests.small_data import write_small_data

from reproduction import Outcome, Setting, load


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    write_small_data(folder)
    return folder


@pytest.fixture(scope="session")
def data_dir(request):
    """The real files if they are available, otherwise small simulated ones."""
    at_hand = os.environ.get("SUPERFACTOR_DATA_DIR")
    return Path(at_hand) if at_hand else request.getfixturevalue("small")


@pytest.fixture(scope="session")
def quick_run():
    """An experiment's quick form, once for all tests: its outcome, progress and notes."""

    @cache
    def run(name, folder):
        steps, notes = [], []
        setting = Setting(folder, quick=True, progress=lambda *step: steps.append(step), note=notes.append)
        return load(name).run(setting), steps, notes

    return run


@pytest.fixture
def outcome():
    """A hand-written outcome."""
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([1, 2], [3, 4])
    table = pd.DataFrame({"ξ": [0.1, 1.0], "loss": [3.0, 4.0]})
    return Outcome({"": figure, "breast": figure}, {"": table}, "ξ up")


@pytest.fixture
def fake(monkeypatch, outcome):
    """An experiment in place of a real one, which remembers what it was given."""
    module = ModuleType("reproduction.statistical")
    module.given = []
    module.run = lambda setting: module.given.append(setting) or outcome
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module
