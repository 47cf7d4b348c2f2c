"""Algorithm 1 followed from random starts: what is run, what is fitted."""

import numpy as np
import pytest
from tests.reproduction.small_study import small_study

from reproduction.convergence.study import PAPER, SAFE, WINDOW, Study, run_study


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
