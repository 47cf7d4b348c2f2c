"""`nested_scores`, `external_scores` and `SMFSurvivalCV` where y are numbers or times."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.outcomes.test_kinds import survival

from superfactor import SMFClassifierCV, SMFRegressor, SMFRegressorCV, SMFSurvival, SMFSurvivalCV
from superfactor.outcomes import Numbers, Times
from superfactor.selection import external_scores, nested_scores

GRID = {"n_components": [1, 2], "xi": [0.1], "lam": [10.0], "cv": 3}


def doses(n=60, p=8, targets=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = X[:, :2] @ rng.standard_normal((2, targets or 1)) + 0.5 * rng.standard_normal((n, targets or 1))
    return X, y if targets else y[:, 0]


@pytest.mark.parametrize("targets", [None, 2])
def test_numbers_are_a_loop_over_folds(targets):
    X, y = doses(targets=targets)
    model = make_pipeline(StandardScaler(), Ridge())
    found = nested_scores(model, X, y, n_repeats=1)
    rows = np.zeros((60, targets or 1))
    scores = []
    for train, test in Numbers().splits(y, None, 5, 0):
        rows[test] = model.fit(X[train], y[train]).predict(X[test]).reshape(len(test), -1)
        scores.append(r2_score(y[test], rows[test]))
    np.testing.assert_allclose(found.predictions, rows)
    np.testing.assert_allclose(found.folds["model"]["r2"][0], scores)
    assert set(found.baselines) == {"tuned PCA + regression", "ridge regression", "always the mean"}
    assert found.verdict.headline.startswith("Better than the mean: R² 0.")
    assert found.verdict.grade == "better"
    assert found.as_dict()["outcome"] == "numbers"


def test_searches_of_numbers_and_times_are_compared_with_baselines():
    X, y = doses()
    y[:4] = np.nan  # they are in every training part
    found = nested_scores(SMFRegressorCV(**GRID), X, y, n_repeats=1, permutations=3)
    assert found.predictions.shape == (56, 1)
    assert found.summary["r2"]["mean"] > found.baselines["always the mean"]["r2"]["mean"] + 0.5
    assert abs(found.differences["ridge regression"]["mean"]) < 0.1
    assert found.permutation.reached == 0
    X, y = survival()
    found = nested_scores(SMFSurvivalCV(**GRID), X, y, n_repeats=1)
    assert found.headline == "concordance" and found.counts.sum() == 80
    assert found.baselines["no order"]["concordance"]["mean"] == 0.5
    assert abs(found.differences["ridge Cox regression"]["mean"]) < 0.05
    assert found.verdict.headline.startswith("Better than no order: concordance 0.")


@pytest.mark.parametrize("kind", ["numbers", "times"])
def test_noise_is_not_shown_to_be_better(kind):
    X, y = doses() if kind == "numbers" else survival(60)
    model = (SMFRegressor if kind == "numbers" else SMFSurvival)(2, certify=None, search="off")
    X = np.random.default_rng(5).standard_normal((60, 30))
    found = nested_scores(model, X, y[:60], n_repeats=1, baselines=False)
    assert found.verdict.grade != "better"
    assert "rank" in found.verdict.advice_keys or found.verdict.grade == "worse"


def test_times_are_searched_as_by_brute_force():
    X, y = survival(60, 100)
    folds = list(StratifiedKFold(3).split(X, y[:, 0]))
    # Enough ridge that every candidate is proven optimal: brute force then has no choice of optimum either.
    grid = {"n_components": [1, 3], "xi": [0.001, 0.01], "lam": [200.0, 50.0]}
    search = SMFSurvivalCV(**grid, cv=folds, preprocess=None).fit(X, y)

    def likelihood(model, X, y):
        """Breslow's log partial likelihood per event, as it is printed; no two times are equal."""
        risk, (event, time) = model.predict(X), y.T
        terms = [risk[i] - np.log(np.exp(risk[time >= time[i]]).sum()) for i in np.flatnonzero(event)]
        return np.mean(terms)

    brute = GridSearchCV(SMFSurvival(certify=None), grid, cv=folds, refit=False, scoring=likelihood).fit(X, y)
    ours = {str(sorted(p.items())): s for p, s in _scored(search) if p.pop("model")}
    theirs = {str(sorted(p.items())): s for p, s in _scored(brute)}
    assert ours.keys() == theirs.keys()
    np.testing.assert_allclose([ours[k] for k in ours], [theirs[k] for k in ours], atol=0.01)
    by_default = SMFSurvivalCV(**grid, cv=3, preprocess=None, refit=False).fit(X, y)
    np.testing.assert_allclose(by_default.best_score_, search.best_score_)  # folds have their share of events


