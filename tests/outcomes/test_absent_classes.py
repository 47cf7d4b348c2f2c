"""Searches with folds in which a class is absent."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, get_scorer, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import KFold, PredefinedSplit

from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.outcomes.metrics.absent_classes import score_with_all_classes

RNG = np.random.default_rng(0)
# Well determined: fits along a path and fits of their own end at the same optimum.
POINT = {"n_components": 3, "xi": 0.001, "lam": 20.0}
CLASSES = np.array(["a", "b", "c", "d"])
NUMBER = np.repeat([0, 1, 2, 3], [28, 25, 6, 1])
X = RNG.normal(size=(60, 8)) + NUMBER[:, None]
Y = CLASSES[NUMBER]
# No part has all: d is in one test part only, and so in no training part beside it.
SPLITS = PredefinedSplit(np.where(NUMBER == 2, np.arange(60) % 2, np.arange(60) % 4))


def search(scoring, cv=SPLITS, y=Y, **options):
    return SMFClassifierCV(
        3, xi=0.001, lam=[20.0, 200.0], cv=cv, scoring=scoring, **options, preprocess=None
    ).fit(X, y)


def first_scores(found):
    return [found.cv_results_[f"split{k}_test_score"][0] for k in range(found.n_splits_)]


def probabilities(train, test):
    """Return probabilities (n, 4) of a separate fit; zero for classes that it has not seen."""
    fit = SMFClassifier(**POINT).fit(X[train], Y[train])
    shares = np.zeros((len(test), 4))
    shares[:, np.searchsorted(CLASSES, fit.classes_)] = fit.predict_proba(X[test])
    return shares


def by_hand(score):
    return [score(Y[test], probabilities(train, test)) for train, test in SPLITS.split()]


def test_splits_lack_a_class_as_intended():
    parts = [(set(Y[train]), set(Y[test])) for train, test in SPLITS.split()]
    assert any(len(train) < 4 for train, _ in parts)
    assert all(len(test) < 4 for _, test in parts)


@pytest.mark.parametrize(
    ("scoring", "score"), [("neg_log_loss", log_loss), ("neg_brier_score", brier_score_loss)]
)
def test_losses_of_probabilities(scoring, score):
    expected = by_hand(lambda y, shares: -score(y, shares, labels=CLASSES))
    np.testing.assert_allclose(first_scores(search(scoring)), expected, rtol=1e-3)


def test_log_loss_of_a_class_with_probability_zero():
    """Probability zero counts as the machine epsilon."""
    ((train, test),) = [part for part in SPLITS.split() if "d" in Y[part[1]]]
    shares = probabilities(train, test)
    truth = shares[np.arange(len(test)), np.searchsorted(CLASSES, Y[test])]
    expected = np.mean(np.log(np.maximum(truth, np.finfo(float).eps)))
    found = [s for s, part in zip(first_scores(search("neg_log_loss")), SPLITS.split(), strict=True)
             if "d" in Y[part[1]]]  # fmt: skip
    np.testing.assert_allclose(found, [expected], rtol=1e-3)


def test_roc_areas_use_the_classes_of_the_test_part():
    def area(y, shares):
        present = np.unique(y)
        shares = shares[:, np.searchsorted(CLASSES, present)]
        shares = shares / shares.sum(axis=1, keepdims=True)
        return np.mean([roc_auc_score(y == c, shares[:, k]) for k, c in enumerate(present)])

    np.testing.assert_allclose(first_scores(search("roc_auc_ovr")), by_hand(area), rtol=1e-3)


@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "balanced_accuracy"])
def test_scores_of_predicted_labels_are_unchanged(scoring):
    scorer = get_scorer(scoring)
    expected = []
    for train, test in SPLITS.split():
        expected.append(scorer(SMFClassifier(**POINT).fit(X[train], Y[train]), X[test], Y[test]))
    np.testing.assert_allclose(first_scores(search(scoring)), expected)


def test_default_score_equals_scikit_learns_log_loss():
    ours, theirs = (first_scores(search(scoring)) for scoring in (None, "neg_log_loss"))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_scorer_gets_the_model_itself_if_no_class_is_absent():
    seen = []
    fit = SMFClassifier(**POINT).fit(X, Y)

    def scorer(model, X, y):
        seen.append(model)
        return 0.0

    score_with_all_classes(scorer, fit, X, Y, CLASSES)
    score_with_all_classes(scorer, fit, X[:5], Y[:5], CLASSES)  # a function of the user's own, too
    assert seen == [fit, fit]


def test_test_part_of_one_class_is_skipped_for_roc_area():
    folds = np.where(NUMBER == 0, np.arange(60) % 3, 1 + np.arange(60) % 2)
    found = search("roc_auc_ovr", PredefinedSplit(folds), class_weight=None)
    scores = first_scores(found)
    assert np.isnan(scores[0])
    assert found.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(scores[1:]))


def test_errors_of_scorers_are_raised():
    with pytest.raises(ValueError, match="multi_class must be"):
        search("roc_auc")
    broken = make_scorer(lambda y, shares: 1 / len(shares[:, 99]), response_method="predict_proba")
    with pytest.raises(IndexError):
        search(broken)


def test_class_and_sample_weights_work_with_absent_classes():
    weight = RNG.uniform(0.5, 2, 60)
    found = SMFClassifierCV(
        **{k: [v] for k, v in POINT.items()},
        cv=SPLITS,
        scoring="neg_log_loss",
        class_weight={"a": 1.0, "d": 3.0},
        preprocess=None,
    ).fit(X, Y, sample_weight=weight)
    for k, (train, test) in enumerate(SPLITS.split()):
        present = {c: w for c, w in {"a": 1.0, "d": 3.0}.items() if c in Y[train]}
        fit = SMFClassifier(**POINT, class_weight=present)
        fit.fit(X[train], Y[train], sample_weight=weight[train])
        shares = np.zeros((len(test), 4))
        shares[:, np.searchsorted(CLASSES, fit.classes_)] = fit.predict_proba(X[test])
        expected = -log_loss(Y[test], shares, labels=CLASSES, sample_weight=weight[test])
        assert found.cv_results_[f"split{k}_test_score"][0] == pytest.approx(expected, rel=1e-3)


def test_search_works_with_sorted_labels():
    """KFold removes whole classes if labels are sorted."""
    found = search("neg_log_loss", KFold(5))
    assert found.best_estimator_.classes_.tolist() == list(CLASSES)
    assert np.isfinite(found.best_score_)
