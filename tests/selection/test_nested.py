"""Nested cross-validation held against a loop of scikit-learn, and what must never happen in it."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import kstest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from tests.selection.searches import COVARIATES, FREQUENT, PCA_LR, RIDGE

from superfactor import SMFClassifierCV
from superfactor.outcomes import Classes
from superfactor.selection import nested_scores
from superfactor.selection.evaluation import outer
from superfactor.selection.evaluation.permutation import shuffled


def patients(n=40, p=60, effect=2.0, seed=0):
    """Wide, two classes, a few features that know them."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, "ill", "well")
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 20, size=p)
    X[:, :4] += effect * X[:, :4].std(axis=0) * (y == "ill")[:, None]
    return X, y


def quick(**others):
    return SMFClassifierCV(2, xi=[0.01, 0.1], lam=[1.0, 10.0], scoring="neg_log_loss", certify=None, **others)


@pytest.mark.parametrize(("preprocess", "tall"), [("standardize", False), ("center", True)])
def test_is_a_loop_over_outer_folds(preprocess, tall, monkeypatch):
    monkeypatch.setattr(outer, "TOLERANCE", 1e-8)
    X, y = patients(p=8 if tall else 60)
    inner = StratifiedKFold(2, shuffle=True, random_state=7)
    search = quick(cv=inner, preprocess=preprocess, search="off")
    found = nested_scores(search, X, y, n_splits=5, n_repeats=2 if tall else 1, baselines=False)

    scaler = StandardScaler(with_std=preprocess == "standardize")
    inside = search.set_params(preprocess=None if preprocess is None else "center")
    steps = [("scale", "passthrough" if preprocess is None else scaler), ("search", inside)]
    for r in range(found.n_repeats):
        cv = StratifiedKFold(5, shuffle=True, random_state=r)
        P = cross_val_predict(Pipeline(steps), X, y, cv=cv, method="predict_proba")
        if r == 0:
            np.testing.assert_allclose(found.predictions, P, atol=1e-5)
        right = [accuracy_score(y[t], np.unique(y)[P[t].argmax(axis=1)]) for _, t in cv.split(X, y)]
        np.testing.assert_allclose(found.folds["model"]["accuracy"][r], right)
    assert found.summary["accuracy"]["mean"] == found.folds["model"]["accuracy"].mean()


def test_the_default_says_what_the_data_say():
    X, y = patients()
    found = nested_scores(SMFClassifierCV(), X, y)
    assert (found.n_splits, found.n_repeats, found.headline) == (20, 1, "accuracy")
    assert set(found.baselines) == {PCA_LR, RIDGE, FREQUENT}
    assert found.baselines[FREQUENT]["accuracy"]["mean"] == 0.5
    assert found.summary["accuracy"]["mean"] > 0.8
    assert found.verdict.grade == "better"
    assert len(found.chosen) == 20
    assert set(found.summary) == set(found.baselines[RIDGE])
    difference = found.folds["model"]["accuracy"] - found.folds[RIDGE]["accuracy"]
    assert found.differences[RIDGE]["mean"] == pytest.approx(difference.mean())
    plain = found.as_dict()
    assert plain["summary"] == found.summary
    assert plain["verdict"]["headline"] == found.verdict.headline


def test_results_do_not_depend_on_processes():
    X, y = patients(n=24, p=10)
    here = nested_scores(quick(preprocess="standardize"), X, y, n_repeats=1)
    there = nested_scores(quick(preprocess="standardize"), X, y, n_repeats=1, n_jobs=2)
    np.testing.assert_array_equal(here.predictions, there.predictions)


class TestCovariates:
    def test_alone_and_beside(self):
        X, y = patients(n=40, p=20, effect=0.0)
        age = (y == "ill") + 0.2 * np.random.default_rng(0).normal(size=len(y))
        names = ("age",)
        options = {"xi": 0.1, "lam": 10.0, "cv": 2, "certify": None}
        search = SMFClassifierCV(2, **options)
        apart = nested_scores(search, X, y, covariates=age[:, None], n_repeats=1, covariate_names=names)
        assert apart.baselines[COVARIATES]["accuracy"]["mean"] > 0.9
        assert " age a" in apart.verdict.sentences[0]  # alone
        both = np.column_stack([X, age])
        search = SMFClassifierCV(2, **options, covariate_columns=[X.shape[1]])
        column = nested_scores(search, both, y, n_repeats=1)
        assert column.baselines[COVARIATES]["accuracy"]["mean"] > 0.9
        assert " the covariates a" in column.verdict.sentences[0]


