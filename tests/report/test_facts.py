"""What the page tells is what the model, the samples and independent code say."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from tests.report.conftest import nested_like, panel, scaled, table

from superfactor import SMFClassifier
from superfactor.interpretation import (
    class_features,
    factor_view,
    feature_effects,
    stable_features,
    unsupervised,
)
from superfactor.interpretation.models import fitted_model
from superfactor.preprocessing import Adjuster
from superfactor.report.facts import alone, alone_samples, directions, feature_results, gather
from superfactor.report.facts.unnamed import without_names
from superfactor.report.page import render
from superfactor.selection.evaluation.external import external_verdict


@pytest.mark.parametrize("name", ["two_classes", "many"])
def test_predictions_and_factors_are_those_of_the_model(name, request):
    case = request.getfixturevalue(name)
    facts, view = case.facts, factor_view(case.model)
    np.testing.assert_allclose(facts.test.rows, case.model.predict_proba(case.X_test), rtol=1e-9, atol=1e-12)
    assert facts.evaluation.figures["accuracy"] == case.model.score(case.X_test, case.y_test)
    np.testing.assert_allclose(facts.view.weights, view.weights)
    for samples, X in ((facts.train, case.X), (facts.test, case.X_test)):
        np.testing.assert_allclose(samples.scores, view.scores_of(case.model.transform(X)), atol=1e-9)
    plain = unsupervised(case.model, case.X, case.y)
    order = facts.plain.number - 1
    assert sorted(order) == list(range(len(order)))
    np.testing.assert_allclose(facts.plain.view.share, plain.share[order])
    assert list(facts.plain.view.features) == list(plain.features)
    both = facts.plain.view.correlations * facts.view.correlations
    assert np.all(np.sum(both, axis=1) >= 0)


def test_rotation_positive_class_and_names_are_the_callers_choice():
    X, y = table(60, 12, 2)
    model = scaled(n_components=3, xi=0.05, lam=0.5).fit(X[:40], y[:40])
    parts = {"X": X[:40], "y": y[:40], "X_test": X[40:], "y_test": y[40:]}
    turned = gather(model, **parts, rotation="varimax")
    np.testing.assert_array_equal(turned.view.weights, factor_view(model, rotation="varimax").weights)
    assert turned.test.ids == list(X.index[40:])
    for positive in ("class 0", "class 1"):
        facts = gather(model, **parts, positive=positive, ids=range(40))
        assert facts.names[facts.up] == positive and facts.plain.view.outputs == (positive,)
        assert directions(facts, facts.view)[0] == (positive, "")
        assert facts.train.ids[:2] == ["0", "1"] and facts.test.ids == list(X.index[40:])
    both = gather(model, **parts, ids=[f"s{i}" for i in range(60)])
    assert (both.train.ids[0], both.test.ids[-1]) == ("s0", "s59")


class TestWithoutNames:
    X, y = table(40, 8, 2)

    def test_the_model_and_its_table_are_left_as_they_are(self):
        model = scaled(n_components=2).fit(self.X, self.y)
        model[0].set_output(transform="pandas")
        bare, (array,) = without_names(fitted_model(model), self.X)
        assert isinstance(array, np.ndarray) and isinstance(bare.preprocess(array), np.ndarray)
        assert list(model[0].feature_names_in_) == list(self.X.columns)
        assert hasattr(model[0].transform(self.X), "columns")

    def test_other_steps_see_the_table_they_know(self):
        model = scaled(n_components=2).set_params(scaler=MinMaxScaler()).fit(self.X, self.y)
        assert without_names(fitted_model(model), self.X)[1][0] is self.X

    def test_wrong_names_are_an_error(self):
        model = scaled(n_components=2).fit(self.X, self.y)
        with pytest.raises(ValueError, match="feature names"):
            gather(model, self.X[self.X.columns[::-1]], self.y)


class TestVerdict:
    truth = np.arange(80) % 2

    def judged(self, case, truth, predicted):
        """Facts whose held-out samples have these classes and predictions."""
        probabilities = np.eye(2)[predicted] * 0.8 + 0.1
        ids = [str(i) for i in range(len(truth))]
        test = replace(case.facts.test, ids=ids, truth=truth, rows=probabilities)
        return replace(case.facts, test=test)

    @pytest.mark.parametrize(
        ("predicted", "grade", "predicts"),
        [
            (truth, "better", True),
            (np.where(np.arange(80) % 5 < 3, truth, 1 - truth), "not shown", False),
            (np.zeros(80, int), "not shown", False),
            (1 - truth, "worse", False),
        ],
        ids=["right", "perhaps luck", "one class", "wrong"],
    )
    def test_held_out_samples_are_evaluated_as_in_the_terminal(self, two_classes, predicted, grade, predicts):
        for truth in (self.truth, (np.arange(80) % 10 == 0).astype(int)):
            facts = self.judged(two_classes, truth, predicted)
            found = external_verdict(facts.outcome, np.array(facts.names), facts.test.truth, facts.test.rows)
            assert facts.verdict == found
            assert truth is not self.truth or (found.grade, facts.predicts) == (grade, predicts)

    def test_classes_with_equal_shortened_names_are_distinct(self, two_classes):
        long = np.array(["a" * 500 + "b" + "a" * 500, "a" * 500 + "c" + "a" * 500])
        facts = self.judged(two_classes, self.truth, self.truth)
        same = replace(facts, names=["a…a", "a…a"], columns=long)
        assert same.verdict.grade == "better"

    def test_training_samples_show_nothing_and_nested_scores_come_first(self, two_classes):
        facts, nested = two_classes.facts, nested_like("worse")
        unknown = replace(facts, test=None)
        assert unknown.verdict.grade == "unknown" and unknown.predicts is None
        assert len(unknown.verdict.sentences) == 2  # there was a search
        assert replace(facts, nested=nested).verdict is nested.verdict
        for grade, apart in (("better", True), ("not shown", False)):
            assert replace(facts, nested=nested_like(grade)).separates is apart

    def test_factors_without_gain_over_covariates_are_not_called_predictive(self, two_classes):
        better = nested_like("better")
        for adds, role in ((None, "predictive"), (True, "predictive"), (False, "not shown")):
            better.verdict = replace(better.verdict, adds=adds)
            facts = replace(two_classes.facts, nested=better)
            assert facts.roles[0] == role and facts.predicts
            page = panel(render(facts), "factors")
            assert ("from the covariates in held-out samples" in page) is (adds is False)


def test_out_of_fold_predictions_are_evaluated_if_available(training_only):
    case, facts = training_only, training_only.facts
    assert facts.evaluated_on == "training"
    out_of_fold = np.random.default_rng(0).dirichlet([1, 1], len(case.y))
    changed = replace(facts, nested=nested_like("not shown", predictions=out_of_fold))
    assert changed.evaluated_on == "out-of-fold"
    assert changed.evaluation.figures["accuracy"] == np.mean(
        np.unique(case.y)[out_of_fold.argmax(axis=1)] == case.y
    )
    other = replace(facts, nested=nested_like("not shown", predictions=out_of_fold[:-1]))
    assert other.evaluated_on == "training"
    assert replace(other, test=facts.train).evaluated_on == "held-out"


@pytest.mark.parametrize("mark", [None, np.nan, "?"])
def test_held_out_samples_without_a_label_are_left_out_and_counted(mark):
    X, y = table(90, 20, 2)
    model = SMFClassifier(1, unlabeled="?").fit(X[:60], y[:60])
    y_test, there = y[60:].astype(object), np.arange(30) % 5 > 0
    y_test[::5] = mark
    facts = gather(model, X[:60], y[:60], X_test=X[60:], y_test=y_test)
    assert facts.evaluation.figures["accuracy"] == model.score(X[60:][there], y[60:][there])
    assert facts.test.ids == list(X.index[60:][there]) and facts.n_test_unlabeled == 6
    with pytest.raises(ValueError, match=r"^y: none of the 60 samples has a label; some are"):
        gather(model, X[:60], [mark] * 60)


def test_two_adjusters_remove_more_than_the_first():
    X, y = table(120, 20, 2)
    X += 5.0 * (np.arange(120) // 4 % 2)[:, None]
    before = np.var(X, axis=0).sum()
    X["batch"], X["site"] = np.arange(120) // 2 % 2, np.arange(120) // 4 % 2
    model = make_pipeline(Adjuster([20]), Adjuster([20]), SMFClassifier(1)).fit(X.to_numpy(), y)
    facts = gather(model, X.to_numpy(), y)
    left = np.var(model[:2].transform(X.to_numpy()), axis=0).sum()
    assert facts.confounders.removed == pytest.approx(1 - left / before) and facts.confounders.removed > 0.8


class TestFactors:
    def test_each_has_its_own_auc_for_held_out_samples(self, many, shuffled):
        for case in (many, shuffled):
            facts = replace(case.facts, test=None)
            for changed, where in ((facts, "out of fold"), (replace(facts, held_out=None), "training")):
                assert alone_samples(changed) == where
                scores = facts.train.out_of_fold if where == "out of fold" else facts.train.scores
                for j, one in enumerate(alone(changed)):
                    area = float(one.own)
                    assert area == pytest.approx(roc_auc_score(case.y == one.of, scores[:, j]), abs=6e-4)
                    assert area >= 0.5 or (where == "out of fold" and facts.view.coef[:, j].any())

    def test_of_shuffled_labels_none_is_called_predictive(self, shuffled):
        assert shuffled.facts.roles == ["not shown", "background"] and shuffled.facts.view.predictive[0]


class TestFeatures:
    def test_effects_are_computed_once_and_have_their_names(self, two_classes, monkeypatch):
        """The page drops names for speed; tables have them all the same."""
        case, calls = two_classes, []

        def counted(*args, **options):
            calls.append(options)
            return feature_effects(*args, **options)

        monkeypatch.setattr(feature_results, "feature_effects", counted)
        facts = gather(case.model, case.X, case.y, features=True)
        assert len(calls) == 1
        pd.testing.assert_frame_equal(
            facts.feature_results.markers, class_features(case.model, case.X, case.y)
        )
        assert set(facts.feature_results.effects["feature"]) == set(case.X)

    def test_stable_features_have_their_names(self, monkeypatch):
        X, y = table(40, 8, 2)
        model = scaled(n_components=1, xi=0.1, lam=1.0, certify=None).fit(X, y)
        few = partial(stable_features, n_pairs=5)
        monkeypatch.setattr(feature_results, "stable_features", few)
        found, own = gather(model, X, y, features=True, stable=None).feature_results.stable, few(model, X, y)
        assert found.table["feature"].tolist() == own.table["feature"].tolist()
        assert found.statement == own.statement

    def test_the_page_is_written_with_too_few_samples_for_halves(self):
        X, y = table(30, 12, 2)
        y = np.array([*y[:29], "rare"])
        facts = gather(SMFClassifier(1, xi=0.1, lam=1.0).fit(X, y), X, y, features=True, stable=None)
        assert facts.feature_results.stable is None
        assert facts.feature_results.why_not.startswith("y: class 'rare' has 1 of the 2 samples")
