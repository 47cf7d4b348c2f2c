"""Sample weights: integer weights are repeated rows, their unit does not matter, weight zero is no sample."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.interpretation import (
    block_shares,
    class_features,
    covariate_effects,
    feature_effects,
    nearness,
    stability,
    stable_features,
    unsupervised,
)

QUIET = {"certify": None, "search": "off"}
TESTS = ["p", "q", "z"]


def example(kind, n=60):
    """A model, X with ties and a constant, y, and integer weights."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 6))
    X[:, 1], X[:, 2] = X[:, 1].round(), 3.0
    weight = rng.integers(0, 4, n).astype(float)
    if kind == "classes":
        return (
            SMFClassifier(3, **QUIET),
            X,
            np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.4, 0.6])],
            weight,
        )
    if kind == "two":
        return SMFClassifier(2, **QUIET), X, (X[:, 0] + rng.standard_normal(n) > 0.8).astype(int), weight
    if kind == "flags":
        y = (X[:, :2] + rng.standard_normal((n, 2)) > 0).astype(float)
        y[::7, 0] = np.nan
        return SMFClassifier(2, **QUIET), X, y, weight
    if kind == "numbers":
        return SMFRegressor(2, **QUIET), X, X[:, 0] + rng.standard_normal(n), weight
    if kind == "counts":
        years = rng.uniform(0.2, 5, n)
        y = rng.poisson(years * np.exp(0.5 * X[:, 0])).astype(float)
        return SMFRegressor(2, loss="poisson", exposure_column=6, **QUIET), np.c_[X, years], y, weight
    y = np.c_[rng.random(n) < 0.7, rng.exponential(np.exp(-X[:, 0])), rng.integers(0, 2, n)]
    return SMFSurvival(2, **QUIET), X, y, weight


KINDS = ["classes", "two", "flags", "numbers", "counts", "times"]