class TestGroups:
    def test_never_cross_folds(self, monkeypatch):
        X, y = patients(n=60, p=10)
        groups = np.repeat(np.arange(20), 3)
        y = np.where(groups % 2 == 0, "ill", "well")
        seen = []
        choice = outer.SearchFold.choice

        def spied(self, rows, codes, train, test, inner=None):
            assert not set(groups[train]) & set(groups[test])
            for fit, score in inner:
                assert not set(groups[train][fit]) & set(groups[train][score])
            seen.append(test)
            return choice(self, rows, codes, train, test, inner)

        monkeypatch.setattr(outer.SearchFold, "choice", spied)
        search = quick(preprocess="standardize")
        nested_scores(search, X, y, groups=groups, n_splits=5, n_repeats=1, baselines=False)
        assert len(seen) == 5
        assert sorted(np.concatenate(seen[:5])) == list(range(60))

    def test_copies_of_a_sample_teach_nothing(self):
        X, y = patients(n=20, p=40, effect=0.0)
        groups = np.tile(np.arange(20), 3)
        many = np.tile(X, (3, 1)), np.tile(y, 3)
        search = SMFClassifierCV(2, xi=1e-4, lam=1e-4, cv=2, preprocess="standardize")
        without = nested_scores(search, *many, n_repeats=1, baselines=False)
        within = nested_scores(search, *many, groups=groups, n_repeats=1, baselines=False)
        for found in (without, within):
            assert found.summary["accuracy"]["mean"] < 0.8
            assert found.verdict.grade == "not shown"

    def test_too_few(self):
        X, y = patients(n=20, p=5)
        groups = np.where(y == "ill", np.arange(20) % 4, 9)
        with pytest.raises(ValueError, match=r"class 'ill' has too few groups, 2|'well'"):
            nested_scores(SMFClassifierCV(), X, y, groups=groups)


class TestPermutations:
    def test_signal_is_seen(self):
        X, y = patients()
        search = SMFClassifierCV(1, xi=0.1, lam=10.0, preprocess="standardize", certify=None)
        found = nested_scores(search, X, y, n_splits=3, n_repeats=1, baselines=False, permutations=9)
        assert found.permutation.p_value == 1 / 10
        assert found.permutation.score == found.repeats["model"]["accuracy"][0]
        assert "0 of 9 tries (p = 0.1; a claim needs 19 tries or more)" in found.verdict.sentences[0]
        assert found.as_dict()["permutation"]["p_value"] == 1 / 10

    def test_p_values_of_noise_are_uniform(self):
        p = []
        search = SMFClassifierCV(1, xi=0.1, lam=10.0, preprocess="standardize", certify=None)
        for seed in range(6):
            X, y = patients(n=20, p=4, effect=0.0, seed=100 + seed)
            found = nested_scores(*(search, X, y), n_splits=2, n_repeats=1, baselines=False, permutations=4)
            p.append(found.permutation.p_value)
        # Scores of few samples tie, so that p-values lie above those of a uniform law, not below.
        assert kstest(p, "uniform", alternative="greater").pvalue > 0.01
        assert min(p) < 0.7

    def test_labels_stay_in_their_fold(self):
        codes = np.arange(40) % 2
        splits = Classes().splits(codes, None, 5, 0)
        found = shuffled(codes, None, splits, np.random.default_rng(0))
        assert (found != codes).any()
        for _, test in splits:
            assert sorted(found[test]) == sorted(codes[test])

    def test_groups_keep_one_label(self):
        groups = np.repeat(np.arange(20), 2)
        codes = groups % 2
        splits = Classes().splits(codes, groups, 5, 0)
        found = shuffled(codes, groups, splits, np.random.default_rng(0))
        assert all(len(set(found[groups == g])) == 1 for g in range(20))
        assert (found != codes).any()

    def test_labels_that_vary_within_groups_stay_there(self):
        groups = np.repeat(np.arange(10), 4)
        codes = np.tile([0, 0, 1, 1], 10)
        splits = Classes().splits(codes, groups, 5, 0)
        found = shuffled(codes, groups, splits, np.random.default_rng(0))
        assert all(found[groups == g].sum() == 2 for g in range(10))
        assert (found != codes).any()


def test_several_classes():
    X, y = load_wine(return_X_y=True)
    found = nested_scores(quick(preprocess="standardize"), X[::2], y[::2], n_repeats=1)
    assert found.predictions.shape == (89, 3)
    assert found.verdict.grade == "better"
    assert "calibration_slope" not in found.summary


