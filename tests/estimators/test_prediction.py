"""Consistency of predict, predict_proba, decision_function and transform."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score
from tests.estimators.data import MODELS, small
from tests.losses.examples import CLOGLOG

from superfactor import SMFClassifier, SMFRegressor

WAYS = [("filter", "exact"), ("feature", "exact"), ("feature", "fast")]


def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("model", "prediction"), WAYS)
@pytest.mark.parametrize("link", ["logistic", "probit", CLOGLOG], ids=["logistic", "probit", "cloglog"])
def test_two_classes(model, prediction, link):
    X, y, Z = small(n=60)
    clf = SMFClassifier(model=model, prediction=prediction, link=link, lam=0.05)
    clf.fit(X, y, covariates=Z)
    decision = clf.decision_function(X, covariates=Z)
    probabilities = clf.predict_proba(X, covariates=Z)
    assert decision.shape == (60,)
    np.testing.assert_allclose(
        np.log(probabilities[:, 1] / probabilities[:, 0]), decision, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        clf.predict_log_proba(X, covariates=Z), np.log(probabilities), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_array_equal(clf.predict(X, covariates=Z), clf.classes_[(decision > 0) * 1])
    assert clf.score(X, y, covariates=Z) == accuracy_score(y, clf.predict(X, covariates=Z))
    weight = np.linspace(0, 1, 60)
    assert clf.score(X, y, sample_weight=weight, covariates=Z) == pytest.approx(
        accuracy_score(y, clf.predict(X, covariates=Z), sample_weight=weight)
    )


@pytest.mark.parametrize(("model", "prediction"), WAYS)
def test_several_classes(model, prediction):
    X, y, _ = small(n=60, classes=4)
    clf = SMFClassifier(3, model=model, prediction=prediction, lam=0.05).fit(X, y)
    decision = clf.decision_function(X)
    assert decision.shape == (60, 4)
    np.testing.assert_allclose(clf.predict_proba(X), softmax(decision), rtol=1e-10)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[np.argmax(decision, axis=1)])
    if prediction == "fast" or model == "filter":
        assert np.all(decision[:, 0] == 0)


def test_filter_decision_is_the_activation():
    X, y, Z = small(n=60, classes=3)
    clf = SMFClassifier(2, link="logistic").fit(X, y, covariates=Z)
    a = X @ clf.components_.T @ clf.factor_coef_.T + Z @ clf.covariate_coef_.T + clf.intercept_
    np.testing.assert_allclose(clf.decision_function(X, covariates=Z), a, rtol=1e-12)
    probit = SMFClassifier(2, link="probit").fit(X, y > 0)
    from scipy.stats import norm

    a = X @ probit.components_.T @ probit.factor_coef_[0] + probit.intercept_
    np.testing.assert_allclose(probit.predict_proba(X)[:, 1], norm.cdf(a), rtol=1e-9)


def test_exact_and_fast_differ_where_codes_are_uncertain():
    X, y, _ = small(n=60)
    fits = [
        SMFClassifier(model="feature", lam=0.05, xi=0.1, prediction=way).fit(X, y)
        for way in ("exact", "fast")
    ]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    exact, fast = (fit.decision_function(X) for fit in fits)
    assert np.max(np.abs(exact - fast)) > 1e-3
    assert np.corrcoef(exact, fast)[0, 1] > 0.99


@pytest.mark.parametrize(("model", "prediction"), WAYS)
def test_regression_shapes(model, prediction):
    X, _, Z = small(n=60)
    Y = np.c_[X @ np.arange(6), X[:, 1] + Z[:, 0]]
    reg = SMFRegressor(3, model=model, prediction=prediction, lam=0.01).fit(X, Y, covariates=Z)
    assert reg.factor_coef_.shape == (2, 3)
    assert reg.covariate_coef_.shape == (2, 2)
    assert reg.intercept_.shape == (2,)
    predicted = reg.predict(X, covariates=Z)
    assert predicted.shape == (60, 2)
    assert reg.score(X, Y, covariates=Z) == pytest.approx(r2_score(Y, predicted))
    column = SMFRegressor(3, model=model, prediction=prediction, lam=0.01).fit(X, Y[:, :1])
    flat = SMFRegressor(3, model=model, prediction=prediction, lam=0.01).fit(X, Y[:, 0])
    assert column.predict(X).shape == (60, 1)
    np.testing.assert_array_equal(column.predict(X)[:, 0], flat.predict(X))


def test_transform_of_each_model():
    X, y, _ = small(n=60)
    new = small(n=7, seed=1)[0]
    fitted = SMFRegressor(3, model="filter").fit(X, y)
    np.testing.assert_allclose(fitted.transform(new), new @ fitted.components_.T, rtol=1e-12)
    np.testing.assert_allclose(fitted.transform(X), fitted.codes_, rtol=1e-6, atol=1e-9)
    fitted = SMFRegressor(3, model="feature", lam=0.1).fit(X, y)
    np.testing.assert_allclose(
        fitted.transform(new), new @ np.linalg.pinv(fitted.components_), rtol=1e-9, atol=1e-12
    )
    # Training codes know the labels; codes of new samples cannot.
    assert np.max(np.abs(fitted.transform(X) - fitted.codes_)) > 1e-6


@pytest.mark.parametrize("model", MODELS)
def test_fit_transform_is_fit_then_transform(model):
    X, y, Z = small()
    weight = np.linspace(0.1, 2, 40)
    more = {"covariates": Z, "sample_weight": weight}
    one = SMFClassifier(model=model).fit_transform(X, y, **more)
    other = SMFClassifier(model=model).fit(X, y, **more).transform(X)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("model", MODELS)
def test_inverse_transform(model):
    X, y, _ = small()
    fitted = SMFClassifier(6, model=model).fit(X, y)
    codes = np.random.default_rng(0).standard_normal((5, 6))
    np.testing.assert_allclose(fitted.inverse_transform(codes), codes @ fitted.components_)
    # All six directions are there, so that nothing is lost on the way.
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(X)), X, atol=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_predictions_do_not_depend_on_other_samples(model):
    X, y, Z = small(n=60)
    clf = SMFClassifier(model=model, lam=0.05).fit(X, y, covariates=Z)
    together = clf.predict_proba(X, covariates=Z)
    alone = np.concatenate([clf.predict_proba(X[i : i + 1], Z[i : i + 1]) for i in range(60)])
    np.testing.assert_allclose(together, alone, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_parameters_set_after_a_fit_affect_the_next_fit(model):
    X, y, _ = small(n=60)
    fitted = SMFClassifier(model=model, lam=0.05).fit(X, y)

    def answers():
        return [fitted.predict(X), fitted.transform(X), fitted.predict_proba(X)]

    before = answers()
    other = "feature" if model == "filter" else "filter"
    fitted.set_params(model=other, xi=7.0, lam=3.0, n_components=4, fit_intercept=False)
    for one, two in zip(before, answers(), strict=True):
        np.testing.assert_array_equal(one, two)
    # `prediction` is chosen when predicting, and a filter has no choice.
    fitted.set_params(prediction="fast")
    same = [np.array_equal(one, two) for one, two in zip(before, answers(), strict=True)]
    assert all(same) == (model == "filter")
