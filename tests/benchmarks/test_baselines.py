from dataclasses import replace
from importlib.util import find_spec

import pytest
from benchmarks import baselines
from benchmarks.baselines import BASELINES, KEPT, compare, digits
from benchmarks.cases import dense


@pytest.fixture(scope="module")
def rows():
    return {row["method"]: row for row in compare(dense(60, 20, 2, 40, classes=3), 0.0, 60.0)}


def test_every_baseline_has_a_row(rows):
    assert list(rows) == list(BASELINES)
    for name, row in rows.items():
        if name == "PCovC" and find_spec("skmatter") is None:
            assert "skmatter" in row["note"] and row["fit s"] is None
            continue
        assert row["note"] is None and row["fit s"] > 0 and row["peak MB"] >= 0
        assert 0.4 < row["accuracy"] <= 1
        assert (row["objective"] is not None) == (name in ("filter", "feature"))


def test_the_digits_have_an_objective_each():
    cases = list(digits())
    known = {(m, c.rank, c.xi, c.lam) for c in cases for m in ("filter", "feature")}
    assert known == set(KEPT) and len(cases) == 9


def test_an_objective_above_the_kept_one_is_reported():
    case = next(digits())
    F = KEPT["filter", 5, 0.001, 0.01]
    row = baselines._row(case, "filter", {"objective": 1.01 * F, "fit s": 2.0}, 0.5)
    assert row["excess"] == pytest.approx(0.01) and row["pipelines"] == 4
    other = baselines._row(replace(case, name="table"), "filter", {"objective": F}, 0.5)
    assert other["excess"] is None
