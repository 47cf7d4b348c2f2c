"""Data for the experiments: the real files where they are at hand, small made-up ones otherwise."""

import os
from pathlib import Path

import pytest
from tests.small_data import write_small_data


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    write_small_data(folder)
    return folder


@pytest.fixture(scope="session")
def data_dir(request):
    at_hand = os.environ.get("SUPERFACTOR_DATA_DIR")
    return Path(at_hand) if at_hand else request.getfixturevalue("small")
