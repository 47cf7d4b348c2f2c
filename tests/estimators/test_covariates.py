"""Categories and missing values in covariates, compared with explicit indicators, in X and in covariates."""

import warnings

import array_api_strict as xp
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor
from superfactor.estimators.covariates import EMPTY, CovariateEncoder, IndicatorColumns
from superfactor.interpretation import covariate_effects

N = 60
PARAMS = {"xi": 0.1, "lam": 0.5}
RNG = np.random.default_rng(1)
X = pd.DataFrame(RNG.standard_normal((N, 6)), columns=[f"gene{j}" for j in range(6)])
GIVEN = pd.DataFrame(
    {
        "age": RNG.normal(60, 9, N),
        "sex": RNG.permutation(["M"] * 35 + ["F"] * 25),
        "site": pd.Categorical(RNG.permutation(["c"] * 30 + ["a"] * 15 + ["b"] * 15)),
        "smoker": RNG.random(N) < 0.7,
    }
)
Y = np.where(X["gene0"] + (GIVEN["sex"] == "F") + 0.05 * (GIVEN["age"] - 60) > 0.4, "ill", "well")
NAMES = ["age", "sex=F", "site=a", "site=b", "smoker=True"]
# Numbers with missing values: the age of every fifth sample is not known.
NUMBERS = pd.DataFrame({"age": GIVEN["age"].where(np.arange(N) % 5 > 0), "bmi": RNG.normal(26, 3, N)})
MEDIAN = NUMBERS["age"].median()


def by_hand(given=GIVEN):
    """Indicators by scikit-learn, without the reference levels."""
    words = given[["sex", "site", "smoker"]].astype(str)
    encoder = OneHotEncoder(drop=["M", "c", "False"], sparse_output=False)
    return np.c_[given["age"], encoder.fit_transform(words)]


def filled(numbers=NUMBERS):
    """Return numbers with missing values replaced by the median, and an indicator of them."""
    return np.c_[numbers["age"].fillna(MEDIAN), numbers["age"].isna(), numbers["bmi"]].astype(float)


def polars(frame):
    library = pytest.importorskip("polars")
    return library.DataFrame({name: frame[name].tolist() for name in frame})


KINDS = {
    "pandas": lambda frame: frame,
    "objects": lambda frame: frame.astype(object),
    "text": lambda frame: frame.astype({"sex": "string", "site": "string", "smoker": "boolean"}),
    "array": lambda frame: frame.to_numpy(),
    "lists": lambda frame: frame.to_numpy().tolist(),
    "polars": polars,
}


@pytest.mark.parametrize("kind", KINDS)
def test_categories_in_covariates_are_indicators(kind):
    given = KINDS[kind](GIVEN)
    expected = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=by_hand())
    fit = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=given)
    assert fit.n_covariates_in_ == 4
    levels = [["M", "F"], ["c", "a", "b"], ["False", "True"]]
    assert list(fit.covariate_levels_.values()) == levels
    if hasattr(given, "columns"):
        assert fit.covariate_names_.tolist() == NAMES
    else:
        assert fit.covariate_names_.tolist()[:2] == ["covariate 0", "covariate 1=F"]
    np.testing.assert_array_equal(fit.covariate_coef_, expected.covariate_coef_)
    proba = expected.predict_proba(X, covariates=by_hand())
    np.testing.assert_array_equal(fit.predict_proba(X, covariates=given), proba)
    np.testing.assert_array_equal(fit.split_columns(X, given)[1], by_hand())
    # Frames and arrays stand for each other, as they do without words.
    np.testing.assert_array_equal(fit.predict_proba(X, covariates=GIVEN.to_numpy()), proba)
    fit.fit(X, Y, covariates=by_hand())  # words are forgotten with the fit that had them
    assert fit.covariate_levels_ == {} and fit.n_covariates_in_ == 5


