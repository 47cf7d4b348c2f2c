"""Errors of constructor arguments contain the name, the value and what is allowed."""

import numpy as np
import pytest
from tests.estimators.data import ESTIMATORS, outcome, small

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor
from superfactor.constraints import Box, FrobeniusBall, NonNegative, Product, WholeSpace
from superfactor.estimators.parameters import choose_solver, seed_of

COUNT, POSITIVE, NONNEGATIVE = (r"an int in .*\[1, inf\)", r"a float in .*\(0\.0, inf\)", r"\[0\.0, inf\)")


def refused(name, allowed, got):
    """The message of scikit-learn."""
    return rf"'{name}' parameter of SMF\w+ must be .*{allowed}.* Got {got} instead"


BAD = [
    ({"n_components": 0}, ValueError, refused("n_components", COUNT, "0")),
    ({"n_components": 2.0}, TypeError, refused("n_components", COUNT, r"2\.0")),
    ({"n_components": np.int64(0)}, ValueError, refused("n_components", COUNT, r"np\.int64\(0\)")),
    ({"n_components": 7}, ValueError, r"n_components=7: .* 1 to min\(n_samples, n_features\) = 6"),
    ({"xi": 0}, ValueError, refused("xi", POSITIVE, "0")),
    ({"xi": float("nan")}, ValueError, refused("xi", POSITIVE, "nan")),
    ({"xi": float("inf")}, ValueError, refused("xi", POSITIVE, "inf")),
    ({"xi": "1"}, TypeError, refused("xi", POSITIVE, "'1'")),
    ({"lam": -1e-9}, ValueError, refused("lam", NONNEGATIVE, "-1e-09")),
    ({"lam": None}, TypeError, refused("lam", NONNEGATIVE, "None")),
    ({"tol": -1e-9}, ValueError, refused("tol", NONNEGATIVE, "-1e-09")),
    ({"model": "filters"}, ValueError, refused("model", "'filter'", "'filters'")),
    ({"model": 1}, TypeError, refused("model", "'feature'", "1")),
    ({"solver": "newton"}, ValueError, refused("solver", "'lpgd'", "'newton'")),
    ({"search": "hard"}, ValueError, refused("search", "'thorough'", "'hard'")),
    ({"search": None}, ValueError, refused("search", "'off'", "None")),
    ({"prediction": "slow"}, ValueError, refused("prediction", "'exact'", "'slow'")),
    ({"certify": "yes"}, ValueError, refused("certify", "'ascent'.* or None", "'yes'")),
    ({"max_iter": 0}, ValueError, refused("max_iter", COUNT + " or None", "0")),
    ({"max_iter": 10.5}, TypeError, refused("max_iter", COUNT + " or None", r"10\.5")),
    ({"verbose": -1}, ValueError, refused("verbose", r"\[0, inf\)", "-1")),
    ({"checkpoint": 3}, TypeError, refused("checkpoint", "PathLike' or None", "3")),
    ({"checkpoint": ""}, ValueError, r"checkpoint='': None or the path of a file"),
    (
        {"checkpoint": "a", "solver": "bcd"},
        ValueError,
        r"checkpoint='a': solver='bcd' writes none and requires",
    ),
    ({"checkpoint": "a", "constraint": Box(0, 1)}, ValueError, r"checkpoint='a': solver='lpgd' writes none"),
    ({"random_state": -1}, ValueError, r"random_state=-1: an integer >= 0"),
    ({"random_state": "seed"}, TypeError, r"random_state='seed': None, an integer >= 0"),
    ({"step_size": "fast"}, ValueError, refused("step_size", "'auto'} or " + POSITIVE, "'fast'")),
    ({"step_size": -1.0, "solver": "lpgd"}, ValueError, refused("step_size", POSITIVE, r"-1\.0")),
    ({"step_size": 0.1}, ValueError, r"step_size=0\.1: solver='auto' chooses its own steps"),
    ({"constraint": "ball"}, TypeError, r"constraint='ball': None or a set from"),
    (
        {"constraint": FrobeniusBall(1.0), "solver": "lifted-newton"},
        ValueError,
        r"constraint=FrobeniusBall\(radius=1\.0\): solver='lifted-newton' allows None only",
    ),
    ({"constraint": Box(0, 1), "solver": "bcd"}, ValueError, r"Box.*: solver='bcd' allows None or Non"),
    ({"covariate_columns": [6]}, ValueError, r"covariate_columns=\[6\]: 6 is not a column of X"),
    ({"covariate_columns": [np.int64(9)]}, ValueError, r"covariate_columns=\[9\]: 9 is not a"),
    ({"covariate_columns": ["age"]}, ValueError, r"names need X to be"),
    ({"covariate_columns": [1, -5]}, ValueError, r"\[1, -5\]: every column at most once"),
    ({"covariate_columns": [1.5]}, TypeError, r"covariate_columns=\[1\.5\]: column names, column"),
    ({"covariate_columns": ["a", 1]}, TypeError, r"covariate_columns=\['a', 1\]: column names"),
    ({"covariate_columns": [True, 1]}, TypeError, r"\[True, 1\]: column names, column"),
    ({"covariate_columns": [True] * 5}, ValueError, r"a mask of 5, but X has 6 columns"),
    ({"covariate_columns": range(6)}, ValueError, r"at least one column of X must be left"),
]
OF_THE_CLASSIFIER = [
    ({"fit_intercept": "no"}, TypeError, refused("fit_intercept", "'bool'", "'no'")),
    ({"link": "cauchit"}, ValueError, r"link='cauchit' is unknown; allowed are 'logistic'"),
    ({"link": 3}, TypeError, r"link=3: allowed are 'logistic'"),
    ({"class_weight": "even"}, ValueError, r"class_weight='even': None, 'balanced' or a dict"),
    ({"class_weight": 2.0}, TypeError, r"class_weight=2\.0: None, 'balanced' or a dict"),
    ({"class_weight": {np.int64(5): 1}}, ValueError, r"=\{5: 1\}: 5 is no class of y, \[0, 1\]"),
    ({"class_weight": {0: 0.0}}, ValueError, r"class_weight=\{0: 0\.0\}: at least 2 classes need"),
    ({"class_weight": {0: "a"}}, ValueError, r"class_weight=\{0: 'a'\}: finite numbers >= 0"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_errors_name_invalid_values(estimator):
    X, y, _ = small()
    y = outcome(estimator, y)
    for parameters, kind, message in BAD + (OF_THE_CLASSIFIER if estimator is SMFClassifier else []):
        with pytest.raises(kind, match=message):
            estimator(**parameters).fit(X, y)


def test_searches_check_parameters():
    with pytest.raises(ValueError, match=r"'search' parameter of SMF\w+ must be a str among .* Got 'hard'"):
        SMFClassifierCV(search="hard").fit(*small()[:2])


def test_probit_needs_two_classes():
    X, y, _ = small(classes=3)
    with pytest.raises(ValueError, match=r"link='probit' allows two classes, got 3"):
        SMFClassifier(link="probit").fit(X, y)


def test_rank_counts_the_columns_left_and_the_samples_with_weight():
    X, y, _ = small()
    with pytest.raises(ValueError, match=r"n_components=5: .* = 4 is required"):
        SMFClassifier(5, covariate_columns=[0, 3]).fit(X, y)
    assert SMFClassifier(4, covariate_columns=[0, 3]).fit(X, y).components_.shape == (4, 4)
    with pytest.raises(ValueError, match=r"n_components=4: .*n_samples=3"):
        SMFRegressor(4).fit(X, y, sample_weight=np.r_[1, 1, 1, np.zeros(37)])


@pytest.mark.parametrize(
    ("solver", "constraint", "chosen"),
    [
        ("auto", None, "lifted-newton"),
        ("auto", WholeSpace(), "lifted-newton"),
        ("auto", FrobeniusBall(1.0), "lpgd"),
        ("auto", Product(gamma=Box(-1, 1)), "lpgd"),
        ("bcd", NonNegative(), "bcd"),
    ],
)
def test_a_constraint_chooses_a_solver_that_projects(solver, constraint, chosen):
    assert choose_solver(solver, constraint).name == chosen


def test_random_states():
    assert seed_of(None) == seed_of(None)
    assert seed_of(np.int64(3)) == 3
    generator = np.random.default_rng(0)
    assert seed_of(generator) is generator
    first, second = (seed_of(np.random.RandomState(7)) for _ in range(2))
    assert first == second != seed_of(np.random.RandomState(8))


@pytest.mark.parametrize("solver", ["lifted-newton", "lpgd", "bcd"])
@pytest.mark.filterwarnings("error")  # the iterations asked for are no failure to converge
def test_zero_tolerance(solver):
    X, y, _ = small()
    weights = {"solver": solver, "xi": 1.0, "lam": 1.0}
    usual = SMFClassifier(**weights, max_iter=3000).fit(X, y)
    fitted = SMFClassifier(**weights, tol=0, max_iter=60).fit(X, y)
    assert fitted.n_iter_ == 60 or solver == "lifted-newton"
    assert fitted.objective_ == pytest.approx(usual.objective_, rel=1e-3)