def _scored(search):
    table = search.cv_results_
    return [(dict(p), s) for p, s in zip(table["params"], table["mean_test_score"], strict=True)]


def test_a_search_of_times_predicts_curves():
    X, y = survival()
    structured = np.array([(e == 1, t) for e, t in y], dtype=[("event", bool), ("time", float)])
    age = X[:, :1]
    search = SMFSurvivalCV(**GRID).fit(X[:, 1:], structured, covariates=age)
    curves = search.predict_survival_function(X[:3, 1:], covariates=age[:3], times=[0.1, 1.0])
    assert curves.shape == (3, 2) and np.all(np.diff(curves) < 0)
    hazard = search.predict_cumulative_hazard_function(X[:3, 1:], covariates=age[:3], times=[0.1, 1.0])
    np.testing.assert_allclose(curves, np.exp(-hazard))
    assert search.score(X[:, 1:], structured, covariates=age) > 0.7
    assert not hasattr(SMFSurvivalCV(refit=False), "predict_survival_function")


def test_new_samples_with_intervals():
    X, y = survival(160)
    model = SMFSurvivalCV(**GRID).fit(X[:80], y[:80])
    found = external_scores(model, X[80:], y[80:])
    score = found.summary["concordance"]
    assert score["mean"] == pytest.approx(model.score(X[80:], y[80:]))
    assert score["low"] < score["mean"] < score["high"] and found.verdict.grade == "better"
    X, y = doses(120)
    y[-3:] = np.nan
    found = external_scores(SMFRegressor(2).fit(X[:60], y[:60]), X[60:], y[60:])
    assert len(found.truth) == 57 and found.confusion is None
    assert found.summary["r2"]["low"] < found.summary["r2"]["mean"] < found.summary["r2"]["high"]


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (SMFSurvivalCV(), np.column_stack([np.arange(80) < 2, np.arange(80.0)]), "too few samples with"),
        (SMFSurvivalCV(), np.column_stack([np.zeros(80), np.arange(80.0)]), "none of the 80 samples"),
        (SMFRegressorCV(), np.r_[np.arange(4.0), np.full(76, np.nan)], "too few samples, 4; nested"),
    ],
)  # fmt: skip
def test_too_few_for_a_verdict(model, y, message):
    with pytest.raises(ValueError, match=message):
        nested_scores(model, survival()[0], y)


def test_a_training_part_without_events_is_refused():
    X, y = survival()
    with pytest.raises(ValueError, match="split 1 no two samples can be compared"):
        SMFSurvivalCV(cv=[(np.flatnonzero(y[:, 0] == 0), np.flatnonzero(y[:, 0] == 1))]).fit(X, y)
    with pytest.raises(ValueError, match="more groups with events"):
        Times().splits(y, (y[:, 0] == 0).astype(int), 2, 0)


def test_what_cannot_be_measured_is_refused():
    X, y = doses()
    with pytest.raises(ValueError, match="numbers that differ"):
        nested_scores(SMFRegressorCV(), X, np.ones(60))
    with pytest.raises(NotFittedError):
        external_scores(SMFClassifierCV(), X, np.arange(60) % 2)
    model = SMFRegressor().fit(X, y)
    with pytest.raises(ValueError, match="too few samples to measure anything, 1: r2 is not defined"):
        external_scores(model, X[:1], y[:1])
    assert str(external_scores(model, X, y)).startswith("Better than the mean: R²")
