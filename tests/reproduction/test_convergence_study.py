"""Algorithm 1 followed from random starts: what is run, what is fitted."""

from dataclasses import replace

import numpy as np
import pytest
from tests.reproduction.small_study import small_study

from reproduction.convergence import panels
from reproduction.convergence.curves import Optimum, on_clock
from reproduction.convergence.study import PAPER, SAFE, WINDOW, Study, rates_table, run_study


@pytest.fixture(scope="module")
def runs():
    return run_study(small_study(), lambda *_: None)


def chosen(runs, model, xi, step):
    (found,) = (r for r in runs if (r.model, r.xi, r.step) == (model, xi, step))
    return found


def test_every_setting_is_run_and_the_theorems_window_where_there_is_one(runs):
    steps = {(r.model, r.xi): [] for r in runs}
    for each in runs:
        steps[each.model, each.xi].append(each.step)
        assert len(each.curves) == 2
        assert all(curve.iterations == 40 for curve in each.curves)
    # Feature model: μ = min(2ξ, 2λ), L = max(2ξ, 2λ + 1/4) with λ = 2.
    assert steps == {
        ("filter", 1.0): [PAPER, SAFE],
        ("filter", 5.0): [PAPER, SAFE],
        ("feature", 1.0): [PAPER, SAFE, WINDOW],
        ("feature", 5.0): [PAPER, SAFE, WINDOW],
    }
    window = chosen(runs, "feature", 5.0, WINDOW)
    assert window.tau == pytest.approx(2 / (4 + 10))
    assert window.in_window
    assert not any(each.in_window for each in runs if each.step == PAPER)


def test_the_safe_step_falls_and_the_papers_does_not_in_the_filter_model(runs):
    assert all(each.monotone for each in runs if each.step == SAFE)
    paper, safe = (chosen(runs, "filter", 5.0, step) for step in (PAPER, SAFE))
    assert paper.share_of_rises > 0.1
    assert paper.tau > 2 / paper.known.constants.L
    assert safe.tau == pytest.approx(1 / safe.known.constants.L)


def test_nothing_is_below_the_optimum(runs):
    for each in runs:
        floor = each.known.optimum.value - each.known.optimum.gap
        lowest = min(curve.objective.min() for curve in each.curves)
        assert lowest >= each.best >= floor - 1e-9 * abs(floor)


def test_a_far_start_is_forgotten_at_the_rate_of_the_gradient_step():
    """Nearly all of F is ξ‖X − B‖² there, and B − X shrinks by 1 − 2ξτ."""
    study = small_study(xis=(3.0,), iterations=20, starts=1)
    far = Study(**vars(study) | {"X": study.X * 1e-4})
    found = chosen(run_study(far, lambda *_: None), "feature", 3.0, PAPER)
    assert found.reconstruction_rate == pytest.approx(-2 * np.log(1 - 0.06))
    assert found.rate == pytest.approx(found.reconstruction_rate, rel=0.1)
    assert found.r2 > 0.99


def test_progress_goes_from_nothing_to_all():
    seen = []
    run_study(small_study(iterations=3), lambda *step: seen.append(step))
    assert seen == [(k, 20) for k in range(21)]  # ten steps, two starts each


def test_table_has_a_row_for_each_setting(runs):
    table = rates_table(runs)
    assert len(table) == len(runs) == 10
    covered = table[table["in_window"]]
    assert set(covered["step"]) == {WINDOW}
    assert covered["rho"].between(0, 1).all()
    assert table.loc[~table["in_window"], "rho"].isna().all()
    assert (table["seconds_per_iteration"] > 0).all()
    monotone = table[table["share_of_rises"] == 0]
    assert (monotone["rate_per_iteration"] > 0).all()
    assert monotone["smallest_r2"].between(0, 1 + 1e-12).all()


def test_an_estimate_is_not_called_a_proof(runs):
    optimum = Optimum(10.0, 0.0, True, exact=False)
    estimated = replace(runs[0], known=replace(runs[0].known, optimum=optimum))
    (row,) = rates_table([estimated]).to_dict("records")
    assert (row["proven_global"], row["global_by_estimate"]) == (False, True)


def test_curves_are_means_over_starts(runs):
    table = panels.curves_table(runs)
    first = table[(table["model"] == "filter") & (table["xi"] == 1) & (table["step"] == PAPER)]
    times, values = on_clock(chosen(runs, "filter", 1.0, PAPER).curves, len(first))
    np.testing.assert_allclose(first["seconds"], times)
    np.testing.assert_allclose(first["loss_mean"], values.mean(axis=0))
