"""The quick form of every experiment makes real figures and real numbers."""

import pandas as pd
import pytest

from reproduction import NAMES
from reproduction.writing import write


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_quick_form(name, quick_run, data_dir, tmp_path):
    outcome, steps, _ = quick_run(name, data_dir)
    files = write(outcome, name, tmp_path)
    assert {file.suffix for file in files} == {".png", ".svg", ".csv", ".txt"}
    for file in files:
        if file.suffix == ".csv":
            table = pd.read_csv(file)
            assert len(table) > 1
            assert len(table.columns) > 1
    assert outcome.comparison
    done, total = steps[-1]
    assert done == total > 0
