"""Events and times in every form they come in, and one line for each that is none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.estimators.data import patients, structured

from superfactor import SMFSurvival
from superfactor.estimators.targets import check_survival, concordance


def turned(y):
    """A structured array whose times come first."""
    return np.array([(t, bool(e)) for e, t in y], dtype=[("days", "f4"), ("died", "?")])


FORMS = {
    "array": lambda y: y,
    "lists": lambda y: y.tolist(),
    "objects": lambda y: np.array([[bool(e), t] for e, t in y], dtype=object),
    "structured": structured,
    "structured, times first": turned,
    "DataFrame": lambda y: pd.DataFrame(y, columns=["event", "time"]),
    "DataFrame, times first": lambda y: pd.DataFrame(y[:, ::-1], columns=["time", "event"]),
    "DataFrame, other names": lambda y: pd.DataFrame({"died": y[:, 0] == 1, "days": y[:, 1]}),
    "DataFrame of nullable types": lambda y: pd.DataFrame(
        {"event": pd.array(y[:, 0] == 1, dtype="boolean"), "time": pd.array(y[:, 1], dtype="Float64")}
    ),
}


def polars(y):
    library = pytest.importorskip("polars", reason="polars is not installed")
    return library.DataFrame({"time": y[:, 1], "event": y[:, 0] == 1})


@pytest.mark.parametrize("form", [*FORMS.values(), polars], ids=[*FORMS, "polars"])
def test_every_form_is_the_same(form):
    X, y, _ = patients()
    found = check_survival(form(y), X, "test")
    np.testing.assert_allclose(found.values, y, rtol=1e-7)
    assert found.known is None


@pytest.mark.parametrize("form", ["array", "objects", "structured", "DataFrame of nullable types"])
def test_who_has_no_time_has_no_outcome(form):
    X, y, _ = patients()
    y[-10:] = [0, np.nan]
    given = FORMS[form](np.nan_to_num(y))
    if form == "structured":
        given["days"][-10:] = np.nan
    elif form == "DataFrame of nullable types":
        given.loc[50:, :] = pd.NA
    else:
        given[-10:] = np.nan if form == "array" else None
    found = check_survival(given, X, "test")
    np.testing.assert_array_equal(found.known, np.arange(60) < 50)
    np.testing.assert_allclose(found.labelled, y[:50], rtol=1e-7)


def test_times_of_zero_are_times():
    X, y, _ = patients()
    y[:2] = [[1, 0.0], [0, 0.0]]
    model = SMFSurvival(2, xi=0.2, lam=1.0, certify=None).fit(X, y)
    assert model.event_times_[0] == 0.0


def changed(position, value):
    def change(y):
        y = y.copy()
        y[position] = value
        return y

    return change


WRONG = {
    "one column": (lambda y: y[:, 1], r"y: an array of shape \(60,\); event \(0 or 1\) and time"),
    "three columns": (lambda y: np.c_[y, y[:, 1]], r"y: an array of shape \(60, 3\); event"),
    "three fields": (
        lambda y: np.array([(True, 1.0, 2.0)] * 60, dtype="?,f8,f8"),
        "y: fields .*; event .* and time are required",
    ),
    "times first": (lambda y: y[:, ::-1], "y: events of 0 and 1 are required, but sample 0 has"),
    "events of 2": (changed((3, 0), 2), "y: events of 0 and 1 are required, but sample 3 has 2.0"),
    "no event known": (changed((3, 0), np.nan), "y: events of 0 and 1 .* sample 3 has nan"),
    "negative times": (changed((5, 1), -0.5), "y: finite times >= 0 .* sample 5 has -0.5"),
    "infinite times": (changed((5, 1), np.inf), "y: finite times >= 0 .* sample 5 has inf"),
    "no time of an event": (
        lambda y: changed((np.flatnonzero(y[:, 0])[0], 1), np.nan)(y),
        "y: times of all events are required",
    ),
    "words": (
        lambda y: np.array([["yes", t] for t in y[:, 1]], dtype=object),
        "y: numbers are required for events, got 'yes'; event",
    ),
    "words alone": (lambda y: y.astype(str), "y: numbers are required for events, got '"),
    "dates": (
        lambda y: pd.DataFrame({"event": y[:, 0], "time": pd.to_datetime("2026-01-01")}),
        "y: numbers are required for times, got dates",
    ),
    "no events": (changed((slice(None), 0), 0), "y: none of the 60 samples has an event"),
    "events when all others are gone": (
        lambda y: np.c_[y[:, 1] == y[:, 1].max(), y[:, 1]],
        "y: all events are at the last time, .*; an event while another",
    ),
    "events of all at once": (lambda y: np.ones_like(y), "y: all events are at the last time, 1.0"),
    "no times": (lambda y: np.full_like(y, np.nan), "y: none of the 60 samples has a label"),
    "too few": (lambda y: y[:-1], "y: 59 samples, but X has 60"),
    "nothing": (lambda y: None, "requires y to be passed"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_survival_time(case):
    X, y, _ = patients()
    change, message = WRONG[case]
    with pytest.raises(ValueError, match=message) as error:
        SMFSurvival(2).fit(X, change(y))
    assert "\n" not in str(error.value)


def test_events_of_weight_zero_are_none():
    X, y, _ = patients()
    with pytest.raises(ValueError, match=r"none of the .* samples has an event"):
        SMFSurvival(2).fit(X, y, sample_weight=1 - y[:, 0])


# --- concordance: against scikit-survival's and against pairs counted one by one ------------------------


def drawn(seed, n=30):
    """Events, times and risks, many of them tied."""
    rng = np.random.default_rng(seed)
    event, time = (rng.random(n) < 0.5).astype(float), rng.integers(1, 12, n).astype(float)
    event[0], time[0], time[1] = 1, 1, 12
    return event, time, rng.integers(-3, 4, n) / 2.0


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_scikit_survival_agrees(seed):
    metrics = pytest.importorskip("sksurv.metrics", reason="scikit-survival is GPL, and optional")
    event, time, risk = drawn(seed)
    expected = metrics.concordance_index_censored(event == 1, time, risk)[0]
    assert concordance(event, time, risk) == pytest.approx(expected, abs=1e-14)


def test_weights_are_so_many_samples():
    event, time, risk = drawn(1)
    weight = np.random.default_rng(2).integers(0, 4, len(time))
    pairs = right = 0.0
    for i in range(len(time)):
        for j in range(len(time)):
            outlived = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if event[i] and outlived:
                pairs += weight[i] * weight[j]
                right += weight[i] * weight[j] * (0.5 * (risk[i] == risk[j]) + (risk[i] > risk[j]))
    assert concordance(event, time, risk, weight) == pytest.approx(right / pairs, abs=1e-14)


def test_order_alone_counts():
    event, time, risk = drawn(3)
    assert concordance(event, time, np.exp(risk)) == concordance(event, time, risk)
    assert concordance(event, time, -risk) == pytest.approx(1 - concordance(event, time, risk))
    assert concordance(np.ones(4), np.arange(4.0), -np.arange(4.0)) == 1.0


def test_nobody_to_compare():
    with pytest.raises(ValueError, match="no two samples can be compared"):
        concordance(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.zeros(2))
