"""SMFRegressorCV against brute force, GridSearchCV over SMFRegressor; and what numbers need besides."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import make_scorer, mean_absolute_error, r2_score
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut
from tests.selection.brute_force import assert_same_search, grid_search

from superfactor import SMFRegressor, SMFRegressorCV
from superfactor.interpretation import factor_view

# Proven optimal, all of them: brute force compares several starts, and then has no choice either.
GRIDS = {
    "filter": {"n_components": [2, 3], "xi": [0.0003, 0.001], "lam": [300.0, 100.0]},
    "feature": {"n_components": [3, 4], "xi": [0.01, 0.1], "lam": [1.0, 0.1]},
}
GRID = GRIDS["filter"]
ONE = {"n_components": 2, "xi": 0.001, "lam": 20.0, "certify": None}
FOLDS = KFold(3, shuffle=True, random_state=1)
KNOWN = np.arange(45) % 3 > 0


def doses(n=45, p=90, targets=None, seed=0):
    """X (n, p) off centre, and y (n,) or (n, targets) that a few of its columns explain in part."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 2, p) + 1
    Y = X[:, :5] @ rng.standard_normal((5, targets or 1)) + 10
    Y += rng.standard_normal(Y.shape)
    return X, Y if targets else Y[:, 0]


def brute_force(X, y, model="filter", preprocess=None, cv=FOLDS, scoring=None):
    estimator = SMFRegressor(model=model, certify=None)
    return grid_search(estimator, GRIDS[model], preprocess, cv=cv, scoring=scoring).fit(X, y)


# --- brute force ------------------------------------------------------------------------------------


# Every pair of two choices is there.
@pytest.mark.parametrize(
    ("p", "targets", "model", "preprocess"),
    [
        (8, None, "filter", "standardize"),
        (8, 2, "feature", None),
        (90, None, "feature", "standardize"),
        (90, 2, "filter", None),
        (90, None, "filter", None),
        (8, 2, "feature", "standardize"),
    ],
    ids=str,
)
def test_same_scores_and_choice_as_brute_force(p, targets, model, preprocess):
    X, y = doses(p=p, targets=targets)
    search = SMFRegressorCV(**GRIDS[model], model=model, preprocess=preprocess, cv=FOLDS).fit(X, y)
    brute = brute_force(X, y, model, preprocess)
    assert_same_search(search, brute)
    assert search.predict(X).shape == y.shape
    np.testing.assert_allclose(search.predict(X), brute.predict(X), atol=1e-3)
    assert search.score(X, y) == pytest.approx(r2_score(y, search.predict(X)))


@pytest.mark.parametrize(
    "scoring",
    ["neg_mean_squared_error", make_scorer(mean_absolute_error, greater_is_better=False)],
    ids=["name", "scorer"],
)
def test_any_scorer(scoring):
    X, y = doses(p=20)
    search = SMFRegressorCV(**GRID, cv=FOLDS, scoring=scoring, preprocess=None).fit(X, y)
    assert_same_search(search, brute_force(X, y, scoring=scoring))
    assert search.score(X, y) == pytest.approx(search.scorer_(search.best_estimator_, X, y))


@pytest.mark.parametrize("kind", ["groups", "list"])
def test_any_splitter(kind):
    X, y = doses(p=20)
    groups = np.arange(len(y)) // 3
    cv = GroupKFold(4) if kind == "groups" else list(FOLDS.split(X))
    splits = list(cv.split(X, y, groups)) if kind == "groups" else cv
    search = SMFRegressorCV(**GRID, cv=cv, preprocess=None).fit(X, y, groups=groups)
    assert search.n_splits_ == len(splits)
    assert_same_search(search, brute_force(X, y, cv=splits))


def test_whole_numbers_are_no_classes():
    X, y = doses(p=20)
    counts = np.round(y).astype(int)
    search = SMFRegressorCV(**GRID, cv=3, preprocess=None).fit(X, counts)
    assert_same_search(search, brute_force(X, counts, cv=KFold(3)))


def test_weights_reach_fits_and_scores():
    X, y = doses(p=20)
    weight = np.random.default_rng(3).integers(0, 3, len(y)).astype(float)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    splits = list(FOLDS.split(X))
    where = [tuple(np.flatnonzero(np.isin(twice, part)) for part in split) for split in splits]
    options = {"preprocess": "standardize", "n_components": 2, "refit": False}
    weighted = SMFRegressorCV(**options, cv=splits).fit(X, y, sample_weight=weight)
    repeated = SMFRegressorCV(**options, cv=where).fit(X[twice], y[twice])
    for name in ("param_xi", "param_lam", "mean_test_score"):
        ours, theirs = (np.array(s.cv_results_[name], dtype=float) for s in (weighted, repeated))
        np.testing.assert_allclose(ours, theirs, rtol=2e-4)


