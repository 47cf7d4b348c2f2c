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
    for _, rows in found.groupby("class"):
        assert rows["rank"].tolist() == list(range(1, len(rows) + 1))
        assert rows["correlation"].is_monotonic_decreasing


@pytest.mark.parametrize("classes", [2, 4])
def test_every_marker_is_higher_there_and_speaks_for_the_class(classes):
    X, y = table(n=120, p=12, classes=classes)
    fit = classifier(rank=3).fit(X, y)
    found = class_features(fit, X, y, n=3)
    assert found.groupby("class").size().max() <= 3
    for row in found.itertuples():
        own = y == row._1
        x = X[row.feature]
        assert x[own].mean() > x[~own].mean()
        np.testing.assert_allclose((row.mean, row.mean_rest), (x[own].mean(), x[~own].mean()))
        assert row.q <= 0.05 and row.auc > 0.5 and row.correlation > 0 and row.coef_per_sd > 0


def test_both_of_two_classes_have_theirs():
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


def test_a_feature_that_differs_but_is_weighed_against_the_class_is_none():
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


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n": 0}, ValueError, "n=0: an integer >= 1"),
        ({"level": 0}, ValueError, "level=0: a number above 0"),
        ({"level": "x"}, ValueError, "level='x': a number above 0"),
    ],
)
def test_bad_options(options, error, words):
    X, y = table()
    with pytest.raises(error, match=words):
        class_features(classifier(rank=2).fit(X, y), X, y, **options)


def test_numbers_have_no_classes():
    X, _ = table()
    with pytest.raises(ValueError, match="model=SMFRegressor: it has no classes"):
        class_features(regressor(rank=2).fit(X, X["gene0"]), X, X["gene0"])
