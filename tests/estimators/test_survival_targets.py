"""Forms of events and times, and errors of one line for invalid ones."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.estimators.data import patients, structured

from superfactor import SMFSurvival, SMFSurvivalCV
from superfactor.estimators.targets import check_survival, concordance, survival_y


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
def test_all_forms_are_equivalent(form):
    X, y, _ = patients()
    found = check_survival(form(y), X, "test")
    np.testing.assert_allclose(found.values, y, rtol=1e-7)
    assert found.known is None


@pytest.mark.parametrize("form", ["array", "objects", "structured", "DataFrame of nullable types"])
def test_samples_without_a_time_have_no_outcome(form):
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


def test_times_may_be_zero():
    X, y, _ = patients()
    y[:2] = [[1, 0.0], [0, 0.0]]
    model = SMFSurvival(2, xi=0.2, lam=1.0, certify=None).fit(X, y)
    assert model.event_times_[0] == 0.0


def no_order(y):
    """Names and types without information."""
    return pd.DataFrame({"a": y[:, 1], "b": y[:, 0]})


SAID = {
    "times first": (lambda y: y[:, ::-1], "the column of events holds times"),
    "times first, names that say nothing": (no_order, "the column of events holds times"),
    "R's codes": (lambda y: np.c_[y[:, 0] + 1, y[:, 1]], "coded 1 and 2: 2 is used as an event"),
}


@pytest.mark.parametrize("case", SAID)
def test_codings_with_warnings(case):
    X, y, _ = patients()
    form, said = SAID[case]
    with pytest.warns(UserWarning, match=f"y: .*{said}") as found:
        given = check_survival(form(y), X, "test")
    np.testing.assert_allclose(given.values, y, rtol=1e-7)
    assert len(found) == 1


def test_new_samples_are_coded_as_those_of_the_fit():
    """With R's codes 1 and 2, a few new samples may have only one of them."""
    X, y, _ = patients()
    model, as_r = SMFSurvival(2, xi=0.2, lam=1.0, certify=None), y + np.array([1, 0])
    event, censored = y[:, 0] == 1, y[:, 0] == 0
    with pytest.warns(UserWarning, match="coded 1 and 2"):
        model.fit(X, as_r)
        mixed = np.flatnonzero(event)[:4]
        assert model.score(X[mixed], as_r[mixed]) == concordance(*y[mixed].T, model.predict(X[mixed]))
        with pytest.raises(ValueError, match="no two samples can be compared"):
            model.score(X[censored], as_r[censored])
    assert model.fit(X, y).score(X[mixed], y[mixed]) == concordance(*y[mixed].T, model.predict(X[mixed]))


def test_strata_are_a_third_column():
    X, y, _ = patients()
    where = np.array(["Bern", "Aarhus", "Bern"])[np.arange(60) % 3]
    frame = pd.DataFrame({"stratum": where, "days": y[:, 1], "died": y[:, 0]})
    fields = np.array(
        [(s, bool(e), t) for s, (e, t) in zip(where, y, strict=True)],
        dtype=[("stratum", "U6"), ("died", "?"), ("days", "f8")],
    )
    expected = np.column_stack([y, where == "Bern"])
    for form in (frame, fields, np.column_stack([y, where == "Bern"])):
        np.testing.assert_allclose(check_survival(form, X, "test").values, expected)
    assert check_survival(frame, X, "test").strata.tolist() == ["Aarhus", "Bern"]
    assert check_survival(y, X, "test").strata is None


# --- two columns of a table ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "word"),
    [
        ([1, 0, 1], None),
        ([True, False, True], None),
        (["TRUE", "FALSE", "TRUE"], None),
        (["1", "0", "1"], None),
        (["Dead ", "alive", "dead"], "DEAD"),
        (["dead of disease", "alive", "dead"], ["dead", "dead of disease"]),
        ([3, 1, 3], "3"),
        (pd.Categorical(["dead", "alive", "dead"]), "dead"),
    ],
)
def test_codings_of_events(event, word):
    y, notes = survival_y(event, ["3", "2.5", "4"], word)
    assert y["event"].tolist() == [True, False, True] and y["time"].tolist() == [3.0, 2.5, 4.0]
    assert notes == []
    np.testing.assert_array_equal(check_survival(y, np.empty((3, 0)), "test").values[:, 0], [1, 0, 1])