@pytest.mark.parametrize("kind", ["pandas", "array", "polars"])
def test_categories_in_x_are_indicators(kind):
    both = pd.concat([GIVEN[["sex"]], X, GIVEN[["smoker", "age", "site"]]], axis=1)
    table = KINDS[kind](both)
    named = hasattr(table, "columns")
    columns = list(GIVEN) if named else [8, 0, 9, 7]
    fit = SMFClassifier(2, covariate_columns=columns, **PARAMS).fit(table, Y)
    expected = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=by_hand())
    np.testing.assert_allclose(fit.covariate_coef_, expected.covariate_coef_, rtol=1e-10)
    proba = expected.predict_proba(X, covariates=by_hand())
    np.testing.assert_allclose(fit.predict_proba(table), proba, rtol=1e-10)
    np.testing.assert_allclose(fit.transform(table), expected.transform(X), rtol=1e-10)
    assert fit.n_features_in_ == 10
    if named:
        assert fit.covariate_names_.tolist() == NAMES
        assert fit.feature_names_in_.tolist() == list(both)
        assert fit.component_names_.tolist() == list(X)
    assert list(both["sex"][:3]) == list(GIVEN["sex"][:3])  # the table is left as it was


def test_missing_covariates_get_median_and_indicator():
    y = X["gene0"] + (Y == "ill")
    model = SMFRegressor(2, **PARAMS).fit(X, y, covariates=NUMBERS)
    expected = SMFRegressor(2, **PARAMS).fit(X, y, covariates=filled())
    np.testing.assert_array_equal(model.covariate_coef_, expected.covariate_coef_)
    assert model.covariate_names_.tolist() == ["age", "age=missing", "bmi"]
    assert model.covariate_levels_["age"] == [MEDIAN, "missing"]
    new = NUMBERS[::-1].reset_index(drop=True)
    np.testing.assert_array_equal(
        model.predict(X, covariates=new), expected.predict(X, covariates=filled(new))
    )


@pytest.mark.parametrize("kind", ["frame", "objects", "single"])
def test_missing_values_in_columns_of_x(kind):
    both = pd.concat([NUMBERS[["age"]], X, NUMBERS[["bmi"]]], axis=1)
    columns, dtype = [0, 7], np.float64
    if kind == "frame":
        columns = ["age", "bmi"]
    elif kind == "objects":
        both = both.astype(object).where(both.notna(), None).to_numpy()
    else:
        dtype = np.float32
        both = both.to_numpy(dtype=dtype)
    kept = both.copy()
    model = SMFClassifier(2, covariate_columns=columns, **PARAMS).fit(both, Y)
    features, beside = X.to_numpy(dtype), filled().astype(dtype)
    expected = SMFClassifier(2, **PARAMS).fit(features, Y, covariates=beside)
    np.testing.assert_allclose(model.covariate_coef_, expected.covariate_coef_, atol=1e-5)
    proba = expected.predict_proba(features, covariates=beside)
    np.testing.assert_allclose(model.predict_proba(both), proba, rtol=1e-4)
    assert model.predict_proba(both).dtype == model.covariate_coef_.dtype == dtype
    pd.testing.assert_frame_equal(pd.DataFrame(both), pd.DataFrame(kept))  # nothing changed in place


def test_new_missing_values_get_the_median_with_a_warning():
    numbers = NUMBERS.fillna(50.0)
    inside = pd.concat([X, numbers], axis=1)
    beside = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=numbers)
    within = SMFClassifier(2, covariate_columns=["age", "bmi"], **PARAMS).fit(inside, Y)
    gone = numbers.assign(bmi=numbers["bmi"].where(numbers.index != 7))
    full = numbers.assign(bmi=gone["bmi"].fillna(numbers["bmi"].median()))
    said = "column 'bmi': the median replaces missing values; fewer than 5 were missing at fit"
    with pytest.warns(UserWarning, match=f"covariates: {said}"):
        found = beside.predict_proba(X, covariates=gone)
    np.testing.assert_allclose(found, beside.predict_proba(X, covariates=full), rtol=1e-12)
    with pytest.warns(UserWarning, match=f"X: {said}"):
        found = within.predict_proba(pd.concat([X, gone], axis=1))
    np.testing.assert_allclose(found, within.predict_proba(pd.concat([X, full], axis=1)), rtol=1e-12)


