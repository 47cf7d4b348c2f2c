"""The pages for numbers, counts and several yes/no labels, compared with scikit-learn and SciPy."""

import math

import numpy as np
import pytest
from scipy.stats import linregress
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import d2_tweedie_score, mean_absolute_error, r2_score, roc_auc_score

from superfactor.outcomes.pages import CountPage, FlagPage, NumberPage

rng = np.random.default_rng(0)


def test_panels_have_the_metrics_of_scikit_learn():
    truth = rng.standard_normal((80, 2)) * [1, 50]
    rows = truth + rng.standard_normal((80, 2)) * [1, 20]
    shown = NumberPage().drawn(truth, rows, ["a", "b"])
    for k, panel in enumerate(shown["panels"]):
        assert panel["name"] == "ab"[k]
        assert panel["explained"] == pytest.approx(r2_score(truth[:, k], rows[:, k]))
        assert panel["error"] == pytest.approx(mean_absolute_error(truth[:, k], rows[:, k]))
        np.testing.assert_array_equal(panel["true"], truth[panel["kept"], k])


def test_figures_show_a_subset_of_many_samples():
    truth = rng.standard_normal((5000, 3))
    shown = NumberPage().drawn(truth, truth, ["a", "b", "c"])
    assert all(len(panel["kept"]) == 400 for panel in shown["panels"])


def test_slopes_equal_scipy():
    truth, scores = rng.standard_normal(60), rng.standard_normal((60, 2)) * [1, 30]
    truth += scores[:, 1] / 30
    for found, score in zip(NumberPage().by_factor(truth, scores, ["y"]), scores.T, strict=True):
        other = linregress(score / score.std(), truth)
        assert found[0] == pytest.approx(other.slope) and found[3] == pytest.approx(other.pvalue)
        assert (found[2] - found[1]) / 2 == pytest.approx(2.0017174830120923 * other.stderr)  # t of 58


def test_rate_ratios_equal_poisson_regression():
    score = rng.standard_normal(200)
    counts = rng.poisson(np.exp(1 + 0.4 * score)).astype(float)
    found = CountPage().by_factor(counts, score[:, None], ["y"])[0]
    z = ((score - score.mean()) / score.std())[:, None]
    other = PoissonRegressor(alpha=0, tol=1e-10).fit(z, counts)
    assert math.log(found[0]) == pytest.approx(other.coef_[0], abs=1e-5)
    assert found[1] < math.exp(0.4) < found[2] and found[3] < 1e-6


def test_colours_are_positions_on_the_scale():
    values = np.arange(101.0)
    page = NumberPage()
    scale = page.scale(values, ["y"])
    assert (scale["low"], scale["high"], scale["root"]) == (2, 98, False)
    colours = np.array(page.colours(values))
    assert colours.min() == 0 and colours.max() == 1 and colours[50] == 0.5
    counts = CountPage()
    assert counts.scale(values, ["y"])["root"] and counts.colours(values)[50] > 0.5


def test_short_description_of_the_outcome():
    told = NumberPage().describe(np.array([1.0, 2.0, 3.0]), ["y"])
    assert told == [("mean", 2.0), ("s.d.", 1.0)]
    two = NumberPage().describe(np.array([[1.0, 5.0], [3.0, 7.0]]), ["a", "b"])
    assert [name for name, _ in two] == ["mean of a", "s.d.", "mean of b", "s.d."]


def test_a_factor_is_assigned_to_the_target_with_largest_effect():
    truth = rng.standard_normal((50, 2))
    page = NumberPage()
    assert page.towards(np.array([0.1, -2.0]), 0, ["a", "b"]) == ("smaller b", "")
    assert page.towards(np.zeros(2), 0, ["a", "b"]) == ("", "")
    own, of = page.alone(np.array([0.1, -2.0]), 0, truth, -truth[:, 1])
    assert of == 1 and own == pytest.approx(-1)


def test_labels_have_roc_curves_of_known_entries():
    truth = rng.integers(0, 2, (120, 3)).astype(float)
    rows = np.clip(0.5 + 0.2 * (truth - 0.5) + 0.3 * rng.standard_normal((120, 3)), 0, 1)
    truth[::5, 0] = np.nan
    truth[:, 2] = 1.0
    shown = FlagPage().drawn(truth, rows, ["a", "b", "c"])
    assert [curve.positive for curve in shown["curves"]] == [0, 1]  # all have the third
    known = np.isfinite(truth[:, 0])
    first = shown["labels"][0]
    assert first["known"] == 96 and first["share"] == truth[known, 0].mean()
    assert first["area"] == pytest.approx(roc_auc_score(truth[known, 0], rows[known, 0]))
    assert first["low"] < first["area"] < first["high"] and math.isnan(shown["labels"][2]["area"])
    assert FlagPage().colours(truth)[0][0] == 2  # not known


def test_intervals_of_roc_areas_have_their_coverage():
    covered, true = [], 0.7602  # Φ(1/√2)
    for _ in range(300):
        values = np.repeat([0.0, 1.0], 40)[:, None]
        score = rng.standard_normal((80, 1)) + values
        found = FlagPage().drawn(values, score, ["a"])["labels"][0]
        covered.append(found["low"] <= true <= found["high"])
    assert np.mean(covered) == pytest.approx(0.95, abs=0.04)


def test_counts_with_exposures_are_shown_and_evaluated_as_rates():
    score, exposure = rng.standard_normal(200), 10 ** rng.uniform(0, 2, 200)
    y = rng.poisson(exposure * np.exp(0.5 * score - 1)).astype(float)
    truth = np.stack([y[:, None], exposure[:, None]], axis=2)
    expected = exposure * np.exp(0.4 * score - 1)
    (panel,) = CountPage().drawn(truth, expected[:, None], ["visits"])["panels"]
    residuals = [(x - exposure * x.sum() / exposure.sum()) / np.sqrt(exposure) for x in (y, expected)]
    assert panel["correlation"] == pytest.approx(np.corrcoef(*residuals)[0, 1]) and panel["correlation"] > 0.5
    alone, _ = CountPage().alone(np.ones(1), 0, truth, score)
    assert alone == pytest.approx(np.corrcoef(residuals[0], score)[0, 1])
    d2 = d2_tweedie_score(y / exposure, expected / exposure, power=1, sample_weight=exposure)
    assert panel["explained"] == pytest.approx(d2)
    assert panel["guess"] == pytest.approx(np.mean(np.abs(y - exposure * y.sum() / exposure.sum())))
    unit = (score - score.mean()) / score.std()
    model = PoissonRegressor(alpha=0, tol=1e-10, max_iter=1000)
    model.fit(unit[:, None], y / exposure, sample_weight=exposure)
    (found,) = CountPage().by_factor(truth, score[:, None], ["visits"])
    assert found[0] == pytest.approx(np.exp(model.coef_[0]), rel=1e-5)
    assert CountPage().said(truth[0], expected[:1], ["visits"])[0] == ("visits", y[0])
