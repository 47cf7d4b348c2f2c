"""The benchmark of missing values removes the stated shares, and its rows are plausible."""

import numpy as np
import pytest
from benchmarks import missing


@pytest.mark.parametrize(
    "pattern, share", list(zip(missing.PATTERNS, (0.02, 0.1, 0.3, 1 / 15, 1 / 10), strict=True))
)
def test_shares(pattern, share):
    found = np.mean([missing.PATTERNS[pattern]((200, 400), seed).mean() for seed in range(20)])
    assert found == pytest.approx(share, rel=0.15)


@pytest.mark.slow
def test_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 30)) + 0.3 * rng.standard_normal((40, 30))
    y = (X[:, 0] > 0).astype(int)
    monkeypatch.setattr(missing, "_small", lambda: ("made up", X, y))
    rows = missing.missing(quick=True)
    assert [row["pattern"] for row in rows] == list(missing.PATTERNS)
    for row in rows:
        assert row["error, low rank"] < row["error, 5 neighbours"] < row["error, mean"]
        assert row["accuracy, low rank"] > 50
    assert len({row["accuracy, all entries"] for row in rows}) == 1


def test_absent_features(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 30)) + 0.3 * rng.standard_normal((40, 30))
    y = (X[:, 0] > 0).astype(int)
    monkeypatch.setattr(missing, "_small", lambda: ("made up", X, y))
    rows = missing.absent(quick=True)
    assert [(row["absent"], row["weight"]) for row in rows] == [
        (order, weight) for order in ("at random", "heaviest first") for weight in missing.WEIGHTS
    ]
    for row in rows:
        assert row["correlation, worst"] <= row["correlation"] <= 1
    assert rows[0]["correlation"] > 0.97
    heaviest = [row["features"] for row in rows if row["absent"] == "heaviest first"]
    assert heaviest == sorted(heaviest)
