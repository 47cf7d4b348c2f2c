"""Markers of classes: what must be one, and what must not."""

import numpy as np
import pandas as pd
import pytest
from tests.interpretation.data import classifier, pipeline, regressor, table

from superfactor.interpretation import class_features, feature_effects


def cells(n=40, seed=0):
    """Three classes with two markers each, a marker of two classes, one that is low in a class, and noise."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["B", "NK", "T"], n)
    X = rng.standard_normal((3 * n, 20))
    for k, name in enumerate(("B", "NK", "T")):
        X[y == name, 2 * k : 2 * k + 2] += 3
    X[y != "B", 6] += 3
    X[y == "T", 7] -= 3
    return pd.DataFrame(X, columns=[f"g{j}" for j in range(20)]), y


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_planted_markers(model):
    X, y = cells()
    found = class_features(pipeline(model, rank=3).fit(X, y), X, y)
    of = {name: set(rows["feature"]) for name, rows in found.groupby("class")}
    assert list(found["class"].unique()) == ["B", "NK", "T"]
    for name, own in zip(("B", "NK", "T"), (0, 2, 4), strict=True):
        assert {f"g{own}", f"g{own + 1}"} <= of[name]
        assert not of[name] & {f"g{j}" for j in range(6) if j not in (own, own + 1)}
    assert "g6" not in of["B"]
    assert "g7" not in of["T"]
    for name, rows in found.groupby("class"):
        assert rows["rank"].tolist() == list(range(1, len(rows) + 1))
        assert rows["correlation"].is_monotonic_decreasing
        means = [X.loc[y == name, rows["feature"]].mean(), X.loc[y != name, rows["feature"]].mean()]
        np.testing.assert_allclose(rows[["mean", "mean_rest"]].T, means)
        assert (rows["mean"] > rows["mean_rest"]).all() and (rows["q"] <= 0.05).all()
        assert (rows["auc"] > 0.5).all() and (rows[["correlation", "coef_per_sd"]] > 0).all(axis=None)


def test_both_of_two_classes_have_markers():
    X, y = table(n=60)
    fit = classifier(rank=2).fit(X, y)
    found = class_features(fit, X, y)
    of = {name: set(rows["feature"]) for name, rows in found.groupby("class")}
    # The labels are those of gene1 − gene3.
    assert "gene1" in of["tumoral"] and "gene3" in of["normal"]
    assert not of["tumoral"] & of["normal"]
    for name in of:
        effects = feature_effects(fit, X, y, positive=name).set_index("feature")
        own = found[found["class"] == name].set_index("feature")
        shared = list(own.columns.intersection(effects.columns).drop("class"))
        pd.testing.assert_frame_equal(own[shared], effects.loc[own.index, shared])


def test_a_feature_with_a_negative_coefficient_is_no_marker():
    """There is more of both in "b"; the model subtracts the second, which measures the noise of the first."""
    rng = np.random.default_rng(2)
    y = np.repeat([0.0, 1.0], 100)
    noise = rng.standard_normal(200)
    X = np.column_stack([y + 2 * noise, 0.4 * y + 2 * noise, rng.standard_normal(200)])
    X += 0.2 * rng.standard_normal(X.shape)
    labels = np.where(y == 1, "b", "a")
    fit = classifier(rank=2, lam=1e-3).fit(X, labels)
    effects = feature_effects(fit, X, labels, positive="b")
    assert effects["mean"][1] > effects["mean_rest"][1] and effects["coef_per_sd"][1] < 0
    found = class_features(fit, X, labels, level=1.0)
    markers = found[found["class"] == "b"]["feature"].tolist()
    assert "x0" in markers and "x1" not in markers


def test_level_and_noise():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 30)), np.repeat(["a", "b"], 30)
    fit = classifier(rank=2).fit(X, y)
    none = class_features(fit, X, y)
    assert len(none) == 0
    assert list(none.columns)[:3] == ["class", "rank", "feature"]
    assert len(class_features(fit, X, y, n=100, level=1.0)) > 5


def test_classes_that_are_numbers_and_models_without_a_coefficient():
    X, y = cells()
    codes = np.select([y == "B", y == "NK"], [10, 2], 5)
    fit = classifier("feature", rank=3).set_params(prediction="exact").fit(X, codes)
    found = class_features(fit, X, codes, n=2)
    assert found["class"].tolist() == ["2", "2", "5", "5", "10", "10"]
    assert set(found["feature"][:2]) == {"g2", "g3"}
    assert found["coef_per_sd"].isna().all()


def test_bad_options_and_numbers():
    X, y = table()
    model = classifier(rank=2).fit(X, y)
    for options, words in (
        ({"n": 0}, "n=0: an"),
        ({"level": 0}, "level=0: a"),
        ({"level": "x"}, "level='x'"),
    ):
        with pytest.raises(ValueError, match=words):
            class_features(model, X, y, **options)
    with pytest.raises(ValueError, match="model=SMFRegressor: a classifier is required"):
        class_features(regressor(rank=2).fit(X, X["gene0"]), X, X["gene0"])
