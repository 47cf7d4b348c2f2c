"""Searches on data as people have them: without some labels and values, with transformers of their own."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.outcomes import Classes
from superfactor.preprocessing import Adjuster, BlockScaler, LowRankImputer
from superfactor.selection import nested_scores
from superfactor.selection.rows.prepared import prepared

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
    data, where = StandardScaler().fit_transform(X), np.flatnonzero(KNOWN)
    search = SMFClassifierCV(**ONE, cv=cv, preprocess=None, scoring="accuracy")
    search.fit(data, hidden())
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
    data = prepared(search, Classes(), X, hidden(), None, None, "test")
    for (train, test), (given, others) in zip(data.splits(splits, None), splits, strict=True):
        assert set(test) == set(others[KNOWN[others]])
        assert set(train) == set(given) | set(np.flatnonzero(~KNOWN))


def test_groups_stay_together_with_those_who_have_no_label():
    groups = np.arange(80) // 2  # one of each pair has a label
    data = prepared(SMFClassifierCV(**ONE), Classes(), X, hidden(), None, None, "test")
    for train, test in data.splits(4, groups):
        assert not set(groups[train]) & set(groups[test])


def test_the_grid_goes_by_the_labels_there_are():
    few = SMFClassifierCV(1, preprocess="standardize", cv=2).fit(X, hidden())
    every = SMFClassifierCV(1, preprocess="standardize", cv=2).fit(X, Y)
    for name in ("xi", "lam"):
        ours, theirs = (
            sorted({point[name] for point in search.cv_results_["params"]}) for search in (few, every)
        )
        np.testing.assert_allclose(ours, np.array(theirs) / 2)


def test_an_unlabelled_mark_of_ones_own():
    marked = np.where(KNOWN, Y, -1)
    search = SMFClassifierCV(**ONE, unlabeled=-1, cv=3).fit(X, marked)
    other = SMFClassifierCV(**ONE, cv=3).fit(X, hidden())
    assert search.best_score_ == other.best_score_
    assert search.classes_.tolist() == [0, 1]


def test_nested_scores_use_the_labelled_alone():
    search = SMFClassifierCV(**ONE, preprocess="standardize", scoring="neg_log_loss")
    found = nested_scores(search, X, hidden(), n_splits=4, n_repeats=1)
    assert found.predictions.shape == (KNOWN.sum(), 2)
    assert found.counts.tolist() == np.bincount(Y[KNOWN]).tolist()
    # Those without one are seen: other values of theirs are another model.
    other = X.copy()
    other[~KNOWN] = other[~KNOWN][::-1] * 2
    again = nested_scores(search, other, hidden(), n_splits=4, n_repeats=1)
    assert not np.allclose(found.predictions, again.predictions)


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("impute", ["lowrank", SimpleImputer(strategy="median")])
def test_gaps_are_filled_inside_the_folds(impute):
    cv = StratifiedKFold(3)
    with pytest.warns(UserWarning, match=r"X: \d+ of \d+ values are missing; every fold completes"):
        search = SMFClassifierCV(**ONE, impute=impute, cv=cv, scoring="accuracy").fit(GAPS, Y)
    step = search.best_estimator_.named_steps["imputer"]
    by_hand = make_pipeline(clone(step), StandardScaler(), SMFClassifier(**ONE))
    scores = cross_val_score(by_hand, GAPS, Y, cv=cv)
    np.testing.assert_allclose([search.cv_results_[f"split{k}_test_score"][0] for k in range(3)], scores)
    assert search.predict(GAPS).shape == (80,)


def test_gaps_may_be_refused():
    with pytest.raises(ValueError, match="NaN"):
        SMFClassifierCV(**ONE, impute=None).fit(GAPS, Y)


@pytest.mark.filterwarnings("ignore:X. .* values are missing:UserWarning")
@pytest.mark.parametrize("kind", ["table", "array"])
def test_covariates_behind_an_imputer_of_a_column_without_values(kind):
    table = pd.DataFrame(GAPS, columns=[f"g{j}" for j in range(30)])
    table["g3"] = np.nan
    table.insert(10, "age", np.random.default_rng(1).normal(60, 10, 80))
    columns, data = ["age"], table
    if kind == "array":
        columns, data = [10], table.to_numpy()
    search = SMFClassifierCV(**ONE, preprocess="standardize", covariate_columns=columns, cv=2).fit(data, Y)
    imputer, _, smf = (step for _, step in search.best_estimator_.steps)
    assert isinstance(imputer, LowRankImputer)
    assert smf.covariate_columns_ == [10]
    assert np.abs(smf.components_[:, 3]).max() < 1e-12
    assert search.predict(data).shape == (80,)


# --- transformers ---------------------------------------------------------------------------------


def test_a_transformer_is_fitted_to_every_training_part():
    Remembers.parts.clear()
    search = SMFClassifierCV(**ONE, preprocess=Remembers(), cv=StratifiedKFold(4), scoring="accuracy").fit(
        X, Y
    )
    assert Remembers.parts[0] == 80  # for the scree
    assert set(Remembers.parts[1:-1]) == {60, 80}
    assert Remembers.parts.count(60) == 4
    by_hand = make_pipeline(Remembers(), SMFClassifier(**ONE))
    scores = cross_val_score(by_hand, X, Y, cv=StratifiedKFold(4))
    assert search.best_score_ == pytest.approx(scores.mean())
    assert list(search.best_estimator_.named_steps) == ["preprocess", "smf"]


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


def test_texts_and_categories_of_a_table_become_sparse_columns_in_every_fold():
    table = pd.DataFrame({"text": ["a word", "two words", "many more words"] * 20, "type": list("ab") * 30})
    labels = np.arange(60) % 3 == 0
    columns = make_column_transformer(
        (OneHotEncoder(categories=[["a", "b"]], handle_unknown="ignore"), ["type"]),
        (TfidfVectorizer(), "text"),
        sparse_threshold=1,
    )
    search = SMFClassifierCV(**ONE, preprocess=columns, covariate_columns=[0, 1], cv=3).fit(table, labels)
    by_hand = make_pipeline(columns, SMFClassifier(**ONE, covariate_columns=[0, 1])).fit(table, labels)
    np.testing.assert_allclose(search.predict_proba(table), by_hand.predict_proba(table))
    assert search.predict(table.iloc[:1].assign(type="c")).shape == (1,)


@pytest.mark.parametrize("wide", [False, True])
def test_sparse_data_with_covariates(wide):
    import scipy.sparse as sp

    part = np.maximum(X - X.mean(axis=0), 0)
    counts = sp.csr_array(np.tile(part[:40], 3) if wide else part)
    y, age = Y[: counts.shape[0]], np.arange(counts.shape[0])[:, None]
    search = SMFClassifierCV(**ONE, preprocess=StandardScaler(with_mean=False), cv=2)
    search.fit(counts, y, covariates=age)
    assert search.predict(counts, covariates=age).shape == y.shape


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


@pytest.mark.parametrize("keep", ["sex", "age"])
def test_words_and_gaps_among_covariates_behind_a_transformer(keep):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(X, columns=ALL.feature_names.tolist())
    table["batch"] = np.where(rng.random(80) < 0.5, "a", "b")
    table["sex"] = np.where(np.arange(80) % 3 == 0, "m", "f")
    table["age"] = np.where(np.arange(80) % 9 == 0, np.nan, rng.normal(60, 10, 80))
    table = table.drop(columns=[name for name in ("sex", "age") if name != keep])
    search = SMFClassifierCV(
        **ONE, preprocess=Adjuster("batch", keep=keep), covariate_columns=[keep], cv=2
    ).fit(table, Y)
    names = {"sex": ["sex=m"], "age": ["age", "age=missing"]}[keep]
    assert search.best_estimator_[-1].covariate_names_.tolist() == names
    assert search.predict(table).shape == (80,)


# --- nothing of a test part reaches its training part -----------------------------------------------


@pytest.mark.parametrize("where", ["inside", "beside"])
def test_missing_ages_are_filled_from_the_training_part(where):
    age = np.where(np.arange(80) % 9 == 0, np.nan, np.arange(80.0))
    train, test = np.arange(60), np.arange(60, 80)
    found = []
    for shift in (0.0, 1000.0):
        ages = age.copy()
        ages[test] += shift
        data, beside, columns = X, ages[:, None], None
        if where == "inside":
            data, beside, columns = np.column_stack([X, ages]), None, [30]
        search = SMFClassifierCV(**ONE, covariate_columns=columns, preprocess=None)
        ready = prepared(search, Classes(), data, Y, beside, None, "test")
        found.append(ready.rows.seen_by(train, test, Y)[0])
    np.testing.assert_array_equal(*found)
    assert np.isin(np.nanmedian(age[train]), found[0][:, -2])


@pytest.mark.filterwarnings("ignore:X. .* values are missing:UserWarning")
def test_the_rank_of_a_completion_is_that_of_the_training_part():
    train = np.arange(60)
    found = []
    for seed in (None, 0):
        data = GAPS.copy()
        if seed is not None:
            rest = np.random.default_rng(seed).standard_normal((20, 30))
            data[60:] = np.where(np.isnan(data[60:]), np.nan, rest)
        ready = prepared(SMFClassifierCV(**ONE), Classes(), data, Y, None, None, "test")
        found.append(ready.rows.seen_by(train, np.arange(60, 80), Y)[0])
    np.testing.assert_array_equal(*found)


@pytest.mark.filterwarnings("ignore:X. .* values are missing:UserWarning")
def test_an_imputer_of_ones_own_sees_no_covariates():
    data = np.column_stack([GAPS, np.arange(80.0)])
    with pytest.raises(ValueError, match="impute=KNNImputer: it would see covariate_columns"):
        SMFClassifierCV(**ONE, impute=KNNImputer(), covariate_columns=[30]).fit(data, Y)
    SMFClassifierCV(**ONE, impute=KNNImputer(), cv=2).fit(GAPS, Y, covariates=data[:, -1:])


# --- scores, splits and labels ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scoring", "mark", "beside"),
    [(None, -1, True), ("neg_log_loss", None, False), ("roc_auc", np.nan, True)],
)
def test_scores_of_a_search_leave_out_who_has_no_label(scoring, mark, beside):
    y = np.where(KNOWN, Y, np.nan) if mark is np.nan else np.where(KNOWN, Y.astype(object), mark)
    y = y.astype(int) if mark == -1 else y
    covariates = {"covariates": X[:, :1]} if beside else {}
    data = StandardScaler().fit_transform(X)
    search = SMFClassifierCV(**ONE, unlabeled=-1, scoring=scoring, cv=2, preprocess=None).fit(
        data, y, **covariates
    )
    some = {name: value[KNOWN] for name, value in covariates.items()}
    assert search.score(data, y, **covariates) == search.score(data[KNOWN], y[KNOWN], **some)


def test_transformers_of_the_refit_are_shown_the_same_labels_as_in_the_folds():
    table = pd.DataFrame(X, columns=ALL.feature_names.tolist())
    table["batch"] = np.where(np.random.default_rng(0).random(80) < 0.3 + 0.4 * Y, "a", "b")
    fits = [
        SMFClassifierCV(**ONE, preprocess=Adjuster("batch", spare_y=True), unlabeled=-1, cv=2).fit(table, y)
        for y in (hidden(), np.where(KNOWN, Y, -1))
    ]
    ours, theirs = (search.best_estimator_[0].coef_ for search in fits)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("cv", [np.int64(3), PredefinedSplit(np.arange(80) % 3)])
def test_splitters_of_every_kind(cv):
    assert SMFClassifierCV(**ONE, cv=cv).fit(X, hidden()).n_splits_ == 3


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([(np.arange(40), np.flatnonzero(~KNOWN))], "no sample in the test part of split 1"),
        ([(np.flatnonzero(Y & KNOWN), np.flatnonzero(~Y.astype(bool) & KNOWN))], "one class only"),
    ],
)
def test_splits_without_labels_are_refused(cv, message):
    with pytest.raises(ValueError, match=message):
        SMFClassifierCV(**ONE, cv=cv).fit(X, hidden())


def test_groups_of_another_length_are_refused():
    with pytest.raises(ValueError, match="groups: 3 samples, but X has 80"):
        SMFClassifierCV(**ONE, cv=2).fit(X, Y, groups=[1, 2, 3])


def test_nested_scores_know_classes_by_their_names():
    names = np.where(Y == 1, "benign", "malignant")
    search = SMFClassifierCV(**ONE, class_weight={"benign": 2.0}, scoring="neg_log_loss")
    found = nested_scores(search, X, names, n_repeats=1, baselines=False)
    assert found.classes.tolist() == ["benign", "malignant"]
    assert found.procedure["parameters"]["class_weight"] == {"benign": 2.0}


def test_gaps_that_a_transformer_leaves_are_named():
    with pytest.raises(ValueError, match="preprocess=StandardScaler: NaN is left"):
        SMFClassifierCV(**ONE, preprocess=StandardScaler()).fit(GAPS, Y)
