"""Gaps in covariates that are numbers: the median and an indicator, against the same made by hand."""

import array_api_strict as xp
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor
from superfactor.estimators.covariates import CovariateEncoder, IndicatorColumns
from superfactor.interpretation import covariate_effects

N = 60
PARAMS = {"xi": 0.1, "lam": 0.5}


def made(seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(N, 6))).add_prefix("gene")
    people = pd.DataFrame(
        {"age": rng.normal(60, 9, N), "sex": rng.choice(["F", "M"], N), "bmi": rng.normal(26, 3, N)}
    )
    y = (X["gene0"] + (people["age"] - 60) / 9 + rng.normal(size=N) > 0).to_numpy()
    return X, people.mask(rng.random((N, 3)) < [0.2, 0, 0]), y


X, GIVEN, Y = made()


def by_hand(table=GIVEN, fitted=GIVEN):
    age = table["age"].fillna(fitted["age"].median())
    male = table["sex"] == ("M" if (fitted["sex"] == "F").sum() >= N / 2 else "F")
    return np.c_[age, table["age"].isna(), male, table["bmi"]].astype(float)


@pytest.mark.parametrize("estimator", [SMFClassifier, SMFRegressor])
def test_beside_x(estimator):
    y = Y if estimator is SMFClassifier else X["gene0"] + Y
    model = estimator(2, **PARAMS).fit(X, y, covariates=GIVEN)
    expected = estimator(2, **PARAMS).fit(X, y, covariates=by_hand())
    np.testing.assert_array_equal(model.covariate_coef_, expected.covariate_coef_)
    assert [name.split("=")[0] for name in model.covariate_names_] == ["age", "age", "sex", "bmi"]
    assert model.covariate_names_[1] == "age=missing"
    assert model.covariate_levels_["age"] == [GIVEN["age"].median(), "missing"]
    new = made(1)[1]
    np.testing.assert_array_equal(
        model.predict(X, covariates=new), expected.predict(X, covariates=by_hand(new))
    )


@pytest.mark.parametrize("kind", ["frame", "objects", "array", "single"])
def test_in_columns_of_x(kind):
    numbers = GIVEN[["age", "bmi"]]
    both = pd.concat([numbers[["age"]], X, numbers[["bmi"]]], axis=1)
    columns, dtype = [0, 7], np.float64
    if kind == "frame":
        columns = ["age", "bmi"]
    elif kind == "objects":
        both = both.astype(object).where(both.notna(), None).to_numpy()
    else:
        dtype = np.float64 if kind == "array" else np.float32
        both = both.to_numpy(dtype=dtype)
    kept = both.copy()
    model = SMFClassifier(2, covariate_columns=columns, **PARAMS).fit(both, Y)
    features, beside = X.to_numpy(dtype), by_hand()[:, [0, 1, 3]].astype(dtype)
    expected = SMFClassifier(2, **PARAMS).fit(features, Y, covariates=beside)
    np.testing.assert_allclose(model.covariate_coef_, expected.covariate_coef_, atol=1e-5)
    np.testing.assert_allclose(
        model.predict_proba(both), expected.predict_proba(features, covariates=beside), rtol=1e-4
    )
    assert model.predict_proba(both).dtype == dtype
    pd.testing.assert_frame_equal(pd.DataFrame(both), pd.DataFrame(kept))  # nothing changed in place


def test_gaps_that_fit_has_not_seen_take_the_median_and_are_said():
    numbers = GIVEN[["age", "bmi"]].fillna(50.0)
    inside = pd.concat([X, numbers], axis=1)
    beside = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=numbers)
    within = SMFClassifier(2, covariate_columns=["age", "bmi"], **PARAMS).fit(inside, Y)
    gone = numbers.assign(bmi=numbers["bmi"].where(numbers.index != 7))
    filled = numbers.assign(bmi=gone["bmi"].fillna(numbers["bmi"].median()))
    said = r"column 'bmi' has 1 missing value\(s\), the first at position 7; none was missing at fit"
    with pytest.warns(UserWarning, match=f"covariates: {said}"):
        found = beside.predict_proba(X, covariates=gone)
    np.testing.assert_allclose(found, beside.predict_proba(X, covariates=filled), rtol=1e-12)
    with pytest.warns(UserWarning, match=f"X: {said}"):
        found = within.predict_proba(pd.concat([X, gone], axis=1))
    expected = within.predict_proba(pd.concat([X, filled], axis=1))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_columns_without_a_number():
    with pytest.raises(ValueError, match="covariates: column 'age' has no value for any sample"):
        SMFClassifier().fit(X, Y, covariates=GIVEN.assign(age=np.nan))


