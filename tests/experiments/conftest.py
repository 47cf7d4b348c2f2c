"""Data for the experiments: the real files where they are at hand, small made-up ones otherwise."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory):
    if folder := os.environ.get("SUPERFACTOR_DATA_DIR"):
        return Path(folder)
    from tests.small_data import write_small_data

    folder = tmp_path_factory.mktemp("data")
    write_small_data(folder)
    return folder
