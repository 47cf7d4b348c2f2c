"""Words as covariates: the same fit as with indicators made by hand, in X and beside it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor
from superfactor.estimators.covariates import EMPTY, CovariateEncoder
from superfactor.interpretation import covariate_effects

N = 60
PARAMS = {"xi": 0.1, "lam": 0.5}


def genes(seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.standard_normal((N, 6)), columns=[f"gene{j}" for j in range(6)])


def people(seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.normal(60, 9, N),
            "sex": rng.permutation(["M"] * 35 + ["F"] * 25),
            "site": pd.Categorical(rng.permutation(["c"] * 30 + ["a"] * 15 + ["b"] * 15)),
            "smoker": rng.random(N) < 0.7,
        }
    )


X, GIVEN = genes(), people()
Y = np.where(X["gene0"] + (GIVEN["sex"] == "F") + 0.05 * (GIVEN["age"] - 60) > 0.4, "ill", "well")
NAMES = ["age", "sex=F", "site=a", "site=b", "smoker=True"]


def by_hand(given=GIVEN):
    """Indicators as scikit-learn makes them, the references left out."""
    words = given[["sex", "site", "smoker"]].astype(str)
    encoder = OneHotEncoder(drop=["M", "c", "False"], sparse_output=False)
    return np.c_[given["age"], encoder.fit_transform(words)]


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


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("kind", KINDS)
def test_beside_x_they_are_indicators(kind, model):
    given = KINDS[kind](GIVEN)
    expected = SMFClassifier(2, model=model, **PARAMS).fit(X, Y, covariates=by_hand())
    fit = SMFClassifier(2, model=model, **PARAMS).fit(X, Y, covariates=given)
    assert fit.n_covariates_in_ == 4
    named = hasattr(given, "columns")
    names = NAMES if named else [f"covariate {j}" for j in range(4)]
    if named:
        assert fit.covariate_names_.tolist() == NAMES
        assert fit.covariate_levels_ == {
            "sex": ["M", "F"],
            "site": ["c", "a", "b"],
            "smoker": ["False", "True"],
        }
    else:
        assert fit.covariate_names_.tolist()[:2] == [names[0], f"{names[1]}=F"]
    np.testing.assert_array_equal(fit.covariate_coef_, expected.covariate_coef_)
    proba = expected.predict_proba(X, covariates=by_hand())
    np.testing.assert_array_equal(fit.predict_proba(X, covariates=given), proba)
    _, regressors = fit.split_columns(X, given)
    np.testing.assert_array_equal(regressors, by_hand())
    # Frames and arrays stand for each other, as they do without words.
    np.testing.assert_array_equal(fit.predict_proba(X, covariates=GIVEN.to_numpy()), proba)


@pytest.mark.parametrize("kind", ["pandas", "objects", "array", "polars"])
def test_inside_x_they_are_indicators(kind):
    both = pd.concat([GIVEN[["sex"]], X, GIVEN[["smoker", "age", "site"]]], axis=1)
    table = KINDS[kind](both)
    columns = list(GIVEN) if hasattr(table, "columns") else [9 - 1, 0, 9, 7]
    fit = SMFClassifier(2, covariate_columns=columns, **PARAMS).fit(table, Y)
    expected = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=by_hand())
    np.testing.assert_allclose(fit.covariate_coef_, expected.covariate_coef_, rtol=1e-10)
    np.testing.assert_allclose(
        fit.predict_proba(table), expected.predict_proba(X, covariates=by_hand()), rtol=1e-10
    )
    np.testing.assert_allclose(fit.transform(table), expected.transform(X), rtol=1e-10)
    assert fit.n_features_in_ == 10
    if hasattr(table, "columns"):
        assert fit.covariate_names_.tolist() == NAMES
        assert fit.feature_names_in_.tolist() == list(both)
        assert fit.component_names_.tolist() == list(X)
    assert list(both["sex"][:3]) == list(GIVEN["sex"][:3])  # the table is left as it was


def test_single_precision_stays():
    both = pd.concat([X.astype(np.float32), GIVEN[["sex"]]], axis=1)
    fit = SMFClassifier(2, covariate_columns="sex", **PARAMS).fit(both, Y)
    assert fit.components_.dtype == fit.covariate_coef_.dtype == np.float32


def test_a_regression():
    y = X["gene0"] + 2.0 * (GIVEN["sex"] == "F")
    fit = SMFRegressor(2, **PARAMS).fit(X, y, covariates=GIVEN["sex"])
    assert fit.covariate_names_.tolist() == ["sex=F"]
    change = fit.predict(X, covariates=["F"] * N) - fit.predict(X, covariates=["M"] * N)
    np.testing.assert_allclose(change, fit.covariate_coef_[0, 0])
    assert change[0] > 1


def test_numbers_are_what_they_were():
    frame = pd.DataFrame({"age": GIVEN["age"], "stage": np.arange(N) % 4})
    fit = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=frame)
    assert fit.covariate_names_.tolist() == ["age", "stage"] and fit.covariate_levels_ == {}
    again = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=frame.astype(object))
    np.testing.assert_array_equal(again.covariate_coef_, fit.covariate_coef_)


def test_forgotten_with_the_fit_that_had_them():
    fit = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=GIVEN)
    numbers = by_hand()
    fit.fit(X, Y, covariates=numbers)
    assert fit.covariate_levels_ == {} and fit.n_covariates_in_ == 5
    fit.predict(X, covariates=numbers)


def test_pickles_and_copies_know_them():
    fit = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=GIVEN)
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(
        again.predict_proba(X, covariates=GIVEN), fit.predict_proba(X, covariates=GIVEN)
    )


# --- levels ----------------------------------------------------------------------------------------------


def levels(*cells):
    return CovariateEncoder.learn(pd.DataFrame({"word": list(cells)})).levels[0]


@pytest.mark.parametrize(
    "cells, expected",
    [
        (("b", "a", "b"), ["b", "a"]),
        (("b", "a"), ["a", "b"]),
        ((None, None, "b", "a"), ["a", "b", EMPTY]),
        ((None, "b", float("nan"), "b", "a"), ["b", "a", EMPTY]),
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
def test_the_reference_is_the_most_frequent_that_is_known(cells, expected):
    assert levels(*cells) == expected


def test_whole_numbers_as_categories():
    site = pd.Series(pd.Categorical([1, 2, 2] * 20), name="site")
    fit = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=site)
    assert fit.covariate_levels_ == {"site": ["2", "1"]}
    expected = fit.predict_proba(X, covariates=site)
    for same in (site.astype(float), site.astype(int), site.astype(str) + ".0"):
        np.testing.assert_array_equal(fit.predict_proba(X, covariates=same), expected)


def test_booleans_are_known_though_they_do_not_occur():
    given = np.ones((N, 1), dtype=bool)
    fit = SMFClassifier(2, fit_intercept=False, **PARAMS).fit(X, Y, covariates=given)
    assert fit.covariate_names_.tolist() == ["covariate 0=True"]
    change = fit.decision_function(X, covariates=np.ones((N, 1)))
    change -= fit.decision_function(X, covariates=np.zeros((N, 1), dtype=bool))
    assert abs(fit.covariate_coef_[0, 0]) > 0.1
    np.testing.assert_allclose(change, fit.covariate_coef_[0, 0])


# --- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column, message",
    [
        (["F"] * N, "column 'word' is 'F' for every sample; two levels are required"),
        ([None, "NA"] * (N // 2), r"column 'word' is .* for every sample"),
        ([f"p{i}" for i in range(N)], "column 'word' has 60 different values; at most 50"),
        (pd.Timestamp(0), "column 'word' holds dates or times; numbers or words are required"),
        (
            ["male", "MALE", "Male "] * (N // 3),
            "column 'word': 'MALE', 'Male ' and 'male' differ only in case or blanks; write them alike",
        ),
        (
            ["unknown", *range(20, N + 19)],
            r"column 'word' holds 59 different numbers beside 'unknown'; put numbers there, or leave such "
            r"samples out \(if the numbers are codes, write them as words, such as 'no. 20'\)",
        ),
        (
            [None, "90+", "?", *(f"{20 + i % 12}.5" for i in range(N - 3))],
            r"column 'word' holds 12 different numbers beside '90\+', '\?'; put numbers there, or [^(]*$",
        ),
        (
            [f"{i}" for i in range(N)],
            "column 'word' holds 60 different numbers as text; give them as numbers",
        ),
        (
            ["NA", *(f"{i},5" for i in range(1, N))],
            "column 'word' holds numbers with a comma, such as '1,5'; write them with a decimal point",
        ),
    ],
    ids=[
        "constant", "unknown", "identifier", "dates", "spellings", "one word", "a bound", "text", "commas"
    ],
)  # fmt: skip
def test_columns_that_are_no_covariates(column, message):
    for more in (GIVEN, GIVEN[["age"]]):
        with pytest.raises(ValueError, match=f"covariates: {message}"):
            SMFClassifier().fit(X, Y, covariates=more.assign(word=column))
        with pytest.raises(ValueError, match=f"X: {message}"):
            SMFClassifier(covariate_columns=["word"]).fit(X.assign(word=column), Y)


@pytest.mark.parametrize(
    "cells",
    [
        ["0", "1", "2", "unknown"],
        [*map(str, range(1, 23)), "X", "Y"],
        pd.Categorical([*range(20), None]),
        [f"{i}_1" for i in range(20)],
    ],
    ids=["codes", "chromosomes", "declared", "names"],
)
def test_numbers_that_are_levels(cells):
    found = CovariateEncoder.learn(pd.DataFrame({"word": cells})).levels[0]
    assert len(found) == len(cells)


def test_new_levels_are_named():
    beside = SMFClassifier(2, **PARAMS).fit(X, Y, covariates=GIVEN)
    both = pd.concat([X, GIVEN], axis=1)
    inside = SMFClassifier(2, covariate_columns=list(GIVEN), **PARAMS).fit(both, Y)
    new = GIVEN.assign(sex=["M", "X"] * (N // 2))
    knows = "is 'X' at position 1; the model knows 'F', 'M'"
    for method in ("predict", "predict_proba", "transform"):
        with pytest.raises(ValueError, match=f"covariates: column 'sex' {knows}"):
            getattr(beside, method)(X, covariates=new)
        with pytest.raises(ValueError, match=f"X: column 'sex' {knows}"):
            getattr(inside, method)(pd.concat([X, new], axis=1))
    with pytest.raises(ValueError, match="column 'age': numbers are required, as at fit"):
        beside.predict(X, covariates=GIVEN.assign(age="old"))
    with pytest.raises(ValueError, match="feature names should match"):
        inside.predict(both[both.columns[::-1]])
    with pytest.raises(ValueError, match="4 covariate"):
        beside.predict(X)
    with pytest.raises(ValueError, match=r"covariates: columns \['age', 'sex'\]"):
        beside.predict(X, covariates=GIVEN[["age", "sex"]])


def test_words_elsewhere_in_x_are_no_covariates():
    both = pd.concat([X, GIVEN[["sex", "site"]]], axis=1)
    with pytest.raises(ValueError, match="X: numbers are required"):
        SMFClassifier(covariate_columns=["sex"]).fit(both, Y)


# --- searches --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preprocess", [None, "standardize"])
def test_in_a_search(preprocess):
    grid = {"n_components": [1, 2], "xi": 0.1, "lam": [0.5, 2.0], "preprocess": preprocess}
    beside = SMFClassifierCV(**grid).fit(X, Y, covariates=GIVEN)
    expected = SMFClassifierCV(**grid).fit(X, Y, covariates=by_hand())
    for name in ("mean_test_score", "split0_test_score"):
        np.testing.assert_array_equal(beside.cv_results_[name], expected.cv_results_[name])
    np.testing.assert_array_equal(
        beside.predict_proba(X, covariates=GIVEN), expected.predict_proba(X, covariates=by_hand())
    )
    assert beside.score(X, Y, covariates=GIVEN) > 0.6


@pytest.mark.parametrize("preprocess", [None, "center", "standardize"])
def test_in_the_columns_of_a_search(preprocess):
    grid = {"n_components": [1, 2], "xi": 0.1, "lam": [0.5, 2.0], "preprocess": preprocess}
    both = pd.concat([GIVEN[["sex", "site"]], X, GIVEN[["age", "smoker"]]], axis=1)
    search = SMFClassifierCV(covariate_columns=list(GIVEN), **grid).fit(both, Y)
    numbers = np.c_[X, by_hand()]
    expected = SMFClassifierCV(covariate_columns=range(6, 11), **grid).fit(numbers, Y)
    for name in ("mean_test_score", "split0_test_score"):
        np.testing.assert_allclose(search.cv_results_[name], expected.cv_results_[name])
    np.testing.assert_allclose(search.predict_proba(both), expected.predict_proba(numbers), rtol=1e-6)
    assert search.n_features_in_ == 10
    effects = covariate_effects(search, both, Y).set_index("covariate")
    assert list(effects.index) == [
        *("age (per unit)", "sex: F vs M", "site: a vs c", "site: b vs c", "smoker: True vs False")
    ]
    np.testing.assert_allclose(effects["coef"], covariate_effects(expected, numbers, Y)["coef"], rtol=1e-5)
    moved = search.decision_function(both.assign(age=both["age"] + 1))
    np.testing.assert_allclose(
        moved - search.decision_function(both), effects.loc["age (per unit)", "coef"], atol=1e-9
    )
    with pytest.raises(ValueError, match="X: column 'sex' is 'X' at position 0"):
        search.predict(both.assign(sex="X"))


def test_in_the_cross_validation_of_scikit_learn():
    both = pd.concat([X, GIVEN], axis=1)
    found = cross_val_score(SMFClassifier(2, covariate_columns=list(GIVEN), **PARAMS), both, Y, cv=3)
    expected = cross_val_score(
        SMFClassifier(2, covariate_columns=range(6, 11), **PARAMS), np.c_[X, by_hand()], Y, cv=3
    )
    np.testing.assert_array_equal(found, expected)


def test_scaled_by_hand_before():
    """A pipeline of one's own: genes scaled, covariates beside them."""
    scaled = StandardScaler().fit_transform(X)
    fit = SMFClassifier(2, **PARAMS).fit(scaled, Y, covariates=GIVEN)
    assert fit.score(scaled, Y, covariates=GIVEN) > 0.6
