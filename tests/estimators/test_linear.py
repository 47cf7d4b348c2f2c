"""Weights of the columns of X: ``coef_`` of linear predictions, and feature selectors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import scale
from tests.estimators.data import MODELS, small

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor, SMFSurvival

frame, wine = load_wine(return_X_y=True, as_frame=True)
WINE = pd.DataFrame(scale(frame), columns=frame.columns)
X, y, Z = small(n=60)


def slopes(function, x, step=1e-5):
    """Return derivatives (p, κ) of activations with respect to the features at a sample x (p,)."""
    steps = step * np.eye(len(x))
    return (function(x + steps) - function(x - steps)) / (2 * step)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_importances_are_slopes_of_the_scores(model, classes):
    kept = wine < classes
    fitted = SMFClassifier(2, model=model, xi=0.1, lam=0.1, prediction="fast").fit(
        WINE[kept].to_numpy(), wine[kept]
    )
    logits = slopes(lambda samples: np.log(fitted.predict_proba(samples)), WINE.to_numpy()[0])
    # Relative to their mean over the classes, logarithms of probabilities are activations.
    expected = np.linalg.norm(logits - logits.mean(axis=1, keepdims=True), axis=1)
    if classes == 2:  # one activation, the log-odds
        expected = np.abs(logits[:, 1] - logits[:, 0])
    np.testing.assert_allclose(fitted.feature_importances_, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_importances_of_a_regressor_and_covariate_columns(model):
    targets = np.column_stack([y, X[:, 0]]).astype(float)
    fitted = SMFRegressor(2, model=model, lam=0.1, covariate_columns=[1, 4], prediction="fast").fit(
        X, targets, covariates=Z
    )
    beside = np.repeat(Z[:1], X.shape[1], axis=0)
    expected = np.linalg.norm(slopes(lambda s: fitted.predict(s, covariates=beside), X[0]), axis=1)
    np.testing.assert_allclose(fitted.feature_importances_, expected, rtol=1e-5, atol=1e-8)


def test_select_from_model_keeps_the_features_with_large_weights():
    model = SMFClassifier(3, xi=0.1, lam=0.1)
    weights = model.fit(WINE, wine).feature_importances_
    selector = SelectFromModel(model).set_output(transform="pandas").fit(WINE, wine)
    kept = selector.transform(WINE)
    assert list(kept.columns) == list(WINE.columns[weights >= weights.mean()])
    assert 0 < kept.shape[1] < WINE.shape[1]


def test_importances_with_as_many_factors_as_features():
    """With r = p, weights of codes and of columns have the same number and must not be confused."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(200, 4))
    target = data @ [3.0, 0, 0, -2.0] + 0.01 * rng.normal(size=200)
    for model in (SMFRegressor(4, xi=0.1, lam=1e-3), LinearRegression()):
        chosen = SelectFromModel(model).fit(data, target).get_support()
        assert chosen.tolist() == [True, False, False, True]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("covariates", [None, [1, 4]], ids=["none", "inside"])
def test_linear_decision_equals_coefficients(model, classes, covariates):
    kept = wine < classes
    fitted = SMFClassifier(2, model=model, prediction="fast", covariate_columns=covariates)
    fitted.fit(WINE[kept], wine[kept])
    outputs = 1 if classes == 2 else classes
    assert fitted.coef_.shape == (outputs, 13) and fitted.intercept_.shape == (outputs,)
    linear = np.squeeze(WINE.to_numpy() @ fitted.coef_.T + fitted.intercept_)
    np.testing.assert_allclose(fitted.decision_function(WINE), linear, atol=1e-10)


@pytest.mark.parametrize("model", MODELS)
def test_linear_predictions_of_numbers_and_times_equal_coefficients(model):
    targets = np.column_stack([y, X[:, 0]]).astype(float)
    times = np.array([(True, t) for t in 1 + X[:, 0] ** 2], dtype=[("event", bool), ("time", float)])
    for estimator, target in ((SMFRegressor, targets), (SMFSurvival, times)):
        fitted = estimator(2, model=model, lam=0.1).fit(X, target)
        linear = np.squeeze(X @ fitted.coef_.T + fitted.intercept_)
        np.testing.assert_allclose(fitted.predict(X), linear, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"model": "feature"},
            r"^prediction='exact': the feature model compares labels.*factor_coef_ has the effects",
        ),
        ({"link": "probit"}, r"^link='probit': decision_function is not linear in X; factor_coef_ has"),
    ],
)
def test_error_for_predictions_that_are_not_linear(options, reason):
    assert not hasattr(SMFClassifier(2, **options), "coef_")  # before fit
    fitted = SMFClassifier(2, **options).fit(X, y)
    assert not hasattr(fitted, "coef_")
    with pytest.raises(AttributeError, match=reason):
        fitted.coef_  # noqa: B018
    assert fitted.feature_importances_.shape == (X.shape[1],)


def test_error_for_categorical_columns():
    table = pd.DataFrame(X[:, :3], columns=["a", "b", "c"]).assign(sex=np.where(y > 0, "F", "M"))
    fitted = SMFClassifier(2, covariate_columns=["sex"]).fit(table, y)
    with pytest.raises(
        AttributeError, match=r"^coef_: a covariate column of X has categories or missing values"
    ):
        fitted.coef_  # noqa: B018


def test_search_has_the_coefficients_of_its_model():
    search = SMFClassifierCV([2], lam=[0.1], xi=[0.1], preprocess=None).fit(WINE, wine)
    linear = WINE.to_numpy() @ search.coef_.T + search.intercept_
    np.testing.assert_allclose(search.decision_function(WINE), linear, atol=1e-10)
    scaled = SMFClassifierCV([2], lam=[0.1], xi=[0.1], preprocess="standardize").fit(WINE, wine)
    with pytest.raises(AttributeError, match=r"^coef_: X is preprocessed first; best_estimator_\[-1\].coef_"):
        scaled.coef_  # noqa: B018
