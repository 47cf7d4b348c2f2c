"""The nearest relatives: all are asked the same, who refuses says so, and the page shows what was kept."""

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import choose
from benchmarks.relatives import ANY_RANK, METHODS, ScreenedPCA, installed
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold
from tests.small_data import write_small_data

from reproduction.data import VARIABLE


@pytest.fixture(scope="module")
def table():
    """Two classes far apart in the second of two strong directions, 60 samples."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    scores = np.c_[3 * rng.standard_normal(60), 2 * y - 1.0]
    return choose.Table("made up", scores @ rng.standard_normal((2, 80)) + 0.3, y)


@pytest.mark.parametrize("method", METHODS)
def test_everybody_tells_classes_apart_that_are_far_apart(method, table, monkeypatch):
    monkeypatch.setattr(choose, "StratifiedKFold", lambda _, **options: StratifiedKFold(2, **options))
    row = choose._row(table, 2, method)
    if not installed(method):
        assert row["note"] == "not installed" and row["accuracy"] is None
        return
    assert row["accuracy"] > 95 and row["CPU s"] > 0 and row["note"] is None
    if method == "ridge LR":
        assert row["variance"] is None
    else:
        assert 0 < row["variance"] <= 100
    if method not in ANY_RANK:
        assert row["variance"] > 99  # two factors are all there is


def test_variance_is_that_of_principal_components():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 8)) * np.arange(1, 9)
    pca = PCA(3).fit(X)
    codes = pca.transform(X)
    found = choose.explained(X, codes, X, codes)
    assert found == pytest.approx(pca.explained_variance_ratio_.sum())
    # The same whatever coordinates the codes are in, and no gain from codes that know nothing of new X.
    assert choose.explained(X, codes @ [[1, 2, 0], [0, 1, 3], [1, 0, 1]] + 7, X, codes) < found
    noise = rng.standard_normal((50, 3))
    assert choose.explained(X, noise, X[::-1], noise) < 0.05


def test_screening_keeps_what_tells_classes_apart():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 40))
    y = np.arange(60) % 3
    X[:, [5, 17]] += 3 * np.c_[y, -y]
    X[:, 9] = 1.0  # does not vary
    assert set(ScreenedPCA(2, share=0.05).fit(X, y).kept_) == {5, 17}
    assert len(ScreenedPCA(3, share=0.01).fit(X, y).kept_) == 3


def test_tables_are_those_at_hand(tmp_path, monkeypatch):
    write_small_data(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    found = {table.name: table for table in choose.tables()}
    assert {"breast cancer", "wine", "digits", "prostate (bundled)", "pancreas"} <= set(found)
    assert sp.issparse(found["job postings (sparse)"].X)
    for table in found.values():
        assert set(np.unique(table.y)) == set(range(table.y.max() + 1))
        assert len(table.y) == table.X.shape[0]
