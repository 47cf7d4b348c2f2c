"""Metrics compared with scikit-learn, significance tests with SciPy."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import fisher_exact, t
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score

from superfactor.outcomes import Classes
from superfactor.outcomes.metrics.probabilities import calibration, chance_of
from superfactor.selection.evaluation.intervals import corrected_interval

KIND = Classes()
measures = KIND.metric_values


def predictions(classes, n=200, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, size=n)
    logits = rng.normal(size=(n, classes)) + 1.0 * np.eye(classes)[truth]
    # Rounded: ties count half in a ROC area.
    P = np.exp(logits).round(1) + 0.1
    return truth, P / P.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("classes", [2, 4])
def test_metrics_equal_scikit_learn(classes):
    truth, P = predictions(classes)
    found = measures(truth, P)
    guess = P.argmax(axis=1)
    assert found["accuracy"] == pytest.approx(accuracy_score(truth, guess))
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, guess))
    assert found["log_loss"] == pytest.approx(log_loss(truth, P))
    area = roc_auc_score(truth, P[:, 1] if classes == 2 else P, multi_class="ovr")
    assert found["roc_auc"] == pytest.approx(area)
    squares = [brier_score_loss(truth == k, P[:, k]) for k in range(classes)]
    assert found["brier"] == pytest.approx(squares[1] if classes == 2 else sum(squares))


def test_metrics_ignore_classes_without_samples():
    truth, P = predictions(3)
    kept = truth != 1
    found = measures(truth[kept], P[kept])
    recalls = [np.mean(P[truth == k].argmax(axis=1) == k) for k in (0, 2)]
    assert found["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert np.isnan(measures(np.zeros(3, dtype=int), P[:3])["roc_auc"])


def test_calibration_is_an_unpenalised_logistic_regression():
    truth, P = predictions(2)
    found = calibration(truth == 1, P[:, 1])
    logit = np.log(P[:, 1] / P[:, 0])[:, None]
    model = LogisticRegression(C=1e12, tol=1e-10, max_iter=10000).fit(logit, truth)
    assert found["slope"] == pytest.approx(model.coef_[0, 0], rel=1e-4)
    assert found["intercept"] == pytest.approx(model.intercept_[0], rel=1e-4)
    p = model.predict_proba(logit)[:, 1]
    A = np.column_stack([np.ones(len(logit)), logit])
    covariance = np.linalg.inv(A.T @ (A * (p * (1 - p))[:, None]))
    errors = [found["intercept_error"], found["slope_error"]]
    np.testing.assert_allclose(errors, np.sqrt(np.diag(covariance)), rtol=1e-3)


@pytest.mark.parametrize("probability", [[0.1, 0.2, 0.8, 0.9], [0.0, 0.0, 1.0, 1.0], [0.5, 0.5, 0.5, 0.5]])
def test_slope_is_nan_if_predictions_separate_the_classes(probability):
    found = calibration(np.array([False, False, True, True]), np.array(probability))
    assert np.isnan(found["slope"])


def test_corrected_interval_of_nadeau_and_bengio():
    values = np.array([0.1, 0.3, 0.2, np.nan, 0.25])
    found = corrected_interval(values, 0.25)
    kept = values[~np.isnan(values)]
    half = t.ppf(0.975, 3) * kept.std(ddof=1) * np.sqrt(1 / 4 + 0.25)
    assert found["mean"] == pytest.approx(kept.mean())
    assert found["high"] - found["mean"] == pytest.approx(half)
    assert found["mean"] - found["low"] == pytest.approx(half)
    assert np.isnan(corrected_interval([0.5], 0.25)["low"])


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("right", [8, 14, 18])
def test_chance_equals_fishers_exact_test(metric, right):
    truth = np.repeat([0, 1], [20, 10])
    predicted = np.concatenate([np.repeat([0, 1], [right, 20 - right]), np.repeat([0, 1], [5, 5])])
    table = [[np.sum((truth == i) & (predicted == j)) for j in (0, 1)] for i in (0, 1)]
    exact = fisher_exact(table, alternative="greater").pvalue
    assert chance_of(metric, truth, predicted, 2) == pytest.approx(exact, abs=0.02)


def test_headline_of_unequal_classes_is_balanced_accuracy():
    assert KIND.headline(np.repeat([0, 1], [60, 40])) == "accuracy"
    assert KIND.headline(np.repeat([0, 1], [61, 40])) == "balanced_accuracy"
    assert KIND.headline(np.repeat([0, 1, 2], [10, 12, 16])) == "balanced_accuracy"


def test_calibration_in_the_large_is_the_intercept_for_slope_one():
    rng = np.random.default_rng(0)
    a = rng.normal(0, 2, 400)
    y = (rng.random(400) < expit(0.5 * a + 1)).astype(int)
    p = expit(a)
    found = KIND.calibrations(y, np.column_stack([1 - p, p]))
    shift, error = found["calibration_in_the_large"]
    assert expit(a + shift).mean() == pytest.approx(y.mean())  # the score equation
    loss = [-np.mean(y * (a + b) - np.logaddexp(0, a + b)) for b in (shift - 0.01, shift, shift + 0.01)]
    assert loss[1] < min(loss[0], loss[2])
    assert error == pytest.approx(1 / np.sqrt(400 * (loss[0] - 2 * loss[1] + loss[2]) / 1e-4), rel=1e-3)
    assert found["calibration_intercept"][0] != pytest.approx(shift, abs=0.05)
    assert np.isnan(
        KIND.calibrations(np.ones(400, int), np.column_stack([1 - p, p]))["calibration_in_the_large"][0]
    )
