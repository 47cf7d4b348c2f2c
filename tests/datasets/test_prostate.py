"""The gene-expression table that comes with the package."""

import numpy as np

from superfactor.datasets import load_prostate


def test_what_is_published():
    data = load_prostate()
    assert data.X.shape == (102, 2000)
    assert dict(zip(*np.unique(data.y, return_counts=True), strict=True)) == {"normal": 50, "tumour": 52}
    assert len(set(data.features)) == 2000
    assert data.logged and data.X.min() == 0.0
    assert "Singh" in data.source
