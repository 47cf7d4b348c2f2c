"""The nearest relatives: all are asked the same, who refuses says so, and the page shows what was kept."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import choose
from benchmarks.__main__ import CHOOSE
from benchmarks.choose_page import BLOCKS, PAGE
from benchmarks.pages import renewed
from benchmarks.relatives import ANY_RANK, METHODS, OURS, ScreenedPCA, Short, installed
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
def test_everybody_tells_classes_apart_that_are_far_apart(method, table):
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


@pytest.mark.parametrize("method", METHODS)
def test_codes_are_as_many_as_factors(method, table):
    if not installed(method):
        pytest.skip(f"needs {method}")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = METHODS[method](2, folds, False).fit(table.X, table.y)
    codes = choose._codes(model)
    if method == "ridge LR":
        assert codes is None
    else:
        assert codes(table.X).shape == (60, 1 if method == "PCA + LDA" else 2)


@pytest.mark.parametrize(
    "method, takes", [(OURS, True), ("PCA + LR", True), ("ridge LR", True), ("PLS-DA", False)]
)
def test_who_takes_no_sparse_table_says_so(method, takes, table):
    sparse = choose.Table("sparse", sp.csr_array(np.abs(table.X)), table.y)
    row = choose._row(sparse, 2, method)
    assert (row["note"] is None) == takes
    assert takes or (row["note"] == "dense X only" and row["accuracy"] is None)


def test_a_fault_that_is_no_refusal_is_not_hidden(table):
    broken = choose.Table("broken", np.full_like(table.X, np.nan), table.y)
    with pytest.raises(ValueError, match="NaN"):
        choose._row(broken, 2, "ridge LR")


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


def test_short_rows_have_the_same_inner_products(table):
    short = Short().fit(table.X)
    assert short.transform(table.X).shape == (60, 60)
    np.testing.assert_allclose(
        short.transform(table.X) @ short.transform(table.X).T, table.X @ table.X.T, atol=1e-9
    )
    tall = table.X.T
    assert Short().fit(tall).transform(tall) is tall


def test_tables_are_those_at_hand(tmp_path, monkeypatch):
    write_small_data(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    found = {table.name: table for table in choose.tables()}
    assert {"breast cancer", "wine", "digits", "prostate (bundled)", "pancreas"} <= set(found)
    assert sp.issparse(found["job postings (sparse)"].X)
    for table in found.values():
        assert set(np.unique(table.y)) == set(range(table.y.max() + 1))
        assert len(table.y) == table.X.shape[0]


# --- the page ----------------------------------------------------------------------------------------------


def test_the_page_is_what_the_kept_numbers_make_it():
    assert PAGE.read_text() == renewed(PAGE.read_text(), json.loads(CHOOSE.read_text()), BLOCKS)


def test_the_page_has_every_block():
    page = PAGE.read_text()
    assert all(f"<!-- benchmark: {name} -->" in page for name in BLOCKS)
    assert not re.search(r"<!-- benchmark: \S+ -->\s*<!-- end", page), "a block is empty"


def _kept(**accuracies):
    scores = dict.fromkeys(METHODS, 80.0) | accuracies
    rows = [
        {"case": "mine, 9 × 5, 2 factors", "table": "mine, 9 × 5", "rank": 2, "method": name}
        | {"accuracy": score, "variance": None if name == "ridge LR" else 30.0}
        | {"CPU s": None if score is None else 0.5, "note": "dense X only"}
        for name, score in scores.items()
    ]
    return {"choose": {"machine": {"processor": "abacus"}, "rows": rows}}


def test_numbers_arrive_in_their_cells():
    new = renewed(PAGE.read_text(), _kept(superfactor=83.14, PCovC=None), BLOCKS)
    others = ["80.0", "80.0", "dense X only", "80.0", "80.0", "80.0", "80.0"]
    assert f"| mine, 9 × 5 | 2 | **83.1** | {' | '.join(others)} |" in new
    assert "one thread, abacus:" in new


@pytest.mark.parametrize(
    "ours, words",
    [
        (83.0, "in 1, level with the best of them (within a point) in 0, and behind in 0."),
        (79.5, "in 0, level with the best of them (within a point) in 1, and behind in 0."),
        (75.0, "behind in 1: mine, 9 × 5, 2 factors (PCA + LR, 5.0 points)."),
    ],
)
def test_who_wins_is_said_in_words(ours, words):
    new = renewed(PAGE.read_text(), _kept(superfactor=ours), BLOCKS)
    assert words in " ".join(new.split())
