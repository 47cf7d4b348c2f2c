"""The page for classes, compared with scikit-learn."""

import math
import warnings

import numpy as np
import pytest
from sklearn import metrics

from superfactor.outcomes import Classes
from superfactor.outcomes.metrics.proportions import balanced_interval, wilson


def drawn(n, classes, missing=(), seed=0):
    """Class numbers, and probabilities that depend on them."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([c for c in range(classes) if c not in missing], n)
    scores = rng.standard_normal((n, classes)) + 1.5 * (truth[:, None] == np.arange(classes))
    return truth, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("n", "classes"), [(300, 2), (300, 20), (5000, 3)])
def test_roc_curves_equal_scikit_learn(n, classes):
    truth, probabilities = drawn(n, classes)
    for curve in Classes.page.curves(truth, probabilities):
        area = metrics.roc_auc_score(truth == curve.positive, probabilities[:, curve.positive])
        assert (curve.false_positive[0], curve.true_positive[0]) == (0, 0)
        assert (curve.false_positive[-1], curve.true_positive[-1]) == (1, 1)
        assert len(curve.false_positive) <= 300 and curve.area == pytest.approx(area)
        # Where points were left out, the area below the rest is still that of all.
        assert metrics.auc(curve.false_positive, curve.true_positive) == pytest.approx(area, abs=5e-3)


def test_classes_without_samples_have_no_curve():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curves = Classes.page.curves(*drawn(200, 4, missing=(2,)))
    assert [curve.positive for curve in curves] == [0, 1, 3]
    assert Classes.page.curves(*drawn(20, 2, missing=(0,))) == []


def test_a_factor_is_assigned_to_the_class_with_largest_effect():
    truth, score, page = np.array([0, 0, 1, 1]), np.array([0.0, 2.0, 1.0, 3.0]), Classes.page
    assert page.direction(np.array([0.5]), up=1) == (1, 0) == page.direction(np.array([-0.5]), up=0)
    assert page.direction(np.array([0.1, -0.4, 0.3]), up=0) == (2, 1)
    assert page.direction(np.zeros(3), up=0) is None
    assert page.alone(np.array([0.5]), 1, truth, score) == (0.75, 1)
    assert page.alone(np.array([-0.5]), 1, truth, score) == (0.25, 0)
    assert page.alone(np.zeros(1), 1, truth, score) == (0.75, 1)  # of no direction: the one it goes with
    assert math.isnan(page.alone(np.array([0.5]), 1, np.zeros(4), score)[0])


@pytest.mark.parametrize(("right", "n"), [(28, 32), (1, 3), (500, 1000)])
def test_wilson_interval_inverts_the_score_test(right, n):
    for p in wilson(right, n):
        # At the ends of the interval the score test just rejects.
        assert abs(right / n - p) / math.sqrt(p * (1 - p) / n) == pytest.approx(1.959963984540054)


@pytest.mark.parametrize(("right", "n"), [(0, 10), (10, 10)], ids=["none right", "all right"])
def test_wilson_interval_lies_between_0_and_1(right, n):
    low, high = wilson(right, n)
    assert 0 <= low <= right / n <= high <= 1
    assert high - low > 0.2  # ten samples do not prove perfection


def test_interval_of_balanced_accuracy_has_its_coverage():
    low, high = balanced_interval(np.array([[15, 5], [5, 15]]))
    one = wilson(15, 20)  # two equal recalls are narrower than one by the root of two
    assert (0.75 - low) * math.sqrt(2) == pytest.approx(0.75 - one[0])
    assert (high - 0.75) * math.sqrt(2) == pytest.approx(one[1] - 0.75)
    rng = np.random.default_rng(0)
    recalls, n = np.array([0.9, 0.6, 0.75]), np.array([40, 25, 12])
    covered = []
    for _ in range(2000):
        right = rng.binomial(n, recalls)
        confusion = np.diag(right)
        confusion[:, 0] += n - right
        confusion[0] = [right[0], n[0] - right[0], 0]
        low, high = balanced_interval(confusion)
        covered.append(low <= recalls.mean() <= high)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.02)
