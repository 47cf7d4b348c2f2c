"""Outcomes of several kinds with common factors, compared with the single estimators and naive formulas."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from superfactor import SMFClassifier, SMFMixed, SMFRegressor, SMFSurvival
from superfactor.interpretation import (
    factor_view,
    feature_effects,
    held_out_scores,
    stable_features,
    supervised_factors,
    top_features,
)
from superfactor.plotting import FactorsDisplay
from superfactor.selection import nested_scores

KINDS = {"type": "classes", "grade": "number", "visits": "counts", ("time", "event"): "times"}


def table(n=90, p=12, seed=0, missing=True):
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((n, 2))
    X = F @ rng.standard_normal((2, p)) + 0.5 * rng.standard_normal((n, p))
    time = rng.exponential(np.exp(-F[:, 0] - F[:, 1]))
    end = rng.exponential(2.0, n)
    y = pd.DataFrame(
        {
            "type": np.array(["a", "b", "c"])[
                np.digitize(F[:, 0] + 0.3 * rng.standard_normal(n), [-0.5, 0.5])
            ],
            "grade": 10 + 3 * F[:, 1] + rng.standard_normal(n),
            "visits": rng.poisson(np.exp(1 + 0.7 * F[:, 0])).astype(float),
            "time": np.minimum(time, end),
            "event": time <= end,
        }
    )
    if missing:
        y["type"] = y["type"].astype(object)
        y["event"] = y["event"].astype(object)
        for columns in (["type"], ["grade"], ["visits"], ["time", "event"]):
            y.loc[rng.choice(n, n // 6, replace=False), columns] = None
        y.loc[3, :] = None
    return X, y


def objective(model, X, y):
    """F of a fitted filter model by naive formulas over known outcomes."""
    a = X @ model.coef_.T + model.intercept_
    v, total = model.outcome_weight_, 0.0
    scores = np.column_stack([np.zeros(len(X)), a[:, :2]])
    for i in np.flatnonzero(y["type"].notna()):
        own = list(model.outcomes_["type"].classes).index(y["type"][i])
        total += v["type"] * (np.log(np.exp(scores[i]).sum()) - scores[i, own])
    grade = (y["grade"].astype(float) - model.outcomes_["grade"].mean) / model.outcomes_["grade"].size
    total += v["grade"] * np.nansum((grade - a[:, 2]) ** 2)
    visits = y["visits"].astype(float).to_numpy() / model.outcomes_["visits"].mean
    cost = np.exp(a[:, 3]) - visits - visits * (a[:, 3] - np.log(np.where(visits > 0, visits, 1.0)))
    total += v["visits"] * np.nansum(cost)
    known = y["time"].notna().to_numpy()
    time, event = y["time"].to_numpy(float), (y["event"] == True).to_numpy()  # noqa: E712
    for i in np.flatnonzero(known & event):
        at_risk = known & (time >= time[i])
        total += v["time", "event"] * (np.log(np.exp(a[at_risk, 4]).sum()) - a[i, 4])
    W = model.components_
    left = X - X @ W.T @ W
    # A = Wβ; the reconstruction is the best in the span of W.
    return total + model.xi_ * np.sum(left**2) + model.lam_ * np.sum(model.coef_**2)


def test_the_objective_and_the_certificate():
    X, y = table()
    model = SMFMixed(KINDS, 3).fit(X, y)
    assert model.objective_ == pytest.approx(objective(model, X, y), rel=1e-8)
    assert model.output_names_ == ["type=b", "type=c", "grade", "visits", "risk (time, event)"]
    assert model.factor_coef_.shape == (5, 3)
    assert model.n_labeled_ == 89
    certificate = model.certificate_
    assert certificate.lower_bound <= model.objective_ * (1 + 1e-12)
    assert certificate.relative_gap < 0.1
    scores = model.scores(X, y)
    assert list(scores) == list(KINDS)
    assert scores["type"] > 0.7 and scores["grade"] > 0.5 and scores["visits"] > 0.2
    assert scores["time", "event"] > 0.65
    assert model.score(X, y) == pytest.approx(np.mean(list(scores.values())))


@pytest.mark.parametrize("seed", range(6))
def test_bound_is_below_values_from_other_starts(seed):
    X, y = table(40, 6, seed)
    rng = np.random.default_rng(seed)
    kinds = dict(list(KINDS.items())[seed % 3 :])
    weights = {"xi": 10 ** rng.uniform(-2, 0), "lam": 10 ** rng.uniform(-2, 1)}
    model = SMFMixed(kinds, 1 + seed % 2, **weights).fit(X, y)
    # Hundreds of starts, other ones than those of the fit itself.
    best = clone(model).set_params(search="thorough", random_state=1, certify=None).fit(X, y).objective_
    assert model.certificate_.lower_bound <= best * (1 + 1e-10)
    if model.certificate_.is_global:
        assert model.objective_ <= best * (1 + 1e-7)


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_one_outcome_equals_the_single_estimator(model):
    X, y = table(missing=False)
    X = X - X.mean(axis=0)
    v = {}
    given = {"model": model, "search": "off", "prediction": "fast"}

    def mixed(key, kind, lam, xi):
        fitted = SMFMixed({key: kind}, 2, xi=xi, lam=lam, **given).fit(X, y)
        v[key] = fitted.outcome_weight_[key]
        return fitted

    one = mixed("type", "classes", 0.3, 0.05)
    assert v["type"] == pytest.approx(math.log(2) / math.log(3))
    alone = SMFClassifier(2, xi=0.05 / v["type"], lam=0.3 / v["type"], **given).fit(X, y["type"])
    assert one.objective_ == pytest.approx(v["type"] * alone.objective_, rel=1e-7)
    np.testing.assert_allclose(one.predict_proba(X)["type"], alone.predict_proba(X), atol=1e-4)
    one = mixed("grade", "number", 0.3, 0.05)
    alone = SMFRegressor(2, xi=0.05 / v["grade"], lam=0.3 / v["grade"], **given)
    grade = y["grade"]
    alone.fit(X, (grade - grade.mean()) / grade.std(ddof=0))
    assert one.objective_ == pytest.approx(v["grade"] * alone.objective_, rel=1e-7)
    np.testing.assert_allclose(
        one.predict(X)["grade"], grade.mean() + grade.std(ddof=0) * alone.predict(X), rtol=1e-4
    )
    key = "time", "event"
    one = mixed(key, "times", 0.3, 0.05)
    alone = SMFSurvival(2, xi=0.05 / v[key], lam=0.3 / v[key], **given).fit(X, y[["event", "time"]])
    assert one.objective_ == pytest.approx(v[key] * alone.objective_, rel=1e-7)
    np.testing.assert_allclose(one.predict(X)[key], alone.predict(X), atol=1e-3)
    one = mixed("visits", "counts", 0.3, 0.05)
    mean = y["visits"].mean()
    # A count of mean m is a rate of mean 1 that weighs m.
    alone = SMFRegressor(2, loss="poisson", xi=0.05 / v["visits"], lam=0.3 / v["visits"], **given)
    alone.fit(X, y["visits"] / mean)
    np.testing.assert_allclose(one.predict(X)["visits"], mean * alone.predict(X), rtol=1e-3)


def test_weights_of_samples_and_outcomes():
    X, y = table()
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    model = SMFMixed(KINDS, 2, xi=0.1, lam=1.0, search="off", certify=None)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    again = np.repeat(np.arange(len(X)), weight)
    repeated = clone(model).fit(X[again], y.iloc[again])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    heavy = clone(model).set_params(outcome_weight={"grade": 50.0}).fit(X, y)
    assert heavy.outcome_weight_["grade"] == pytest.approx(
        50 * clone(model).fit(X, y).outcome_weight_["grade"]
    )
    assert heavy.scores(X, y)["grade"] > clone(model).fit(X, y).scores(X, y)["grade"]


def test_concordance_is_nan_without_comparable_samples():
    X, y = table(missing=False)
    model = SMFMixed({("time", "event"): "times", "grade": "number"}, certify=None).fit(X, y)
    found = model.scores(X, y.assign(event=0))
    assert np.isnan(found["time", "event"]) and np.isfinite(found["grade"])
    weight = (y["event"] == 0).astype(float)
    assert np.isnan(model.scores(X, y, sample_weight=weight)["time", "event"])


def test_outcome_weights_are_a_dict():
    X, y = table(missing=False)
    with pytest.raises(ValueError, match="outcome_weight=3: None, or a dict"):
        SMFMixed(KINDS, outcome_weight=3).fit(X, y)


def test_scales_of_outcome_weights():
    X, y = table(missing=False)
    model = SMFMixed(KINDS, certify=None).fit(X, y)
    assert model.outcome_weight_["time", "event"] == 1.0
    assert model.outcome_weight_["grade"] == pytest.approx(math.log(2))


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_weights_of_one_outcome_equal_the_single_estimator(model):
    X, y = table(missing=False)
    X = X - X.mean(axis=0)
    given = {"model": model, "search": "off", "certify": None}
    one = SMFMixed({("time", "event"): "times"}, 2, **given).fit(X, y)
    alone = SMFSurvival(2, **given).fit(X, y[["event", "time"]])
    assert one.xi_ == pytest.approx(alone.xi_) and one.lam_ == pytest.approx(alone.lam_, rel=0.1)


def test_two_outcomes_of_one_factor_each_are_both_found():
    """A number and a label depend on one factor, times on another one; three larger factors are noise."""
    near = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        codes, noise = rng.standard_normal((200, 2)), rng.standard_normal((200, 150))
        atoms = np.linalg.qr(rng.standard_normal((150, 5)))[0]
        others = rng.standard_normal((200, 3))
        X = noise + 4 * codes @ atoms[:, :2].T + 8 * others @ atoms[:, 2:].T
        time, until = rng.exponential(np.exp(-1.5 * codes[:, 1])), rng.exponential(2.0, 200)
        y = pd.DataFrame({
            "type": np.where(codes[:, 0] + 0.5 * rng.standard_normal(200) > 0, "a", "b"),
            "grade": codes[:, 0] + 0.7 * rng.standard_normal(200),
            "time": np.minimum(time, until), "event": time <= until,
        })  # fmt: skip
        kinds = {"type": "classes", "grade": "number", ("time", "event"): "times"}
        scores = SMFMixed(kinds, 2, certify=None).fit(X, y).transform(X)
        both = [np.linalg.qr(x - x.mean(axis=0))[0] for x in (codes, scores)]
        near.append(np.linalg.svd(both[0].T @ both[1])[1].min())
    assert np.mean(near) > 0.7


def test_y_as_a_dict_and_swapped_times():
    X, y = table(missing=False)
    kinds = {("event", "time"): "times", "grade": "numbers"}
    columns = {name: y[name].to_numpy() for name in ("time", "event", "grade")}
    with pytest.warns(UserWarning, match="other way round"):
        swapped = SMFMixed(kinds, certify=None).fit(X, columns)
    usual = SMFMixed({("time", "event"): "times", "grade": "number"}, certify=None).fit(X, y)
    np.testing.assert_allclose(swapped.predict(X)["event", "time"], usual.predict(X)["time", "event"])


def test_covariates_and_factors_together():
    X, y = table(missing=False)
    age = np.random.default_rng(1).standard_normal((len(X), 1))
    y["grade"] += 10 * age[:, 0]
    without = SMFMixed(KINDS, 2).fit(X, y)
    model = SMFMixed(KINDS, 2).fit(X, y, covariates=age)
    assert model.covariate_coef_.shape == (5, 1)
    assert model.scores(X, y, covariates=age)["grade"] > without.scores(X, y)["grade"] + 0.3


@pytest.mark.parametrize(
    ("outcomes", "change", "message"),
    [
        ({}, {}, "a dict from columns of y to kinds is required"),
        ({"type": "words"}, {}, "one of 'classes', 'number', 'counts', 'times' is required"),
        ({"time": "times"}, {}, "two for times"),
        ({"age": "number"}, {}, "no column 'age'"),
        ({"type": "classes"}, {"type": "a"}, "all samples are of 'a'"),
        ({"grade": "number"}, {"grade": 1.0}, "all are the same"),
        ({"grade": "number"}, {"grade": np.nan}, "none of the 90 samples has a value"),
        ({"visits": "counts"}, {"visits": -1.0}, "counts >= 0"),
        ({"visits": "counts"}, {"visits": 3.0}, "all are the same"),
    ],
)
def test_invalid_input(outcomes, change, message):
    X, y = table(missing=False)
    with pytest.raises(ValueError, match=message):
        SMFMixed(outcomes).fit(X, y.assign(**change))


def test_invalid_weights():
    X, y = table(missing=False)
    for weight, message in (({"sex": 1.0}, "none of the outcomes"), ({"grade": -1.0}, "a number > 0")):
        with pytest.raises(ValueError, match=message):
            SMFMixed({"grade": "number"}, outcome_weight=weight).fit(X, y)


def test_tables_and_plots_of_factors():
    X, y = table()
    model = SMFMixed(KINDS, 2).fit(pd.DataFrame(X, columns=[f"g{j}" for j in range(12)]), y)
    view = factor_view(model)
    assert view.outputs == tuple(model.output_names_)
    assert supervised_factors(model)["direction"].str.contains("higher → ").all()
    best = top_features(model, n=3)
    assert set(best["feature"]) <= {f"g{j}" for j in range(12)}
    FactorsDisplay.from_estimator(model)
    effects = feature_effects(model, pd.DataFrame(X, columns=model.column_names_), y)
    known = y["grade"].notna()
    expected = np.corrcoef(X[known, 0], y["grade"][known].astype(float))[0, 1]
    own = effects[(effects["target"] == "grade") & (effects["feature"] == "g0")]
    assert own["outcome_correlation"].item() == pytest.approx(expected)


def test_evaluation_needs_a_single_outcome():
    X, y = table(missing=False)
    with pytest.raises(TypeError, match="outcomes of different kinds have no common metric"):
        nested_scores(SMFMixed(KINDS), X, y)
    model = SMFMixed(KINDS).fit(X, y)
    for refitted in (held_out_scores, stable_features):
        with pytest.raises(TypeError, match="model=SMFMixed: an estimator with a single outcome is required"):
            refitted(model, X, y)
