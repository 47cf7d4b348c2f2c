"""The quick form of every experiment makes real figures and real numbers."""

import matplotlib.image
import numpy as np
import pandas as pd
import pytest

from reproduction import NAMES, reproduce


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_quick_form(name, data_dir, tmp_path):
    seen = []
    outcome, files = reproduce(
        name, tmp_path, data_dir=data_dir, quick=True, progress=lambda *step: seen.append(step)
    )
    assert {file.suffix for file in files} == {".png", ".svg", ".csv", ".txt"}
    for file in files:
        if file.suffix == ".png":
            image = matplotlib.image.imread(file)[:, :, :3]
            assert min(image.shape[:2]) >= 300
            ink = np.mean(np.any(image < 0.9, axis=2))
            assert 0.005 < ink < 0.9, f"{file.name}: {ink:.1%} of it is drawn on"
        elif file.suffix == ".csv":
            table = pd.read_csv(file)
            assert len(table) > 1
            assert len(table.columns) > 1
    assert len(outcome.comparison) > 60
    assert seen, "no progress"
    done, total = seen[-1]
    assert done == total > 0
