"""What the figures are drawn from: ellipses, axes, correlations, clusters."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform
from scipy.stats import chi2

from superfactor.report.sections.heat_map import heat_map
from superfactor.report.sections.samples import ellipse, ranges


@pytest.mark.parametrize("n", [6, 30])
def test_ellipses_hold_95_percent_of_new_samples(n):
    rng = np.random.default_rng(0)
    mix = np.array([[2.0, 0.0], [1.5, 0.3]])
    inside = []
    for _ in range(2000):
        own = ellipse(rng.standard_normal((n, 2)) @ mix.T + 5)
        new = rng.standard_normal(2) @ mix.T + 5 - own.mean
        inside.append(new @ np.linalg.solve(own.covariance, new) <= own.radius**2)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)


def test_ellipses_of_many_samples_are_those_of_the_normal_distribution():
    codes = np.random.default_rng(0).standard_normal((100_000, 3))
    assert ellipse(codes).radius == pytest.approx(np.sqrt(chi2.ppf(0.95, 2)), rel=1e-3)


def test_too_few_samples_have_no_ellipse():
    assert ellipse(np.zeros((3, 2))) is None
    assert ellipse(np.arange(4.0)[:, None]).covariance.shape == (1, 1)


def test_axes_hold_every_sample_and_are_not_blown_up_by_an_ellipse():
    codes = np.random.default_rng(0).standard_normal((40, 3))
    small, huge = ellipse(codes), ellipse(100 * codes)
    for ellipses in ([None], [small], [huge]):
        low, high = ranges(codes, ellipses).T
        assert np.all(low < codes.min(axis=0)) and np.all(high > codes.max(axis=0))
        assert np.all(high - low < 2 * np.ptp(codes, axis=0))
    least, most = small.extent()
    low, high = ranges(codes, [small]).T
    assert np.all(low <= least) and np.all(high >= most)
    low, high = ranges(np.ones((5, 1)), [None]).T  # without any spread
    assert low < 1 < high


class TestHeatMap:
    rng = np.random.default_rng(0)
    # Two groups of samples, two of features, shuffled.
    groups = rng.permutation(np.repeat([0, 1], 15))
    kinds = rng.permutation(np.repeat([-1, 1], 6))
    X = 3 * groups[:, None] * kinds + rng.standard_normal((30, 12))

    def test_groups_lie_together(self):
        found = heat_map(self.X)
        for values, order in [(self.groups, found.columns), (self.kinds, found.rows)]:
            assert sorted(order) == list(range(len(values)))
            assert np.count_nonzero(np.diff(values[order])) == 1

    def test_values_are_standardised_and_in_the_order_of_the_leaves(self):
        found = heat_map(self.X)
        Z = (self.X - self.X.mean(axis=0)) / self.X.std(axis=0)
        np.testing.assert_allclose(found.values, Z.T[np.ix_(found.rows, found.columns)])

    def test_trees_join_at_the_mean_distance(self):
        found = heat_map(self.X)
        heights = found.row_tree[:, 4]
        Z = ((self.X - self.X.mean(axis=0)) / self.X.std(axis=0)).T
        expected = linkage(pdist(Z), "average")[:, 2]
        np.testing.assert_allclose(heights, expected / expected[-1])
        # The last join is of the two groups: its height is the mean distance between them.
        between = squareform(pdist(Z))[np.ix_(self.kinds < 0, self.kinds > 0)].mean()
        assert expected[-1] == pytest.approx(between)
        # Both parts of a join are lower than it, and lie on either side of its place.
        assert np.all(found.row_tree[:, [1, 3]] <= heights[:, None])
        assert np.all(found.row_tree[:, 0] < found.row_tree[:, 2])

    @pytest.mark.parametrize("shape", [(1, 3), (3, 1), (4, 2)])
    def test_small_and_constant_tables(self, shape):
        found = heat_map(np.ones(shape))
        assert found.values.shape == shape[::-1]
        assert np.isfinite(found.row_tree).all() and np.isfinite(found.column_tree).all()
