"""The single cells that come with the package."""

import warnings

import numpy as np
import pytest

from superfactor.datasets import load_t_cells


def test_what_is_published():
    data = load_t_cells()
    assert data.X.shape == (192, 747)
    assert data.X.dtype == np.float64
    assert dict(zip(*np.unique(data.y, return_counts=True), strict=True)) == {"CD4": 95, "CD8": 97}
    assert len(set(data.features)) == 747
    assert (data.X > 0).any(axis=0).all() and data.X.min() == 0.0 and data.logged
    assert "Zheng" in data.source


def test_genes_that_name_the_classes_differ_between_them():
    data = load_t_cells()
    means = {
        kind: dict(zip(data.features, data.X[data.y == kind].mean(axis=0), strict=True))
        for kind in ("CD4", "CD8")
    }
    for gene in ("CD8A", "CD8B", "NKG7"):
        assert means["CD8"][gene] > 2 * means["CD4"][gene]
    assert means["CD4"]["CD4"] > 2 * means["CD8"]["CD4"]


def test_values_are_those_of_the_source():
    scanpy = pytest.importorskip("scanpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = scanpy.datasets.pbmc68k_reduced()
    data = load_t_cells()
    kept = cells.obs["bulk_labels"].astype(str).str.contains(" T |T$|Memory|Cytotoxic").to_numpy()
    source = cells.raw.to_adata().to_df().loc[kept, data.features]
    np.testing.assert_allclose(data.X, source, atol=1e-6)
    four = cells.obs["bulk_labels"][kept].str.startswith("CD4")
    assert np.array_equal(data.y == "CD4", four)
