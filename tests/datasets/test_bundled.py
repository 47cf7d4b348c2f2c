"""Gene expression data included in the package."""

import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

from superfactor.datasets import load_prostate, load_t_cells


@pytest.mark.parametrize(
    ("load", "shape", "classes", "author"),
    [
        (load_prostate, (102, 2000), {"normal": 50, "tumour": 52}, "Singh"),
        (load_t_cells, (192, 747), {"CD4": 95, "CD8": 97}, "Zheng"),
    ],
    ids=["prostate", "t_cells"],
)
def test_bundled_data_have_the_published_shape_and_classes(load, shape, classes, author):
    data = load()
    assert data.X.shape == shape and data.X.dtype == np.float64
    assert dict(zip(*np.unique(data.y, return_counts=True), strict=True)) == classes
    assert len(set(data.features)) == shape[1]
    assert data.logged and data.log2() is data and data.X.min() == 0.0 and data.X.any(axis=0).all()
    assert author in data.source


def test_log2_transforms_intensities():
    data = load_prostate()
    intensities = replace(data, X=2.0**data.X - 0.5)
    assert not intensities.logged
    np.testing.assert_allclose(intensities.log2().X, np.log2(np.maximum(2.0**data.X - 0.5, 1.0)))
    assert intensities.log2().source.endswith("as log2(max(x, 1))")


def test_marker_genes_differ_between_the_classes():
    data = load_t_cells()
    means = {
        kind: dict(zip(data.features, data.X[data.y == kind].mean(axis=0), strict=True))
        for kind in ("CD4", "CD8")
    }
    for gene in ("CD8A", "CD8B", "NKG7"):
        assert means["CD8"][gene] > 2 * means["CD4"][gene]
    assert means["CD4"]["CD4"] > 2 * means["CD8"]["CD4"]


def test_values_equal_those_of_scanpy():
    scanpy = pytest.importorskip("scanpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = scanpy.datasets.pbmc68k_reduced()
    data = load_t_cells()
    kept = cells.obs["bulk_labels"].astype(str).str.contains(" T |T$|Memory|Cytotoxic").to_numpy()
    source = cells.raw.to_adata().to_df().loc[kept, data.features]
    np.testing.assert_allclose(data.X, source, atol=1e-6)
    assert np.array_equal(data.y == "CD4", cells.obs["bulk_labels"][kept].str.startswith("CD4"))


def test_importing_data_sets_imports_no_large_libraries():
    code = (
        "import sys, superfactor.datasets; "
        "print(*sorted({'pandas', 'sklearn', 'scipy.sparse'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
