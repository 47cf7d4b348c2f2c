"""Weights "auto" are in units of the data (docs/method.md §12), by closed forms."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor, SMFRegressorCV, SMFSurvival
from superfactor.losses import SquaredError, resolve_link
from superfactor.models import model_named
from superfactor.problem import estimated_ridge, state

MODELS = ("filter", "feature")


def numbers(n=60, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ np.diag(np.linspace(3, 1, p))
    age, sex = 50 + 10 * rng.standard_normal(n), rng.integers(0, 2, n).astype(float)
    y = (X[:, 0] + 0.1 * (age - 50) + rng.standard_normal(n) > 0).astype(int)
    return X, y, np.column_stack([age, sex])


@pytest.mark.parametrize("model", MODELS)
def test_weights_of_a_classifier(model):
    X, y, covariates = numbers()
    fitted = SMFClassifier(model=model).fit(X, y, covariates=covariates)
    usual = model_named(model)
    unit = np.linalg.norm(X - X.mean(axis=0), 2) ** 2 if model == "filter" else 1.0
    assert fitted.xi_ == pytest.approx(usual.usual_xi * len(X) * math.log(2) / np.sum(X**2), rel=1e-12)
    assert fitted.lam_ == pytest.approx(usual.usual_lam * unit, rel=1e-9)
    np.testing.assert_allclose(fitted.lam_covariates_, 0.08 * covariates.var(axis=0), rtol=1e-12)


def test_numbers_are_the_papers():
    X, y, covariates = numbers()
    options = {"xi": 0.3, "lam": 2.0}
    paper = SMFClassifier(**options, lam_covariates=None).fit(X, y, covariates=covariates)
    assert (paper.xi_, paper.lam_) == (0.3, 2.0)
    assert paper.lam_covariates_.tolist() == [2.0, 2.0]
    own = SMFClassifier(**options, lam_covariates=0.5).fit(X, y, covariates=covariates)
    assert own.lam_covariates_.tolist() == [0.5, 0.5]


def test_weights_count_as_repeated_samples():
    X, y, covariates = numbers()
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = SMFClassifier(certify=None).fit(X, y, covariates=covariates, sample_weight=weight)
    repeated = [np.repeat(values, weight, axis=0) for values in (X, y, covariates)]
    twice = SMFClassifier(certify=None).fit(*repeated[:2], covariates=repeated[2])
    for name in ("xi_", "lam_", "lam_covariates_", "objective_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(twice, name), rtol=1e-8)


@pytest.mark.parametrize(("estimator", "model"), [(SMFClassifier, "filter"), (SMFRegressor, "feature")])
def test_other_units_lead_to_the_same_model(estimator, model):
    X, y, covariates = numbers()
    one = estimator(model=model).fit(X, y, covariates=covariates)
    moved = covariates * [1000.0, 1e-3]
    other = estimator(model=model).fit(1000 * X, y, covariates=moved)
    np.testing.assert_allclose(
        other.predict(1000 * X, covariates=moved), one.predict(X, covariates=covariates), atol=1e-6
    )
    np.testing.assert_allclose(other.covariate_coef_ * [[1000.0, 1e-3]], one.covariate_coef_, rtol=1e-5)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-8)


def test_a_covariate_without_variance_is_weighed_by_its_mean_square():
    X, y, _ = numbers()
    constant, zero = np.full(len(y), 3.0), np.zeros(len(y))
    fitted = SMFClassifier(certify=None).fit(X, y, covariates=np.column_stack([constant, zero]))
    np.testing.assert_allclose(fitted.lam_covariates_, [0.08 * 9.0, 0.08])


def test_covariates_and_numbers_far_from_zero_keep_the_digits_of_their_units():
    X, y, covariates = numbers()
    fitted = SMFClassifier(certify=None).fit(X, y, covariates=covariates[:, :1] + 1e8)
    np.testing.assert_allclose(fitted.lam_covariates_, 0.08 * covariates[:, 0].var(), rtol=1e-6)
    near, far = (SMFRegressor(1, certify=None, search="off").fit(X, X[:, 0] + c) for c in (0.0, 1e9))
    assert far.xi_ == pytest.approx(near.xi_, rel=1e-6)


@pytest.mark.parametrize("shape", [(120, 90), (20, 90), (50, 3)], ids=["square", "wide", "tall"])
@pytest.mark.parametrize(("sparse", "weighted"), [(False, False), (True, True)])
def test_the_mean_of_X_is_fitted_by_the_intercept(shape, sparse, weighted):
    rng = np.random.default_rng(0)
    n = shape[0]
    X = np.maximum(rng.standard_normal(shape) + 1.0, 0) * np.geomspace(1, 0.1, shape[1])
    weight = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    y, loss = np.arange(n) % 2, resolve_link("logistic", 1)
    given = {"xi": 1.0, "lam": "auto", "sample_weight": weight if weighted else None}
    data = sp.csr_array(X) if sparse else X
    centred = (X - np.average(X, axis=0, weights=weight)) * np.sqrt(weight)[:, None]
    for intercept, seen in ((True, centred), (False, X * np.sqrt(weight)[:, None])):
        problem = state("filter", data, y, loss, fit_intercept=intercept, **given)
        by_hand = 1e-3 * np.linalg.norm(seen, 2) ** 2
        assert problem.users_weights[1] == pytest.approx(by_hand, rel=2e-3)


def test_constant_data_have_a_ridge():
    X = np.tile(np.arange(1.0, 5.0), (12, 1))
    problem = state("filter", X, np.arange(12) % 2, resolve_link("logistic", 1), xi="auto", lam="auto")
    assert problem.users_weights[1] == 1e-3
    nothing = state("filter", 0 * X, np.zeros((12, 1)), SquaredError(), xi="auto", lam="auto")
    assert np.isfinite(nothing.users_weights).all() and min(nothing.users_weights) > 0


def test_covariates_keep_their_ridge_at_other_weights():
    X, y, covariates = numbers()
    loss = resolve_link("logistic", 1)
    options = {"xi": 1.0, "lam": 1.0, "covariates": covariates}
    own = state("filter", X, y, loss, **options, lam_covariates="auto").restated(0.1, 10.0)
    np.testing.assert_allclose(own.covariate_ridge, [*(0.08 * covariates.var(axis=0)), 0])
    paper = state("filter", X, y, loss, **options).restated(0.1, 10.0)
    np.testing.assert_allclose(paper.covariate_ridge, [10.0, 10.0, 0])


def test_age_has_an_effect_next_to_many_features():
    """The ridge of the features does not shrink its effect to zero, unlike the paper's common ridge."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 10)) @ rng.standard_normal((10, 800)) + rng.standard_normal((100, 800))
    y = np.arange(100) % 2
    age = 0.50 + 0.10 * rng.standard_normal(100) + 0.40 * y  # centuries
    scores = {}
    for ridge in ("auto", None):
        fitted = SMFClassifier(lam_covariates=ridge).fit(X[:50], y[:50], covariates=age[:50, None])
        scores[ridge] = fitted.score(X[50:], y[50:], covariates=age[50:, None])
    assert scores["auto"] >= 0.94
    assert scores[None] < scores["auto"] - 0.1


