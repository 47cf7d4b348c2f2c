"""Intervals of scores: within the range of the metric, not cut there, and as wide as they have to be."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score, roc_auc_score

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor, SMFSurvival
from superfactor.outcomes import outcome_named
from superfactor.selection import external_scores, nested_scores


def classes(n, size, seed=0, number=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % number
    return size * (y[:, None] == np.arange(5)) + rng.standard_normal((n, 5)), y


def nested(X, y, model=None, **options):
    model = LogisticRegression() if model is None else model
    return nested_scores(model, X, y, **({"n_repeats": 2, "baselines": False} | options))


@pytest.mark.parametrize("size", [2.0, 3.0, 12.0])
def test_intervals_of_nested_scores_end_within_the_range_and_not_at_its_end(size):
    found = nested(*classes(60, size))
    for metric in outcome_named("classes").metrics:
        mean, low, high = (found.summary[metric.name][end] for end in ("mean", "low", "high"))
        if np.isnan(low):  # all folds have the same value
            assert np.ptp(found.folds["model"][metric.name]) == 0 or mean in (metric.low, metric.high)
            continue
        assert metric.low <= low < high <= metric.high
        if metric.name != "accuracy" or mean < 1:
            assert low <= mean < high < metric.high or mean == high == 1
        assert high == metric.high or metric.low < low


def test_perfect_accuracy_has_an_interval_below_one_and_perfect_order_none():
    X, y = classes(40, 30.0)
    found = nested(X, y)
    own = binomtest(40, 40).proportion_ci(method="wilson")
    assert found.summary["accuracy"]["low"] == pytest.approx(own.low)
    assert found.summary["roc_auc"]["mean"] == 1 and np.isnan(found.summary["roc_auc"]["low"])


def test_a_constant_guess_has_no_interval():
    X, y = classes(60, 1.0)
    for found in (nested(X, y), nested(X, y, SMFClassifierCV(2, xi=0.1, lam=0.1), n_repeats=1)):
        (guess,) = (own for name, own in found.baselines.items() if name.startswith("always"))
        assert all(np.isnan(own[end]) for own in guess.values() for end in ("low", "high"))
        assert all(np.isfinite(own["mean"]) for own in guess.values())


def test_a_model_that_always_says_the_same_has_a_headline_without_nan():
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.random.default_rng(1).standard_normal(40)
    for found in (nested(X, y, LinearRegression()), nested(*classes(40, 1.0), DummyClassifier())):
        assert "nan" not in str(found)


def test_the_error_of_numbers_stays_above_zero_and_r2_below_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = X[:, 0] + 0.02 * rng.standard_t(1, 30)
    found = nested(X, y, LinearRegression()).summary
    assert 0 < found["mean_absolute_error"]["low"] < found["mean_absolute_error"]["mean"]
    assert found["r2"]["mean"] < found["r2"]["high"] < 1


def test_seed_and_inner_folds_are_kept():
    X, y = classes(60, 1.0)
    found = nested(X, y, SMFClassifierCV(2, xi=0.1, lam=[0.1, 1.0]), n_repeats=1, random_state=7)
    assert (found.seed, found.inner_splits) == (7, 3)
    assert found.as_dict()["seed"] == 7 and found.as_dict()["inner_splits"] == 3
    assert nested(X, y, n_repeats=1).inner_splits is None


class TestExternal:
    def test_area_of_perfect_order_has_an_interval_that_holds(self):
        X, y = classes(60, 30.0)
        found = external_scores(SMFClassifier(2).fit(X, y), *classes(40, 30.0, 1)).summary["roc_auc"]
        assert found["mean"] == found["high"] == 1 and 0.8 < found["low"] < 0.99

    def test_area_is_near_the_interval_of_delong(self):
        X, y = classes(60, 1.0)
        model = SMFClassifier(2).fit(X, y)
        X, y = classes(200, 1.0, 1)
        found, score = external_scores(model, X, y).summary["roc_auc"], model.predict_proba(X)[:, 1]
        order = (score[y == 1][:, None] > score[y == 0]).astype(float)
        error = np.sqrt(order.mean(axis=1).var(ddof=1) / 100 + order.mean(axis=0).var(ddof=1) / 100)
        assert found["mean"] == pytest.approx(roc_auc_score(y, score))
        assert found["high"] - found["low"] == pytest.approx(2 * 1.96 * error, rel=0.15)

    def test_a_class_that_is_absent_or_single(self):
        model = SMFClassifier(2).fit(*classes(90, 2.0, number=3))
        X, y = classes(60, 2.0, 1, number=3)
        for kept in (y < 2, (y < 2) | (np.arange(60) == 2)):
            found = external_scores(model, X[kept], y[kept]).summary
            assert all(0 <= own["low"] <= own["mean"] <= own["high"] for own in list(found.values())[:5])

    @pytest.mark.parametrize("n", [60, 1200])
    def test_numbers_equal_the_usual_interval_of_a_mean(self, n):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n + 50, 3))
        y = X[:, 0] + rng.standard_normal(n + 50)
        model = SMFRegressor(1).fit(X[:50], y[:50])
        found = external_scores(model, X[50:], y[50:]).summary
        error = np.abs(y[50:] - model.predict(X[50:]))
        own = found["mean_absolute_error"]
        assert own["high"] - own["low"] == pytest.approx(2 * 2.02 * error.std() / np.sqrt(n), rel=0.1)
        assert found["r2"]["mean"] == pytest.approx(r2_score(y[50:], model.predict(X[50:])))

    @pytest.mark.slow
    def test_coverage_of_r2_and_concordance(self):
        rng = np.random.default_rng(0)

        def table(n):
            X = rng.standard_normal((n, 4))
            return X, X[:, 0] + rng.standard_normal(n)

        def times(n):
            X, _ = table(n)
            t, c = rng.exponential(np.exp(-X[:, 0])), rng.exponential(2.0, n)
            return X, np.column_stack([t <= c, np.minimum(t, c)]).astype(float)

        for draw, model, name in ((table, SMFRegressor(1), "r2"), (times, SMFSurvival(1), "concordance")):
            model.fit(*draw(100))
            true = model.score(*draw(10_000))
            inside = 0
            for _ in range(200):
                own = external_scores(model, *draw(60)).summary[name]
                inside += own["low"] <= true <= own["high"]
            assert 0.9 <= inside / 200 <= 0.985