def test_sparse_data():
    X, y = patients(p=12)
    sparse = sp.csr_array(np.where(X > 0, X, 0.0))
    search = quick(preprocess=None, cv=2)
    found = nested_scores(search, sparse, y, n_splits=3, n_repeats=1)
    dense = nested_scores(search, sparse.toarray(), y, n_splits=3, n_repeats=1)
    np.testing.assert_allclose(found.predictions, dense.predictions, atol=1e-5)


def test_ranks_are_no_larger_than_folds_allow():
    X, y = patients(n=16, p=40)
    search = SMFClassifierCV([2, 12], xi=0.1, lam=1.0, preprocess="standardize")
    found = nested_scores(search, X, y, n_repeats=1, baselines=False)
    assert max(point["n_components"] for point in found.chosen) <= 9


def test_progress_and_small_classes():
    X, y = patients(n=30, p=10)
    y = np.array(["common"] * 26 + ["rare"] * 4)
    told = []
    found = nested_scores(
        *(quick(preprocess="standardize", cv=2), X, y),
        n_repeats=2,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(k, 8) for k in range(9)]
    assert found.n_splits == 4
    assert found.headline == "balanced_accuracy"
    assert any("Only 4 samples of class 'rare'" in s for s in found.verdict.sentences)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_splits": 1}, "n_splits=1: 'auto' or a number from 2"),
        ({"n_repeats": 0}, "n_repeats=0: 'auto' or a number from 1"),
        ({"n_repeats": "many"}, "n_repeats='many': 'auto' or"),
        ({"permutations": -1}, "permutations=-1: a number from 0"),
        ({"groups": [1, 2]}, "groups: 2 samples, but X has 40"),
        ({"search": SMFClassifierCV(cv=[(np.arange(9), np.arange(9))])}, "search: its cv lists splits"),
    ],
)
def test_invalid_input(options, message):
    X, y = patients(p=6)
    with pytest.raises(ValueError, match=message):
        nested_scores(**{"search": SMFClassifierCV(), **options}, X=X, y=y)


def test_too_few_samples_of_a_class():
    X, y = patients(n=12, p=6)
    y[:] = "a"
    y[:2] = "b"
    with pytest.raises(ValueError, match="class 'b' has too few samples, 2; nested"):
        nested_scores(SMFClassifierCV(), X, y)


def test_perfect_folds_leave_room_for_doubt():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 5)) + 20 * y[:, None]
    found = nested_scores(quick(preprocess="standardize", cv=2), X, y, n_repeats=1)
    assert found.summary["accuracy"]["mean"] == 1.0
    assert found.summary["accuracy"]["low"] == pytest.approx(40 / (40 + 1.959963984540054**2))
    assert found.differences["always the most frequent class"]["low"] < 0.45
    assert found.verdict.grade == "better"


def test_many_groups_take_no_time_of_their_square():
    rng, n = np.random.default_rng(0), 200_000
    groups = np.arange(n) // 2
    splits = [(np.arange(n), part) for part in np.array_split(np.arange(n), 5)]
    rows = rng.random((n, 2))
    start = time.perf_counter()
    for truth in (groups % 2, rng.integers(0, 2, n)):  # one value in each group, and several
        found = shuffled(truth, groups, splits, rng)
        assert found.sum() == truth.sum() and np.any(found != truth)
        units = Classes().as_units(truth, rows, groups)
    assert units.name == "samples"
    units = Classes().as_units(groups % 2, rows, groups)
    assert time.perf_counter() - start < 3  # a loop over groups takes minutes
    np.testing.assert_allclose(units.rows[:10], rows[:20].reshape(10, 2, 2).mean(axis=1))


def test_few_samples_get_more_folds():
    for n, folds in ((50, 20), (80, 10), (120, 5)):
        y = np.arange(n) % 2
        X = np.random.default_rng(0).standard_normal((n, 4)) + y[:, None]
        found = nested_scores(LogisticRegression(), X, y, baselines=False)
        assert (found.n_splits, found.n_repeats) == (folds, 1 if folds == 20 else 2)
        assert np.isfinite(found.folds["model"]["balanced_accuracy"]).all()
    assert nested_scores(LogisticRegression(), X[:50], y[:50], baselines=False, n_splits=4).n_repeats == 2
    with pytest.raises(ValueError, match="n_splits='many': 'auto' or a number from 2"):
        nested_scores(LogisticRegression(), X, y, n_splits="many")
