"""Folds that keep the columns of X: rows scaled block by block, held against scikit-learn's scaler."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler
from tests.selection.test_folds import TEST, TRAIN, N, fold, genes, points

from superfactor import SMFClassifierCV
from superfactor.selection.rows import blocks
from superfactor.selection.rows.coordinates import FoldRows
from superfactor.selection.rows.range import longest_in


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks of a few rows each, the last one smaller."""
    monkeypatch.setattr(blocks, "_VALUES", 7 * 12)


def scaled_by_scikit_learn(X, preprocess, weight=None):
    sparse = sp.issparse(X)
    scaler = StandardScaler(with_mean=not sparse, with_std=preprocess == "standardize")
    scaler.fit(X[TRAIN], sample_weight=None if weight is None else weight[TRAIN])
    return scaler.transform(X[TRAIN]), scaler.transform(X[TEST])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("preprocess", ["center", "standardize", None])
def test_rows_are_those_of_the_scaler(preprocess, weighted):
    X, y = genes(12)
    weight = np.random.default_rng(0).integers(1, 4, N).astype(float) if weighted else None
    found = FoldRows(X, None, None, weight, preprocess).seen_by(TRAIN, TEST, y)
    plain = X[TRAIN], X[TEST]
    expected = scaled_by_scikit_learn(X, preprocess, weight) if preprocess else plain
    for rows, others in zip(found, expected, strict=True):
        np.testing.assert_allclose(rows, others, atol=1e-12)


def test_blocks_whose_weights_are_all_zero_do_not_count():
    X, y = genes(12)
    weight = np.ones(N)
    weight[TRAIN[:20]] = 0
    found = FoldRows(X, None, None, weight, "standardize").seen_by(TRAIN, TEST, y)
    for rows, others in zip(found, scaled_by_scikit_learn(X, "standardize", weight), strict=True):
        np.testing.assert_allclose(rows, others, atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("preprocess", ["center", "standardize"])
def test_scores_are_those_of_rows_scaled_before(preprocess, kind):
    X, y = genes(12)
    if kind == "sparse":
        if preprocess == "center":
            pytest.skip("sparse X is not centred")
        X = sp.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    candidates = points("filter", "feature")
    found = fold(FoldRows(X, None, None, None, preprocess), y, candidates)[:, 0]
    stack = sp.vstack if kind == "sparse" else np.vstack
    scaled = stack(scaled_by_scikit_learn(X, preprocess))
    order = np.argsort(np.concatenate([TRAIN, TEST]))
    plain = fold(
        FoldRows(scaled.tocsr()[order] if kind == "sparse" else scaled[order], *[None] * 4), y, candidates
    )
    np.testing.assert_allclose(found, plain[:, 0], atol=1e-8)


def test_large_tables_have_folds_in_single_precision(monkeypatch):
    X, y = genes(12)
    exact = SMFClassifierCV(2, random_state=0).fit(X, y)
    monkeypatch.setattr(blocks, "LARGE", X.size)
    assert FoldRows(X, None, None, None, "standardize").seen_by(TRAIN, TEST, y)[0].dtype == np.float32
    assert FoldRows(X, None, None, None, "center").seen_by(TRAIN, TEST, y)[0].dtype == np.float64
    assert FoldRows(X.T, None, None, None, "standardize").factorized(y).dtype == np.float64  # wide
    found = SMFClassifierCV(2, random_state=0).fit(X, y)
    assert found.best_params_["lam"] == pytest.approx(exact.best_params_["lam"], rel=1e-4)
    assert found.best_score_ == pytest.approx(exact.best_score_, abs=1e-4)
    assert found.best_estimator_[-1].components_.dtype == np.float64  # the final fit has that of X


def test_long_rows_asked_about_stay_finite_in_single_precision(monkeypatch):
    X, y = genes(12)
    monkeypatch.setattr(blocks, "LARGE", X.size)
    X[TEST[0]] = 1e200
    inside, outside = FoldRows(X, None, None, None, "standardize").seen_by(TRAIN, TEST, y)
    assert np.isfinite(inside).all()
    assert np.linalg.norm(outside[0].astype(np.float64)) == pytest.approx(longest_in(outside), rel=1e-3)
