"""What features are shown and return: who is asked what, and what the page says of it."""

import numpy as np
import pytest
from benchmarks import readers, reading
from benchmarks.readers import LOADINGS, OURS, REST, STATISTIC, WEIGHTS, Shown
from scipy import stats
from sklearn.preprocessing import StandardScaler

METHODS = [OURS, WEIGHTS, "ridge LR", "PLS-DA's weights", LOADINGS, "PCA + LR", STATISTIC]


def _planted(classes, n=120, p=60, seed=0):
    """Features 0 to 9 are higher in class 0, those from 10 to 19 in class 1, …; the rest is noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.standard_normal((n, p))
    for c in range(classes):
        X[:, 10 * c : 10 * (c + 1)] += 3.0 * (y == c)[:, None]
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("classes", [2, 3])
def test_everybody_shows_planted_features_at_their_ends(classes):
    X, y = _planted(classes)
    shown = readers.shown_by_all(X, y)
    assert list(shown) == METHODS
    for method, of in shown.items():
        features, directions, signs = of.top(12)
        assert (features < 10 * classes).all(), method
        high, low = of.ends[directions].T
        for j, up, down, sign in zip(features, high, low, signs, strict=True):
            own = j // 10  # the class that has more of it
            if sign > 0:
                assert own != down, method
                assert own == up or classes > 2, method
            elif down != REST:
                assert own != up, method


def test_tests_are_scipys_and_a_constant_feature_has_none():
    X, y = _planted(2)
    X[:, 3] = 1.0
    value, p = readers.tested(X, y)
    expected = stats.ttest_ind(X[y == 1, 5], X[y == 0, 5], equal_var=False)
    assert (value[5], p[5]) == pytest.approx((expected.statistic, expected.pvalue))
    assert (value[3], p[3]) == (0.0, 1.0)
    X, y = _planted(3)
    assert readers.tested(X, y)[1][5] == pytest.approx(
        stats.f_oneway(*(X[y == c, 5] for c in range(3))).pvalue
    )


@pytest.mark.parametrize("low", [1, REST])
def test_each_measure_counts_what_it_says(low):
    """Of four features shown two return, two differ, three are at the right end, one is against its own."""
    values = np.array([[4.0, 3.0, -2.0, 1.0, 0.0, 0.0]])
    shown = Shown(values, np.array([[0, low]]), np.array([[0.5, 0.5, 0.5, 0.5, 0, 0]]))
    again = Shown(np.array([[9.0, 0, 0, 0, 1, 1]]), shown.ends, None)
    Z = np.array([[1.0, 1, -1, -1, 0, 0], [0.0, 0, 0, 0, 0, 0]])
    q = np.array([0.01, 0.05, 0.06, 0.5, 0, 0])
    # The other half shows features 0, 4, 5, and the first of those that are 0.
    found = reading.measured(shown, again, Z, np.array([0, 1]), q, n=4)
    assert dict(zip(reading.MEASURES, found, strict=True)) == {
        "returned": 0.5,
        "differs": 0.5,
        "right end": 0.75,
        "against": 0.25,
    }