def test_two_columns_and_notes_on_them():
    y, (note,) = survival_y([2, 1, 2], [3.0, 2.0, 4.0])
    assert y["event"].tolist() == [True, False, True] and "as in R" in note
    y, (note,) = survival_y([3.0, 2.0, 4.0], [1, 0, 1])
    assert y["time"].tolist() == [3.0, 2.0, 4.0] and "the other way round" in note
    # Both could be events: the names say it.
    y, (note,) = survival_y(pd.Series([1, 0, 1], name="OS_months"), pd.Series([1, 1, 0], name="OS_status"))
    assert y["event"].tolist() == [True, True, False] and "the other way round" in note
    y, (note,) = survival_y([1, None, 0, 1], [1.0, 2.0, np.nan, 5.0])
    assert np.isnan(y["time"]).tolist() == [False, True, True, False] and note.startswith("2 of 4 samples")
    assert check_survival(y, np.empty((4, 0)), "test").known.tolist() == [True, False, False, True]


def test_note_names_values_without_event():
    y, notes = survival_y(["Yes", "no", "yes", None], [1, 2, 3, 4])
    assert y["event"].tolist() == [True, False, True, False] and "no event" not in notes[0]
    y, (note,) = survival_y(["dead", "lost", "alive"], [1, 2, 3], "dead")
    assert y["event"].tolist() == [True, False, False] and note == "no event: 'alive', 'lost'"
    _, (note,) = survival_y(["dead", "alive", ""], [1, 2, 3], "dead")
    assert note.endswith("if an empty cell means no event, write a value there")


@pytest.mark.parametrize(
    ("event", "time", "word", "message"),
    [
        (["alive", "dead"], [1, 2], None, r"event: 0 and 1, .* required, got 'alive', 'dead'; for text"),
        ([0, 3], [1, 5], None, r"event: 0 and 1, .* got '0', '3'"),
        (
            ["alive", "dead"],
            [1, 2],
            "died",
            "event_word='died': no sample has it; values are 'alive', 'dead'",
        ),
        ([0, 1], ["soon", "late"], None, "time: numbers are required, got 'late', 'soon'"),
        ([0, 1], ["12", ">2000"], None, "time: numbers are required, got '>2000'$"),
        ([0, 1], [1, -2], None, "time: finite numbers >= 0 are required, got -2.0"),
        ([0, 1], np.array(["2026-01-01"] * 2, dtype="M8[D]"), None, "time: numbers .* got dates"),
    ],
)
def test_invalid_columns(event, time, word, message):
    with pytest.raises(ValueError, match=message) as error:
        survival_y(event, time, word)
    assert "\n" not in str(error.value)


def changed(position, value):
    def change(y):
        y = y.copy()
        y[position] = value
        return y

    return change


