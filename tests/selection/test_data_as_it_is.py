"""Searches on data as people have them: without some labels and values, with transformers of their own."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.preprocessing import Adjuster, BlockScaler, LowRankImputer
from superfactor.selection import nested_scores
from superfactor.selection.prepared import prepared

ALL = load_breast_cancer()
X, Y = ALL.data[:80], ALL.target[:80]
KNOWN = np.arange(80) % 2 == 0
GAPS = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
ONE = {"n_components": 2, "xi": 0.001, "lam": 0.5, "certify": None}


def hidden(labels=Y):
    return np.where(KNOWN, labels.astype(object), None)


class Remembers(TransformerMixin, BaseEstimator):
    """Scales, and keeps the size of every part it was fitted to."""

    parts: list[int] = []  # noqa: RUF012

    def fit(self, X, y=None):
        self.parts.append(len(X))
        self.scale_ = np.asarray(X).std(axis=0)
        return self

    def transform(self, X):
        return np.asarray(X) / self.scale_


# --- labels ---------------------------------------------------------------------------------------


def test_scores_are_of_the_labelled_and_all_others_are_seen():
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    search = SMFClassifierCV(**ONE, cv=cv).fit(StandardScaler().fit_transform(X), hidden())
    data, where = StandardScaler().fit_transform(X), np.flatnonzero(KNOWN)
    by_hand = []
    for train, test in cv.split(data[KNOWN], Y[KNOWN]):
        rows = np.concatenate([where[train], np.flatnonzero(~KNOWN)])
        model = SMFClassifier(**ONE).fit(data[rows], hidden()[rows])
        by_hand.append(model.score(data[where[test]], Y[where[test]]))
    assert search.best_score_ == pytest.approx(np.mean(by_hand))
    assert search.best_estimator_.n_labeled_ == KNOWN.sum()
    assert search.best_estimator_.codes_.shape == (80, 2)


def test_splits_of_all_samples_lose_those_without_a_label_from_their_test_parts():
    splits = [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]
    search = SMFClassifierCV(**ONE, cv=splits)
    data = prepared(search, X, hidden(), None, None, "test")
    for (train, test), (given, others) in zip(data.splits(splits, None), splits, strict=True):
        assert set(test) == set(others[KNOWN[others]])
        assert set(train) == set(given) | set(np.flatnonzero(~KNOWN))


def test_groups_stay_together_with_those_who_have_no_label():
    groups = np.arange(80) // 2  # one of each pair has a label
    data = prepared(SMFClassifierCV(**ONE), X, hidden(), None, None, "test")
    for train, test in data.splits(4, groups):
        assert not set(groups[train]) & set(groups[test])


def test_the_grid_goes_by_the_labels_there_are():
    few = SMFClassifierCV(1, preprocess="standardize", cv=2).fit(X, hidden())
    every = SMFClassifierCV(1, preprocess="standardize", cv=2).fit(X, Y)
    for name in ("xi", "lam"):
        ours, theirs = (
            sorted({point[name] for point in search.cv_results_["params"]})
            for search in (few, every)
        )
        np.testing.assert_allclose(ours, np.array(theirs) / 2)


def test_an_unlabelled_mark_of_ones_own():
    marked = np.where(KNOWN, Y, -1)
    search = SMFClassifierCV(**ONE, unlabeled=-1, cv=3).fit(X, marked)
    other = SMFClassifierCV(**ONE, cv=3).fit(X, hidden())
    assert search.best_score_ == other.best_score_
    assert search.classes_.tolist() == [0, 1]


def test_nested_scores_judge_by_the_labelled_alone():
    search = SMFClassifierCV(**ONE, preprocess="standardize", scoring="neg_log_loss")
    found = nested_scores(X, hidden(), search=search, n_splits=4, n_repeats=1)
    assert found.predictions.shape == (KNOWN.sum(), 2)
    assert found.counts.tolist() == np.bincount(Y[KNOWN]).tolist()
    # Those without one are seen: other values of theirs are another model.
    other = X.copy()
    other[~KNOWN] = other[~KNOWN][::-1] * 2
    again = nested_scores(other, hidden(), search=search, n_splits=4, n_repeats=1)
    assert not np.allclose(found.predictions, again.predictions)


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("impute", ["lowrank", "mean", SimpleImputer(strategy="median")])
def test_gaps_are_filled_inside_the_folds(impute):
    cv = StratifiedKFold(3)
    with pytest.warns(UserWarning, match=r"10\.8% of the values are missing; every fold completes"):
        search = SMFClassifierCV(**ONE, preprocess="standardize", impute=impute, cv=cv).fit(GAPS, Y)
    step = search.best_estimator_.named_steps["imputer"]
    by_hand = make_pipeline(clone(step), StandardScaler(), SMFClassifier(**ONE))
    scores = cross_val_score(by_hand, GAPS, Y, cv=cv)
    np.testing.assert_allclose(
        [search.cv_results_[f"split{k}_test_score"][0] for k in range(3)], scores
    )
    assert search.predict(GAPS).shape == (80,)


def test_gaps_may_be_refused():
    with pytest.raises(ValueError, match="NaN"):
        SMFClassifierCV(**ONE, impute=None).fit(GAPS, Y)


def test_no_gaps_no_imputer():
    search = SMFClassifierCV(**ONE, preprocess="standardize", cv=2).fit(X, Y)
    assert list(search.best_estimator_.named_steps) == ["scaler", "smf"]
    assert isinstance(SMFClassifierCV(**ONE, cv=2).fit(X, Y).best_estimator_, SMFClassifier)


def test_infinity_is_no_gap():
    bad = X.copy()
    bad[3, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        SMFClassifierCV(**ONE).fit(bad, Y)


@pytest.mark.filterwarnings("ignore:X. .* of the values are missing:UserWarning")
@pytest.mark.parametrize("kind", ["table", "array"])
def test_covariates_behind_an_imputer_of_a_column_without_values(kind):
    table = pd.DataFrame(GAPS, columns=[f"g{j}" for j in range(30)])
    table["g3"] = np.nan
    table.insert(10, "age", np.random.default_rng(1).normal(60, 10, 80))
    columns, data = ["age"], table
    if kind == "array":
        columns, data = [10], table.to_numpy()
    search = SMFClassifierCV(**ONE, preprocess="standardize", covariate_columns=columns, cv=2).fit(
        data, Y
    )
    imputer, _, smf = (step for _, step in search.best_estimator_.steps)
    assert isinstance(imputer, LowRankImputer)
    assert smf.covariate_columns_ == [10]
    assert np.abs(smf.components_[:, 3]).max() < 1e-12
    assert search.predict(data).shape == (80,)


@pytest.mark.filterwarnings("ignore:X. .* of the values are missing:UserWarning")
def test_nested_scores_with_gaps():
    search = SMFClassifierCV(**ONE, preprocess="standardize", scoring="neg_log_loss")
    found = nested_scores(GAPS, Y, search=search, n_splits=3, n_repeats=1)
    complete = nested_scores(X, Y, search=search, n_splits=3, n_repeats=1)
    ours, theirs = (s.summary["accuracy"]["mean"] for s in (found, complete))
    assert abs(ours - theirs) < 0.05


# --- transformers ---------------------------------------------------------------------------------


def test_a_transformer_is_fitted_to_every_training_part():
    Remembers.parts.clear()
    search = SMFClassifierCV(**ONE, preprocess=Remembers(), cv=StratifiedKFold(4)).fit(X, Y)
    assert Remembers.parts[0] == 80  # for the scree
    assert set(Remembers.parts[1:-1]) == {60, 80}
    assert Remembers.parts.count(60) == 4
    by_hand = make_pipeline(Remembers(), SMFClassifier(**ONE))
    scores = cross_val_score(by_hand, X, Y, cv=StratifiedKFold(4))
    assert search.best_score_ == pytest.approx(scores.mean())
    assert list(search.best_estimator_.named_steps) == ["preprocess", "smf"]


def test_standardising_by_a_transformer_is_standardising():
    by_name = SMFClassifierCV(preprocess="standardize", scoring="neg_log_loss", cv=3).fit(X, Y)
    by_hand = SMFClassifierCV(preprocess=StandardScaler(), scoring="neg_log_loss", cv=3).fit(X, Y)
    assert by_name.best_params_ == pytest.approx(by_hand.best_params_)
    assert by_name.best_score_ == pytest.approx(by_hand.best_score_, rel=1e-6)


def test_a_pipeline_lies_flat_and_covariates_are_those_of_its_output():
    table = pd.DataFrame(GAPS, columns=ALL.feature_names.tolist())
    table["age"] = np.random.default_rng(1).normal(60, 10, 80)
    steps = make_pipeline(LowRankImputer(2, passthrough_columns=["age"]), StandardScaler())
    search = SMFClassifierCV(
        **ONE, preprocess=steps.set_output(transform="pandas"), covariate_columns=["age"], cv=2
    ).fit(table, Y)
    assert list(search.best_estimator_.named_steps) == ["lowrankimputer", "standardscaler", "smf"]
    assert search.best_estimator_[-1].covariate_names_.tolist() == ["age"]
    assert search.covariate_coef_.shape == (1, 1)


def test_sparse_data_may_be_scaled():
    import scipy.sparse as sp

    counts = sp.csr_array(np.maximum(X - X.mean(axis=0), 0))
    search = SMFClassifierCV(**ONE, preprocess=MaxAbsScaler(), cv=2).fit(counts, Y)
    assert search.predict(counts).shape == (80,)
    with pytest.raises(ValueError, match=r"StandardScaler\(with_mean=False\)"):
        SMFClassifierCV(**ONE, preprocess="standardize").fit(counts, Y)


def test_nested_scores_with_a_transformer():
    search = SMFClassifierCV(**ONE, preprocess=StandardScaler(), scoring="neg_log_loss")
    found = nested_scores(X, Y, search=search, n_splits=3, n_repeats=1)
    named = nested_scores(
        X, Y, search=clone(search).set_params(preprocess="standardize"), n_splits=3, n_repeats=1
    )
    assert found.summary["accuracy"]["mean"] == pytest.approx(
        named.summary["accuracy"]["mean"], abs=0.03
    )


def test_a_transformer_that_leaves_gaps_is_told_who_fills_them():
    with pytest.raises(ValueError, match="NaN"):
        SMFClassifierCV(**ONE, preprocess=StandardScaler()).fit(GAPS, Y)


@pytest.mark.parametrize("by", ["names", "positions"])
def test_batches_blocks_and_covariates_of_a_table(by):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(X, columns=ALL.feature_names.tolist())
    table["batch"] = np.where(rng.random(80) < 0.5, "a", "b")
    table["age"] = rng.normal(60, 10, 80)
    names = ALL.feature_names.tolist()
    steps = make_pipeline(
        Adjuster(["batch"], keep=["age"]),
        StandardScaler(),
        BlockScaler({"means": names[:10], "others": names[10:]}),
    )
    columns = ["age"] if by == "names" else [30]  # where it stands without the batch
    search = SMFClassifierCV(**ONE, preprocess=steps, covariate_columns=columns, cv=2)
    search.fit(table, Y)
    assert search.best_estimator_[-1].covariate_names_.tolist() == ["age"]
    assert search.predict(table).shape == (80,)


def test_words_among_covariates_before_a_transformer():
    table = pd.DataFrame(X, columns=ALL.feature_names.tolist())
    table["sex"] = np.where(np.arange(80) % 3 == 0, "m", "f")
    search = SMFClassifierCV(
        **ONE, preprocess=StandardScaler(), covariate_columns=["sex"], cv=2
    ).fit(table, Y)
    assert list(search.best_estimator_.named_steps) == ["words", "preprocess", "smf"]
    assert search.best_estimator_[-1].covariate_names_.tolist() == ["sex=m"]
    assert search.predict(table).shape == (80,)
