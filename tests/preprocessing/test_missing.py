"""Descriptions of missing values, compared with pandas."""

import numpy as np
import pandas as pd

from superfactor.preprocessing import describe_missing


def test_counts_equal_pandas():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((20, 7)), columns=list("abcdefg"), index=[f"s{i}" for i in range(20)])
    frame = frame.mask(rng.random(frame.shape) < 0.3)
    frame["d"] = np.nan
    missing = describe_missing(frame)
    used = frame.drop(columns="d")
    assert missing.empty_columns == ["d"]
    assert missing.n_missing == used.isna().sum().sum()
    assert missing.share == used.isna().mean(axis=None)
    np.testing.assert_allclose(missing.row_shares, used.isna().mean(axis=1))
    above = used.isna().mean(axis=1) > 0.4
    assert missing.rows_above(0.4) == list(frame.index[above])
    np.testing.assert_array_equal(missing.keep, ~frame.isna().all())


def test_sentences():
    X = np.full((4, 12), 1.0)
    X[0, :7] = np.nan
    X[:, 11] = np.nan
    missing = describe_missing(X, names=[f"g{j}" for j in range(12)], ids=list("ABCD"))
    assert missing
    assert missing.sentences() == [
        "7 of 44 values are missing (16 %).",
        "1 column(s) without any value left out: g11.",
        "1 sample(s) with more than 50 % of their values missing: A.",
    ]


def test_no_sentences_without_missing_values():
    missing = describe_missing(np.ones((3, 2)))
    assert not missing
    assert missing.share == 0
    assert missing.sentences() == []
