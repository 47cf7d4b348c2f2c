"""HDF5, dense and sparse, against the arrays that were written."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone

from superfactor import SMFClassifier
from superfactor.spectrum.rows import SparseRows, as_rows, row_blocks, rows_per_block

h5py = pytest.importorskip("h5py")
anndata = pytest.importorskip("anndata")

N, P = 90, 7


@pytest.fixture
def X():
    return sp.random(N, P, 0.3, format="csr", dtype=np.float32, random_state=0)


def backed(X, folder):
    anndata.AnnData(X).write_h5ad(folder / "x.h5ad")
    return anndata.read_h5ad(folder / "x.h5ad", backed="r").X


STORES = {
    "dense": lambda X, f: backed(X.toarray(), f),
    "sparse": backed,
    "sparse in memory": lambda X, f: SparseRows(X.data, X.indices, X.indptr, X.shape),
}
stores = pytest.mark.parametrize("store", STORES.values(), ids=STORES)


def dense(block):
    return block.toarray() if sp.issparse(block) else block


@stores
def test_any_rows_and_columns_are_those_that_were_written(store, X, tmp_path):
    rows = row_blocks(store(X, tmp_path), dtype="float32")
    for start, stop in [(0, 7), (7, 90), (3, 4), (89, 90), (0, 90)]:
        block = rows.read_finite(start, stop)
        assert block.dtype == np.float32
        assert sp.issparse(block) == isinstance(rows, SparseRows)
        np.testing.assert_array_equal(dense(block), X[start:stop].toarray())
    again = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(dense(again.read(5, 50)), X[5:50].toarray())
    factors, whole = np.arange(1, P + 1) / 4, row_blocks(rows, dtype="float64")  # exact in any precision
    for columns in ([0, 1], [5, 2, 3], [6]):
        expected = (X.toarray() * factors)[:, columns]
        for some in (whole.scaled(factors).select(columns), whole.select(columns).scaled(factors[columns])):
            np.testing.assert_array_equal(dense(some.read(10, 60)), expected[10:60])
            twice = some.select([0]).scaled([2.0])
            np.testing.assert_array_equal(dense(twice.read(0, N)), 2 * expected[:, :1])


def test_the_number_of_sparse_rows_in_a_block_depends_on_their_values(X, tmp_path):
    rows = as_rows(backed(X, tmp_path))
    assert rows.row_size == pytest.approx(X.nnz / N)
    assert rows.values_a_row == 2 * rows.row_size < P
    assert rows.select([0, 1]).row_size == pytest.approx(rows.row_size * 2 / P)
    assert rows_per_block(0.03 * 20_000, 4) > 15 * rows_per_block(20_000, 4)


def test_types(X, tmp_path):
    assert as_rows(backed(X.astype(np.int32), tmp_path)).dtype == np.float64
    integers = row_blocks(backed(X.astype(np.int32), tmp_path), dtype="float32")
    np.testing.assert_array_equal(dense(integers.read(0, N)), X.astype(np.int32).toarray())


def test_the_position_of_nan_is_reported(X, tmp_path):
    X.data[0] = np.nan
    row, column = np.argwhere(np.isnan(X.toarray()))[0]
    with pytest.raises(ValueError, match=f"NaN in row {row}, column {column} "):
        as_rows(backed(X, tmp_path)).read_finite(0, N)


def test_an_estimator_gives_the_same_for_sparse_blocks_and_arrays(tmp_path):
    rng = np.random.default_rng(0)
    X = sp.random(800, 12, 0.2, format="csr", random_state=1)
    y = (X.toarray()[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(800)) > 0.4
    beside = rng.standard_normal((800, 1))
    model = SMFClassifier(2, covariate_columns=[4], search="off", certify=None)
    expected = clone(model).fit(X, y, beside)
    with sklearn.config_context(working_memory=0.02):
        source = as_rows(backed(X, tmp_path))
        assert len(source.cuts(rows_per_block(source.values_a_row, 8))) > 3
        found = clone(model).fit(source, y, beside)
        np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-7)
        proba = found.predict_proba(source, beside)
    np.testing.assert_allclose(proba, found.predict_proba(X, beside), atol=1e-12)
