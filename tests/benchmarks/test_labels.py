"""Few labels: who keeps one, who is tuned how, and what the page says of it."""

import numpy as np
import pytest
from benchmarks import labels


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
