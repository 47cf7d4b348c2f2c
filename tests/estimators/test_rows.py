"""Predictions from sources of rows, compared with predictions from the same numbers in memory."""

from itertools import pairwise

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.utils._testing import create_memmap_backed_data
from tests.estimators.data import small

from superfactor import SMFClassifier, SMFRegressor, row_blocks
from superfactor.estimators.inputs import block_cuts

pa = pytest.importorskip("pyarrow")
zarr = pytest.importorskip("zarr")
pq = pytest.importorskip("pyarrow.parquet")

N, P = 2100, 6
METHODS = ("transform", "predict", "predict_proba", "predict_log_proba", "decision_function")


@pytest.fixture(autouse=True)
def small_blocks():
    """Blocks of the smallest height, 256 rows."""
    with sklearn.config_context(working_memory=0.01):
        yield


def table(X):
    return pa.table({f"f{j}": X[:, j] for j in range(X.shape[1])})


def memmap(X, folder):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def zarr_array(X, folder):
    array = zarr.create_array(folder / "x.zarr", shape=X.shape, dtype=X.dtype, chunks=(100, 4))
    array[:] = X
    return array


def parquet(X, folder):
    pq.write_table(table(X), folder / "x.parquet", row_group_size=300)
    return row_blocks(folder / "x.parquet")


SOURCES = {
    "memmap": memmap,
    "zarr": zarr_array,
    "table": lambda X, folder: table(X),
    "parquet": parquet,
    "row_blocks": lambda X, folder: row_blocks(X),
}
sources = pytest.mark.parametrize("store", SOURCES.values(), ids=SOURCES)


def agree(estimator, source, X, **options):
    for method in METHODS:
        if hasattr(estimator, method):
            got = getattr(estimator, method)(source, **options)
            expected = getattr(estimator, method)(X, **options)
            assert type(got) is np.ndarray and got.dtype == expected.dtype
            assert got.shape == expected.shape
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@sources
@pytest.mark.parametrize(("Estimator", "model"), [(SMFClassifier, "filter"), (SMFRegressor, "feature")])
def test_every_method_equals_that_in_memory(Estimator, model, store, tmp_path):
    X, y, Z = small(n=N, p=P, classes=3)
    source = store(X, tmp_path)
    has_names = store in (SOURCES["table"], SOURCES["parquet"])
    named = table(X).to_pandas() if has_names else X
    estimator = Estimator(2, model=model, covariate_columns=[1, 4], lam=0.05)
    estimator.fit(named[:200], y[:200], covariates=Z[:200])
    agree(estimator, source, named, covariates=Z)
    expected = estimator.score(named, y, covariates=Z)
    assert estimator.score(source, y, covariates=Z) == pytest.approx(expected, rel=1e-12)
    weight = np.arange(N) % 3
    expected = estimator.score(named, y, sample_weight=weight, covariates=Z)
    got = estimator.score(source, y, sample_weight=weight, covariates=Z)
    assert got == pytest.approx(expected, rel=1e-12)


def test_several_targets_and_float32(tmp_path):
    X, _, _ = small(n=N, p=P)
    X = X.astype(np.float32)
    Y = X[:, :3] @ np.ones((3, 2))
    for fitted in (X, X.astype(np.float64)):
        reg = SMFRegressor(2).fit(fitted[:100], Y[:100])
        got = reg.predict(memmap(X, tmp_path))
        assert got.shape == (N, 2)
        np.testing.assert_allclose(got, reg.predict(X), rtol=1e-4, atol=1e-4)


def test_the_source_is_read_in_blocks_and_once(tmp_path, monkeypatch):
    X, y, _ = small(n=N, p=P)
    clf = SMFClassifier().fit(X, y)
    source = row_blocks(memmap(X, tmp_path))
    asked = []
    read = type(source)._stored

    def watched(self, start, stop, columns):
        asked.append((start, stop))
        return read(self, start, stop, columns)

    monkeypatch.setattr(type(source), "_stored", watched)
    clf.predict_proba(source)
    cuts = block_cuts(source)
    assert asked == list(pairwise(cuts))
    assert len(asked) == 8


def test_a_memmap_of_one_block_equals_the_array_exactly():
    X, y, Z = small(n=200)
    mapped = create_memmap_backed_data((X, y, Z))
    assert isinstance(mapped[0], np.memmap)
    estimator = SMFClassifier(2).fit(X, y, covariates=Z)
    other = clone(estimator).fit(mapped[0], mapped[1], covariates=mapped[2])
    np.testing.assert_array_equal(other.components_, estimator.components_)
    for method in METHODS:
        if hasattr(estimator, method):
            got = getattr(other, method)(mapped[0], covariates=mapped[2])
            np.testing.assert_array_equal(got, getattr(estimator, method)(X, covariates=Z))


def test_error_names_the_position_of_nan(tmp_path):
    X, y, _ = small(n=N, p=P)
    clf = SMFClassifier().fit(X, y)
    X[1000, 3] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN in row 1000, column 3 \(1 of the rows") as e:
        clf.predict_proba(memmap(X, tmp_path))
    assert "\n" not in str(e.value)
    reg = SMFRegressor().fit(table(np.ones((9, P))).to_pandas(), np.arange(9.0))
    with pytest.raises(ValueError, match="row 1000, column 'f3'"):
        reg.predict(table(X))


def test_column_names_must_equal_those_of_the_fit():
    X, y, _ = small(n=N, p=P)
    clf = SMFClassifier().fit(table(X).to_pandas(), y)
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(table(X).rename_columns([f"g{j}" for j in range(P)]))
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(row_blocks(table(X), exclude=["f5"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        clf.predict(row_blocks(X))
    with pytest.warns(UserWarning, match="X has feature names, but SMFClassifier was fitted without"):
        SMFClassifier().fit(X, y).predict(table(X))


def test_covariates_with_a_source():
    X, y, Z = small(n=N, p=P)
    clf = SMFClassifier().fit(X, y, covariates=Z)
    with pytest.raises(ValueError, match="fitted with 2 covariate"):
        clf.predict(row_blocks(X))
    with pytest.raises(ValueError, match="covariates: 7 samples, but X has 2100"):
        clf.predict(row_blocks(X), covariates=Z[:7])
    np.testing.assert_allclose(clf.transform(row_blocks(X)), clf.transform(X), rtol=1e-12)
    with pytest.raises(ValueError, match="covariates: 7 samples"):
        clf.transform(row_blocks(X), covariates=Z[:7])


def test_text_and_empty_tables_are_refused(tmp_path):
    X, y, _ = small(n=N, p=P)
    clf = SMFClassifier().fit(X, y)
    with pytest.raises(TypeError, match="column 'name' is string"):
        clf.predict(table(X).append_column("name", pa.array(["a"] * N)))
    with pytest.raises(ValueError, match=r"at least 1 sample and 1 feature are required, got \(0, 6\)"):
        clf.predict(table(X[:0]))


def test_error_for_a_model_of_another_library():
    xp = pytest.importorskip("array_api_strict")
    X, y, _ = small()
    with sklearn.config_context(array_api_dispatch=False):
        clf = SMFClassifier().fit(xp.asarray(X), xp.asarray(y))
        with pytest.raises(ValueError, match="must use the same namespace"):
            clf.predict(row_blocks(X))
