"""Algorithm 1 followed from random starts: what is run, what is fitted, what is said of it."""

from dataclasses import replace

import numpy as np
import pytest
from tests.reproduction.small_study import small_study

from reproduction.convergence import panels
from reproduction.convergence.curves import Curve, Optimum
from reproduction.convergence.study import (
    PAPER,
    SAFE,
    WINDOW,
    Known,
    Runs,
    Study,
    rates_table,
    run_study,
)
from reproduction.convergence.verdict import verdict
from superfactor.theory import TheoremConstants


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


def test_figure_has_a_line_for_each_setting(runs):
    figure = panels.draw(runs, "title")
    axes = np.array(figure.axes).reshape(2, 4)
    for row in axes:
        assert [len(ax.lines) for ax in row] == [2, 2, 2, 4]
        assert all(ax.get_yscale() == "log" for ax in row)
    assert [text.get_text() for text in figure.legends[0].get_texts()][:2] == ["ξ = 1", "ξ = 5"]
    table = panels.curves_table(runs)
    line = axes[0, 0].lines[0]
    first = table[(table["model"] == "filter") & (table["xi"] == 1) & (table["step"] == PAPER)]
    np.testing.assert_allclose(line.get_ydata(), first["loss_mean"])


# --- in words, of runs made up for the purpose ------------------------------------------------------


def made_up(xi, rate, *, step=PAPER, model="feature", wiggle=0.0, proven=True, constants=(4, 20)):
    t = np.arange(30)
    objective = 10 + 5 * np.exp(-rate * t) + wiggle * (t % 2)
    curve = Curve(t / 10, objective, 29)
    known = Known(
        model, xi, Optimum(10.0, 0.0 if proven else 2.5, proven), TheoremConstants(*constants)
    )
    return Runs(known, step, [curve], 10.0)


def said(changing):
    fixed = [made_up(xi, 0.1, model="filter") for xi in (1, 5)]
    fixed += [
        made_up(xi, 0.1, model=model, step=SAFE) for model in ("filter", "feature") for xi in (1, 5)
    ]
    lines = verdict([*fixed, *changing]).split("\n")
    (line,) = (each for each in lines if each.startswith(f"SMF-H (feature), τ = {PAPER}"))
    return line, "\n".join(lines)


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ((0.1, 0.2, 0.3), "every iteration, faster for larger ξ: "),
        ((0.3, 0.2, 0.1), "every iteration, slower for larger ξ: "),
        ((0.1, 0.3, 0.2), "every iteration, not always faster for larger ξ: "),
    ],
    ids=["up", "down", "up-and-down"],
)
def test_whether_rates_grow_is_read_off_the_runs(rates, words):
    line, _ = said([made_up(xi, rate) for xi, rate in zip((1, 5, 10), rates, strict=True)])
    assert words in line
    assert f"ξ = 5 {rates[1]:.2g} (0.21; 1.00), ξ = 10 {rates[2]:.2g} (0.45; 1.00)" in line


def test_rises_are_owned_up_to():
    line, text = said([made_up(1, 0.1), made_up(5, 0.1, wiggle=3.0, proven=False)])
    assert "falls at every iteration: ξ = 1 0.1 (0.04; 1.00); the loss" in line
    assert "rises at 52 % of the iterations at ξ = 5 and ends 2 above F*" in line
    assert line.endswith("falls: ξ = 5 none.")
    assert "proven global at 3 of 4 settings" in text
    assert "feature ξ = 5: 2.5" in text


def test_an_estimate_is_not_called_a_proof():
    runs = made_up(5, 0.1)
    known = replace(runs.known, optimum=Optimum(10.0, 0.0, True, exact=False))
    estimated = replace(runs, known=known)
    _, text = said([estimated])
    assert "proven global at 3 of 4 settings and at 1 but for one singular value" in text
    (row,) = rates_table([estimated]).to_dict("records")
    assert (row["proven_global"], row["global_by_estimate"]) == (False, True)


def test_the_theorem_is_held_against_what_was_measured():
    inside = [
        made_up(1, 0.6, step=WINDOW, constants=(2, 4)),
        made_up(5, 0.6, step=WINDOW, constants=(4, 10)),
    ]
    _, text = said([made_up(1, 0.1), *inside])
    assert "covers 0 of these" in text
    assert f"ξ = 1 and τ = 0.333: ρ = 0.67, measured {np.exp(-0.3):.2f} an iteration" in text
    _, text = said([made_up(1, 0.1), made_up(5, 0.6, step=WINDOW, wiggle=3.0, constants=(4, 10))])
    assert "ρ = 0.86, but the loss rises at 52 % of the iterations and ends 2 above F*" in text