@pytest.mark.parametrize("kind", KINDS)
def test_integer_weights_are_repeated_rows_in_effects(kind):
    model, X, y, weight = example(kind)
    again = np.repeat(np.arange(len(X)), weight.astype(int))
    found = feature_effects(model.fit(X, y, sample_weight=weight), X, y, sample_weight=weight)
    expected = feature_effects(model, X[again], y[again])
    tests = [name for name in TESTS if name in found]
    pd.testing.assert_frame_equal(found.drop(columns=tests), expected.drop(columns=tests), rtol=1e-9)
    if kind in ("classes", "two", "flags"):
        left_out = ["q", "rank"]
        markers = class_features(model, X, y, level=1, sample_weight=weight).drop(columns=left_out)
        expected = class_features(model, X[again], y[again], level=1).drop(columns=left_out)
        pd.testing.assert_frame_equal(markers, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_tests_ignore_the_unit_of_weights_and_samples_of_weight_zero(kind):
    model, X, y, weight = example(kind)
    model.fit(X, y, sample_weight=weight)
    kept = weight > 0
    found, tenfold = (feature_effects(model, X, y, sample_weight=w) for w in (weight, 10 * weight))
    fewer = feature_effects(model, X[kept], y[kept], sample_weight=weight[kept])
    plain, equal = (feature_effects(model, X, y, sample_weight=w) for w in (None, np.full(len(X), 5.0)))
    for name in [name for name in TESTS if name in found]:
        np.testing.assert_allclose(found[name], tenfold[name], rtol=1e-9)
        np.testing.assert_allclose(found[name], fewer[name], rtol=1e-9)
        np.testing.assert_allclose(plain[name], equal[name], rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_unequal_weights_do_not_make_noise_significant(kind):
    model, X, y, _ = example(kind, n=100)
    rng, small = np.random.default_rng(0), []
    model.fit(X, y)
    for _ in range(60):
        noise = rng.standard_normal((100, 6))
        both = np.c_[noise, X[:, 6:]]
        table = feature_effects(model, both, y, sample_weight=np.exp(rng.normal(0, 1, 100)))
        small += list(table["p"] < 0.05)
    assert 0.02 < np.mean(small) < 0.09


@pytest.mark.parametrize("kind", KINDS)
def test_integer_weights_are_repeated_rows_in_the_plain_svd(kind):
    model, X, y, weight = example(kind)
    again = np.repeat(np.arange(len(X)), weight.astype(int))
    model.fit(X, y, sample_weight=weight)
    found = unsupervised(model, X, y, sample_weight=weight)
    expected = unsupervised(model, X[again], y[again])
    for name in ("share", "weights", "correlations", "patterns"):
        np.testing.assert_allclose(np.abs(getattr(found, name)), np.abs(getattr(expected, name)), atol=1e-6)
    np.testing.assert_allclose(np.abs(found.coef), np.abs(expected.coef), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(np.abs(found.scores[again]), np.abs(expected.scores), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_nearness_uses_weights(kind):
    """Two groups of samples follow different features, and the weights choose one of them."""
    model, X, y, _ = example(kind, n=120)
    other = np.arange(120) % 2 == 1
    X[other, 0], X[other, 3] = X[other, 3], X[other, 0].copy()
    fits = [np.where(other, low, 1.0) for low in (1e-3, 1.0)]
    model.set_params(xi=1e-6).fit(X, y, sample_weight=fits[0])
    found = [nearness(model, X, y, sample_weight=w).cosine for w in fits]
    assert found[0] > 0.9 and found[0] > found[1] + 0.02


@pytest.mark.parametrize("class_weight", [{0: 1.0, 1: 40.0}, "balanced"])
def test_ridge_regression_has_the_class_weights_of_the_model(class_weight):
    """With next to no reconstruction the model is ridge regression itself; the log-odds are not linear."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 4))
    log_odds = -3 + 1.5 * np.minimum(X[:, 1], 0) + 3 * (X[:, 0] > 1.3) + 0.5 * X[:, 0]
    y = (log_odds + rng.logistic(size=1500) > 0).astype(int)
    model = SMFClassifier(1, xi=1e-7, class_weight=class_weight).fit(X, y)
    own = model.coef_[0]
    other = LogisticRegression().fit(X, y).coef_[0]
    assert abs(own @ other) / np.linalg.norm(own) / np.linalg.norm(other) < 0.995
    assert nearness(model, X, y).cosine > 0.9999


def test_nearness_of_counts_is_by_their_own_loss():
    """The same rate for all, but few counts of large exposure: logarithms of counts follow the exposure."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    years = np.exp(2.0 * X[:, 1])
    y = rng.poisson(years * np.exp(X[:, 0])).astype(float)
    model = SMFRegressor(1, loss="poisson", xi=1e-6, exposure_column=4).fit(np.c_[X, years], y)
    assert nearness(model, np.c_[X, years], y).cosine > 0.99
    skewed = rng.poisson(np.exp(1.5 * X[:, 0] + 1.5 * (X[:, 1] > 1.0) * X[:, 1])).astype(float)
    plain = SMFRegressor(1, loss="poisson", xi=1e-6).fit(X, skewed)
    assert nearness(plain, X, skewed).cosine > 0.99


def test_nearness_of_times_is_ridge_cox_regression():
    rng = np.random.default_rng(0)
    X, stratum = rng.standard_normal((200, 5)), rng.integers(0, 3, 200)
    X[:, 1] += 2 * stratum
    time = rng.exponential(np.exp(-X[:, 0] - 3 * stratum))
    y = np.c_[rng.random(200) < 0.8, time, stratum]
    model = SMFSurvival(1, xi=1e-6).fit(X, y)
    assert nearness(model, X, y).cosine > 0.99
    assert nearness(model, X, y[:, :2]).cosine < 0.95


def test_integer_weights_are_repeated_rows_in_shares_of_blocks():
    model, X, y, weight = example("classes")
    again = np.repeat(np.arange(len(X)), weight.astype(int))
    blocks = {"some": [0, 1, 2], "others": [3, 4]}
    model.fit(X, y, sample_weight=weight)
    found, expected = (
        block_shares(model, X, blocks, sample_weight=weight),
        block_shares(model, X[again], blocks),
    )
    pd.testing.assert_frame_equal(found, expected)


def test_samples_drawn_again_have_events():
    """Three events of forty: a part without any cannot be fitted."""
    rng = np.random.default_rng(0)
    y = np.c_[np.arange(40) % 14 == 0, rng.exponential(size=40)]
    X = rng.standard_normal((40, 5))
    model = SMFSurvival(1, **QUIET).fit(X, y)
    assert stability(model, X, y, 30, fraction=0.4, shuffles=1).n_resamples == 30


def test_stable_features_of_weighted_samples():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 20)), np.arange(80) % 2
    first = np.arange(80) < 50
    X[first, 0] += 3 * y[first]
    X[~first, 1] += 3 * y[~first]
    weight = first.astype(float)
    model = SMFClassifier(2, **QUIET).fit(X, y, sample_weight=weight)
    options = {"n_pairs": 4, "random_state": 0}
    found = stable_features(model, X, y, sample_weight=weight, **options).table
    fewer = stable_features(
        SMFClassifier(2, **QUIET).fit(X[first], y[first]), X[first], y[first], **options
    ).table
    share, expected = (t.set_index("feature")["share"].sort_index() for t in (found, fewer))
    np.testing.assert_allclose(share, expected)
    light = np.where(first, 1.0, 1e-3)
    found = stable_features(model, X, y, sample_weight=light, **options).table.set_index("feature")
    assert found.loc["x0", "share"] == 1 and found.loc["x1", "share"] < 0.5


def test_the_deviation_of_a_covariate_does_not_depend_on_exposures():
    rng = np.random.default_rng(0)
    age, years = rng.normal(50, 10, 90), rng.uniform(0.1, 10, 90)
    X = np.c_[rng.standard_normal((90, 3)), years]
    y = rng.poisson(years * np.exp(0.02 * (age - 50))).astype(float)
    weight = rng.uniform(0.5, 2, 90)
    Z = pd.DataFrame({"age": age})
    model = SMFRegressor(2, loss="poisson", exposure_column=3).fit(X, y, covariates=Z, sample_weight=weight)
    row = covariate_effects(model, X, y, Z, weight).iloc[0]
    mean = weight @ age / weight.sum()
    sd = np.sqrt(weight @ (age - mean) ** 2 / weight.sum())
    assert row["sd"] == pytest.approx(sd)
    assert row["estimate_per_sd"] == pytest.approx(np.exp(row["coef"] * sd))


def test_markers_of_several_labels():
    model, X, y, _ = example("flags", n=200)
    table = class_features(model.fit(X, y), X, y, n=3)
    assert list(table.columns[:3]) == ["label", "rank", "feature"]
    first = table.groupby("label")["feature"].first()
    assert first.tolist() == ["x0", "x1"]
    assert (table["difference_in_sd"] > 0).all() and (table["auc"] > 0.5).all()
    for model in (SMFRegressor(2).fit(X, X[:, 0]),):
        with pytest.raises(ValueError, match="a classifier is required; use feature_effects"):
            class_features(model, X, X[:, 0])
