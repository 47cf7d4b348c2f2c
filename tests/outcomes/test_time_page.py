"""Survival curves, log-rank tests and hazard ratios, compared with scikit-survival; the page for times."""

import math

import numpy as np
import pytest

from superfactor.outcomes import Times
from superfactor.outcomes.metrics.kaplan_meier import kaplan_meier, log_rank, median_follow_up
from superfactor.outcomes.metrics.survival_metrics import hazard_ratio
from superfactor.outcomes.pages.times import risk_groups

sksurv = pytest.importorskip("sksurv")


def drawn(n=120, seed=0, ties=True):
    """Events, times and a column that shortens the times."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    time = rng.exponential(10 * np.exp(-0.8 * x))
    end = rng.exponential(15, n)
    event, time = (time <= end).astype(float), np.minimum(time, end)
    return event, np.ceil(time) if ties else time, x


def theirs(event, time):
    return np.array(list(zip(event > 0, time, strict=True)), dtype=[("event", bool), ("time", float)])


@pytest.mark.parametrize("ties", [True, False])
def test_curves_equal_scikit_survival(ties):
    from sksurv.nonparametric import kaplan_meier_estimator

    event, time, _ = drawn(ties=ties)
    own = kaplan_meier(event, time)
    times, survival, (low, high) = kaplan_meier_estimator(event > 0, time, conf_type="log-log")
    np.testing.assert_array_equal(own.time, times)
    np.testing.assert_allclose(own.survival, survival, atol=1e-12)
    inside = (survival > 0) & (survival < 1)
    lower, upper = own.limits()
    np.testing.assert_allclose(lower[inside], low[inside], atol=1e-12)
    np.testing.assert_allclose(upper[inside], high[inside], atol=1e-12)
    assert (lower[survival == 1] == 1).all() and np.isnan(lower[survival == 0]).all()


def test_medians():
    event, time = np.array([1.0, 1, 0, 1]), np.array([1.0, 2, 3, 4])
    assert kaplan_meier(event, time).median() == 2
    assert kaplan_meier(np.zeros(4), time).median() == math.inf
    assert median_follow_up(np.zeros(4), time) == 2  # all ends of observation
    # Of those at risk at 3, one of two ends: a half is left.
    assert median_follow_up(event, time) == 3


@pytest.mark.parametrize("groups", [2, 4])
def test_log_rank_equals_scikit_survival(groups):
    from sksurv.compare import compare_survival

    event, time, x = drawn()
    group = np.random.default_rng(1).integers(0, groups, len(x)) + (x > 1)
    assert log_rank(event, time, group) == pytest.approx(
        compare_survival(theirs(event, time), group)[1], rel=1e-9
    )
    assert math.isnan(log_rank(event, time, np.zeros(len(x)))) and math.isnan(
        log_rank(0 * event, time, group)
    )


def test_groups_are_compared_within_strata():
    event, time, x = drawn(200)
    group, strata = (x > 0).astype(int), np.arange(200) % 2
    # Strata whose times have nothing to do with each other: all events of one lie before those of the other.
    later = np.where(strata == 1, time + time.max(), time)
    assert log_rank(event, later, group, strata) == log_rank(event, time, group, strata)
    assert log_rank(event, later, group, strata) != pytest.approx(log_rank(event, later, group))
    one = np.zeros(200)
    assert log_rank(event, time, group, one) == log_rank(event, time, group)
    both = [np.column_stack([event, times, strata]) for times in (time, later)]
    assert hazard_ratio(both[0], x).estimate == pytest.approx(hazard_ratio(both[1], x).estimate, rel=1e-9)
    page = Times.page.drawn(both[1], x[:, None], ["risk"])
    assert page["p"] == log_rank(event, later, risk_groups(event, x)[1], strata) < 1e-4
    assert page["ratio"]["estimate"] == hazard_ratio(both[1], x).estimate


def test_hazard_ratios_equal_scikit_survival():
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    event, time, x = drawn()
    for own in (x, 100 + 7 * x, -x):
        found = hazard_ratio(np.column_stack([event, time]), own)
        other = CoxPHSurvivalAnalysis(ties="breslow", tol=1e-12).fit(
            (own / own.std())[:, None], theirs(event, time)
        )
        assert math.log(found.estimate) == pytest.approx(other.coef_[0], abs=1e-6)
        assert found.low < found.estimate < found.high
    # The interval is that of Wald, by the curvature of the partial likelihood in finite differences.
    found, z = hazard_ratio(np.column_stack([event, time]), x), x / x.std()
    b, h = math.log(found.estimate), 1e-3

    def likelihood(b):
        return sum(b * z[i] - math.log(np.exp(b * z[time >= time[i]]).sum()) for i in np.flatnonzero(event))

    bend = -(likelihood(b + h) - 2 * likelihood(b) + likelihood(b - h)) / h**2
    assert math.log(found.high / found.low) == pytest.approx(2 * 1.959964 / math.sqrt(bend), rel=1e-4)
    assert found.p == pytest.approx(math.erfc(abs(b) * math.sqrt(bend) / math.sqrt(2)), rel=1e-3)


def test_hazard_ratio_is_nan_if_not_defined():
    (event, time, x), order = drawn(), np.arange(10.0)
    for found in (
        hazard_ratio(np.column_stack([event, time]), np.ones(len(x))),
        hazard_ratio(np.column_stack([0 * event, time]), x),
        hazard_ratio(np.column_stack([np.ones(10), order]), -order),  # which is perfect
    ):
        assert math.isnan(found.estimate) or found.high > 1e6


def test_risk_groups_are_halves_or_thirds_of_the_risk():
    event, _, risk = drawn(300)
    names, group = risk_groups(event, risk)
    assert names == ["low risk", "middle risk", "high risk"] and np.bincount(group).tolist() == [
        100,
        100,
        100,
    ]
    assert risk[group == 0].max() < risk[group == 1].min() < risk[group == 2].min()
    names, group = risk_groups(event[:40], risk[:40])
    assert names == ["lower risk", "higher risk"] and np.bincount(group).tolist() == [20, 20]
    assert risk_groups(event, np.zeros(300))[0] == ["all samples"]


def test_numbers_at_risk_and_events_of_the_groups():
    event, time, x = drawn(200)
    shown = Times.page.drawn(np.column_stack([event, time]), x[:, None], ["risk"])
    _, group = risk_groups(event, x)
    for k, curve in enumerate(shown["curves"]):
        assert (curve["samples"], curve["events"]) == ((group == k).sum(), event[group == k].sum())
        assert curve["at_risk"] == [int((time[group == k] >= t).sum()) for t in shown["ticks"]]
    assert shown["ticks"][0] == 0 and shown["ticks"][-1] <= time.max()
    assert shown["p"] < 1e-4 and shown["ratio"]["estimate"] > 1.5
