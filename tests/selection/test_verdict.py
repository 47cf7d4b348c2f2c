"""The words for each grade, and what they rest on."""

import numpy as np
import pytest
from tests.selection.searches import COVARIATES, FREQUENT, PCA_LR, RIDGE

from superfactor.outcomes import Classes
from superfactor.selection.evaluation.external import scores_of
from superfactor.selection.evaluation.verdict import BETTER, NOT_SHOWN, Verdict, grade_of, judge, too_few


def interval(mean, half):
    return {"metric": "accuracy", "mean": mean, "low": mean - half, "high": mean + half}


def seen(counts, predicted):
    """What `judge` is told of classes that occur, and are predicted, so often."""
    numbers = np.arange(len(counts))
    return {
        "names": np.array(list(counts)),
        "truth": np.repeat(numbers, list(counts.values())),
        "predicted": np.repeat(numbers, [predicted[name] for name in counts]),
    }


def verdict(difference=0.3, half=0.1, chance=0.001, **others):
    counts = others.pop("counts", {"ill": 50, "well": 50})
    given = seen(counts, others.pop("predicted", counts)) | others
    differences = {FREQUENT: interval(difference, half)} | given.pop("baselines", {})
    score = interval(0.5 + difference, half)
    return judge(Classes(), "accuracy", score, 0.5, differences, chance, **given)


@pytest.mark.parametrize(
    ("difference", "half", "chance", "grade", "words"),
    [
        (0.3, 0.1, 0.001, "better", "Better than guessing: accuracy 80.0 % (95 % interval 70.0 % to 90.0 %)"),
        (0.1, 0.2, 0.001, "not shown", "Not shown to be better than guessing: accuracy 60.0 %"),
        (0.3, 0.1, 0.03, "not shown", "Not shown to be better than guessing"),
        (-0.3, 0.1, 0.999, "worse", "Worse than guessing: accuracy 20.0 %"),
        (-0.3, 0.1, 0.5, "not shown", "Not shown to be better than guessing"),
        (0.3, float("nan"), 0.001, "not shown", "Not shown to be better than guessing"),
    ],
)  # fmt: skip
def test_grades(difference, half, chance, grade, words):
    found = verdict(difference, half, chance)
    assert found.grade == grade
    assert found.headline.startswith(words)
    assert found.headline.endswith("guessing reaches 50.0 %.")
    assert grade_of(interval(difference, half), chance) == grade


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (interval(0.1, 0.05), "The features improve on age and sex alone: +10.0 points, +5.0"),
        (interval(0.0, 0.05), "The features are not shown to improve on age and sex alone: +0.0"),
        (interval(-0.1, 0.05), "The features harm: age and sex alone do better, by +10.0 points"),
    ],
)  # fmt: skip
def test_beside_covariates(difference, words):
    found = verdict(baselines={COVARIATES: difference}, covariates=("age", "sex"))
    assert found.sentences[0].startswith(words)
    assert found.adds is found.of_factors is (difference["low"] > 0)
    assert Verdict.of_dict(found.as_dict()) == found


def test_factors_are_as_good_as_the_model_where_nothing_stands_beside_them():
    assert verdict().adds is None and verdict().of_factors
    assert not verdict(0.1, 0.2).of_factors
    assert not verdict(0.1, 0.2, baselines={COVARIATES: interval(0.1, 0.05)}).of_factors


def test_next_to_baselines():
    found = verdict(baselines={PCA_LR: interval(0.1, 0.05), RIDGE: interval(-0.01, 0.05)})
    assert found.sentences == (
        "Better than tuned PCA + logistic regression (+10.0 points, +5.0 to +15.0).",
        "Not shown to differ from ridge logistic regression (−1.0 points, −6.0 to +4.0).",
    )
    found = verdict(baselines={RIDGE: interval(-0.1, 0.05)})
    assert found.sentences == ("Worse than ridge logistic regression (−10.0 points, −15.0 to −5.0).",)


def test_classes_never_predicted_and_what_to_try():
    found = verdict(0.0, 0.1, 1.0, counts={"a": 90, "b": 12, "c": 4}, predicted={"a": 106, "b": 0, "c": 0})
    assert "Classes 'b' and 'c' are never predicted." in found.sentences
    few = "Only 4 samples of class 'c': too few for a claim about it, which needs about 10."
    assert few in found.sentences
    assert any("class_weight='balanced'" in advice for advice in found.advice)
    assert any("More samples" in advice for advice in found.advice)
    assert found.advice_keys == ("balance", "samples", "rank")
    assert found.advice_in({"rank": "--rank 2,4,8"})[-1] == "--rank 2,4,8"
    assert Verdict.of_dict(found.as_dict()) == found
    assert found.as_dict()["sentences"] == list(found.sentences)
    assert str(found).startswith(found.headline)


def test_few_folds_are_told_from_few_samples():
    """Labels at random never agree as well: the interval is wide because three parts are few."""
    assert "folds" in verdict(0.1, 0.2, 0.001, n_folds=3).advice_keys
    assert "samples" not in verdict(0.1, 0.2, 0.001, n_folds=3).advice_keys
    assert "samples" in verdict(0.1, 0.2, 0.3, n_folds=3).advice_keys
    assert "samples" in verdict(0.1, 0.2, 0.001, n_folds=25).advice_keys


def test_a_good_result_needs_no_advice():
    assert verdict().advice == ()
    assert verdict().sentences == ()


