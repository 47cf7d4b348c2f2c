"""`covariate_effects` against what the model itself answers when a covariate changes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.interpretation.data import MODELS, classifier, pipeline, regressor, table

from superfactor.interpretation import covariate_effects


def sides(n, seed=5):
    return np.random.default_rng(seed).standard_normal((n, 2))


@pytest.mark.parametrize("classes", [2, 3], ids=["two", "three"])
@pytest.mark.parametrize("model", MODELS)
def test_one_unit_more_changes_the_decision_by_the_coefficient(model, classes):
    X, y = table(classes=classes)
    extra = sides(len(y))
    fit = classifier(model, covariate_columns=["gene5", "gene1"]).fit(X, y, covariates=extra)
    effects = covariate_effects(fit)
    assert list(effects.columns) == [f"coef[{name}]" for name in fit.classes_[1:]]
    assert list(effects.index) == ["gene5", "gene1", "covariate 0", "covariate 1"]
    assert effects.index.name == "covariate"
    np.testing.assert_array_equal(effects.to_numpy(), fit.covariate_coef_.T)

    def decision(X, extra):
        scores = fit.decision_function(X, covariates=extra)
        return scores[:, None] if classes == 2 else scores[:, 1:] - scores[:, :1]

    before = decision(X, extra)
    for name, change in effects.iterrows():
        moved, given = X.copy(), extra.copy()
        if name in X:
            moved[name] += 1
        else:
            given[:, int(name.split()[1])] += 1
        difference = decision(moved, given) - before
        np.testing.assert_allclose(difference, np.tile(change, (len(y), 1)), atol=1e-8)


def test_after_a_scaler_a_unit_is_a_standard_deviation():
    X, y = table()
    fit = pipeline(covariate_columns=[1]).fit(X, y)
    effects = covariate_effects(fit)
    assert list(effects.index) == ["gene1"]
    moved = X.assign(gene1=X["gene1"] + X["gene1"].std(ddof=0))
    difference = fit.decision_function(moved) - fit.decision_function(X)
    np.testing.assert_allclose(difference, effects.loc["gene1", "coef[tumoral]"], rtol=1e-8)


def test_regression():
    X, _ = table()
    extra = sides(len(X))
    Y = np.c_[extra[:, 0] + X["gene0"], X["gene1"] - 2 * extra[:, 1]]
    fit = regressor().fit(X, Y, covariates=extra)
    effects = covariate_effects(fit)
    assert list(effects.columns) == ["coef[y0]", "coef[y1]"]
    difference = fit.predict(X, covariates=extra + np.array([0, 1])) - fit.predict(
        X, covariates=extra
    )
    np.testing.assert_allclose(difference, np.tile(effects.iloc[1], (len(X), 1)), atol=1e-8)


def named_later(X, y):
    """As the command line does: fitted to an array, names put in afterwards."""
    fit = pipeline(covariate_columns=[6]).fit(X.to_numpy(), y)
    fit[-1].set_feature_names(X.columns)
    return fit


def framed(X, y):
    extra = pd.DataFrame(sides(len(y)), columns=["age", "sex"])
    return classifier().fit(X, y, covariates=extra)


@pytest.mark.parametrize(
    "fit, names",
    [
        (named_later, ["gene6"]),
        (framed, ["age", "sex"]),
        (lambda X, y: classifier(covariate_columns=[6, 0]).fit(X.to_numpy(), y), ["x6", "x0"]),
        (lambda X, y: pipeline(covariate_columns=[2]).fit(X.to_numpy(), y), ["x2"]),
        (
            lambda X, y: make_pipeline(
                StandardScaler().set_output(transform="pandas"),
                classifier(covariate_columns="gene3"),
            ).fit(X, y),
            ["gene3"],
        ),
        (lambda X, y: classifier().fit(X, y), []),
    ],
    ids=["names put in later", "a frame beside X", "array", "pipeline of an array", "frames", "none"],
)  # fmt: skip
def test_names(fit, names):
    effects = covariate_effects(fit(*table()))
    assert list(effects.index) == names
    assert list(effects.columns) == ["coef[tumoral]"]
    assert effects.shape == (len(names), 1)


def test_what_is_no_model():
    with pytest.raises(TypeError, match="model=int: a fitted SMFClassifier"):
        covariate_effects(3)
