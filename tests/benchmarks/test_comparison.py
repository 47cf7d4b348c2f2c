import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.cases import Case, dense, real, sparse
from benchmarks.comparison import Budget, compare
from benchmarks.growth import BASE, along, exponent, exponents, planted
from benchmarks.lpgd import per_iteration
from benchmarks.methods import METHODS, stated
from tests.small_data import write_small_data

from reproduction import fits
from reproduction.convergence.released import release_installed

needs_release = pytest.mark.skipif(not release_installed(), reason="needs SupervisedMF")
SMALL = Budget(run=0.1, process=60.0, repeats=0.0)
KEYS = [
    "case",
    "method",
    "model",
    "fit s",
    "to 1e-6 of F",
    "to 1e-6 s",
    "excess",
    "peak MB",
    "accuracy",
    "balanced",
    "proven",
    "note",
]


@pytest.fixture(
    scope="module",
    params=[lambda: dense(30, 90, 2, 60), lambda: sparse(40, 60, 2, 40)],
    ids=["dense", "sparse"],
)
def rows(request):
    case = request.param()
    # Conditioned so well that a hundred iterations of LPGD are enough.
    return compare(replace(case, X=case.X / 5, X_test=case.X_test / 5, lam=2.0), SMALL)


def test_every_method_has_a_row_with_the_same_keys(rows):
    assert [row["method"] for row in rows] == [method.name for method in METHODS]
    assert all(list(row) == KEYS for row in rows)


def test_measures_are_sane(rows):
    for row in rows:
        if row["method"].startswith("SupervisedMF") and not release_installed():
            assert "not installed" in row["note"]
            continue
        assert row["fit s"] is None or 0 < row["fit s"] < 30
        assert row["peak MB"] >= 0
        assert 0 <= row["accuracy"] <= 1 and 0 <= row["balanced"] <= 1


def test_nobody_gets_below_the_default_solver(rows):
    for row in rows:
        if row["method"] == "superfactor auto":
            assert row["excess"] <= 1e-6
            assert row["to 1e-6 of F"] <= row["to 1e-6 s"]
            assert isinstance(row["proven"], bool)
        elif row["excess"] is not None:
            assert row["excess"] >= 0


def test_methods_without_objective_have_no_time_to_it(rows):
    for row in rows:
        if row["model"] is None:
            assert row["to 1e-6 s"] is row["excess"] is row["proven"] is None


def test_a_method_that_hangs_is_a_note():
    rows = compare(dense(20, 30, 2, 10), Budget(run=0.1, process=0.0, repeats=0.0))
    # A library that is not there may say so sooner.
    notes = {row["note"] for row in rows if "is not installed" not in row["note"]}
    assert notes == {"not finished in 0 s"}
    assert all(row["fit s"] is None for row in rows)


@pytest.mark.parametrize(
    "make", [lambda: dense(30, 50, 3, 5), lambda: sparse(40, 120, 3, 5)], ids=["dense", "sparse"]
)
def test_the_unsupervised_part_is_what_plain_svd_leaves(make):
    case = make()
    X = case.X.toarray() if hasattr(case.X, "toarray") else case.X
    assert case.unsupervised() == pytest.approx(case.xi * np.sum(np.linalg.svd(X, compute_uv=False)[3:] ** 2))


def test_the_balanced_case_weighs_both_terms_the_same():
    case = dense(40, 60, 2, 5, balanced=True)
    assert case.xi * np.sum(case.X**2) == pytest.approx(40 * math.log(2))


def test_planted_samples_held_out_are_others_of_the_same_kind():
    case = dense(51, 200, 2)
    assert case.X.shape == (51, 200) and case.X_test.shape == (500, 200)
    assert not np.array_equal(case.X, case.X_test[:51])


@needs_release
def test_release_and_superfactor_have_the_same_objective():
    """The release's F at superfactor's own answer, against superfactor's."""
    from reproduction.convergence.released import ReleasedLPGD

    case = dense(30, 40, 2, 5)
    for model in ("filter", "feature"):
        found = fits.solve(stated(case, model), case.rank)
        theirs = ReleasedLPGD(
            case.X,
            case.y,
            case.rank,
            model,
            case.xi,
            case.lam,
            np.ones((30, 1)),
            step_size=1e-3,
            start=found.factors,
        )
        assert theirs.objective() == pytest.approx(found.objective, rel=1e-9)


@needs_release
def test_an_iteration_of_both_ends_at_the_same_point():
    rows = per_iteration(quick=True)
    assert {(row["X"], row["model"]) for row in rows} == {
        (x, model) for x in ("dense", "sparse") for model in ("filter", "feature")
    }
    assert all(row["objectives differ by"] < 1e-8 for row in rows)
    assert all(row["ours ms"] > 0 and row["release ms"] > 0 for row in rows)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5], ids=["constant", "linear", "steep"])
def test_the_exponent_of_a_power_law_is_found(power):
    sizes = [10, 20, 40, 80]
    assert exponent(sizes, [3.0 * size**power for size in sizes]) == pytest.approx(power, abs=1e-12)


def test_three_points_are_no_law():
    assert exponent([1, 2, 4], [1.0, 2.0, 4.0]) is None


def test_along_an_axis_every_method_is_timed():
    rows = along("n", (20,), {"n": 20, "p": 30, "r": 2, "κ": 1}, limit=30.0, budget=0.1)
    for row in rows:
        if release_installed() or not row["method"].startswith("SupervisedMF"):
            assert row["sizes"] == [20] and row["seconds"][0] > 0


def test_exponents_stand_side_by_side():
    row = {"method": "LDA", "model": None, "seconds": [], "exponent": 2.0}
    rows = [row | {"axis": axis, "sizes": [10, 2000]} for axis in ("n", "p")]
    found = {"method": "LDA", "model": None, "n 10 to 2,000": 2.0, "p 10 to 2,000": 2.0}
    assert exponents(rows) == [found]


def test_planted_data_has_the_asked_size():
    case = planted(BASE | {"n": 60, "p": 40, "κ": 3})
    assert case.X.shape == (60, 40) and set(case.y) == {0, 1, 2, 3}


def test_real_tables_become_cases(tmp_path, monkeypatch):
    write_small_data(tmp_path)
    monkeypatch.setenv("SUPERFACTOR_DATA_DIR", str(tmp_path))
    found = list(real())
    assert len(found) >= 3 and all(isinstance(case, Case) for case in found)
    for case in found:
        assert case.X.shape[1] == case.X_test.shape[1]
        assert abs(case.X.shape[0] - case.X_test.shape[0]) <= 1
        assert set(np.unique(case.y)) == set(range(case.y.max() + 1))
