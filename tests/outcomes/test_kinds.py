"""Numbers and times: folds, metrics, baselines and tests against chance, compared with other libraries."""

import numpy as np
import pytest
from scipy.stats import kstest, norm
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor, SMFSurvival, SMFSurvivalCV
from superfactor.losses import CoxPartialLikelihood
from superfactor.outcomes import KINDS, Classes, Numbers, Times, outcome_named, outcome_of

NUMBERS, TIMES = Numbers(), Times()


def survival(n=80, p=5, seed=0):
    """X, events and times; the first two columns of X raise the hazard."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    happened, left = rng.exponential(np.exp(-X[:, 0] - X[:, 1])), rng.exponential(2.0, n)
    return X, np.column_stack([happened <= left, np.minimum(happened, left)])


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (SMFClassifier(), "classes"),
        (SMFClassifierCV(), "classes"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "classes"),
        (GridSearchCV(LinearRegression(), {}), "numbers"),
        (RandomForestRegressor(), "numbers"),
        (make_pipeline(StandardScaler(), SMFRegressor()), "numbers"),
        (SMFSurvivalCV(), "times"),
        (GridSearchCV(make_pipeline(StandardScaler(), SMFSurvival()), {}), "times"),
    ],
)
def test_the_kind_of_a_model(model, kind):
    assert outcome_of(model) is outcome_named(kind)


def test_objects_that_are_no_models_have_no_kind():
    with pytest.raises(TypeError, match="model=StandardScaler: an estimator of superfactor is required"):
        outcome_of(StandardScaler())


def test_metrics_format_values():
    for kind in KINDS:
        names = [metric.name for metric in kind.metrics]
        assert len(set(names)) == len(names)
        assert kind.metric(names[0]).words == kind.words(names[0])
    accuracy, r2 = Classes().metric("accuracy"), NUMBERS.metric("r2")
    assert (accuracy.text(0.913), accuracy.gain(-0.015), accuracy.gain_unit) == ("91.3 %", "−1.5", " points")
    assert (r2.text(-0.5), r2.gain(0.0151), r2.gain_unit) == ("−0.500", "+0.015", "")
    assert (r2.text(-1e-5), r2.gain(-1e-5), accuracy.gain(-1e-5)) == ("0.000", "+0.000", "+0.0")
    assert Classes().words("calibration_slope") == "calibration slope"


# --- metrics ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", [1, 3])
def test_metrics_of_numbers_equal_scikit_learn(targets):
    rng = np.random.default_rng(0)
    y = rng.standard_normal((40, targets))
    rows = y + rng.standard_normal(y.shape)
    found = NUMBERS.metric_values(y[:, 0] if targets == 1 else y, rows)
    assert found["r2"] == pytest.approx(r2_score(y, rows))
    assert found["mean_absolute_error"] == pytest.approx(mean_absolute_error(y, rows))
    assert np.isnan(NUMBERS.metric_values(y[:1], rows[:1])["r2"])


def test_metrics_of_times():
    _, y = survival()
    assert TIMES.metric_values(y, -y[:, 1:])["concordance"] == 1.0
    assert TIMES.metric_values(y, np.zeros((80, 1)))["concordance"] == 0.5
    assert np.isnan(
        TIMES.metric_values(y[y[:, 0] == 0], np.zeros((int(np.sum(y[:, 0] == 0)), 1)))["concordance"]
    )


def test_p_values_of_noise_are_uniform():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(30)
    numbers = [NUMBERS.chance("r2", y, rng.standard_normal((30, 1))) for _ in range(40)]
    _, times = survival()
    risks = [TIMES.chance("concordance", times, rng.standard_normal((80, 1))) for _ in range(200)]
    for found in (numbers, risks):
        assert kstest(found, "uniform").pvalue > 0.01
    assert NUMBERS.chance("r2", y, y[:, None]) == pytest.approx(1e-4)
    assert TIMES.chance("concordance", times, -times[:, 1:]) < 1e-6
    assert TIMES.chance("concordance", times, np.ones((80, 1))) == 1.0


def test_chance_of_times_equals_the_score_test():
    """The reference uses finite differences of the partial likelihood at no effect."""
    X, y = survival()
    event, time = y.T
    risk = X[:, :1]

    def value(effect):
        return float(np.sum(CoxPartialLikelihood(time, event).value(effect * risk, event[:, None])))

    h = 1e-4
    slope = (value(h) - value(-h)) / (2 * h)
    curvature = (value(h) - 2 * value(0) + value(-h)) / h**2
    assert TIMES.chance("concordance", y, risk) == pytest.approx(
        norm.sf(-slope / np.sqrt(curvature)), rel=1e-3
    )


# --- folds --------------------------------------------------------------------------------------------------


def test_folds_have_equal_shares():
    rng = np.random.default_rng(0)
    y = rng.exponential(size=50)
    order = y.argsort().argsort()
    for _, test in NUMBERS.splits(y, None, 5, 0):
        assert np.bincount(order[test] // 10).tolist() == [2] * 5
    _, times = survival()
    shares = [times[test, 0].sum() for _, test in TIMES.splits(times, None, 5, 0)]
    assert np.ptp(shares) <= 1
    assert TIMES.informative(times).sum() == times[:, 0].sum()
    groups = np.arange(80) // 4
    for train, test in TIMES.splits(times, groups, 4, 0):
        assert not set(groups[train]) & set(groups[test])


def test_repeated_measurements_are_one_observation():
    y, groups = np.array([1.0, 1.0, 2.0, 2.0]), np.array([0, 0, 1, 1])
    rows = np.array([[1.0], [3.0], [5.0], [7.0]])
    units = NUMBERS.as_units(y, rows, groups)
    assert (units.truth.tolist(), units.rows[:, 0].tolist(), units.name) == ([1.0, 2.0], [2.0, 6.0], "groups")
    assert NUMBERS.as_units(y, rows, np.array([0, 1, 1, 0])).name == "samples"


# --- baselines ----------------------------------------------------------------------------------------------


def test_ridge_of_numbers_equals_scikit_learn():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((30, 6)), rng.standard_normal((5, 6))
    y = A @ rng.standard_normal((6, 2)) + rng.standard_normal((30, 2)) + 3
    weight = rng.uniform(0.5, 2, 30)
    found = NUMBERS.ridge_rows(A, y, B, np.full((2, 6), [[10.0], [2.0]]), weight, 2)
    # The squared error is ‖y − a‖² and the price half the penalty.
    for rows, alpha in zip(found, (5.0, 1.0), strict=True):
        np.testing.assert_allclose(rows, Ridge(alpha).fit(A, y, weight).predict(B), rtol=1e-5)


def test_ridge_of_times_is_stationary():
    X, y = survival(60, 4)
    event, time = y.T
    (rows,) = TIMES.ridge_rows(X, y, np.eye(4), np.full((1, 4), 3.0), np.ones(60), 1)
    w = rows  # activations of unit vectors are the weights
    loss = CoxPartialLikelihood(time, event)
    gradient = X.T @ loss.residual(X @ w, event[:, None]) + 3.0 * w
    assert np.abs(gradient).max() < 1e-3


def test_ridge_of_times_equals_scikit_survival():
    linear = pytest.importorskip("sksurv.linear_model")
    X, y = survival(60, 4)
    outcome = np.array([(e == 1, t) for e, t in y], dtype=[("event", bool), ("time", float)])
    model = linear.CoxPHSurvivalAnalysis(alpha=3.0, ties="breslow").fit(X, outcome)
    (rows,) = TIMES.ridge_rows(X, y, X, np.full((1, 4), 3.0), np.ones(60), 1)
    np.testing.assert_allclose(rows[:, 0], model.predict(X), atol=1e-4)
