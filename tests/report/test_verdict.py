"""What the first box says, and the methods paragraph."""

import math
import re
from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.report.conftest import nested_like, scaled, table
from tests.report.test_facts import facts_of

import superfactor
from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.outcomes import Classes
from superfactor.outcomes.proportions import balanced_interval, wilson
from superfactor.report import methods_paragraph
from superfactor.report.facts import gathering as facts_module
from superfactor.report.methods import in_words
from superfactor.report.sections.factors import covariates
from superfactor.report.sections.result import nested_table
from superfactor.selection.judging.external import external_verdict


@pytest.fixture(scope="module")
def facts():
    X, y = table(120, 30, 2)
    return facts_of(
        scaled(n_components=2, xi=0.01, lam=1.0).fit(X[:60], y[:60]), X[:60], y[:60], X[60:], y[60:]
    )


def judged(facts, truth, predicted):
    """Facts whose held-out samples have these classes and predictions."""
    probabilities = np.eye(len(facts.classes))[predicted] * 0.8 + 0.1
    test = replace(
        facts.test, ids=[str(i) for i in range(len(truth))], truth=truth, probabilities=probabilities
    )
    return replace(facts, test=test)


class TestVerdict:
    truth = np.arange(80) % 2

    def test_better_needs_an_interval_above_guessing(self, facts):
        told = judged(facts, self.truth, self.truth).verdict
        assert told.grade == "better" and told.advice == ()

    def test_what_could_be_luck_is_not_shown(self, facts):
        predicted = np.where(np.arange(80) % 5 < 3, self.truth, 1 - self.truth)
        told = judged(facts, self.truth, predicted).verdict
        assert told.grade == "not shown"
        assert "guessing reaches 50.0 %" in told.headline

    def test_worse_is_said_too(self, facts):
        assert judged(facts, self.truth, 1 - self.truth).verdict.grade == "worse"

    def test_a_class_that_is_never_predicted_is_named(self, facts):
        told = judged(facts, self.truth, np.zeros(80, int)).verdict
        assert told.grade == "not shown"
        assert any("'class 1'" in line for line in told.sentences)

    def test_held_out_samples_of_one_class_show_nothing(self, facts):
        told = judged(facts, np.zeros(80, int), np.zeros(80, int)).verdict
        assert told.grade == "not shown" and "One class only, 'class 0'" in told.headline

    def test_held_out_samples_are_judged_as_in_the_terminal(self, facts):
        rare = np.arange(80) % 10 == 0  # unequal classes: balanced accuracy counts
        drawn = judged(facts, rare.astype(int), np.arange(80) % 2)
        found = external_verdict(Classes(), facts.classes, drawn.test.truth, drawn.test.probabilities)
        told = drawn.verdict
        assert (told.grade, told.headline) == (found.grade, found.headline)
        assert (told.sentences, told.advice) == (found.sentences, found.advice)
        assert "balanced accuracy" in told.headline and "8 samples of class" in told.sentences[-1]

    def test_classes_that_the_page_shortens_to_the_same_stay_apart(self, facts):
        long = np.array(["a" * 500 + "b" + "a" * 500, "a" * 500 + "c" + "a" * 500])
        same = replace(facts, classes=["a…a", "a…a"])
        estimator = SimpleNamespace(classes_=long)
        told = judged(replace(same, estimator=estimator), self.truth, self.truth).verdict
        assert told.grade == "better"

    def test_training_samples_show_nothing(self, facts):
        assert replace(facts, test=None).verdict.grade == "unknown"

    def test_nested_scores_speak_for_themselves(self, facts):
        nested = nested_like("worse")
        told = replace(facts, nested=nested).verdict
        assert (told.grade, told.headline) == ("worse", nested.verdict.headline)


class TestBalancedInterval:
    def test_two_equal_recalls_are_narrower_than_one_by_the_root_of_two(self):
        low, high = balanced_interval(np.array([[15, 5], [5, 15]]))
        one = wilson(15, 20)
        assert 0.75 - low == pytest.approx((0.75 - one[0]) / math.sqrt(2))
        assert high - 0.75 == pytest.approx((one[1] - 0.75) / math.sqrt(2))

    def test_it_covers(self):
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

    def test_it_holds_the_balanced_accuracy(self):
        truth = np.arange(50) % 10
        found = Classes.page.evaluate(truth, np.eye(10)[truth])
        low, high = found.balanced_interval
        assert low < found.balanced_accuracy == high == 1


def test_the_table_of_nested_scores_has_every_method_and_measure():
    nested = nested_like("better")
    found = nested_table(nested)
    assert found["methods"] == ["This model", *nested.rivals]
    assert [row["metric"] for row in found["rows"]] == list(nested.summary)
    (row,) = (row for row in found["rows"] if row["metric"] == "balanced_accuracy")
    assert row["cells"][0]["mean"] == nested.summary["balanced_accuracy"]["mean"]
    (slope,) = (row for row in found["rows"] if row["metric"] == "calibration_slope")
    assert slope["cells"][-1] is None  # always one class: nothing to calibrate
    assert found["compared"] == "balanced_accuracy" and len(found["differences"]) == 2


