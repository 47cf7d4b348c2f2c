"""The table of a search as scikit-learn writes it, and the choice by hand."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV

from superfactor.selection.search.results import choose, splits_that_count, tabulate


def point(n_components=1, lam=1.0, xi=1.0):
    return {"n_components": n_components, "lam": lam, "xi": xi}


def table(*splits, points=None):
    """Of scores (splits, candidates), and times that grow with the position."""
    scores = np.asarray(splits, dtype=float)
    times = np.arange(scores.size, dtype=float).reshape(scores.shape)
    points = [point(k + 1) for k in range(scores.shape[1])] if points is None else points
    return tabulate(points, np.stack([scores, times, 10 * times], axis=-1))


# --- the table -------------------------------------------------------------------------------------------


def test_means_deviations_and_ranks():
    found = table([0.5, 1.0, 0.5], [0.7, 0.8, 0.7])
    np.testing.assert_allclose(found["mean_test_score"], [0.6, 0.9, 0.6])
    np.testing.assert_allclose(found["std_test_score"], [0.1, 0.1, 0.1])
    assert found["rank_test_score"].tolist() == [2, 1, 2]
    assert found["split1_test_score"].tolist() == [0.7, 0.8, 0.7]
    assert found["mean_fit_time"].tolist() == [1.5, 2.5, 3.5]
    assert found["std_fit_time"].tolist() == [1.5] * 3
    assert found["mean_score_time"].tolist() == [15.0, 25.0, 35.0]
    assert found["param_n_components"].tolist() == [1, 2, 3]
    assert found["params"] == [point(1), point(2), point(3)]


def test_the_same_entries_as_scikit_learn():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(DummyClassifier(strategy="constant"), {"constant": [0, 1]}, cv=3)
    theirs = search.fit(X, y).cv_results_
    scores = np.array([theirs[f"split{k}_test_score"] for k in range(3)])
    ours = tabulate([{"constant": 0}, {"constant": 1}], np.stack([scores] * 3, axis=-1))
    assert set(ours) == set(theirs)
    for name in ("mean_test_score", "std_test_score", "rank_test_score", "param_constant"):
        np.testing.assert_array_equal(ours[name], theirs[name])
        assert ours[name].dtype.kind == theirs[name].dtype.kind


# --- the best --------------------------------------------------------------------------------------------


def test_of_equals_the_first():
    assert choose(table([0.5, 0.75, 0.75], [0.5, 0.75, 0.75]), "best") == 1


@pytest.mark.parametrize("rule", ["best", "one_standard_error"])
def test_what_is_no_number_is_never_chosen(rule):
    found = table([np.nan, 0.5, 0.25], [0.9, 0.5, 0.25])
    assert found["rank_test_score"].tolist() == [3, 1, 2]
    assert choose(found, rule) == 1


@pytest.mark.parametrize("rule", ["best", "one_standard_error"])
def test_where_nothing_is_a_number_the_first(rule):
    assert choose(table([np.nan] * 3, [np.nan] * 3), rule) == 0


# --- a search that ended early ---------------------------------------------------------------------------


def unfinished(splits):
    """Numbers (splits, candidates, 3) from scores, None for those that are missing."""
    return np.array([[(np.nan,) * 3 if s is None else (s, 1.0, 2.0) for s in row] for row in splits])


def test_finished_splits_count_for_all_candidates():
    scores = unfinished([[0.5, 0.75, 0.25], [0.5, 0.25, 0.75], [0.9, None, None]])
    assert splits_that_count(scores).tolist() == [True, True, False]
    found = tabulate([point(k) for k in (1, 2, 3)], scores)
    assert found["mean_test_score"].tolist() == [0.5] * 3
    assert found["std_test_score"].tolist() == [0.0, 0.25, 0.25]
    np.testing.assert_array_equal(found["split2_test_score"], [0.9, np.nan, np.nan])


def test_where_no_split_is_finished_candidates_scored_in_all_begun():
    scores = unfinished([[0.5, 0.75, None], [0.5, None, None], [None, None, None]])
    assert splits_that_count(scores).tolist() == [True, True, False]
    found = tabulate([point(k) for k in (1, 2, 3)], scores)
    np.testing.assert_array_equal(found["mean_test_score"], [0.5, np.nan, np.nan])
    np.testing.assert_array_equal(found["mean_fit_time"], [1.0, np.nan, np.nan])
    assert found["rank_test_score"].tolist() == [1, 2, 2]
    assert choose(found, "best") == choose(found, "one_standard_error", 2) == 0


def test_a_score_that_is_no_number_is_a_score():
    scores = unfinished([[np.nan, 0.5], [0.5, 0.5]])
    assert splits_that_count(scores).tolist() == [True, True]


def test_splits_that_do_not_count_do_not_make_the_error_smaller():
    """The deviation of the best, 0.25, makes an error of 0.18 over two splits, of 0.125 over four."""
    scores = unfinished([[0.5, 0.5], [0.7, 1.0], [None, None], [None, None]])
    found = tabulate([point(1), point(2)], scores)  # means 0.6 and 0.75
    assert choose(found, "one_standard_error", splits_that_count(scores)) == 0
    assert choose(found, "one_standard_error") == 1


# --- more components only where they pay --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        ([0.1, 0.1, 0.1, 0.1], 1),
        ([0.3, -0.1, 0.1, 0.1], 1),  # mean 0.1, standard error 0.08
        ([0.3, -0.2, 0.1, 0.1], 0),  # mean 0.075, standard error 0.1
        ([0.0, 0.0, 0.0, 0.0], 0),
        ([-0.1, -0.1, -0.1, -0.1], 0),
    ],
)
def test_more_components_must_gain_more_than_a_standard_error(gains, expected):
    few = np.array([0.5, 0.6, 0.7, 0.8])
    found = table(*np.transpose([few, few + gains]))
    found["params"] = [point(2), point(3)]
    assert choose(found, "best", reluctant=True) == expected


def test_one_split_says_nothing_about_more_components():
    found = table([0.5, 0.9])
    found["params"] = [point(2), point(3)]
    assert choose(found, "best", reluctant=True) == 0
    assert choose(found, "best") == 1


# --- within one standard error -----------------------------------------------------------------------------


def test_one_error_of_the_best_and_not_more():
    """Four splits: the deviation of the best, 0.25, makes an error of 0.125."""
    best = np.array([0.5, 1.0, 0.5, 1.0])  # mean 0.75
    candidates = [best - 0.126, best - 0.125, best]
    assert choose(table(*np.transpose(candidates)), "one_standard_error") == 1
    assert choose(table(*np.transpose(candidates)), "best") == 2


def test_more_splits_make_the_error_smaller():
    best = np.array([0.5, 1.0, 0.5, 1.0])
    candidates = np.transpose([best - 0.1, best])
    assert choose(table(*candidates), "one_standard_error") == 0
    assert choose(table(*candidates, *candidates), "one_standard_error") == 1


def test_the_spread_of_others_does_not_count():
    steady = np.full(4, 0.75)
    wild = np.array([0.0, 1.0, 0.4, 1.0])
    assert choose(table(*np.transpose([wild, steady])), "one_standard_error") == 1


SIMPLE = {
    "fewest components": ([point(3, 9.0), point(2, 1.0), point(4, 9.0)], 1),
    "then largest lam": ([point(2, 1.0, 9.0), point(2, 5.0, 1.0), point(2, 2.0, 9.0)], 1),
    "then largest xi": ([point(2, 5.0, 1.0), point(2, 5.0, 0.5), point(2, 5.0, 3.0)], 2),
    "then the first": ([point(5, 5.0), point(2, 5.0), point(2, 5.0)], 1),
}


@pytest.mark.parametrize(("points", "expected"), SIMPLE.values(), ids=SIMPLE)
def test_the_simplest(points, expected):
    # All within one error, the last the best.
    scores = table([0.5, 0.5, 0.5], [0.74, 0.74, 0.75], points=points)
    assert choose(scores, "one_standard_error") == expected
    assert choose(scores, "best") == 2


def test_the_simplest_of_all_is_not_taken_if_it_is_worse():
    points = [point(1, 100.0), point(2, 10.0), point(3, 1.0)]
    scores = table([0.1, 0.7, 0.7], [0.1, 0.8, 0.82], points=points)
    assert choose(scores, "one_standard_error") == 1
