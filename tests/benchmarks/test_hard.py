import json
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import hard
from benchmarks.hard import BEATEN, COUNTS, compared, fits, problem
from benchmarks.multistart import Objective


def test_settings_that_were_beaten_are_among_them():
    for i, (model, kappa, n, p, rank, xi, lam, q) in BEATEN.items():
        given = problem(50 + i)
        assert (given.model, given.X.shape, given.rank) == (model, (n, p), rank)
        assert (given.y.max(), given.xi, given.lam) == (kappa, xi, lam)
        assert q == (0 if given.covariates is None else given.covariates.shape[1])


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


def test_single_precision_is_no_violation(monkeypatch):
    found = hard.fit(problem(3))
    assert found.certificate_.is_global
    monkeypatch.setattr(hard, "read", lambda: {"hard": {"3": found.objective_}})
    (row,) = fits("hard", [3], np.float32)
    assert row["F"] != found.objective_ and row["F"] == pytest.approx(found.objective_, rel=1e-5)
    assert not row["violated"]
