"""SMFClassifierCV against brute force: scikit-learn's GridSearchCV over SMFClassifier."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import accuracy_score, log_loss, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from tests.selection.brute_force import assert_same_search, grid_search

from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.spectrum import DataMatrix

# Enough ridge that every candidate is proven optimal: brute force then has no choice of optimum either.
GRID = {"n_components": [1, 3], "xi": [0.001, 0.01], "lam": [200.0, 50.0]}
FEATURE_GRID = {"n_components": [1, 3], "xi": [0.001, 0.01], "lam": [1.0, 0.1]}
FOLDS = StratifiedKFold(3, shuffle=True, random_state=1)


def genes(n=40, p=120, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, "tumour", "normal")
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 2, p) + 1
    X[:, :6] += 0.8 * (y == "tumour")[:, None]
    return X, y


def brute_force(X, y, model="filter", preprocess=None, cv=FOLDS, scoring="neg_log_loss", **given):
    estimator = SMFClassifier(model=model, certify=None, **given)
    grid = GRID if model == "filter" else FEATURE_GRID
    return grid_search(estimator, grid, preprocess, cv=cv, scoring=scoring).fit(X, y)


@pytest.mark.parametrize(
    ("shape", "model", "preprocess"),
    [("tall", "filter", "center"), ("wide", "filter", "standardize"), ("wide", "feature", None)],
)
def test_same_scores_and_choice_as_brute_force(shape, model, preprocess):
    X, y = genes() if shape == "wide" else genes(60, 8)
    grid = GRID if model == "filter" else FEATURE_GRID
    search = SMFClassifierCV(
        **grid, model=model, preprocess=preprocess, cv=FOLDS, scoring="neg_log_loss"
    ).fit(X, y)
    brute = brute_force(X, y, model, preprocess)
    assert_same_search(search, brute)
    np.testing.assert_allclose(search.predict_proba(X), brute.predict_proba(X), atol=1e-5)
    assert type(search.best_estimator_) is type(brute.best_estimator_)


def test_several_classes_and_the_defaults():
    """Standardised, chosen by the likelihood, scored by accuracy."""
    X, y = load_iris(return_X_y=True)
    X = X * [1, 100, 1, 0.01]
    search = SMFClassifierCV(**GRID).fit(X, y)
    assert_same_search(search, brute_force(X, y, preprocess="standardize", cv=None))
    assert search.score(X, y) == accuracy_score(y, search.predict(X))
    weight = np.random.default_rng(0).uniform(0.1, 2, len(y))
    assert search.score(X, y, weight) == accuracy_score(y, search.predict(X), sample_weight=weight)
    by_name = SMFClassifierCV(**GRID, scoring="neg_log_loss").fit(X, y)
    assert by_name.score(X, y) == pytest.approx(-log_loss(y, search.predict_proba(X)))


def test_sparse_columns_are_scaled_and_keep_their_zeros():
    X, y = genes(40, 30)
    X = sp.csr_array(X * (X > 1) * np.linspace(0.1, 50, 30))
    search = SMFClassifierCV(**GRID, cv=FOLDS).fit(X, y)
    scaler = StandardScaler(with_mean=False)
    by_hand = SMFClassifierCV(**GRID, cv=FOLDS, preprocess=scaler).fit(X, y)
    np.testing.assert_allclose(*(s.cv_results_["mean_test_score"] for s in (search, by_hand)), rtol=1e-4)
    assert not search.best_estimator_[0].with_mean
    with pytest.raises(ValueError, match="preprocess='center': centring would make sparse X dense"):
        SMFClassifierCV(**GRID, preprocess="center").fit(X, y)


@pytest.mark.parametrize(
    "scoring",
    ["roc_auc", "f1_macro", make_scorer(accuracy_score), lambda m, X, y: m.predict_proba(X)[0, 0]],
    ids=["name with scores", "name with labels", "scorer", "function"],
)
def test_any_scorer(scoring):
    X, y = genes()
    search = SMFClassifierCV(**GRID, cv=FOLDS, scoring=scoring, preprocess=None).fit(X, y)
    assert_same_search(search, brute_force(X, y, scoring=scoring))


@pytest.mark.parametrize("kind", ["repeated", "groups", "list"])
def test_any_splitter(kind):
    X, y = genes()
    groups = np.arange(len(y)) // 4
    cv = {
        "repeated": RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
        "groups": GroupKFold(4),
        "list": list(FOLDS.split(X, y)),
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the others do not look at groups
        search = SMFClassifierCV(**GRID, cv=cv, scoring="neg_log_loss", preprocess=None).fit(
            X, y, groups=groups
        )
        splits = list(cv.split(X, y, groups)) if kind != "list" else cv
    assert search.n_splits_ == len(splits)
    assert_same_search(search, brute_force(X, y, cv=splits))


@pytest.mark.parametrize(("where", "preprocess"), [("columns", "center"), ("beside", None)])
def test_covariates_by_hand(where, preprocess):
    X, y = genes(50, 70)
    age = X[:, [3]] * 0.1 + (y == "tumour")[:, None]
    scores = np.zeros((3, 8))
    points = SMFClassifierCV(**GRID, cv=FOLDS, scoring="neg_log_loss").fit(X, y)
    for f, (train, test) in enumerate(FOLDS.split(X, y)):
        mean = X[train].mean(axis=0) if preprocess else 0
        shift = age[train].mean() if preprocess and where == "columns" else 0
        for i, point in enumerate(points.cv_results_["params"]):
            fit = SMFClassifier(**point, fit_intercept=False, certify=None)
            fit.fit(X[train] - mean, y[train], covariates=age[train] - shift)
            p = fit.predict_proba(X[test] - mean, covariates=age[test] - shift)
            scores[f, i] = -log_loss(y[test], p)
    search = SMFClassifierCV(
        **GRID, cv=FOLDS, scoring="neg_log_loss", preprocess=preprocess, fit_intercept=False
    )
    if where == "columns":
        table = pd.DataFrame(X, columns=[f"g{j}" for j in range(70)])
        table.insert(2, "age", age[:, 0])
        search.set_params(covariate_columns=["age"]).fit(table, y)
        search.predict(table)
    else:
        search.fit(X, y, covariates=age)
        assert search.score(X, y, covariates=age) == pytest.approx(
            -log_loss(y, search.predict_proba(X, covariates=age))
        )
    found = search.cv_results_
    np.testing.assert_allclose(found["mean_test_score"], scores.mean(axis=0), rtol=2e-4)


def test_weights_reach_fits_preprocessing_and_scorer(preprocess="standardize"):
    X, y = genes(40, 60)
    weight = np.random.default_rng(3).integers(0, 3, len(y)).astype(float)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    splits = list(FOLDS.split(X, y))
    where = [tuple(np.flatnonzero(np.isin(twice, part)) for part in (train, test)) for train, test in splits]
    options = {**GRID, "scoring": "neg_log_loss", "preprocess": preprocess}
    weighted = SMFClassifierCV(**options, cv=splits).fit(X, y, sample_weight=weight)
    repeated = SMFClassifierCV(**options, cv=where).fit(X[twice], y[twice])
    np.testing.assert_allclose(
        weighted.cv_results_["mean_test_score"], repeated.cv_results_["mean_test_score"], rtol=2e-4
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_automatic_grids_do_not_depend_on_units_or_the_number_of_samples(model):
    X, y = genes(24, 12)
    options = {"model": model, "preprocess": "center", "cv": 2, "refit": False}
    one = SMFClassifierCV(**options).fit(X, y)
    large = SMFClassifierCV(**options).fit(1000 * X, y)
    double = SMFClassifierCV(**options).fit(np.r_[X, X], np.r_[y, y])
    assert set(one.cv_results_["param_n_components"]) == {2, 3}

    def weights(search):
        table = search.cv_results_
        return np.array([table["param_xi"], table["param_lam"]], dtype=float)

    # Everything that F adds up grows with the samples but the feature model's λ, a price for each of them.
    filters = model == "filter"
    unit, more = [[1e-6], [1e6 if filters else 1]], [[1], [2 if filters else 1]]
    np.testing.assert_allclose(weights(large), unit * weights(one), rtol=1e-9)
    np.testing.assert_allclose(weights(double), more * weights(one), rtol=1e-9)
    for key in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(large.cv_results_[key], one.cv_results_[key], atol=1e-6)


def test_one_standard_error_takes_the_simplest_of_the_good():
    X, y = genes(60, 80)
    options = {**GRID, "cv": FOLDS, "scoring": "accuracy"}
    best = SMFClassifierCV(**options).fit(X, y)
    simple = SMFClassifierCV(**options, rule="one_standard_error").fit(X, y)
    table = best.cv_results_
    splits = np.array([table[f"split{k}_test_score"] for k in range(3)])
    top = splits.mean(axis=0).argmax()
    floor = splits.mean(axis=0)[top] - splits[:, top].std() / np.sqrt(3)
    good = [p for p, s in zip(table["params"], splits.mean(axis=0), strict=True) if s >= floor]
    expected = sorted(good, key=lambda p: (p["n_components"], -p["lam"], -p["xi"]))[0]
    assert simple.best_params_ == expected
    assert len(good) > 1


@pytest.mark.parametrize("rule", ["best", "one_standard_error"])
def test_scores_that_are_no_numbers_leave_the_first_candidate(rule):
    X, y = genes()
    search = SMFClassifierCV(**GRID, cv=FOLDS, rule=rule, refit=False, scoring=lambda *_: np.nan)
    assert search.fit(X, y).best_index_ == 0


def test_parallel_folds_give_the_same():
    X, y = genes()
    options = {**GRID, "cv": FOLDS, "scoring": "neg_log_loss"}
    one, two = (SMFClassifierCV(**options, n_jobs=k).fit(X, y) for k in (1, 2))
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])


@pytest.mark.parametrize(("preprocess", "grams"), [(None, 1), ("center", 1), ("standardize", 4)], ids=str)
def test_wide_data_are_multiplied_once_and_not_for_every_candidate(preprocess, grams, monkeypatch):
    X, y = genes()
    seen = []
    original = DataMatrix.gram
    monkeypatch.setattr(DataMatrix, "gram", lambda data: (seen.append(data.shape), original(data))[1])
    SMFClassifierCV(**GRID, cv=FOLDS, preprocess=preprocess, refit=False).fit(X, y)
    # Standardised: one for each of three folds, and one for the units of all samples.
    assert sum(shape[1] == X.shape[1] for shape in seen) == grams


def test_rank_deficient_data_and_more_components_than_it_has():
    X, y = genes(30, 90)
    X = X[:, :4] @ np.random.default_rng(0).standard_normal((4, 90))
    search = SMFClassifierCV([2, 7], xi=0.1, lam=0.1, cv=FOLDS, preprocess=None).fit(X, y)
    assert search.best_estimator_.components_.shape[1] == 90


def test_nothing_to_predict_with_without_a_refit():
    X, y = genes()
    search = SMFClassifierCV(**GRID, cv=FOLDS, refit=False).fit(X, y)
    assert search.best_params_ in search.cv_results_["params"]
    assert not hasattr(search, "predict_proba")
    with pytest.raises(AttributeError) as error:
        search.predict(X)
    assert "refit=False" in f"{error.value} {error.value.__cause__}"


def test_codes_are_a_table_where_that_is_asked_for():
    X, y = genes()
    X = pd.DataFrame(X, index=[f"sample {i}" for i in range(len(X))]).add_prefix("gene")
    search = SMFClassifierCV(2, xi=0.01, lam=50.0, cv=FOLDS).set_output(transform="pandas")
    codes = search.fit(X, y).transform(X)
    assert list(codes.columns) == list(search.get_feature_names_out())
    assert codes.index.equals(X.index)
    np.testing.assert_array_equal(codes, search.best_estimator_.transform(X))
    assert isinstance(search.fit_transform(X, y), pd.DataFrame)
    assert isinstance(search.set_output(transform="default").transform(X), np.ndarray)
    assert not hasattr(SMFClassifierCV(refit=False), "transform")


def test_it_can_be_searched_in_turn_and_cloned():
    X, y = load_wine(return_X_y=True)
    outer = GridSearchCV(
        SMFClassifierCV([1, 2], xi=0.1, lam=1.0, cv=2), {"preprocess": ["center", "standardize"]}, cv=2
    ).fit(X, y)
    assert outer.best_params_ == {"preprocess": "standardize"}
    assert clone(outer.best_estimator_).get_params() == outer.best_estimator_.get_params()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"n_components": 0}, r"'n_components'.*\[1, inf\).* Got 0"),
        ({"n_components": [2, 99]}, "n_components=99: at most 26 is allowed"),
        ({"n_components": []}, r"n_components=\[\]: at least one value"),
        ({"model": "both"}, "'model' .*'filter'.* Got 'both'"),
        ({"xi": [0.0]}, r"'xi'.*\(0\.0, inf\).* Got 0\.0"),
        ({"xi": "large"}, r"'xi' .*'auto'.*\(0\.0, inf\).* Got 'large'"),
        ({"lam": -1}, r"'lam' .*'auto'.*\[0\.0, inf\).* Got -1"),
        ({"preprocess": "log"}, "'preprocess' .*'center'.* or None. Got 'log'"),
        ({"rule": "worst"}, "'rule' .*'best'.* Got 'worst'"),
        ({"scoring": ["accuracy", "f1"]}, "'scoring' .*'str', a callable or None. Got"),
        ({"prediction": "slow"}, "'prediction' .*'exact'.* Got 'slow'"),
        ({"tol": -1}, r"'tol' .*\[0\.0, inf\). Got -1"),
        ({"covariate_columns": [700]}, "700 is not a column of X"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_bad_options_get_one_line(options, line):
    X, y = genes()
    with pytest.raises(ValueError, match=line):
        SMFClassifierCV(**{"cv": FOLDS, **options}).fit(X, y)


def test_bad_data_get_one_line():
    X, y = genes()
    with pytest.raises(ValueError, match="one class only: 'a'"):
        SMFClassifierCV().fit(X, ["a"] * len(y))
    with pytest.raises(ValueError, match="centring would make sparse X dense"):
        SMFClassifierCV(preprocess="center").fit(sp.csr_matrix(X), y)
    with pytest.raises(ValueError, match="all zero after preprocessing"):
        SMFClassifierCV(preprocess="center").fit(np.ones_like(X), y)
    with pytest.raises(ValueError, match=r"split 1.*one class only"):
        SMFClassifierCV(cv=[(np.arange(5) * 2, np.arange(20))]).fit(X, y)
