from dataclasses import replace

import numpy as np
import pytest
from benchmarks.cases import dense, sparse
from benchmarks.comparison import Budget, compare
from benchmarks.growth import exponent
from benchmarks.lpgd import per_iteration
from benchmarks.methods import stated

from reproduction import fits
from reproduction.convergence.released import release_installed

needs_release = pytest.mark.skipif(not release_installed(), reason="needs SupervisedMF")
SMALL = Budget(run=0.1, process=60.0, repeats=0.0)


@pytest.fixture(
    scope="module",
    params=[lambda: dense(30, 90, 2, 60), lambda: sparse(40, 60, 2, 40)],
    ids=["dense", "sparse"],
)
def rows(request):
    case = request.param()
    # Conditioned so well that a hundred iterations of LPGD are enough.
    return compare(replace(case, X=case.X / 5, X_test=case.X_test / 5, lam=2.0), SMALL)


def test_measures_are_sane(rows):
    for row in rows:
        if row["method"].startswith("SupervisedMF") and not release_installed():
            assert "not installed" in row["note"]
            continue
        assert row["fit s"] is None or 0 < row["fit s"] < 30
        assert row["peak MB"] >= 0
        assert 0 <= row["accuracy"] <= 1 and 0 <= row["balanced"] <= 1


def test_no_solver_gets_below_the_default_solver(rows):
    for row in rows:
        if row["method"] == "superfactor auto":
            assert row["excess"] <= 1e-6
            assert row["to 1e-6 of F"] <= row["to 1e-6 s"]
            assert isinstance(row["proven"], bool)
        elif row["excess"] is not None:
            assert row["excess"] >= 0


@pytest.mark.slow
def test_a_method_that_hangs_is_a_note():
    rows = compare(dense(20, 30, 2, 10), Budget(run=0.1, process=0.0, repeats=0.0))
    # A library that is not there may say so sooner.
    notes = {row["note"] for row in rows if "is not installed" not in row["note"]}
    assert notes == {"not finished in 0 s"}
    assert all(row["fit s"] is None for row in rows)


@needs_release
def test_release_and_superfactor_have_the_same_objective():
    """The release's F at superfactor's own answer, against superfactor's."""
    from reproduction.convergence.released import ReleasedLPGD

    case = dense(30, 40, 2, 5)
    for model in ("filter", "feature"):
        found = fits.solve(stated(case, model), case.rank)
        about = (case.X, case.y, case.rank, model, case.xi, case.lam, np.ones((30, 1)))
        theirs = ReleasedLPGD(*about, step_size=1e-3, start=found.factors)
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
