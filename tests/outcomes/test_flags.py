"""Several yes/no labels: metrics, folds, test against chance, baselines, and which models have this kind."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.interpretation import (
    covariate_effects,
    factor_view,
    feature_effects,
    held_out_scores,
    stable_features,
)
from superfactor.outcomes import outcome_named, outcome_of
from superfactor.selection import external_scores, nested_scores

FLAGS = outcome_named("flags")


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(150, 15, n_classes=3, random_state=0)
    return scale(X), Y


@pytest.fixture(scope="module")
def predictions():
    """A truth with missing entries, and probabilities that depend on it."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (80, 3)).astype(float)
    rows = np.clip(0.5 + 0.2 * (truth - 0.5) + 0.2 * rng.standard_normal(truth.shape), 0.01, 0.99)
    truth[rng.random(truth.shape) < 0.2] = np.nan
    return truth, rows


def test_metrics_of_known_entries_equal_scikit_learn(predictions):
    truth, rows = predictions
    found = FLAGS.metric_values(truth, rows)
    known = [~np.isnan(column) for column in truth.T]
    pairs = [(t[k], r[k]) for t, r, k in zip(truth.T, rows.T, known, strict=True)]
    areas = [roc_auc_score(t, r) for t, r in pairs]
    assert found["roc_auc"] == pytest.approx(np.mean(areas))
    assert found["balanced_accuracy"] == pytest.approx(
        np.mean([balanced_accuracy_score(t, r > 0.5) for t, r in pairs])
    )
    every, said = (np.concatenate(x) for x in zip(*pairs, strict=True))
    assert found["log_loss"] == pytest.approx(log_loss(every, said))
    assert found["brier"] == pytest.approx(brier_score_loss(every, said))
    table = FLAGS.metrics_by_label(["a", "b", "c"], truth, rows)
    assert [row[0] for row in table] == ["a", "b", "c"]
    assert [row[1] for row in table] == [k.sum() for k in known]
    np.testing.assert_allclose(
        [row[2:] for row in table], [(t.mean(), a) for (t, _), a in zip(pairs, areas, strict=True)]
    )


def test_a_label_with_one_value_has_no_roc_area(predictions):
    truth, rows = predictions
    truth = truth.copy()
    truth[:, 1] = 1.0
    others = [FLAGS.metric_values(truth[:, [c]], rows[:, [c]])["roc_auc"] for c in (0, 2)]
    assert FLAGS.metric_values(truth, rows)["roc_auc"] == pytest.approx(np.mean(others))


def test_chance_p_values_are_uniform_for_noise_and_small_for_signal(predictions):
    truth, rows = predictions
    assert FLAGS.chance("roc_auc", truth, rows) < 0.001
    rng = np.random.default_rng(1)
    p = [FLAGS.chance("roc_auc", truth[:30], rng.random((30, 3))) for _ in range(20)]
    assert 0.3 < np.mean(p) < 0.7


@pytest.mark.parametrize("grouped", [False, True])
def test_folds_have_equal_shares_of_every_value(grouped):
    rng = np.random.default_rng(2)
    truth = (rng.random((200, 4)) < [0.05, 0.2, 0.5, 0.9]).astype(float)
    truth[rng.random(truth.shape) < 0.1] = np.nan
    groups = np.arange(200) // 2 if grouped else None
    splits = FLAGS.splits(truth, groups, 5, 0)
    test = np.concatenate([test for _, test in splits])
    assert sorted(test) == list(range(200))
    for train, part in splits:
        assert not set(train) & set(part)
        if grouped:
            assert not set(groups[train]) & set(groups[part])
        assert 34 <= len(part) <= 46
        for answer in (0, 1):
            share = (truth[part] == answer).sum(axis=0) / (truth == answer).sum(axis=0)
            assert np.all(np.abs(share - 0.2) < (0.13 if grouped else 0.11))


def test_error_names_a_label_too_rare_for_folds(data):
    X, Y = data
    Y = Y.copy()
    Y[:, 2] = 0
    Y[:2, 2] = 1
    table = pd.DataFrame(Y, columns=["a", "b", "rare"])
    with pytest.raises(ValueError, match="value 1 of label 'rare' has too few samples, 2"):
        nested_scores(SMFClassifierCV(2), X, table)


def test_ridge_equals_scikit_learn_for_each_label(data):
    X, Y = data
    truth = Y.astype(float)
    truth[::7, 1] = np.nan
    penalties = np.full((2, 15), [[0.5], [20.0]])
    found = FLAGS.ridge_rows(X[:100], truth[:100], X[100:], penalties, np.ones(100), 3)
    for rows, penalty in zip(found, (0.5, 20.0), strict=True):
        for c in range(3):
            known = ~np.isnan(truth[:100, c])
            one = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=5000)
            one.fit(X[:100][known], truth[:100, c][known])
            np.testing.assert_allclose(rows[:, c], one.predict_proba(X[100:])[:, 1], atol=1e-4)