def test_numbers_are_unchanged():
    frame = pd.DataFrame({"age": GIVEN["age"], "stage": np.arange(N) % 4})
    fit = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=frame)
    assert fit.covariate_names_.tolist() == ["age", "stage"] and fit.covariate_levels_ == {}
    again = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=frame.astype(object))
    np.testing.assert_array_equal(again.covariate_coef_, fit.covariate_coef_)


# --- levels ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells, expected",
    [
        (("b", "a", "b"), ["b", "a"]),
        (("b", "a"), ["a", "b"]),
        ((None, "b", float("nan"), "b", "a", None, None, None), ["b", "a", EMPTY]),
        ((None, "b", float("nan"), "b", "a", None, None), ["b", "a"]),
        (("b", None), ["b", EMPTY]),
        (("unknown", "unknown", "unknown", "NA", "a", "b"), ["a", "b", "NA", "unknown"]),
        (("Missing", "Missing", "x"), ["x", "Missing"]),
        ((True, True, False), ["False", "True"]),
        ((True, True, None), ["False", "True", EMPTY]),
        (("TRUE", "TRUE", "FALSE"), ["FALSE", "TRUE"]),
        (("none", "none", "drug"), ["none", "drug"]),
        ((1, "x", 1.0), ["1", "x"]),
    ],
    ids=str,
)
def test_reference_is_the_most_frequent_known_level(cells, expected):
    assert CovariateEncoder.learn(pd.DataFrame({"word": list(cells)})).levels[0] == expected


def test_few_missing_values_have_no_indicator():
    """Four missing values get the reference level or the median; five get an indicator."""
    n = np.arange(len(X))
    for few, expected in ((4, ["age", "sex=M"]), (5, ["age", "age=missing", "sex=M", "sex=(empty)"])):
        table = pd.DataFrame({"age": 50.0 + n % 7, "sex": np.where(n % 3, "F", "M")})
        whole = table.copy()
        table.loc[n < few, ["age", "sex"]] = None
        model = SMFClassifier(2, **PARAMS)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, Y, covariates=table)
        assert list(model.covariate_names_) == expected
        said = {str(one.message).split(";")[0] for one in caught}
        if few == 5:
            assert not said
            continue
        assert said == {
            "covariates: column 'age': the median replaces missing values",
            "covariates: column 'sex': 'F' replaces missing values",
        }
        whole.loc[n < few, "age"], whole.loc[n < few, "sex"] = table["age"].median(), "F"
        other = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=whole)
        np.testing.assert_allclose(model.covariate_coef_, other.covariate_coef_, atol=1e-8)


@pytest.mark.parametrize(
    "cells",
    [
        ["0", "1", "2", "unknown"],
        [*map(str, range(1, 23)), "X", "Y"],
        pd.Categorical(range(21)),
        [f"{i}_1" for i in range(20)],
    ],
    ids=["codes", "chromosomes", "declared", "names"],
)
def test_numbers_that_are_levels(cells):
    assert len(CovariateEncoder.learn(pd.DataFrame({"word": cells})).levels[0]) == len(cells)


def test_whole_numbers_as_categories():
    site = pd.Series(pd.Categorical([1, 2, 2] * 20), name="site")
    fit = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=site)
    assert fit.covariate_levels_ == {"site": ["2", "1"]}
    expected = fit.predict_proba(X, covariates=site)
    for same in (site.astype(float), site.astype(int), site.astype(str) + ".0"):
        np.testing.assert_array_equal(fit.predict_proba(X, covariates=same), expected)


def test_booleans_have_both_levels():
    given = np.ones((N, 1), dtype=bool)
    fit = SMFClassifier(2, fit_intercept=False, **PARAMS).fit(X, Y, covariates=given)
    assert fit.covariate_names_.tolist() == ["covariate 0=True"]
    change = fit.decision_function(X, covariates=np.ones((N, 1)))
    change -= fit.decision_function(X, covariates=np.zeros((N, 1), dtype=bool))
    assert abs(fit.covariate_coef_[0, 0]) > 0.1
    np.testing.assert_allclose(change, fit.covariate_coef_[0, 0])


