"""Attributes that describe factors, summed on workers, compared with sums over all samples of the fit."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from sklearn.metrics import d2_tweedie_score, log_loss
from tests.distributed.test_estimators import COVARIATES, DESCRIBING, LABELS, LAZY, MODELS, SCORES, WEIGHTS, X
from tests.distributed.test_unlabelled import KNOWN, WORDS

from superfactor import SMFClassifier, SMFRegressor
from superfactor.distributed import DaskSMFClassifier, DaskSMFRegressor
from superfactor.interpretation import factor_view, top_features

CLOSE = {"rtol": 1e-8, "atol": 1e-8}


def moments(X, S, weight):
    """Mean and covariance of scores S, covariances of features with them, deviations of features."""
    D = weight / weight.sum()
    mean, centre = D @ S, D @ X
    S, X = S - mean, X - centre
    return mean, (S.T * D) @ S, (X.T * D) @ S, np.sqrt(D @ X**2)


def assert_described(model, X, weight):
    mean, C, K, scale = moments(X, model.transform(X), weight)
    np.testing.assert_allclose(model.score_mean_, mean, **CLOSE)
    np.testing.assert_allclose(model.score_covariance_, C, **CLOSE)
    np.testing.assert_allclose(model.feature_scale_, scale, **CLOSE)
    np.testing.assert_allclose(model.patterns_, np.linalg.solve(C, K.T), **CLOSE)
    turn = model.factor_turn_
    np.testing.assert_allclose(turn.T @ C @ turn, np.eye(len(C)), **CLOSE)


@pytest.mark.parametrize(
    ("model", "y", "given"),
    [("filter", LABELS, {}), ("feature", WORDS, {"sample_weight": WEIGHTS, "covariates": COVARIATES})],
    ids=["plain", "unlabelled-weights"],
)
def test_attributes_that_describe_factors_of_a_classifier(client, model, y, given):
    made = {"model": model, **MODELS[model]}
    found = DaskSMFClassifier(client=client, **made).fit(LAZY, y, **given)
    weight = given.get("sample_weight", np.ones(len(X)))
    assert_described(found, X, weight)
    # What each factor is good for: the deviance without it, of the samples that have a label.
    local = found.to_local()
    for name in DESCRIBING:
        np.testing.assert_array_equal(getattr(local, name), getattr(found, name))
    labelled = KNOWN if y is WORDS else np.ones(len(X), dtype=bool)
    covariates = given.get("covariates", np.zeros((len(X), 0)))
    codes = local.transform(X)
    scores = (codes - local.score_mean_) @ local.factor_turn_
    effect = local.factor_coef_ @ local.score_covariance_ @ local.factor_turn_
    constant = local.intercept_ + covariates @ local.covariate_coef_.T
    constant = constant + local.score_mean_ @ local.factor_coef_.T

    def deviance(used):
        activations = scores[:, used] @ effect[:, used].T + constant
        odds = np.exp(activations - activations.max(axis=1, keepdims=True))
        chances = (odds / odds.sum(axis=1, keepdims=True))[labelled]
        return log_loss(LABELS[labelled], chances, sample_weight=weight[labelled], labels=local.classes_)

    whole, none = deviance([0, 1, 2]), deviance([])
    lost = [deviance([k for k in range(3) if k != j]) - whole for j in range(3)]
    expected = np.clip(np.array(lost) / (none - whole), 0, 1)
    np.testing.assert_allclose(found.factor_contribution_, expected, **CLOSE)


def test_attributes_that_describe_factors_of_a_regressor(client):
    y = np.where(KNOWN[:, None], SCORES[:, :2], np.nan)
    made = {"model": "feature", **MODELS["feature"], "xi": 1.0}
    found = DaskSMFRegressor(client=client, **made)
    found.fit(LAZY, da.from_array(y, chunks=(70, 2)), sample_weight=da.from_array(WEIGHTS))
    assert_described(found, X, WEIGHTS)
    assert found.factor_coef_.shape == (2, 3)


def test_coef_has_weights_of_the_columns_of_x(client):
    made = {**MODELS["filter"], "covariate_columns": [0, 5]}
    found = DaskSMFClassifier(client=client, **made).fit(LAZY, LABELS)
    assert found.coef_.shape == (3, X.shape[1])
    linear = X @ found.coef_.T + found.intercept_
    np.testing.assert_allclose(found.decision_function(X), linear, **CLOSE)
    np.testing.assert_allclose(found.to_local().coef_, found.coef_, rtol=0)


def test_views_equal_those_of_the_model_in_memory(client):
    made = {"model": "feature", **MODELS["feature"]}
    found = DaskSMFClassifier(client=client, **made).fit(LAZY, LABELS)
    expected = SMFClassifier(**made).fit(X, LABELS)
    view, other = factor_view(found.to_local()), factor_view(expected)
    for name in ("correlations", "coef", "share", "contribution", "scores"):
        # Both fits stop at their tolerance, and not at the same point.
        np.testing.assert_allclose(getattr(view, name), getattr(other, name), atol=1e-3)
    assert len(top_features(found.to_local(), 2)) == 12


def test_counts_are_scored_by_their_deviance(client):
    counts = np.random.default_rng(0).poisson(np.exp(0.3 * X[:, 0])).astype(float)
    model = DaskSMFRegressor(client=client, loss="poisson").fit(LAZY, counts)
    local = SMFRegressor(loss="poisson").fit(X, counts)
    expected = d2_tweedie_score(counts, np.asarray(model.predict(LAZY)), power=1)
    assert model.score(LAZY, counts) == pytest.approx(expected)
    assert model.score(LAZY, counts) == pytest.approx(local.score(X, counts), rel=1e-4)
    with pytest.raises(ValueError, match="exposure_column: DaskSMFRegressor does not support exposures"):
        DaskSMFRegressor(client=client, loss="poisson", exposure_column=0).fit(LAZY, counts)


@pytest.mark.parametrize(("y", "said"), [(-1.0, "negative"), (0.0, "all of them are 0")])
def test_invalid_counts_raise_the_same_error_as_in_memory(client, y, said):
    with pytest.raises(ValueError, match=said):
        DaskSMFRegressor(client=client, loss="poisson").fit(LAZY, np.full(len(X), y))
