"""Metrics of risks and survival curves, compared with scikit-survival and with formulas."""

import numpy as np
import pytest

from superfactor import SMFSurvival, SMFSurvivalCV
from superfactor.outcomes import outcome_named
from superfactor.outcomes.metrics.kaplan_meier import kaplan_meier
from superfactor.outcomes.metrics.survival_metrics import (
    brier_scores,
    calibration_slope,
    curve_times,
    integrated_brier,
    uno_concordance,
)
from superfactor.outcomes.times import FollowUp
from superfactor.selection import external_scores, nested_scores

REASON = "scikit-survival is GPL, and optional"


def patients(n=120, seed=0, ties=False):
    """X (n, 6), truth (n, 2) and the true risks (n,)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    risk = X[:, 0] - 0.7 * X[:, 1]
    time, lost = rng.exponential(np.exp(-risk)), rng.exponential(2.0, n)
    event, time = time <= lost, np.minimum(time, lost)
    if ties:
        time = np.ceil(8 * time) / 8
    return X, np.column_stack([event, time]).astype(float), risk


def structured(truth):
    return np.array([(bool(e), t) for e, t in truth], dtype=[("event", "?"), ("time", "f8")])


@pytest.mark.parametrize("ties", [False, True])
def test_kaplan_meier_equals_scikit_survival(ties):
    library = pytest.importorskip("sksurv.nonparametric", reason=REASON)
    _, truth, _ = patients(ties=ties)
    for reverse in (False, True):
        times, expected = library.kaplan_meier_estimator(truth[:, 0] > 0, truth[:, 1], reverse=reverse)
        found = kaplan_meier(*truth.T, censoring=reverse)
        np.testing.assert_allclose(found.at(times), expected, atol=1e-14)
    assert found.at(-1.0) == 1.0


@pytest.mark.parametrize("ties", [False, True])
def test_uno_equals_scikit_survival(ties):
    metrics = pytest.importorskip("sksurv.metrics", reason=REASON)
    _, truth, risk = patients(ties=ties)
    train, test = truth[:80], truth[80:]
    until = float(np.quantile(test[:, 1], 0.8))
    expected = metrics.concordance_index_ipcw(structured(train), structured(test), risk[80:], tau=until)[0]
    found = uno_concordance(test, risk[80:], kaplan_meier(*train.T, censoring=True), until)
    assert found == pytest.approx(expected, abs=1e-12)


def test_uno_is_nan_without_a_pair():
    _, truth, risk = patients()
    assert np.isnan(uno_concordance(truth, risk, kaplan_meier(*truth.T, censoring=True), 0.0))


@pytest.mark.parametrize("ties", [False, True])
def test_brier_scores_equal_scikit_survival(ties):
    metrics = pytest.importorskip("sksurv.metrics", reason=REASON)
    X, truth, _ = patients(ties=ties)
    train, test = truth[:80], truth[80:]
    times = np.unique(np.quantile(test[:, 1], np.linspace(0.1, 0.85, 9)))
    model = SMFSurvival(2, lam=1.0).fit(X[:80], structured(train))
    curves = model.predict_survival_function(X[80:], times=times)
    lost = kaplan_meier(*train.T, censoring=True)
    _, expected = metrics.brier_score(structured(train), structured(test), curves, times)
    np.testing.assert_allclose(brier_scores(test, curves, times, lost), expected, atol=1e-12)
    expected = metrics.integrated_brier_score(structured(train), structured(test), curves, times)
    assert integrated_brier(test, curves, times, lost) == pytest.approx(expected, abs=1e-12)
    # Ours go where theirs do.
    auc, mean = metrics.cumulative_dynamic_auc(
        structured(train), structured(test), model.predict(X[80:]), times
    )
    assert np.all(np.isfinite(auc)) and mean > 0.6


def test_calibration_slope_equals_scikit_survival():
    linear = pytest.importorskip("sksurv.linear_model", reason=REASON)
    _, truth, risk = patients(ties=True)
    expected = (
        linear.CoxPHSurvivalAnalysis(ties="breslow", tol=1e-12).fit(risk[:, None], structured(truth)).coef_[0]
    )
    slope, error = calibration_slope(truth, risk)
    assert slope == pytest.approx(expected, abs=1e-8)
    assert 0.05 < error < 0.3
    assert calibration_slope(truth, 10 * risk)[0] == pytest.approx(expected / 10, abs=1e-8)
    assert np.isnan(calibration_slope(truth, np.zeros(len(risk)))[0])


# --- through the folds -----------------------------------------------------------------------


def test_nested_scores_evaluate_curves_of_every_method():
    X, truth, _ = patients(90)
    found = nested_scores(SMFSurvivalCV(1, xi=0.01, lam=1.0), X, truth, n_repeats=1)
    times = curve_times(truth)
    assert list(found.names[:1]) == ["risk"] and len(found.names) == 1 + len(times)
    assert found.predictions.shape == (90, 1 + len(times)) and found.predicted.shape == (90,)
    assert np.all(np.diff(found.predictions[:, 1:], axis=1) <= 1e-12)
    guess = found.baselines["no order"]["brier"]["mean"]
    for method in (found.summary, *[found.baselines[name] for name in found.baselines if name != "no order"]):
        assert method["brier"]["mean"] < guess < 0.3
        assert method["uno_concordance"]["mean"] > 0.65
        assert 0.3 < method["calibration_slope"]["mean"] < 2.5
        assert abs(method["calibration_at_median"]["mean"]) < 0.15


def test_risks_are_centred_in_each_fold():
    times = outcome_named("times")
    rows = np.array([[1.0, 0.5], [3.0, 0.4], [10.0, 0.3], [14.0, 0.2]])
    found = times.within_folds(rows, np.array([0, 0, 1, 1]))
    np.testing.assert_array_equal(found, [[-1.0, 0.5], [1.0, 0.4], [-2.0, 0.3], [2.0, 0.2]])


def test_strata_work_in_searches_and_scores():
    X, truth, _ = patients(90)
    strata = np.arange(90) % 2
    truth[strata == 1, 1] *= 100.0  # another unit: without strata all of these outlive the others
    y = np.column_stack([truth, strata])
    found = nested_scores(SMFSurvivalCV(1, xi=0.01, lam=1.0), X, y, n_repeats=1)
    assert list(found.names) == ["risk"] and found.summary["concordance"]["mean"] > 0.7
    assert "brier" not in found.summary  # for want of curves
    model = SMFSurvival(1).fit(X, y)
    assert external_scores(model, X, y).summary["concordance"]["mean"] > 0.7


def test_rows_include_curves_of_other_libraries():
    linear = pytest.importorskip("sksurv.linear_model", reason=REASON)
    X, truth, _ = patients(80)
    model = linear.CoxPHSurvivalAnalysis(ties="breslow").fit(X, structured(truth))
    settled = outcome_named("times").settled(truth)
    rows = settled.rows(model, X, settled.follow_up.names)
    curves = model.predict_survival_function(X, return_array=False)
    np.testing.assert_allclose(rows[:, 1:], [curve(FollowUp.of(truth).times) for curve in curves])
