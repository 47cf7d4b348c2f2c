"""Covariates of a table, and numbers of the covariate table as they are printed."""

import math

import numpy as np
import pandas as pd
import pytest

from superfactor.cli.covariates import column_names, encode, learn_encoding
from superfactor.cli.factors import _with_interval


@pytest.mark.parametrize(
    "estimate, low, high, shown",
    [
        (1.0412, 1.0099, 1.0801, "1.04 (1.01 to 1.08)"),
        (1.00031, 0.99998, 1.00072, "1.0003 (1.0000 to 1.0007)"),
        (22.31, 3e-3, 1.7e5, "22.3 (<0.01 to >9999)"),
        (0.0095, 0.0091, 0.0099, "0.0095 (0.0091 to 0.0099)"),
        (250.4, 99.96, 700.6, "250 (100.0 to 701)"),
        (1.5, 0.0, math.inf, "1.50 (<0.01 to >9999)"),
        (1.0004, math.nan, math.nan, "1.0004"),
        (1.0, math.nan, math.nan, "1.00"),
    ],
    ids=str,
)
def test_as_many_digits_as_it_takes(estimate, low, high, shown):
    row = {"estimate": estimate, "low": low, "high": high, "estimate_per_sd": 1.618}
    assert _with_interval(row) == (shown, "1.62")


CELLS = pd.DataFrame(
    {"sex": ["F", None, "M", "nan"], "age": [1.0, 2.0, 3.0, 4.0]}, dtype=object
).astype({"age": float})


def test_what_is_missing_is_no_reference():
    encoding = learn_encoding("t.csv", CELLS, ["age", "sex"])
    assert encoding == {"age": [], "sex": ["F", "M", "(empty)"]}
    assert column_names(encoding) == ["age", "sex=M", "sex=(empty)"]
    expected = [[1, 0, 0], [2, 0, 1], [3, 1, 0], [4, 0, 1]]
    np.testing.assert_array_equal(encode("t.csv", CELLS, encoding), expected)


def test_models_of_before_keep_their_reference():
    """The first level is the reference, whichever it is: "(empty)" where it came first in the alphabet."""
    encoding = {"sex": ["(empty)", "F", "M"]}
    expected = [[1, 0], [0, 0], [0, 1], [0, 0]]
    np.testing.assert_array_equal(encode("t.csv", CELLS, encoding), expected)