def test_shuffled_labels():
    found = verdict(permutation={"reached": 2, "n": 99, "p_value": 0.03})
    assert found.sentences == ("Shuffled labels reach this in 2 of 99 tries (p = 0.03).",)
    few = verdict(permutation={"reached": 0, "n": 3, "p_value": 0.25})
    assert few.grade == "not shown" and "samples" not in few.advice_keys
    assert few.sentences == (
        "Shuffled labels reach this in 0 of 3 tries (p = 0.25; a claim needs 19 tries or more).",
    )


def test_too_few_to_measure():
    target = Classes().target(np.array(["a"] * 20 + ["b"]), np.zeros((21, 1)), "nested_scores")
    found = too_few(Classes(), target)
    assert found.grade == "not shown"
    assert "class 'b' has 1 sample, too few to measure" in found.headline


class TestExternal:
    def test_figures_and_words(self):
        rng = np.random.default_rng(0)
        codes = np.repeat([0, 1], [60, 20])
        p = np.clip(0.3 + 0.4 * codes + 0.15 * rng.normal(size=80), 0.01, 0.99)
        found = scores_of(Classes(), ["no", "yes"], codes, np.column_stack([1 - p, p]))
        assert found.headline == "balanced_accuracy"
        right = (p > 0.5) == codes
        expected = (right[:60].mean() + right[60:].mean()) / 2
        score = found.summary["balanced_accuracy"]
        assert score["mean"] == pytest.approx(expected)
        assert score["low"] < expected < score["high"]
        # The interval is about the normal one.
        parts = [right[:60], right[60:]]
        error = np.sqrt(sum(part.var() / len(part) for part in parts)) / 2
        assert score["high"] - score["low"] == pytest.approx(2 * 1.96 * error, rel=0.15)
        assert found.verdict.grade == "better"
        assert found.confusion.sum() == 80
        assert "calibration_slope" in found.as_dict()["summary"]

    def test_one_class_only(self):
        P = np.tile([0.2, 0.8], (10, 1))
        found = scores_of(Classes(), ["no", "yes"], np.ones(10, dtype=int), P)
        assert isinstance(found.verdict, Verdict)
        assert found.verdict.headline.startswith("One class only, 'yes': 100.0 %")

    def test_noise_and_a_class_that_does_not_occur(self):
        rng = np.random.default_rng(1)
        P = rng.dirichlet(np.ones(3), size=60)
        P[:, 2] = 0
        P /= P.sum(axis=1, keepdims=True)
        found = scores_of(Classes(), ["a", "b", "c"], rng.integers(0, 2, size=60), P)
        assert found.verdict.grade == "not shown"
        assert "never predicted" not in str(found.verdict)


# --- what a verdict must not rest on ---------------------------------------------------------------


def test_shuffled_labels_that_reach_as_much_are_heard():
    said = {"reached": 10, "n": 20, "p_value": 0.52}
    assert verdict(permutation=said).grade == "not shown"
    assert verdict(permutation={"reached": 0, "n": 20, "p_value": 1 / 21}).grade == "better"


def test_a_handful_of_samples_is_no_evidence_of_two_classes():
    assert verdict(counts={"a": 6, "b": 6}).grade == "not shown"
    assert verdict(counts={"a": 60, "b": 60, "c": 4}).grade == "better"


def test_folds_that_agree_are_no_certainty():
    same = {"mean": 0.0, "low": float("nan"), "high": float("nan")}
    found = verdict(baselines={RIDGE: same})
    assert "Not shown to differ from ridge logistic regression (+0.0 points)." in found.sentences


def test_an_interval_that_says_more_than_the_verdict_is_explained():
    difference = {"metric": "accuracy", "mean": 0.3, "low": 0.03, "high": 0.4}
    given = seen({"a": 12, "b": 12}, {"a": 10, "b": 14})
    score = {"mean": 0.8, "low": 0.53, "high": 0.9}
    told = judge(Classes(), "accuracy", score, 0.5, {FREQUENT: difference}, 0.04, **given)
    assert told.grade == NOT_SHOWN
    assert "agree with them as well in 4.0 % of cases" in told.sentences[0]
    # Where nothing contradicts the interval there is nothing to explain.
    better = judge(Classes(), "accuracy", score, 0.5, {FREQUENT: difference}, 0.01, **given)
    assert better.grade == BETTER
    assert not any("interval alone" in sentence for sentence in better.sentences)


def test_a_final_evaluation_does_not_say_what_to_choose_again():
    difference = {"metric": "accuracy", "mean": 0.1, "low": -0.1, "high": 0.3}
    given = seen({"a": 40, "b": 12}, {"a": 52, "b": 0})
    score = {"mean": 0.6, "low": 0.4, "high": 0.8}
    usual, final = (
        judge(Classes(), "accuracy", score, 0.5, {FREQUENT: difference}, 0.3, **given, final=final).advice
        for final in (False, True)
    )
    assert any("class_weight" in line for line in usual)
    assert len(final) == 1
    assert final[0].startswith("More samples")


@pytest.mark.parametrize("counts", [{"ill": 50, "well": 50}, {"ill": 80, "well": 20}])
@pytest.mark.parametrize("options", [{}, {"n_folds": 5}])
def test_advice_to_change_the_model_says_that_it_must_be_decided_before(counts, options):
    found = verdict(0.05, 0.2, 0.001, counts=counts, **options)
    assert found.grade == "not shown"
    for key, text in zip(found.advice_keys, found.advice, strict=True):
        if key in ("rank", "balance"):
            assert "decide" in text and "before" in text
        if key == "folds":
            assert "whatever it is" in text