# --- covariates, targets and values that are missing ----------------------------------------------------


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
@pytest.mark.parametrize("where", ["columns", "beside"])
def test_covariates_by_hand(where, scoring):
    X, y = doses()
    age = np.random.default_rng(4).standard_normal((len(y), 1))
    y = y + 3 * age[:, 0]
    search = SMFRegressorCV(**ONE, cv=FOLDS, scoring=scoring, preprocess=None)
    expected = []
    for train, test in FOLDS.split(X):
        fit = SMFRegressor(**ONE).fit(X[train], y[train], covariates=age[train])
        predicted = fit.predict(X[test], covariates=age[test])
        expected.append(_figure(scoring, y[test], predicted))
    if where == "columns":
        table = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
        table.insert(2, "age", age[:, 0])
        search.set_params(covariate_columns=["age"]).fit(table, y)
        found, predicted = search.score(table, y), search.predict(table)
    else:
        search.fit(X, y, covariates=age)
        found, predicted = search.score(X, y, covariates=age), search.predict(X, covariates=age)
    assert search.best_score_ == pytest.approx(np.mean(expected), rel=2e-4)
    assert found == pytest.approx(_figure(scoring, y, predicted))
    assert search.covariate_coef_.shape == (1, 1)


def _figure(scoring, y, predicted):
    return r2_score(y, predicted) if scoring is None else -mean_absolute_error(y, predicted)


@pytest.mark.parametrize("targets", [None, 2], ids=["one target", "two targets"])
@pytest.mark.parametrize("mark", [np.nan, -99.0])
def test_samples_without_targets_are_seen_and_never_scored(mark, targets):
    X, y = doses(targets=targets)
    marked = y.copy()
    marked[~KNOWN] = mark
    search = SMFRegressorCV(**ONE, unlabeled=-99.0, cv=FOLDS, preprocess=None).fit(X, marked)
    where, others, expected = np.flatnonzero(KNOWN), np.flatnonzero(~KNOWN), []
    for train, test in FOLDS.split(where):
        rows = np.concatenate([where[train], others])
        fit = SMFRegressor(**ONE, unlabeled=mark).fit(X[rows], marked[rows])
        expected.append(fit.score(X[where[test]], y[where[test]]))
    assert search.best_score_ == pytest.approx(np.mean(expected), rel=2e-4)
    assert search.best_estimator_.n_labeled_ == KNOWN.sum()
    assert search.score(X, marked) == pytest.approx(search.score(X[KNOWN], y[KNOWN]))


# --- grids ----------------------------------------------------------------------------------------------


def test_the_choice_depends_on_no_unit():
    X, y = doses(p=10)
    options = {"n_components": 2, "preprocess": "center", "cv": FOLDS}
    one = SMFRegressorCV(**options).fit(X, y)
    large = SMFRegressorCV(**options).fit(1000 * X, y)
    small = SMFRegressorCV(**options).fit(X, y / 1000)
    for other, back in ((large, 1), (small, 1000)):
        assert other.best_index_ == one.best_index_
        assert other.best_score_ == pytest.approx(one.best_score_, abs=1e-5)
        scale = 1000 if other is large else 1
        np.testing.assert_allclose(back * other.predict(scale * X), one.predict(X), atol=1e-3)


@pytest.mark.parametrize(("targets", "ranks"), [(None, {2, 3}), (3, {4, 6})])
def test_ranks_are_one_more_than_targets_and_half_as_many_again(targets, ranks):
    X, y = doses(p=12, targets=targets)
    search = SMFRegressorCV(xi=0.1, lam=1.0, cv=2, refit=False).fit(X, y)
    assert set(search.cv_results_["param_n_components"]) == ranks


# --- what it hands through, and what it refuses -----------------------------------------------------------


def test_what_a_fitted_search_has():
    X, y = doses(p=12, targets=2)
    search = SMFRegressorCV(**ONE, preprocess="standardize", cv=2).fit(X, y)
    smf = search.best_estimator_[-1]
    assert isinstance(smf, SMFRegressor)
    for name in ("components_", "factor_coef_", "intercept_", "xi_", "lam_", "objective_", "codes_"):
        assert getattr(search, name) is getattr(smf, name)
    assert not any(hasattr(search, name) for name in ("classes_", "predict_proba", "link"))
    assert search.transform(X).shape == (len(X), 2)
    assert search.get_feature_names_out().tolist() == ["smfregressorcv0", "smfregressorcv1"]
    assert factor_view(search).weights.shape == (2, 12)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert not hasattr(SMFRegressorCV(refit=False), "predict")


@pytest.mark.parametrize(
    ("y", "options", "error", "line"),
    [
        (None, {"cv": LeaveOneOut()}, ValueError, r"split 1 has 1 of the 2 samples .*'neg_mean_sq"),
        (None, {"lam": -1}, ValueError, "'lam' parameter of SMFRegressorCV must be"),
        (["a", "b", "c"] * 15, {}, ValueError, "y"),
        ([np.nan] * 45, {}, ValueError, "none of the 45 samples"),
        (None, {"cv": [(np.flatnonzero(~KNOWN), np.flatnonzero(KNOWN))]}, ValueError, "training part of"),
    ],
    ids=["one scored", "option", "words", "no targets", "nothing to learn from"],
)  # fmt: skip
def test_one_line_says_what_is_wrong(y, options, error, line, request):
    X, known = doses()
    y = known if y is None else y
    if "nothing" in request.node.callspec.id:
        y = np.where(KNOWN, known, np.nan)
    with pytest.raises(error, match=line):
        SMFRegressorCV(**{"n_components": 1, **options}).fit(X, y)


def test_one_sample_can_be_scored_by_its_error():
    X, y = doses(n=12, p=5)
    search = SMFRegressorCV(1, cv=LeaveOneOut(), scoring="neg_mean_squared_error", refit=False)
    assert np.isfinite(search.fit(X, y).best_score_)


# --- real data ----------------------------------------------------------------------------------------------
