"""Simulated cells are sparse counts of every type, and a fit of them is measured."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks import cells

ROOT = Path(__file__).parents[2]


def test_cells_are_sparse_counts_of_every_type():
    X, types = cells.counts(800, 20_000)
    assert X.shape == (800, 20_000) and X.dtype == np.float32
    assert set(types) == set(range(cells.TYPES))
    assert 0.027 < X.nnz / (800 * 20_000) < 0.033
    assert np.array_equal(X.data, np.round(X.data)) and X.data.min() >= 1
    np.testing.assert_allclose(np.expm1(cells.log_normalised(X).toarray()).sum(axis=1), 1e4, rtol=1e-4)


def test_a_fit_is_measured(tmp_path):
    pytest.importorskip("anndata")
    cells.write(tmp_path / "cells.h5ad", 400, 300)
    for place in ("memory", "disk"):
        row = cells._fitted(str(tmp_path / "cells.h5ad"), place)
        assert row["accuracy"] > 0.9 and row["values"] > 0 and row["seconds"] > 0
