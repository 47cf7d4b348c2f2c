import math
import warnings

import numpy as np
import pytest
from sklearn import metrics

from superfactor.outcomes.class_page import ClassPage
from superfactor.outcomes.proportions import wilson

evaluate = ClassPage().evaluate


def drawn(n, classes, missing=(), seed=0):
    """Class numbers, and probabilities that know something about them."""
    rng = np.random.default_rng(seed)
    present = [c for c in range(classes) if c not in missing]
    truth = rng.choice(present, n)
    scores = rng.standard_normal((n, classes)) + 1.5 * (truth[:, None] == np.arange(classes))
    return truth, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("classes", [2, 3, 20])
def test_figures_are_those_of_scikit_learn(classes):
    truth, probabilities = drawn(300, classes)
    predicted = np.argmax(probabilities, axis=1)
    found = evaluate(truth, probabilities)
    assert found.accuracy == metrics.accuracy_score(truth, predicted)
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(truth, predicted))
    assert found.log_loss == pytest.approx(metrics.log_loss(truth, probabilities))
    np.testing.assert_array_equal(found.confusion, metrics.confusion_matrix(truth, predicted))
    np.testing.assert_allclose(found.recall, metrics.recall_score(truth, predicted, average=None))
    np.testing.assert_allclose(found.precision, metrics.precision_score(truth, predicted, average=None))
    if classes == 2:
        assert found.area == pytest.approx(metrics.roc_auc_score(truth, probabilities[:, 1]))
    else:
        area = metrics.roc_auc_score(truth, probabilities, multi_class="ovr")
        assert found.area == pytest.approx(area)


@pytest.mark.parametrize("n", [60, 5000], ids=["few points", "many points"])
def test_roc_curves_run_from_corner_to_corner(n):
    truth, probabilities = drawn(n, 3)
    for curve in evaluate(truth, probabilities).curves:
        x, y, _ = metrics.roc_curve(truth == curve.positive, probabilities[:, curve.positive])
        assert (curve.false_positive[0], curve.true_positive[0]) == (0, 0)
        assert (curve.false_positive[-1], curve.true_positive[-1]) == (1, 1)
        assert len(curve.false_positive) <= 300
        # Where points were left out, the area below the rest is still that of all.
        assert metrics.auc(curve.false_positive, curve.true_positive) == pytest.approx(
            metrics.auc(x, y), abs=5e-3
        )
        assert curve.area == pytest.approx(metrics.auc(x, y))


def test_classes_without_samples_take_no_part():
    truth, probabilities = drawn(200, 4, missing=(2,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = evaluate(truth, probabilities)
    assert [curve.positive for curve in found.curves] == [0, 1, 3]
    assert math.isnan(found.recall[2])
    present = found.recall[[0, 1, 3]]
    assert found.balanced_accuracy == pytest.approx(present.mean())


def test_a_single_class_has_no_curve():
    truth, probabilities = drawn(20, 2, missing=(0,))
    found = evaluate(truth, probabilities)
    assert found.curves == () and math.isnan(found.area)


@pytest.mark.parametrize(("right", "n"), [(28, 32), (1, 3), (500, 1000)])
def test_wilson_interval_holds_the_proportions_a_score_test_accepts(right, n):
    z = 1.959963984540054
    for p in wilson(right, n):
        # At the ends of the interval the score test just rejects.
        assert abs(right / n - p) / math.sqrt(p * (1 - p) / n) == pytest.approx(z)


@pytest.mark.parametrize(("right", "n"), [(0, 10), (10, 10)], ids=["none right", "all right"])
def test_wilson_interval_stays_a_proportion(right, n):
    low, high = wilson(right, n)
    assert 0 <= low <= right / n <= high <= 1
    assert high - low > 0.2  # ten samples do not prove perfection
