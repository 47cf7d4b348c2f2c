"""Covariates of a table, and numbers of the covariate table as they are printed."""

import math

import pandas as pd
import pytest
from tests.cli.command import QUICK, cohort, roles, superfactor

from superfactor.cli.output.effect_tables import _with_interval


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
        (0.0004, 0.0001, 0.0015, "0.0004 (0.0001 to 0.0015)"),
        (0.0004, 0.00001, 0.3, "0.0004 (<0.0001 to 0.3000)"),
        (0.0004, math.nan, math.nan, "0.0004"),
        (1e-9, 1e-12, 1e-5, "<0.000001 (<0.000001 to 0.000010)"),
        (0.0, 0.0, 0.0, "<0.01 (<0.01 to <0.01)"),
    ],
    ids=str,
)
def test_number_of_digits(estimate, low, high, shown):
    row = {"estimate": estimate, "low": low, "high": high, "estimate_per_sd": 1.618, "kind": "odds ratio"}
    assert _with_interval(row) == (shown, "1.62")


def test_a_fit_with_empty_ages(tmp_path):
    data = cohort()
    data["age"] = data["age"].where(data.index % 5 > 0)
    data.to_csv(tmp_path / "t.csv", index=False)
    done = superfactor("fit", tmp_path / "t.csv", *roles(), *QUICK, "--out", tmp_path / "m.skops")
    middle = data["age"].median()
    assert f"covariate 'age': empty cells are replaced by the median {middle:g}" in done.err
    assert f"age: missing vs median {middle:g}" in " ".join(done.out.split())
    done = superfactor("predict", tmp_path / "m.skops", tmp_path / "t.csv", "--out", tmp_path / "p.csv")
    assert done.code == 0
    assert len(pd.read_csv(tmp_path / "p.csv")) == len(data)


def test_a_constant_is_noted_and_has_no_row(tmp_path):
    cohort(80).assign(age=0.1).to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", *roles(), *QUICK, "--out", tmp_path / "m.skops")
    done = superfactor(*words)
    assert (
        done.err == "note: covariate 'age' is constant over the samples with an outcome and has no effect\n"
    )
    assert "sex: M vs F" in done.out and "age (per unit)" not in done.out
    assert "with 95 % interval" in done.out
    # Where no table has an interval, no heading promises one.
    done = superfactor(*words, "--model", "feature")
    assert "Covariates: odds ratio of tumoral against normal\n" in done.out
