"""Copies of samples are found, named once, and kept in one fold."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressorCV, SMFSurvivalCV
from superfactor.interpretation import held_out_scores
from superfactor.selection import external_scores, find_copies, nested_scores

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 150))
SEARCH = SMFClassifierCV(1, xi=0.1, lam=0.1)


def twice(noise):
    return np.vstack([X, X + noise * RNG.standard_normal(X.shape)])


def said_about_copies(function, *args, **kwargs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args, **kwargs)
    return result, [str(w.message) for w in caught if "identical" in str(w.message)]


@pytest.mark.parametrize("noise", [0, 0.1])
def test_shuffled_labels_of_samples_that_occur_twice_are_not_predicted(noise):
    table = twice(noise)
    grades, accuracies = [], []
    for seed in range(3):
        y = np.tile(np.random.default_rng(seed).permutation(np.arange(40) % 2), 2)
        found, said = said_about_copies(
            nested_scores, SEARCH, table, y, n_repeats=1, baselines=False, random_state=seed
        )
        assert len(said) == 1
        assert "40 pairs of samples" in said[0]
        assert "(0 and 40; 1 and 41; 2 and 42; and 37 more pairs); copies stay in one fold" in said[0]
        grades.append(found.verdict.grade)
        accuracies.append(found.summary["accuracy"]["mean"])
    assert "better" not in grades
    assert np.mean(accuracies) < 0.65


@pytest.mark.parametrize("model", [LogisticRegression(), make_pipeline(SEARCH)])
def test_other_models_are_evaluated_without_copies_in_other_folds_too(model):
    y = np.tile(np.arange(40) % 2, 2)
    found, said = said_about_copies(nested_scores, model, twice(0), y, n_repeats=1, baselines=False)
    assert found.verdict.grade != "better"
    assert len(said) == 1


@pytest.mark.parametrize(
    ("search", "y"),
    [
        (SMFClassifierCV(1, xi=0.1, lam=0.1), np.arange(40) % 2),
        (SMFRegressorCV(1, xi=0.1, lam=0.1), RNG.standard_normal(40)),
        (SMFRegressorCV(1, xi=0.1, lam=0.1, loss="poisson"), RNG.poisson(3, 40)),
        (SMFSurvivalCV(1, xi=0.1, lam=0.1), np.column_stack([np.arange(40) % 3 > 0, RNG.exponential(1, 40)])),
        (SMFClassifierCV(1, xi=0.1, lam=0.1), RNG.integers(0, 2, (40, 2))),
    ],
)
def test_a_search_scores_no_copies_of_training_samples(search, y):
    y = np.concatenate([y, y])
    fitted, said = said_about_copies(search.fit, twice(0), y)
    assert len(said) == 1
    alone, none = said_about_copies(search.fit, X, y[:40])
    assert not none
    assert fitted.best_score_ < alone.best_score_ + 0.25 * abs(alone.best_score_) + 0.1


def test_folds_of_the_user_are_kept_and_warned_of():
    y = np.tile(np.arange(40) % 2, 2)
    own = StratifiedKFold(3, shuffle=True, random_state=0)
    _, said = said_about_copies(SMFClassifierCV(1, xi=0.1, lam=0.1, cv=own).fit, twice(0), y)
    assert len(said) == 1
    assert "in the training and in the test part" in said[0]
    groups = find_copies(twice(0)).groups
    apart = [
        (np.flatnonzero(groups % 2 != k), np.flatnonzero((groups % 2 == k) & (groups < 39))) for k in (0, 1)
    ]
    apart = [(np.setdiff1d(train, []), test) for train, test in apart]
    y = (groups // 2) % 2
    _, said = said_about_copies(SMFClassifierCV(1, xi=0.1, lam=0.1, cv=apart).fit, twice(0), y)
    assert not said


def test_out_of_fold_scores_recognize_no_copy():
    y = np.tile(np.arange(40) % 2, 2)
    model = SMFClassifierCV(1, xi=0.1, lam=0.1).fit(twice(0), y).best_estimator_
    assert not held_out_scores(model, twice(0), y).predictive.any()


def test_groups_that_are_too_large_for_folds_are_only_named():
    table = np.vstack([X, np.repeat(X[:1], 20, axis=0)])
    y = np.r_[np.arange(40) % 2, np.zeros(20, int)]
    _, said = said_about_copies(SEARCH.fit, table, y)
    assert len(said) == 1
    assert said[0].startswith("X: 21 samples are identical (0, 40, 41 and 18 more); some are in the training")


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        sp.csr_matrix,
        sp.csc_array,
        pd.DataFrame,
        lambda x: x.astype(np.float32),
        lambda x: pd.DataFrame(x).assign(word=["a"] * len(x)),
    ],
)
def test_every_container(make):
    table = np.where(np.abs(X) > 1, X, 0)
    table = np.vstack([table, table[:2]])
    assert find_copies(make(table)).members == [[0, 40], [1, 41]]
    assert not find_copies(make(table[:40]))


def test_missing_values_are_ignored():
    table = twice(0.1)
    table[RNG.random(table.shape) < 0.05] = np.nan
    assert len(find_copies(table).members) == 40


def test_names_are_those_of_the_user():
    found = find_copies(X, ids=[f"P{i // 2}" for i in range(20)] + [""] * 10 + [None] * 10)
    assert found.reasons == ("name",)
    assert len(found.members) == 10
    assert found.statement(["a"] * 40).startswith("10 pairs of samples have the same name (a, 2 times;")


@pytest.mark.parametrize("name", ["iris", "wine", "diabetes", "digits", "breast_cancer"])
def test_no_false_alarm_in_ordinary_tables(name):
    assert not find_copies(getattr(datasets, f"load_{name}")(return_X_y=True)[0])


@pytest.mark.parametrize(
    "table",
    [
        RNG.integers(0, 2, (1000, 3)),
        RNG.poisson(2, (300, 3)),
        RNG.random((500, 40)) < 0.05,
        RNG.integers(1, 6, (300, 8)),
        np.zeros((30, 100)),
        RNG.standard_normal((4, 50)),
    ],
)
def test_rows_that_are_equal_by_chance_are_no_copies(table):
    assert not find_copies(np.asarray(table, dtype=float))


def test_a_few_huge_samples_make_no_copies_of_the_others():
    for size in (1e3, 1e6, 1e30):
        assert not find_copies(np.vstack([X, size * X[:3]]).astype(np.float32))


def test_many_samples():
    table = RNG.standard_normal((20_010, 12))
    table[20_005] = table[3]
    assert find_copies(table).members == [[3, 20_005]]


def test_copies_among_new_samples():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 50)), np.repeat(["a", "b"], 30)
    model = SMFClassifier(n_components=1).fit(X, y)
    new = np.vstack([X + rng.standard_normal(X.shape)] * 2)
    with pytest.warns(UserWarning, match="60 pairs of samples are identical .* every copy counts"):
        external_scores(model, new, np.tile(y, 2))
