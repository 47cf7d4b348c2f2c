"""Contents of cells, compared with pandas."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from superfactor.preprocessing import cells

CELLS = [
    None,
    float("nan"),
    np.float32("nan"),
    pd.NA,
    pd.NaT,
    np.datetime64("NaT"),
    Decimal("NaN"),
    0,
    "",
    "nan",
    False,
    np.datetime64("2020-01-01"),
]


@pytest.mark.parametrize("cell", CELLS, ids=repr)
def test_missing_equals_pandas_isna(cell):
    assert cells.is_missing(cell) == pd.isna(cell)


def test_an_array_in_a_cell_is_not_missing():
    assert not cells.is_missing(np.array([np.nan, 1.0]))


@pytest.mark.parametrize(
    ("column", "numbers"),
    [
        (np.array([1, 2]), True),
        (np.array([1.5, np.nan]), True),
        (np.array([1, None, Decimal("2.5")], dtype=object), True),
        (pd.Series([1, None], dtype="Int64"), True),
        (np.array([None, None], dtype=object), True),
        (np.array([True, False]), False),
        (np.array([1, "a"], dtype=object), False),
        (np.array([1, np.True_], dtype=object), False),
        (pd.Series([1, 2], dtype="category"), False),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), False),
    ],
    ids=str,
)
def test_which_columns_hold_numbers(column, numbers):
    assert cells.holds_numbers(column) is numbers


def test_text_of_cells():
    column = np.array([1.0, np.float32(2), 2.5, "a", None, True, np.inf], dtype=object)
    assert cells.words(column) == ["1", "2", "2.5", "a", None, "True", "inf"]


def test_floats():
    column = pd.Series([1, None, Decimal("2.5")], dtype=object)
    np.testing.assert_array_equal(cells.floats(column, "age"), [1, np.nan, 2.5])
    with pytest.raises(ValueError, match="age: numbers are required, as at fit; could not convert"):
        cells.floats(np.array([1, "old"], dtype=object), "age")


@pytest.mark.parametrize(
    ("values", "unreadable"),
    [
        (np.ones((2, 2)), False),
        ([["1.5", 2]], False),
        ([[1.0, None]], False),
        ([[1.0, "a"]], True),
        (pd.DataFrame({"a": [1, 2], "b": ["u", "v"]}), True),
        ([[1.0], [1.0, 2.0]], False),  # ragged: another mistake
        (sp.csr_array(np.eye(2)), False),
        (np.array([[1 + 1j]]), False),
    ],
    ids=str,
)
def test_what_cannot_be_read_as_numbers(values, unreadable):
    assert cells.holds_unreadable(values) is unreadable