def test_gaps_among_features_are_still_refused():
    both = pd.concat([X.mask(X > 2), GIVEN[["age"]]], axis=1)
    with pytest.raises(ValueError, match="NaN"):
        SMFClassifier(covariate_columns=["age"]).fit(both, Y)


@pytest.mark.parametrize("preprocess", [None, "standardize"])
def test_in_a_search(preprocess):
    grid = {"n_components": [1, 2], "xi": 0.1, "lam": [0.5, 2.0], "preprocess": preprocess}
    both = pd.concat([GIVEN[["age", "bmi"]], X], axis=1)
    search = SMFClassifierCV(covariate_columns=["age", "bmi"], **grid).fit(both, Y)
    numbers = np.c_[X, by_hand()[:, [0, 1, 3]]]
    expected = SMFClassifierCV(covariate_columns=range(6, 9), **grid).fit(numbers, Y)
    for name in ("mean_test_score", "split0_test_score"):
        np.testing.assert_allclose(search.cv_results_[name], expected.cv_results_[name], rtol=1e-3)
    np.testing.assert_allclose(search.predict_proba(both), expected.predict_proba(numbers), rtol=1e-6)
    effects = covariate_effects(search, both, Y)
    assert list(effects["covariate"]) == [
        "age (per unit)",
        f"age: missing vs median {GIVEN['age'].median():g}",
        "bmi (per unit)",
    ]
    by_numbers = covariate_effects(expected, numbers, Y)
    np.testing.assert_allclose(effects["coef"], by_numbers["coef"], rtol=1e-5)
    np.testing.assert_allclose(effects["low"], by_numbers["low"], rtol=1e-4)


def test_units_of_the_effects_behind_a_scaler():
    """A StandardScaler lets gaps pass: the unit of each number is undone, that of an indicator is 1."""
    both = pd.concat([GIVEN[["age", "bmi"]], X], axis=1)
    smf = SMFClassifier(2, covariate_columns=[0, 1], **PARAMS)
    model = make_pipeline(StandardScaler(), smf).fit(both, Y)
    effects = covariate_effects(model, positive=True)
    coef = effects["coef"].to_numpy()
    assert list(effects["column"]) == ["age", "age=missing", "bmi"]
    assert effects["covariate"][1].startswith("age: missing vs median")
    before = model.decision_function(both)
    for column, slope in (("age", coef[0]), ("bmi", coef[2])):
        moved = model.decision_function(both.assign(**{column: both[column] + 1})) - before
        known = both[column].notna()
        np.testing.assert_allclose(moved[known], slope, rtol=1e-6)
        np.testing.assert_allclose(moved[~known], 0, atol=1e-9)
    at_median = both.assign(age=both["age"].fillna(GIVEN["age"].median()))
    gone = both["age"].isna()
    np.testing.assert_allclose((before - model.decision_function(at_median))[gone], coef[1], rtol=1e-6)


def test_indicator_columns_leave_the_gaps_of_features():
    both = pd.concat([X.mask(X > 1), GIVEN], axis=1)
    step = IndicatorColumns(["age", "sex", "bmi"]).fit(both)
    out = step.transform(both)
    np.testing.assert_array_equal(out[:, :6], both[X.columns])
    np.testing.assert_array_equal(out[:, 6:], by_hand())
    assert list(step.get_feature_names_out())[6:8] == ["age", "age=missing"]


def test_codes_of_any_library():
    encoder = CovariateEncoder.learn(GIVEN[["age", "bmi"]])
    codes = encoder.codes(GIVEN[["age", "bmi"]])
    assert np.isfinite(codes).all()
    expanded = encoder.expand(xp.asarray(codes))
    np.testing.assert_array_equal(np.asarray(expanded), by_hand()[:, [0, 1, 3]])
    assert encoder.starts(2) == [0, 2]