WRONG = {
    "one column": (lambda y: y[:, 1], r"y: an array of shape \(60,\); event \(0 or 1\) and time"),
    "four columns": (lambda y: np.c_[y, y], r"y: an array of shape \(60, 4\); event"),
    "three fields": (
        lambda y: np.array([(True, 1.0, 2.0)] * 60, dtype="?,f8,f8"),
        "y: fields .*; event .* and time are required",
    ),
    "events of 2": (changed((3, 0), 2), "y: events of 0 and 1 are required, but sample 3 has 2.0"),
    "no event known": (changed((3, 0), np.nan), "y: events of 0 and 1 .* sample 3 has nan"),
    "negative times": (changed((5, 1), -0.5), "y: finite times >= 0 .* sample 5 has -0.5"),
    "infinite times": (changed((5, 1), np.inf), "y: finite times >= 0 .* sample 5 has inf"),
    "no time of an event": (
        lambda y: changed((np.flatnonzero(y[:, 0])[0], 1), np.nan)(y),
        "y: times of all events are required",
    ),
    "words": (
        lambda y: np.array([["dead", t] for t in y[:, 1]], dtype=object),
        "y: numbers are required for events, got 'dead'; event",
    ),
    "words alone": (lambda y: y.astype(str), "y: numbers are required for times, got '"),
    "late entry": (
        lambda y: pd.DataFrame({"event": y[:, 0], "time": y[:, 1], "entry": 0.0}),
        r"y: a field 'entry': .* \(left truncation\) is not supported",
    ),
    "no stratum": (
        lambda y: pd.DataFrame({"event": y[:, 0], "time": y[:, 1], "stratum": [None] + ["a"] * 59}),
        "y: a stratum of every sample is required, but sample 0 has none",
    ),
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
def test_invalid_survival_times(case):
    X, y, _ = patients()
    change, message = WRONG[case]
    with pytest.raises(ValueError, match=message) as error:
        SMFSurvival(2).fit(X, change(y))
    assert "\n" not in str(error.value)


def test_events_of_weight_zero_are_ignored():
    X, y, _ = patients()
    with pytest.raises(ValueError, match=r"none of the .* samples has an event"):
        SMFSurvival(2).fit(X, y, sample_weight=1 - y[:, 0])


# --- concordance: against scikit-survival's and against pairs counted one by one ------------------------


def drawn(seed, n=30):
    """Events, times and risks with many ties."""
    rng = np.random.default_rng(seed)
    event, time = (rng.random(n) < 0.5).astype(float), rng.integers(1, 12, n).astype(float)
    event[0], time[0], time[1] = 1, 1, 12
    return event, time, rng.integers(-3, 4, n) / 2.0


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_concordance_equals_scikit_survival(seed):
    metrics = pytest.importorskip("sksurv.metrics", reason="scikit-survival is GPL, and optional")
    event, time, risk = drawn(seed)
    expected = metrics.concordance_index_censored(event == 1, time, risk)[0]
    assert concordance(event, time, risk) == pytest.approx(expected, abs=1e-14)


def test_weights_equal_repeated_samples():
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


def test_only_the_order_matters():
    event, time, risk = drawn(3)
    assert concordance(event, time, np.exp(risk)) == concordance(event, time, risk)
    assert concordance(event, time, -risk) == pytest.approx(1 - concordance(event, time, risk))
    assert concordance(np.ones(4), np.arange(4.0), -np.arange(4.0)) == 1.0


def test_error_without_comparable_samples():
    with pytest.raises(ValueError, match="no two samples can be compared"):
        concordance(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.zeros(2))


class TestReadingAsInTheFit:
    """Columns that both can be events are read in the order of the y of the fit, not again."""

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    time = np.ceil(3 * rng.exponential(np.exp(-X[:, 0])))
    event = (rng.random(60) < 0.7).astype(float)
    # Times 0 and 1 can be events too; here the order of columns changes which samples have one.
    few = slice(0, 6)
    late, died = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0])

    def expected(self, model):
        return concordance(self.died, self.late, model.predict(self.X[self.few]))

    @pytest.mark.parametrize("kind", ["estimator", "search"])
    def test_swapped_columns(self, kind):
        model = SMFSurvival(1) if kind == "estimator" else SMFSurvivalCV([1], xi=0.1, lam=0.1, cv=3)
        with pytest.warns(UserWarning, match="other way round"):
            model.fit(self.X, np.column_stack([self.time, self.event]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            swapped = model.score(self.X[self.few], np.column_stack([self.late, self.died]))
        assert swapped == pytest.approx(self.expected(model))
        # A second fit forgets the first.
        model.fit(self.X, np.column_stack([self.event, self.time]))
        usual = model.score(self.X[self.few], np.column_stack([self.died, self.late]))
        assert usual == pytest.approx(self.expected(model))

    def test_names_that_do_not_tell(self):
        table = pd.DataFrame({"a": self.time, "b": self.event})
        with pytest.warns(UserWarning, match="other way round"):
            model = SMFSurvival(1).fit(self.X, table)
        other = pd.DataFrame({"b": self.died, "a": self.late})
        assert model.score(self.X[self.few], other) == pytest.approx(self.expected(model))

    def test_a_fit_that_fails_changes_nothing(self):
        model = SMFSurvival(1)
        with pytest.warns(UserWarning):
            model.fit(self.X, np.column_stack([self.event + 1, self.time]))
        only = np.column_stack([np.full(6, 2.0), self.time[:6]])
        with pytest.warns(UserWarning, match="as in R"):
            before = model.score(self.X[:6], only)
        with pytest.raises(ValueError, match="events of 0 and 1"):
            model.fit(self.X, np.column_stack([self.event + 3, self.time]))
        with pytest.warns(UserWarning, match="as in R"):
            assert model.score(self.X[:6], only) == before