def test_which_models_have_this_kind(data):
    X, Y = data
    assert outcome_of(SMFClassifier(), Y) is FLAGS
    assert outcome_of(SMFClassifierCV(), pd.DataFrame(Y)) is FLAGS
    assert outcome_of(make_pipeline(StandardScaler(), SMFClassifier()), Y.tolist()) is FLAGS
    assert outcome_of(RandomForestClassifier(), Y) is FLAGS
    assert outcome_of(SMFClassifier(), Y[:, 0]).name == "classes"
    assert outcome_of(SMFClassifier(), Y[:, :1]).name == "classes"
    assert outcome_of(SMFClassifier()).name == "classes"
    fitted = SMFClassifier(1).fit(X, Y)
    assert outcome_of(fitted) is FLAGS
    assert outcome_of(GridSearchCV(SMFClassifier(), {"n_components": [1]}).fit(X, Y)) is FLAGS
    # y is what a model is to be fitted to, whatever it was fitted to before.
    assert outcome_of(fitted, Y[:, 0]).name == "classes"
    assert outcome_of(fitted.fit(X, Y[:, 0])).name == "classes"


@pytest.fixture(scope="module")
def table(data):
    X, Y = data
    table = pd.DataFrame(Y, columns=["a", "b", "c"]).astype(object)
    table.iloc[3, 1] = None
    table.iloc[5] = None
    return X, table


def test_search_nested_and_external_scores(table):
    X, D = table
    search = SMFClassifierCV([2], xi=[0.01], cv=3).fit(X, D)
    assert search.classes_.tolist() == ["a", "b", "c"]
    assert search.best_estimator_[-1].classes_.tolist() == ["a", "b", "c"]
    assert search.predict_proba(X).shape == (150, 3)
    assert search.score(X, D) == search.best_estimator_.score(X, D)
    nested = nested_scores(search, X, D, n_splits=3, n_repeats=1)
    assert nested.outcome == "flags" and nested.headline == "roc_auc"
    assert {FLAGS.ridge_name, FLAGS.pca_name, FLAGS.guess_name} == set(nested.baselines)
    assert nested.baselines[FLAGS.guess_name]["roc_auc"]["mean"] == 0.5
    assert nested.verdict.grade == "better"
    known_rows = D.notna().to_numpy().any(axis=1)
    truth = D[known_rows].to_numpy(dtype=float)
    known = ~np.isnan(truth[:, 1])
    area = roc_auc_score(truth[known, 1], nested.predictions[known, 1])
    assert FLAGS.metrics_by_label(nested.names, truth, nested.predictions)[1][3] == pytest.approx(area)
    found = external_scores(search, X, D[["c", "a", "b"]])
    assert found.summary["roc_auc"]["mean"] == pytest.approx(
        np.mean([roc_auc_score(truth[k, c], search.predict_proba(X[known_rows])[k, c]) for c in range(3)
                 for k in [~np.isnan(truth[:, c])]])
    )  # fmt: skip


def test_models_of_scikit_learn_are_evaluated(data):
    X, Y = data
    forest = RandomForestClassifier(20, random_state=0)
    found = nested_scores(forest, X, Y, n_splits=3, n_repeats=1, baselines=False)
    assert found.outcome == "flags" and found.summary["roc_auc"]["mean"] > 0.6


def test_factors_and_features(table):
    X, D = table
    model = SMFClassifier(2).fit(X, D)
    view = factor_view(model, positive="b")
    assert view.outputs == ("a", "b", "c")
    assert np.all(view.coef[1] >= 0)
    with pytest.raises(ValueError, match="positive='z': one of the labels 'a', 'b', 'c' is required"):
        factor_view(model, positive="z")
    effects = feature_effects(model, X, D)
    known = D["b"].notna().to_numpy()
    row = effects[(effects["label"] == "b") & (effects["feature"] == "x4")].iloc[0]
    assert row["auc"] == pytest.approx(roc_auc_score(D["b"][known].astype(int), X[known, 4]))
    held_out = held_out_scores(model, X, D)
    assert held_out.own_name == "AUC" and set(held_out.own_of) <= {"a", "b", "c"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(stable_features(model, X, D, n_pairs=4).table) == 15


def test_covariates_have_odds_ratios_for_each_label(table):
    X, D = table
    age = np.random.default_rng(0).normal(50, 9, (150, 1))
    model = SMFClassifier(2).fit(X, D, covariates=age)
    found = covariate_effects(model, X, D, covariates=age)
    assert found["output"].tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(found["estimate"], np.exp(model.covariate_coef_[:, 0]), rtol=1e-6)


def test_plots_show_combinations_of_labels(table):
    _, D = table
    shown = FLAGS.shown_samples(D, None, ("a", "b", "c"))
    assert shown.values[5] == "not known" and len(shown.values) == 150
    yes = [name for name in "abc" if D[name][0] == 1]
    assert shown.values[0] in (" + ".join(yes) or "none", "other")
    single = FLAGS.shown_samples(np.array(["u", "v"] * 75), None, ("a",))
    assert single.classes == ["u", "v"]
