"""A few coordinates instead of many features."""

import numpy as np

from reproduction.coordinates import short_rows


def test_inner_products_stay_and_what_is_not_there_is_zero():
    X = np.random.default_rng(0).standard_normal((8, 50))
    X -= X.mean(axis=0)  # one dimension less
    rows = short_rows(X)
    assert rows.shape == (8, 8)
    np.testing.assert_allclose(rows @ rows.T, X @ X.T, atol=1e-12)
    np.testing.assert_array_equal(rows[:, -1], 0)
    assert np.all(rows[:, :-1].std(axis=0) > 0.1)
