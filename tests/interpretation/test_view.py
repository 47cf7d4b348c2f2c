"""`factor_view` against the estimators' own attributes and predictions."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from tests.interpretation.data import (
    MODELS,
    activations,
    classifier,
    of_outputs,
    pipeline,
    reconstruction,
    regressor,
    table,
)

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor
from superfactor.constraints import NonNegative
from superfactor.interpretation import factor_view

ROTATIONS = ("predictive", "variance", "varimax")


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("model", MODELS)
def test_turn_takes_components_and_codes_to_those_of_the_view(model, rotation):
    X, y = table(classes=3)
    fit = pipeline(model).fit(X, y)
    views = [factor_view(fit, rotation=rotation), factor_view(factor_view(fit), rotation=rotation)]
    for view in views:
        np.testing.assert_allclose(view.turn @ view.weights, fit[-1].components_, atol=1e-10)
        np.testing.assert_allclose(fit[-1].codes_ @ view.turn, view.codes, atol=1e-10)
        if model == "filter" or rotation != "predictive":
            np.testing.assert_allclose(view.turn.T @ view.turn, np.eye(3), atol=1e-10)


def log_odds(fit, X):
    """The log-odds of the second of two classes, or of each against the mean of all."""
    scores = fit.decision_function(X)
    return scores[:, None] if scores.ndim == 1 else scores - scores.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("classes", [2, 4], ids=["two", "four"])
@pytest.mark.parametrize("rotation", ROTATIONS)
def test_coefficients_are_what_one_deviation_along_a_factor_adds(model, classes, rotation):
    X, y = table(classes=classes)
    fit = pipeline(model).fit(X, y)
    view = factor_view(fit, rotation=rotation)
    assert view.coef.shape == (1 if classes == 2 else classes, 3)
    unit = fit[0].scale_  # a step in standardised features, in the units of the table
    for j in range(3):
        moved = X + view.codes[:, j].std() * view.weights[j] * unit
        change = log_odds(fit, moved) - log_odds(fit, X)
        np.testing.assert_allclose(change, np.tile(view.coef[:, j], (len(y), 1)), atol=1e-8)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("targets", [1, 2], ids=["one", "two"])
def test_coefficients_of_a_regression_are_in_units_of_the_targets(model, targets):
    X, _ = table()
    Y = np.stack([5 * X["gene1"], X["gene0"] - 100 * X["gene3"]], axis=1)[:, :targets]
    fit = regressor(model).fit(X - X.mean(), Y - Y.mean(axis=0))
    view = factor_view(fit)
    assert view.classes is None
    assert view.outputs == (("y",) if targets == 1 else ("y0", "y1"))
    for j in range(3):
        moved = X - X.mean() + view.codes[:, j].std() * view.weights[j]
        change = fit.predict(moved) - fit.predict(X - X.mean())
        expected = np.tile(view.coef[:, j], (len(Y), 1))
        np.testing.assert_allclose(change, expected, rtol=1e-6, atol=1e-9 * np.abs(view.coef).max())


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("covariates", [False, True], ids=["alone", "covariates"])
def test_rotation_order_and_signs_lose_nothing(model, rotation, classes, covariates):
    X, y = table(classes=classes)
    extra = np.random.default_rng(5).standard_normal((len(y), 2)) if covariates else None
    fit = classifier(model).fit(X, y, covariates=extra)
    view = factor_view(fit, rotation=rotation)
    X_again, scores = fit.codes_ @ fit.components_, fit.codes_ @ fit.coef_.T
    scores = of_outputs(scores, fit.classes_)
    np.testing.assert_allclose(reconstruction(view), X_again, atol=1e-12 * np.abs(X_again).max())
    np.testing.assert_allclose(activations(view), scores, atol=1e-12 * np.abs(scores).max())


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("classes", [2, 4], ids=["two", "four"])
def test_convention(model, classes, rotation):
    X, y = table(classes=classes)
    view = factor_view(pipeline(model, rank=4).fit(X, y), rotation=rotation)
    contribution = np.sqrt((view.coef**2).sum(axis=0))
    assert np.all(np.diff(contribution) <= 0)
    assert np.all(view.coef.max(axis=0) == np.abs(view.coef).max(axis=0))
    assert np.all(np.diff(view.share[~view.predictive]) <= 0)
    np.testing.assert_array_equal(np.abs(view.scaled).max(axis=1), 1)
    ratio = view.weights / view.scaled
    np.testing.assert_allclose(ratio, np.tile(ratio[:, :1], (1, 7)))


@pytest.mark.parametrize("flip", [[1, 1, 1], [-1, 1, -1]], ids=["same", "flipped"])
def test_order_and_sign_do_not_depend_on_those_of_the_fit(flip):
    X, y = table()
    fit = classifier().fit(X, y)
    before = factor_view(fit)
    order, flip = [2, 0, 1], np.array(flip)
    fit.components_ = flip[:, None] * fit.components_[order]
    fit.codes_, fit.coef_ = flip * fit.codes_[:, order], flip * fit.coef_[:, order]
    fit.explained_variance_ratio_ = fit.explained_variance_ratio_[order]
    after = factor_view(fit)
    for name in ("weights", "scaled", "coef", "share", "codes"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rotation", ROTATIONS)
def test_shares_are_sums_of_squares(model, rotation):
    X, y = table()
    view = factor_view(classifier(model).fit(X, y), rotation=rotation)
    for j in range(3):
        part = np.outer(view.codes[:, j], view.weights[j])
        np.testing.assert_allclose(view.share[j], (part**2).sum() / (X**2).sum().sum(), rtol=1e-8)


def test_factors_without_effect_follow_by_share_with_their_largest_weight_up():
    X, y = table()
    fit = classifier(rank=4).fit(X, y)
    fit.coef_ = np.zeros_like(fit.coef_)
    view = factor_view(fit)
    assert np.all(np.diff(view.share) <= 0)
    assert np.all(view.scaled.max(axis=1) == 1)
    assert not view.coef.any()


def test_a_constant_code_has_no_effect():
    X = pd.DataFrame({"constant": np.full(30, 2.0), "other": np.linspace(-1, 1, 30)})
    view = factor_view(SMFRegressor(2, xi=100.0, lam=1e-3).fit(X, X["other"]))
    assert view.coef[0, 0] > 0.1
    assert view.coef[0, 1] == 0
    np.testing.assert_allclose(view.share[1], 120 / (X**2).to_numpy().sum(), rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rotation", ROTATIONS)
def test_spare_rank_is_shown_empty(model, rotation, dtype):
    rng = np.random.default_rng(1)
    X = (rng.standard_normal((30, 2)) @ rng.standard_normal((2, 8))).astype(dtype)
    y = X[:, 0] > 0
    view = factor_view(classifier(model, rank=5).fit(X, y), rotation=rotation)
    # Two factors hold X; in the feature model one more may hold labels.
    used = 3 if model == "feature" else 2
    assert np.count_nonzero(np.any(view.weights != 0, axis=1)) <= used
    assert not view.coef[:, used:].any()
    np.testing.assert_allclose(reconstruction(view), X, atol=1e-2 if model == "feature" else 1e-4)
    assert all(np.isfinite(getattr(view, name)).all() for name in ("scaled", "coef", "share"))


def test_one_factor():
    X, y = table()
    view = factor_view(pipeline(rank=1).fit(X, y), rotation="varimax")
    assert view.weights.shape == (1, 7)
    assert view.coef.item() > 0


def test_parts_keep_their_sign():
    X, y = table()
    X = X - X.min()
    # The first class is the one with more of gene1: the other way round the coefficient is negative.
    y = np.where(X["gene1"] > X["gene1"].median(), "a", "b")
    fit = SMFClassifier(2, xi=0.1, lam=0.1, solver="bcd", constraint=NonNegative()).fit(X, y)
    view = factor_view(fit)
    assert view.weights.min() >= 0
    assert view.codes.min() >= 0
    assert view.coef.min() < 0
    moved = X + view.codes[:, 0].std() * view.weights[0]
    change = fit.decision_function(moved) - fit.decision_function(X)
    np.testing.assert_allclose(change, view.coef[0, 0], rtol=1e-6)


# --- names ----------------------------------------------------------------------------------------


GENES = [f"gene{j}" for j in range(7)]


def _names_log(X):
    return np.log(np.asarray(X) ** 2 + 1)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param([], GENES, id="alone"),
        pytest.param([StandardScaler()], GENES, id="scaler"),
        pytest.param(["passthrough", StandardScaler()], GENES, id="passthrough"),
        pytest.param([StandardScaler().set_output(transform="pandas")], GENES, id="pandas"),
        pytest.param([FunctionTransformer(_names_log), StandardScaler()], GENES, id="nameless"),
        pytest.param([StandardScaler(), PCA(3)], ["pca0", "pca1", "pca2"], id="other-features"),
        pytest.param([SelectKBest(k=2), StandardScaler()], ["gene1", "gene3"], id="selection"),
    ],
)
def test_names_are_those_of_the_table(before, expected):
    X, y = table(n=200)
    fit = make_pipeline(*before, classifier(rank=2)).fit(X, y)
    assert list(factor_view(fit).features) == expected


@pytest.mark.parametrize("scaled", [False, True], ids=["alone", "pipeline"])
def test_names_leave_out_covariates(scaled):
    X, y = table()
    last = classifier(rank=2, covariate_columns=[1, 4])
    fit = (make_pipeline(StandardScaler(), last) if scaled else last).fit(X, y)
    assert list(factor_view(fit).features) == ["gene0", "gene2", "gene3", "gene5", "gene6"]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        pytest.param(None, ["x0", "x1", "x2"], id="array"),
        pytest.param([10, 20, 30], ["x0", "x1", "x2"], id="numbers"),
        pytest.param(["µ", "", "<b>"], ["µ", "", "<b>"], id="odd"),
    ],
)
def test_odd_names(columns, expected):
    X, y = table(p=4)
    X = X.to_numpy()[:, 1:]
    X = X if columns is None else pd.DataFrame(X, columns=columns)
    view = factor_view(classifier(rank=2).fit(X, y))
    assert list(view.features) == expected
    assert all(type(name) is str for name in view.features)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [([1, 2], ("1", "2")), ([False, True], ("False", "True")), ([0.0, 1.0], ("0.0", "1.0"))],
    ids=["int", "bool", "float"],
)
def test_classes_are_strings(labels, classes):
    X, y = table()
    view = factor_view(classifier().fit(X, np.array(labels)[(y == "normal").astype(int)]))
    assert view.classes == classes
    assert view.outputs == classes[1:]  # as many of both: the second


# --- what counts as a model -------------------------------------------------------------------------


def test_a_search_stands_for_its_best_estimator():
    X, y = table(n=60)
    search = SMFClassifierCV([2], xi=[0.1], lam=[0.1, 1.0], preprocess="standardize", cv=3)
    view = factor_view(search.fit(X, y))
    np.testing.assert_array_equal(view.codes, factor_view(search.best_estimator_).codes)
    assert list(view.features) == GENES
    inner = GridSearchCV(classifier(rank=2), {"lam": [0.1, 1.0]}, cv=3)
    nested = make_pipeline(StandardScaler(), inner).fit(X, y)
    assert list(factor_view(nested).features) == GENES


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        pytest.param(classifier(), NotFittedError, "not fitted", id="unfitted"),
        pytest.param(pipeline(), NotFittedError, "not fitted", id="unfitted-pipeline"),
        pytest.param(SMFClassifierCV(), NotFittedError, "refit=True", id="unfitted-search"),
        pytest.param(LogisticRegression(), TypeError, "LogisticRegression: ", id="other"),
        pytest.param(None, TypeError, "NoneType: ", id="none"),
    ],
)
def test_what_is_no_model_is_named(model, error, words):
    with pytest.raises(error, match=words):
        factor_view(model)


def test_unknown_rotation():
    with pytest.raises(ValueError, match="rotation='promax': None, 'predictive', 'variance'"):
        factor_view(None, rotation="promax")


def test_a_view_is_a_model_and_can_be_kept():
    X, y = table()
    fit = pipeline().fit(X, y)
    view = factor_view(fit)
    assert factor_view(view) is view
    for first in ROTATIONS:
        for second in ROTATIONS:
            turned = factor_view(factor_view(fit, rotation=first), rotation=second)
            direct = factor_view(fit, rotation=second)
            for name in ("weights", "coef", "share", "codes", "turn"):
                np.testing.assert_allclose(getattr(turned, name), getattr(direct, name), atol=1e-8)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(view)).coef, view.coef)


@pytest.mark.parametrize("model", MODELS)
def test_arrays_of_another_library(model):
    torch = pytest.importorskip("torch")
    X, y = table()
    here = factor_view(classifier(model).fit(X.to_numpy(), y))
    there = factor_view(classifier(model).fit(torch.asarray(X.to_numpy(copy=True)), y))
    for name in ("weights", "coef", "share", "codes"):
        assert type(getattr(there, name)) is np.ndarray
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), atol=1e-6)
