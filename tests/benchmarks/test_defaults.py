"""Fits as they come beside pipelines; searches beside grid searches with the same folds."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import defaults

from superfactor import SMFClassifierCV, SMFRegressorCV


@pytest.fixture(scope="module")
def rows():
    """One run of each search; the shortest of several is measured elsewhere in this file."""

    def once(job, clock, **options):
        start = clock()
        job()
        return clock() - start

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(defaults, "shortest", once)
        return defaults.searches(quick=True)


def test_every_kind_is_searched_on_dense_and_sparse_tables(rows):
    assert [row["kind"] for row in rows] == ["classes", "classes", "numbers", "numbers"]
    for row in rows:
        assert row["searches"] == pytest.approx(row["seconds"] / row["grid search s"])
        assert row["seconds"] > 0 and np.isfinite(row["score"]) and np.isfinite(row["grid search score"])


@pytest.mark.parametrize(
    ("search", "y", "scoring"),
    [(SMFClassifierCV, np.arange(40) % 2, "neg_log_loss"), (SMFRegressorCV, np.linspace(-1, 1, 40), "r2")],
)
def test_the_plain_search_has_as_many_candidates_and_folds(search, y, scoring):
    X = np.random.default_rng(0).standard_normal((40, 6))
    own = search(n_components=[1, 2], xi=[0.1, 1.0], lam=[0.1], cv=3).fit(X, y)
    plain = defaults.plain_search(own, sparse=False).fit(X, y)
    assert len(plain.cv_results_["params"]) == len(own.cv_results_["params"]) == 4
    assert plain.n_splits_ == 3 and plain.scoring == scoring


@pytest.mark.parametrize("kept", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_largest_column_is_predicted_from_the_others(kept):
    X = np.array([[1.0, -4.0, 0.0], [2.0, 3.0, 1.0]])
    found = defaults.one_column(defaults.Table("2 × 3, 2 classes", kept(X), np.arange(2)))
    others = found.X.toarray() if sp.issparse(found.X) else found.X
    np.testing.assert_array_equal(found.y, [-4.0, 3.0])
    np.testing.assert_array_equal(others, X[:, [0, 2]])
    assert found.name == "2 × 3, a column"


def test_fits_as_they_come_on_one_core():
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    rows = defaults.defaults(quick=True)
    assert [row["model"] for row in rows] == ["filter", "feature"]
    for row in rows:
        assert row["pipelines"] == pytest.approx(row["fit s"] / row["PCA + LR s"]) and row["iterations"] > 0
        assert row["proven"] == (row["gap"] <= 1e-6)
    assert before is None or os.sched_getaffinity(0) == before