def test_codes_of_any_library():
    encoder = CovariateEncoder.learn(NUMBERS)
    codes = encoder.codes(NUMBERS)
    assert np.isfinite(codes).all()
    np.testing.assert_array_equal(np.asarray(encoder.expand(xp.asarray(codes))), filled())
    assert encoder.starts(2) == [0, 2]


# --- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column, message",
    [
        (["F"] * N, "is 'F' for every sample; two levels are required"),
        ([None, "NA"] * (N // 2), "is .* for every sample"),
        ([f"p{i}" for i in range(N)], "has 60 different values; at most 50"),
        (np.full(N, np.nan), "has no value for any sample"),
        (pd.Timestamp(0), "holds dates or times; numbers or words are required"),
        (["male", "MALE", "Male "] * (N // 3), ": 'MALE', 'Male ' and 'male' differ only in case or"),
        (
            ["unknown", *range(20, N + 19)],
            r"holds 59 different numbers and 'unknown'; replace the text by numbers, or leave such samples "
            r"out \(if the numbers are codes, write them as text, such as 'no. 20'\)",
        ),
        (
            [None, "90+", "?", *(f"{20 + i % 12}.5" for i in range(N - 3))],
            r"holds 12 different numbers and '90\+', '\?'; replace the text by numbers, or [^(]*$",
        ),
        ([f"{i}" for i in range(N)], "holds 60 different numbers as text; pass them as numbers"),
        (["NA", *(f"{i},5" for i in range(1, N))], "holds numbers with a comma, such as '1,5'; write them"),
    ],
)
def test_invalid_covariates(column, message):
    with pytest.raises(ValueError, match=f"covariates: column 'word' ?{message}"):
        SMFClassifier().fit(X, Y, covariates=GIVEN.assign(word=column))
    with pytest.raises(ValueError, match=f"X: column 'word' ?{message}"):
        SMFClassifier(covariate_columns=["word"]).fit(X.assign(word=column), Y)


def test_error_names_new_levels():
    beside = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=GIVEN)
    both = pd.concat([X, GIVEN], axis=1)
    inside = SMFClassifier(2, covariate_columns=list(GIVEN), **PARAMS).fit(both, Y)
    new = GIVEN.assign(sex=["M", "X"] * (N // 2))
    knows = "is 'X' at position 1; the model knows 'F', 'M'"
    for method in ("predict", "transform"):
        with pytest.raises(ValueError, match=f"covariates: column 'sex' {knows}"):
            getattr(beside, method)(X, covariates=new)
        with pytest.raises(ValueError, match=f"X: column 'sex' {knows}"):
            getattr(inside, method)(pd.concat([X, new], axis=1))
    with pytest.raises(ValueError, match="column 'age': numbers are required, as at fit"):
        beside.predict(X, covariates=GIVEN.assign(age="old"))
    with pytest.raises(ValueError, match="feature names should match"):
        inside.predict(both[both.columns[::-1]])


def test_text_and_missing_values_in_other_columns_are_refused():
    with pytest.raises(ValueError, match="X: numbers are required"):
        SMFClassifier(covariate_columns=["sex"]).fit(pd.concat([X, GIVEN[["sex", "site"]]], axis=1), Y)
    with pytest.raises(ValueError, match="NaN"):
        SMFClassifier(covariate_columns=["age"]).fit(pd.concat([X.mask(X > 2), NUMBERS[["age"]]], axis=1), Y)


# --- searches and pipelines ------------------------------------------------------------------------------

EVERYTHING = pd.concat([GIVEN.drop(columns="age"), NUMBERS], axis=1)


@pytest.mark.parametrize("preprocess", [None, "standardize"])
def test_in_a_search(preprocess):
    grid = {"n_components": [1, 2], "xi": 0.1, "lam": [0.5, 2.0], "preprocess": preprocess}
    both = pd.concat([GIVEN[["sex", "site"]], X, GIVEN[["smoker"]], NUMBERS], axis=1)
    search = SMFClassifierCV(covariate_columns=list(EVERYTHING), **grid).fit(both, Y)
    numbers = np.c_[X, by_hand()[:, 1:], filled()]
    expected = SMFClassifierCV(covariate_columns=range(6, 13), **grid).fit(numbers, Y)
    # Folds fill missing values with the median of their training part.
    for name in ("mean_test_score", "split0_test_score"):
        np.testing.assert_allclose(search.cv_results_[name], expected.cv_results_[name], rtol=1e-2)
    np.testing.assert_allclose(search.predict_proba(both), expected.predict_proba(numbers), rtol=1e-5)
    effects = covariate_effects(search, both, Y).set_index("covariate")
    assert list(effects.index) == [
        *("sex: F vs M", "site: a vs c", "site: b vs c", "smoker: True vs False"),
        *("age (per unit)", f"age: missing vs median {MEDIAN:g}", "bmi (per unit)"),
    ]
    np.testing.assert_allclose(effects["coef"], covariate_effects(expected, numbers, Y)["coef"], rtol=1e-4)
    moved = search.decision_function(both.assign(bmi=both["bmi"] + 1)) - search.decision_function(both)
    np.testing.assert_allclose(moved, effects.loc["bmi (per unit)", "coef"], atol=1e-9)
    with pytest.raises(ValueError, match="X: column 'sex' is 'X' at position 0"):
        search.predict(both.assign(sex="X"))


def test_covariates_in_searches():
    grid = {"n_components": [1, 2], "xi": 0.1, "lam": [0.5, 2.0], "preprocess": "standardize"}
    beside = SMFClassifierCV(**grid).fit(X, Y, covariates=GIVEN)
    expected = SMFClassifierCV(**grid).fit(X, Y, covariates=by_hand())
    np.testing.assert_array_equal(
        beside.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )
    both = pd.concat([X, GIVEN], axis=1)
    found = cross_val_score(SMFClassifier(2, covariate_columns=list(GIVEN), **PARAMS), both, Y, cv=3)
    model = SMFClassifier(2, covariate_columns=range(6, 11), **PARAMS)
    np.testing.assert_array_equal(found, cross_val_score(model, np.c_[X, by_hand()], Y, cv=3))


def test_units_of_effects_after_a_scaler():
    """A StandardScaler keeps missing values; units of numbers are restored, those of indicators are 1."""
    both = pd.concat([NUMBERS, X], axis=1)
    smf = SMFClassifier(2, covariate_columns=[0, 1], **PARAMS)
    model = make_pipeline(StandardScaler(), smf).fit(both, Y)
    effects = covariate_effects(model, positive="well")
    coef = effects["coef"].to_numpy()
    assert list(effects["column"]) == ["age", "age=missing", "bmi"]
    before = model.decision_function(both)
    for column, slope in (("age", coef[0]), ("bmi", coef[2])):
        moved = model.decision_function(both.assign(**{column: both[column] + 1})) - before
        known = both[column].notna()
        np.testing.assert_allclose(moved[known], slope, rtol=1e-6)
        np.testing.assert_allclose(moved[~known], 0, atol=1e-9)
    at_median = both.assign(age=both["age"].fillna(MEDIAN))
    gone = both["age"].isna()
    np.testing.assert_allclose((before - model.decision_function(at_median))[gone], coef[1], rtol=1e-6)


def test_indicator_columns_keep_missing_features():
    both = pd.concat([X.mask(X > 1), GIVEN[["sex"]], NUMBERS], axis=1)
    step = IndicatorColumns(["sex", "age", "bmi"]).fit(both)
    out = step.transform(both)
    np.testing.assert_array_equal(out[:, :6], both[X.columns])
    np.testing.assert_array_equal(out[:, 6:], np.c_[GIVEN["sex"] == "F", filled()])
    assert list(step.get_feature_names_out())[6:] == ["sex=F", "age", "age=missing", "bmi"]
