import json
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import hard
from benchmarks.hard import BEATEN, COUNTS, compared, fits, problem, summary
from benchmarks.multistart import Objective


@pytest.mark.parametrize("collection", COUNTS)
def test_problems_are_small_and_always_the_same(collection):
    for i in range(0, 40):
        one, same = problem(i, collection), problem(i, collection)
        assert np.array_equal(one.X, same.X) and np.array_equal(one.y, same.y)
        n, p = one.X.shape
        assert n <= 60 and p <= 20 and one.rank <= min(6, n, p) and one.y.max() <= 5
        assert set(one.y) == set(range(one.y.max() + 1))


def test_settings_that_were_beaten_are_among_them():
    for i, (model, kappa, n, p, rank, xi, lam, q) in BEATEN.items():
        given = problem(50 + i)
        assert (given.model, given.X.shape, given.rank) == (model, (n, p), rank)
        assert (given.y.max(), given.xi, given.lam) == (kappa, xi, lam)
        assert q == (0 if given.covariates is None else given.covariates.shape[1])


def test_the_collection_has_what_is_hard():
    given = [problem(i) for i in range(300)]
    assert {one.model for one in given} == {"filter", "feature"}
    assert {int(one.y.max()) for one in given} == {1, 2, 3, 4, 5}
    assert min(one.lam for one in given) < 1e-7
    assert any(one.sample_weight is not None for one in given)
    assert any(one.class_weight is not None for one in given)
    values = [np.linalg.svd(one.X, compute_uv=False) for one in given]
    assert any(len(s) > 1 and s[0] - s[1] < 1e-9 * s[0] for s in values)
    assert any(s[-1] < 1e-9 * s[0] for s in values)


def test_every_problem_has_a_lowest_objective():
    kept = json.loads(hard.KNOWN.read_text())
    for collection, count in COUNTS.items():
        assert set(kept[collection]) == set(map(str, range(count)))


def _answer(F, bound, steps, proven=False):
    proof = SimpleNamespace(is_global=proven, lower_bound=bound)
    return SimpleNamespace(objective_=F, certificate_=proof, history_={"objective": steps})


def test_an_answer_is_compared_with_what_is_known():
    given = problem(2)
    floor = Objective(given).floor
    known = floor + 1.0
    row = compared(given, _answer(floor + 1.5, floor, [3.0, 2.0, 1.5]), known)
    assert row["of supervised"] == pytest.approx(0.5)
    assert row["excess"] == pytest.approx(0.5 / known)
    assert not row["violated"] and not row["rises"]
    assert compared(given, _answer(known, known * (1 + 1e-6), [1.0]), known)["violated"]
    assert compared(given, _answer(known, floor, [3.0, 2.0, 2.5]), known)["rises"]


def test_rows_come_from_fits(monkeypatch):
    found = hard.fit(problem(2)).objective_
    monkeypatch.setattr(hard, "read", lambda: {"hard": {"2": found / 2, "3": 1.0}})
    (row,) = fits("hard", [2], search="auto")
    assert row["i"] == 2 and row["seconds"] > 0
    assert row["excess"] == pytest.approx(1.0)


def test_single_precision_is_no_violation(monkeypatch):
    found = hard.fit(problem(3))
    assert found.certificate_.is_global
    monkeypatch.setattr(hard, "read", lambda: {"hard": {"3": found.objective_}})
    (row,) = fits("hard", [3], np.float32)
    assert row["F"] != found.objective_ and row["F"] == pytest.approx(found.objective_, rel=1e-5)
    assert not row["violated"]


def test_what_is_beaten_is_counted_among_the_unproven():
    row = {"seconds": 1.0, "violated": False, "rises": False}
    rows = [
        row | {"model": "filter", "κ": 1, "proven": True, "excess": 0.1, "of supervised": 0.1},
        row | {"model": "filter", "κ": 2, "proven": False, "excess": 1e-3, "of supervised": 2e-3},
        row | {"model": "feature", "κ": 2, "proven": False, "excess": 0.1, "of supervised": 0.2},
        row | {"model": "feature", "κ": 2, "proven": False, "excess": 0.0, "of supervised": 0.0},
    ]
    rows[3] = rows[3] | {"violated": True, "rises": True}
    lines = {line["of"]: line for line in summary(rows)}
    assert list(lines) == ["all", "feature", "filter", "κ = 1", "κ = 2"]
    everything = lines["all"]
    assert (everything["proven"], everything["unproven"], everything["beaten"]) == (1, 3, 2)
    assert everything["by 1 % of supervised"] == 1
    assert everything["worst of supervised"] == pytest.approx(0.2)
    assert everything["certificates violated"] == everything["histories that rise"] == 1
    assert lines["κ = 1"]["beaten"] == 0 and lines["filter"]["beaten"] == 1