class TestParagraph:
    def test_it_has_the_numbers_of_the_fit(self, facts):
        nested = nested_like("better")
        told = replace(facts, target="status", nested=nested, covariates=["age", "sex"])
        text = in_words(told)
        for words in (
            "We predicted status from 30 features in 60 samples (30 class 0, 30 class 1), with age and sex",
            "standardised to mean 0",
            "with 2 factors",
            "ξ = 0.01",
            "λ = 1",
            "5-fold nested cross-validation, repeated 2 times",
            "balanced accuracy 91.0 % (95 % interval 86.0 % to 96.0 %)",
            "ROC area 0.960",
            "differences in balanced accuracy were +5.0 points (+1.0 to +9.0) against PCA",
            f"superfactor {superfactor.__version__}",
        ):
            assert words in text
        assert "\n" not in text
        assert text.index("nested") < text.index("On 60 held-out samples that took no part")
        assert "held-out" not in in_words(replace(told, test=None))

    def test_held_out_samples_stand_in_where_nothing_is_nested(self, facts):
        text = in_words(facts)
        found = facts.evaluation
        assert "On 60 held-out samples that took no part in the fit: balanced accuracy " in text
        assert f"balanced accuracy {100 * found.balanced_accuracy:.1f} % (95 % interval" in text

    def test_nothing_is_claimed_without_evidence(self, facts):
        estimator = copy(facts.estimator)
        estimator.certificate_ = None
        text = in_words(replace(facts, test=None, estimator=estimator))
        assert not re.search("accuracy|optimal|ROC", text)

    def test_the_choice_is_told(self, two_classes):
        search = two_classes.model
        facts = facts_of(search, two_classes.X, two_classes.y, search=search)
        text = in_words(facts)
        assert "chosen among 16 settings by the log-likelihood in 3-fold cross-validation" in text

    @pytest.mark.parametrize(
        "given, said",
        [
            ({"n_components": 2}, ". ξ and λ were chosen among 8 settings"),
            ({"n_components": [1, 2], "xi": 0.1, "lam": 1.0}, ". Rank was chosen among 2 settings"),
            ({"n_components": 2, "xi": 0.1, "lam": 1.0}, None),
        ],
    )
    def test_what_was_given_is_not_called_a_choice(self, given, said):
        X, y = table(60, 12, 2)
        search = SMFClassifierCV(**given, cv=2).fit(X, y)
        text = methods_paragraph(search, X, y)
        assert said in text if said else "chosen" not in text

    def test_it_can_be_had_without_the_page(self, two_classes):
        search, nested = two_classes.model, nested_like("better")
        facts = facts_of(search, two_classes.X, two_classes.y, search=search, nested=nested, target="status")
        text = methods_paragraph(search, two_classes.X, two_classes.y, nested=nested, target="status")
        assert text == in_words(facts)
        assert "chosen among 16 settings" in text and "nested cross-validation" in text


class TestCovariates:
    def rows(self, monkeypatch, effects):
        X, y = table(40, 12, 2)
        model = SMFClassifier(1, covariate_columns=[0], xi=0.1, lam=0.1).fit(X, y)
        monkeypatch.setattr(facts_module, "covariate_effects", lambda model, *data, positive: effects)
        return covariates(facts_of(model, X, y))

    def test_odds_ratios_as_clinicians_read_them(self, monkeypatch):
        effects = pd.DataFrame(
            {
                "covariate": ["age (per unit)", "sex: M vs F"],
                "column": ["age", "sex=M"],
                "output": ["class 1"] * 2,
                "against": ["class 0"] * 2,
                "kind": ["odds ratio"] * 2,
                "coef": [0.08, -0.5],
                "estimate": [1.0834, 0.6065],
                "low": [1.02, np.nan],
                "high": [1.15, np.nan],
                "sd": [10.0, 0.5],
                "estimate_per_sd": [2.23, 0.78],
                "low_per_sd": [1.22, np.nan],
                "high_per_sd": [4.05, np.nan],
            }
        )
        found = self.rows(monkeypatch, effects)
        assert found["head"] == [
            "Covariate", "Odds ratio", "95 % interval", "Per standard deviation", "95 % interval",
        ]  # fmt: skip
        assert found["rows"] == [
            ["age (per unit)", "1.08", "1.02 to 1.15", "2.23", "1.22 to 4.05"],
            ["sex: M vs F", "0.61", "–", "0.78", "–"],
        ]
        assert found["right"] == [False, True, True, True, True]
        assert found["against"] == "class 0" and found["ratios"]
