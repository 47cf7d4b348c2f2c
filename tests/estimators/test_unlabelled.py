"""Samples without a label: values that mark them, and their effect on a fit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from superfactor import SMFClassifier, SMFRegressor
from superfactor.estimators.targets import check_labels, check_real_targets
from superfactor.interpretation import covariate_effects, stability, unsupervised

N, LABELLED = 40, 24
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 12)) + np.outer(RNG.standard_normal(N), np.ones(12))
TRUTH = (X[:, 0] + 0.3 * RNG.standard_normal(N) > 0).astype(int)
KNOWN = np.arange(N) < LABELLED


def marked(values, mark):
    out = np.asarray(values, dtype=object).copy()
    out[~KNOWN] = mark
    return out


@pytest.fixture(scope="module")
def reference():
    return SMFClassifier(2).fit(X, marked(TRUTH, None))


@pytest.mark.parametrize(
    "y",
    [
        marked(TRUTH, np.nan),
        marked(TRUTH, pd.NA),
        marked(TRUTH, pd.NaT),
        np.where(KNOWN, TRUTH, np.nan),
        list(marked(TRUTH, None)),
        pd.Series(TRUTH, dtype="Int64").where(KNOWN),
        pd.Series(np.where(KNOWN, TRUTH, np.nan)),
        np.where(KNOWN, TRUTH.astype(float).astype(object), None),
    ],
    ids=["nan", "NA", "NaT", "floats", "list", "nullable", "series", "float objects"],
)
def test_values_that_mean_no_label(reference, y):
    fit = SMFClassifier(2).fit(X, y)
    assert fit.classes_.tolist() == [0, 1]
    assert fit.objective_ == reference.objective_
    assert fit.n_labeled_ == LABELLED
    assert fit.class_count_ == np.bincount(TRUTH[KNOWN]).tolist()
    np.testing.assert_array_equal(fit.predict(X), reference.predict(X))


@pytest.mark.parametrize("mark", [-1, 99])
def test_unlabeled_value(reference, mark):
    fit = SMFClassifier(2, unlabeled=mark).fit(X, np.where(KNOWN, TRUTH, mark))
    assert fit.objective_ == reference.objective_
    assert fit.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [object, str, "category"])
def test_string_labels(dtype):
    words = np.where(TRUTH == 1, "tumour", "normal")
    y = pd.Series(words).where(KNOWN).astype("category" if dtype == "category" else object)
    if dtype is str:
        y = np.where(KNOWN, words, "unknown")
    fit = SMFClassifier(2, unlabeled="unknown").fit(X, y)
    assert fit.classes_.tolist() == ["normal", "tumour"]
    assert set(fit.predict(X)) <= {"normal", "tumour"}


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("solver", ["auto", "bcd"])
def test_objective_uses_known_labels(model, solver):
    xi, lam = 0.02, 0.3
    fit = SMFClassifier(2, model=model, xi=xi, lam=lam, solver=solver, tol=1e-10).fit(X, marked(TRUTH, None))
    a = fit.codes_ @ fit.factor_coef_.T[:, 0] + fit.intercept_[0]
    A = fit.components_.T @ fit.factor_coef_.T
    if model == "filter":
        a, size = X @ A[:, 0] + fit.intercept_[0], np.sum(A**2)
    else:
        size = np.sum((fit.codes_ @ fit.factor_coef_.T) ** 2)
    loss = np.log1p(np.exp(np.where(TRUTH == 1, -a, a)))[KNOWN].sum()
    rest = np.sum((X - fit.codes_ @ fit.components_) ** 2)
    assert fit.objective_ == pytest.approx(loss + xi * rest + lam * size, rel=1e-9)
    assert fit.certificate_.lower_bound <= fit.objective_ * (1 + 1e-12)


def test_balanced_weights_use_known_labels():
    y = marked(TRUTH, None)
    counts = np.bincount(TRUTH[KNOWN])
    by_hand = {k: LABELLED / (2 * counts[k]) for k in (0, 1)}
    balanced = SMFClassifier(2, class_weight="balanced").fit(X, y)
    assert balanced.objective_ == pytest.approx(
        SMFClassifier(2, class_weight=by_hand).fit(X, y).objective_, rel=1e-10
    )


def test_weights_and_missing_labels_are_independent():
    weight = np.where(np.arange(N) % 5 == 0, 0.0, 2.0)
    fit = SMFClassifier(2, xi=0.02, lam=0.3).fit(X, marked(TRUTH, None), sample_weight=weight)
    kept = weight > 0
    same = SMFClassifier(2, xi=0.02, lam=0.3).fit(
        X[kept], marked(TRUTH, None)[kept], sample_weight=weight[kept]
    )
    assert fit.objective_ == pytest.approx(same.objective_, rel=1e-10)
    assert fit.n_labeled_ == int((kept & KNOWN).sum())


def test_score_uses_known_labels(reference):
    y = marked(TRUTH, None)
    by_hand = np.mean(reference.predict(X)[KNOWN] == TRUTH[KNOWN])
    assert reference.score(X, y) == by_hand
    assert reference.classes_.dtype.kind == "i"
    target = np.where(KNOWN, X[:, 0], np.nan)
    model = SMFRegressor(2).fit(X, target)
    assert model.score(X, target) == model.score(X[KNOWN], X[KNOWN, 0])


@pytest.mark.parametrize("targets", [X[:, 0], X[:, :2]], ids=["one", "two"])
def test_regression(targets):
    gone = targets.copy()
    gone[~KNOWN] = np.nan
    fit = SMFRegressor(2, xi=0.05, lam=0.3).fit(X, gone)
    assert fit.n_labeled_ == LABELLED
    residual = (targets - fit.predict(X))[KNOWN]
    A = fit.components_.T @ fit.factor_coef_.T
    by_hand = np.sum(residual**2) + 0.05 * np.sum((X - fit.codes_ @ fit.components_) ** 2)
    assert fit.objective_ == pytest.approx(by_hand + 0.3 * np.sum(A**2), rel=1e-9)
    away = SMFRegressor(2, xi=0.05, lam=0.3, unlabeled=-99.0).fit(X, np.where(np.isnan(gone), -99.0, gone))
    assert away.objective_ == fit.objective_


def test_no_label_and_some_targets_are_refused():
    with pytest.raises(ValueError, match="none of the 40 samples has a label"):
        SMFClassifier(2).fit(X, np.full(N, None))
    with pytest.raises(ValueError, match="one class only"):
        SMFClassifier(2).fit(X, marked(np.ones(N, dtype=int), None))
    y = X[:, :2].copy()
    y[3, 0] = np.nan
    with pytest.raises(ValueError, match="1 samples have only some of their targets"):
        SMFRegressor(2).fit(X, y)


def test_infinity_is_refused_with_an_unlabeled_value():
    y = np.where(KNOWN, TRUTH, np.nan)
    y[0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        SMFClassifier(2).fit(X, y)


def test_marked_values_are_valid_for_fit():
    given = check_labels(marked(TRUTH, None), X, "test")
    assert given.marked.tolist() == marked(TRUTH, None).tolist()
    real = check_real_targets(np.where(KNOWN, X[:, 0], np.nan), X, "test")
    np.testing.assert_array_equal(real.marked, np.where(KNOWN, X[:, 0], np.nan))


def test_interpretation_accepts_missing_labels():
    y = marked(TRUTH, None)
    age = RNG.standard_normal((N, 1))
    model = SMFClassifier(2).fit(X, y, covariates=age)
    assert stability(model, X, y, 2, covariates=age).similarity.shape == (2, 2)
    assert unsupervised(model, X, y, covariates=age).weights.shape == (2, 12)
    effects = covariate_effects(model, X, y, covariates=age)
    labelled = clone(model).set_params(xi=model.xi_, lam=model.lam_)
    assert np.isfinite(effects[["low", "high"]].to_numpy()).all()
    # Who has no label tells nothing of the age: fewer samples, a wider interval.
    full = labelled.fit(X, TRUTH, covariates=age)
    wide = covariate_effects(full, X, TRUTH, covariates=age)
    ratio = np.log(effects.high / effects.low).item() / np.log(wide.high / wide.low).item()
    assert ratio > 1


@pytest.mark.parametrize(
    "y",
    [
        np.where(KNOWN, (TRUTH == 1).astype(object), None),
        pd.Series(TRUTH == 1, dtype="boolean").where(KNOWN),
        pd.Series(TRUTH == 1).where(KNOWN),
    ],
    ids=["objects", "nullable", "series"],
)
def test_booleans_with_missing_labels_stay_booleans(y):
    fit = SMFClassifier(2).fit(X, y)
    assert fit.classes_.dtype.kind == "b"
    assert fit.n_labeled_ == LABELLED


def test_two_missing_values_at_once(reference):
    y = marked(TRUTH, -1)
    y[-3:] = [None, np.nan, pd.NA]
    fit = SMFClassifier(2, unlabeled=-1).fit(X, y)
    assert fit.objective_ == reference.objective_
