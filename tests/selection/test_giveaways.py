"""A column that alone predicts the outcome without error is named."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import datasets
from sklearn.pipeline import make_pipeline

from superfactor import SMFClassifierCV, SMFRegressorCV, SMFSurvivalCV
from superfactor.selection import nested_scores

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((60, 30)), columns=[f"g{j}" for j in range(30)])
LABELS = np.repeat(["a", "b"], 30)
TIMES = np.column_stack([np.arange(60) % 2, RNG.exponential(1, 60)])
QUICK = {"n_components": 1, "xi": 0.1, "lam": 1.0}


def said(function, *args, **kwargs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*args, **kwargs)
    return [str(w.message) for w in caught if " alone " in str(w.message)]


CASES = {
    "classes": (SMFClassifierCV, LABELS, (LABELS == "b") * 1.5 + RNG.random(60), "separates the classes"),
    "numbers": (SMFRegressorCV, np.arange(60.0), 3 - 2 * np.arange(60) + RNG.random(60), "correlation 1.000"),
    "times": (SMFSurvivalCV, TIMES, TIMES[:, 1] ** 2, "orders all event times (concordance 1)"),
    "flags": (
        SMFClassifierCV,
        np.column_stack([LABELS == "b", np.arange(60) % 2]).astype(int),
        np.arange(60) % 2,
        "separates the classes without error",
    ),
    "three classes": (
        SMFClassifierCV,
        np.resize(["a", "b", "c"], 60),
        np.resize([2, 0, 5], 60),
        "separates the classes without error",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_one_column_is_named_once(case):
    kind, y, column, how = CASES[case]
    found = said(kind(**QUICK).fit, X.assign(dose=column), y)
    assert len(found) == 1
    assert found[0].startswith("X: 'dose' alone ")
    assert how in found[0]
    assert found[0].endswith("if it was recorded after or because of the outcome, drop it")
    assert not said(kind(**QUICK).fit, X, y)


def test_covariates_and_nested_scores():
    _, y, column, _ = CASES["classes"]
    search = SMFClassifierCV(**QUICK)
    options = {"n_repeats": 1, "baselines": False}
    beside = pd.DataFrame({"dose": column, "age": RNG.random(60)})
    assert len(said(nested_scores, search, X, y, covariates=beside, **options)) == 1
    assert len(said(nested_scores, make_pipeline(search), X.assign(dose=column), y, **options)) == 1


def test_sparse_rows_and_missing_values():
    _, y, column, _ = CASES["classes"]
    gaps = X.assign(dose=column)
    gaps.iloc[::7, -1] = np.nan
    assert len(said(SMFClassifierCV(**QUICK, impute="mean").fit, gaps, y)) == 1
    sparse = sp.csr_array(np.where(X.assign(dose=column) > 0.5, X.assign(dose=column), 0))
    assert len(said(SMFClassifierCV(**QUICK).fit, sparse, y)) == 1


def test_chance_is_no_finding():
    y = np.repeat([0, 1], 4)
    assert not said(SMFClassifierCV(**QUICK, cv=2).fit, X[:8].assign(dose=y), y)


def test_several_features_are_a_fact_without_a_question():
    _, y, column, _ = CASES["classes"]
    many = X.assign(**{f"m{k}": column + k for k in range(5)})
    assert not said(SMFClassifierCV(**QUICK).fit, many, y)


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
def test_ordinary_tables(name):
    assert not said(SMFClassifierCV(**QUICK).fit, *getattr(datasets, f"load_{name}")(return_X_y=True))
