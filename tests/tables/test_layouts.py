"""Every layout and format gives the numbers of the plain table exactly."""

import numpy as np
import pytest
from scipy import sparse
from tests.tables.layouts import LABEL, WRITERS, plain, write

from superfactor.datasets import load_prostate
from superfactor.tables import open_table

OPTIONS = {"layers.h5ad": {"layer": "counts"}, "plain.xlsx": {"sheet": "values"}}
WITHOUT_LABELS = ("rows-of-values.parquet", "annotated-rows.csv", "filtered_feature_bc_matrix")


@pytest.fixture(scope="module")
def prostate():
    data = load_prostate()
    keep = np.r_[0:20, 60:80]
    X, names = data.X[keep][:, ::20], list(map(str, data.features[::20]))
    y = np.where(data.y[keep] == "normal", "normal", "tumour, at décembre").tolist()
    return plain(X, y, names, [f"S{i:02}" for i in range(len(keep))])


@pytest.mark.parametrize("kind", WRITERS)
def test_the_same_numbers(kind, prostate, tmp_path):
    expected = prostate.drop(columns=["patient", LABEL])
    table = open_table(write(kind, tmp_path, prostate), **OPTIONS.get(kind, {}))
    features, X = table.features, table.matrix
    if X is None:
        features = [name for name in table.frame if table.frame[name].dtype == float]
        X = table.frame[features].to_numpy()
    dense = X.toarray() if sparse.issparse(X) else X
    np.testing.assert_array_equal(dense, expected.to_numpy())
    assert dense.dtype == np.float64
    assert features == list(expected.columns)
    assert sparse.issparse(X) == (kind in ("layers.h5ad", "sparse.npz", "filtered_feature_bc_matrix"))
    names = table.frame["row name" if "row name" in table.frame else "patient"]
    assert names.tolist() == prostate["patient"].tolist()
    assert (LABEL in table.frame) == (kind not in WITHOUT_LABELS)
    y = table.frame[LABEL] if LABEL in table.frame else prostate[LABEL]
    assert y.tolist() == prostate[LABEL].tolist()