# --- one unit for estimators and searches ---------------------------------------------------------------


def weighing(kind, n=60, p=12):
    """X, not centred, y far from 0, and weights."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, p)) * np.geomspace(3, 1, p) + 1.0
    y = (np.arange(n) % 3 == 0).astype(int) if kind == "classes" else 50 + X[:, 0]
    return X, y, rng.uniform(0.2, 5, n)


@pytest.mark.parametrize(
    ("kind", "intercept", "weighted", "shape"),
    [("classes", True, True, (30, 80)), ("numbers", False, False, (40, 6))],
)
def test_a_search_has_the_units_of_its_estimator(kind, intercept, weighted, shape):
    X, y, weight = weighing(kind, *shape)
    given = {"sample_weight": weight if weighted else None}
    own = {"class_weight": {0: 1.0, 1: 5.0}} if kind == "classes" else {}
    estimator, search = {
        "classes": (SMFClassifier, SMFClassifierCV),
        "numbers": (SMFRegressor, SMFRegressorCV),
    }[kind]
    fitted = estimator(1, fit_intercept=intercept, certify=None, search="off", **own)
    fitted.fit(X, y, **given)
    options = {"preprocess": None, "fit_intercept": intercept, "refit": False, "cv": 3}
    tried = search(1, **options, **own).fit(X, y, **given).cv_results_
    steps = search(**own)._outcome.steps
    for name, usual, at in (("xi", 0.1, fitted.xi_), ("lam", 1e-3, fitted.lam_)):
        lowest = getattr(steps, name)["filter"][0]
        assert tried[f"param_{name}"].min() / lowest == pytest.approx(at / usual, rel=2e-3)


@pytest.mark.parametrize(("model", "intercept"), [("filter", True), ("feature", False)])
def test_the_null_loss_of_numbers(model, intercept):
    X, y, weight = weighing("numbers")
    Y = np.column_stack([y, X[:, 1]])
    fitted = SMFRegressor(1, model=model, fit_intercept=intercept, certify=None, search="off")
    fitted.fit(X, Y, sample_weight=weight)
    mean = np.average(Y, axis=0, weights=weight) if intercept else 0.0
    unit = np.sum(weight[:, None] * (Y - mean) ** 2) / np.sum(weight[:, None] * X**2)
    assert fitted.xi_ == pytest.approx(model_named(model).usual_xi * unit, rel=1e-10)


def test_times_have_the_loss_of_equal_hazards():
    X, y, _ = weighing("numbers")
    events = np.arange(len(y)) % 3 > 0
    fitted = SMFSurvival(1, certify=None, search="off").fit(X, np.column_stack([events, y]))
    order = np.argsort(y)
    at_risk = np.arange(len(y), 0, -1)[np.argsort(order)]
    unit = np.sum(np.log(at_risk[events])) / np.sum(X**2)
    assert fitted.xi_ == pytest.approx(0.1 * unit, rel=1e-10)


def test_without_an_estimate_only_events_count_for_the_ridge(monkeypatch):
    X, y, _ = weighing("numbers")
    events = np.arange(len(y)) % 3 > 0
    monkeypatch.setattr(estimated_ridge, "_MOST_OPERATIONS", 0.0)
    fitted = SMFSurvival(1, certify=None, search="off").fit(X, np.column_stack([events, y]))
    variation = np.linalg.norm(X - X.mean(axis=0), 2) ** 2
    assert fitted.lam_ == pytest.approx(1e-3 * variation * events.mean(), rel=2e-3)


# --- every sample twice ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "model"), [("classes", "filter"), ("numbers", "feature")])
def test_every_sample_twice_is_the_same_model(kind, model):
    """ξ stays, λ of the filter model doubles and so does F; without covariates the model is the same."""
    X, y, _ = weighing(kind)
    kinds = {"classes": SMFClassifier, "numbers": SMFRegressor}
    fresh = kinds[kind](1, model=model, search="off", certify=None)  # the same start for both
    one = clone(fresh).fit(X, y)
    two = clone(fresh).fit(np.vstack([X, X]), np.concatenate([y, y]))
    assert two.xi_ == pytest.approx(one.xi_, rel=1e-9)
    assert two.lam_ == pytest.approx((2 if model == "filter" else 1) * one.lam_, rel=2e-3)
    assert two.objective_ == pytest.approx(2 * one.objective_, rel=1e-4)
    np.testing.assert_allclose(two.predict(X), one.predict(X), rtol=1e-3, atol=1e-3)


def test_the_prior_of_a_covariate_does_not_grow_with_the_samples():
    X, y, covariates = numbers()
    both = [np.vstack([block, block]) for block in (X, covariates)]
    one = SMFClassifier(1).fit(X, y, covariates=covariates)
    two = SMFClassifier(1).fit(both[0], np.concatenate([y, y]), covariates=both[1])
    np.testing.assert_allclose(two.lam_covariates_, one.lam_covariates_, rtol=1e-12)
    assert abs(two.covariate_coef_[0, 0]) > 1.001 * abs(one.covariate_coef_[0, 0])  # shrunk less
    # With the paper's ridge, λ for all, it doubles too.
    one = SMFClassifier(1, lam_covariates=None).fit(X, y, covariates=covariates)
    paper = SMFClassifier(1, lam_covariates=None)
    paper.fit(both[0], np.concatenate([y, y]), covariates=both[1])
    np.testing.assert_allclose(paper.covariate_coef_, one.covariate_coef_, rtol=1e-3)
