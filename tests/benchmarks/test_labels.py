"""Few labels: who keeps one, who is tuned how, and what the page says of it."""

import numpy as np
import pytest
from benchmarks import labels
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression


@pytest.fixture(scope="module")
def table():
    """Two classes far apart, 60 samples."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 // 2  # 40 and 20
    return 0.5 * rng.standard_normal((60, 30)) + np.outer(2 * y - 1, rng.standard_normal(30)), y


def test_every_class_keeps_its_share_and_four_at_least(table):
    _, y = table
    for share, counts in ((0.05, [4, 4]), (0.15, [6, 4]), (0.5, [20, 10])):
        known = labels.labelled(y, share, 3)
        assert np.bincount(y[known]).tolist() == counts
        assert np.array_equal(known, labels.labelled(y, share, 3))
        assert not np.array_equal(known, labels.labelled(y, share, 4))


def test_everybody_tells_classes_apart_that_are_far_apart(table, monkeypatch):
    monkeypatch.setattr(labels, "C", (0.1, 10.0))
    X, y = table
    scores = labels.compare(X, y, labels.labelled(y, 0.15, 0))
    assert list(scores) == [labels.OURS, *labels.METHODS]
    assert min(scores.values()) > 0.9


def test_components_are_those_of_all_samples(table):
    X, y = table
    given = np.where(labels.labelled(y, 0.3, 0), y, -1)
    found = labels.on_pca_of_all(X, given, X)
    assert found.shape == (len(labels.RANKS) * len(labels.C), 60, 2)
    codes = PCA(3).fit(X).transform(X)
    plain = LogisticRegression(C=labels.C[2], max_iter=2000)
    expected = plain.fit(codes[given >= 0], y[given >= 0]).predict_proba(codes)
    np.testing.assert_allclose(found[len(labels.C) + 2], expected, atol=1e-3)
