"""Target columns: their kind, and y in the form that estimators take."""

import numpy as np
import pandas as pd
import pytest
from tests.tables.cohort import said

from superfactor.estimators.targets import check_survival
from superfactor.tables import TableError, read_study

N = 40
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(N, 5)).round(3), columns=[f"g{j}" for j in range(5)])
TIMES = RNG.integers(1, 900, N)
EVENTS = np.arange(N) % 3 == 0


@pytest.fixture
def read(tmp_path):
    def of(columns, **roles):
        path = tmp_path / "t.csv"
        X.assign(**columns).to_csv(path, index=False)
        return read_study(path, **roles)

    return of


# --- one column -------------------------------------------------------------------------------------


def test_many_numbers_are_predicted_with_a_note(read):
    values, visits = RNG.normal(size=N).round(3), 100 + np.arange(N)
    study = read({"v": values}, target="v", task="regression")
    assert (study.outcome, study.targets, study.y.dtype.kind) == ("numbers", ("v",), "f")
    np.testing.assert_allclose(study.y, values)
    assert said(study) == []
    for column in (values, visits):
        study = read({"v": column}, target="v")
        assert study.outcome == "numbers"
        np.testing.assert_allclose(study.y, column)
        assert said(study) == [
            "column 'v' holds 40 different numbers, predicted as numbers: task='regression' confirms this, "
            "task='classes' makes each a class; times until an event are for time and event"
        ]


def test_missing_numbers(read):
    cells = [*map(str, range(N - 3)), "", "NA", "unknown"]
    study = read({"v": cells}, target="v", task="regression", unlabeled="unknown")
    assert study.labeled.sum() == N - 3 and np.isnan(study.y[-3:]).all()
    assert "3 of 40 samples have no value: they contribute to the factors and are predicted" in said(study)
    with pytest.raises(
        TableError, match="column 'v': 'unknown' is not a number, at line 41; numbers or empty"
    ):
        read({"v": cells}, target="v", task="regression")


def test_decimal_commas(read):
    study = read({"v": [f"{i},5" for i in range(N)]}, target="v", task="regression")
    np.testing.assert_allclose(study.y, np.arange(N) + 0.5)


def test_few_integers_are_classes_with_a_note(read):
    grade = np.arange(N) % 3 + 1
    study = read({"grade": grade}, target="grade")
    assert study.outcome == "classes" and study.y.tolist() == grade.tolist()
    (note,) = said(study)
    assert "holds integers from 1 to 3, taken as 3 classes without an order: task='regression'" in note
    assert "counts" not in note
    assert said(read({"grade": grade % 2}, target="grade")) == []
    assert said(read({"grade": grade}, target="grade", task="classes")) == []


def test_counts_are_suggested(read):
    visits = np.r_[np.zeros(15), np.ones(12), [2] * 6, [3] * 4, 5, 7, 9].astype(int)
    assert "task='counts' as counts" in said(read({"visits": visits}, target="visits"))[0]
    study = read({"visits": visits}, target="visits", task="counts")
    assert study.outcome == "counts" and study.y.tolist() == visits.tolist()
    with pytest.raises(TableError, match=r"holds -1 at line 2; counts must be integers from 0"):
        read({"visits": visits - 1}, target="visits", task="counts")


def test_exposure_is_a_separate_column(read):
    columns = {"visits": np.arange(N) % 7, "years": 1 + np.arange(N) / 10, "age": np.arange(N) + 30}
    study = read(columns, target="visits", task="counts", exposure="years", covariates="age")
    assert study.design.shape == (N, 7) and study.X.shape == (N, 5)
    options = study.search_options()
    assert options["covariate_columns"] == [5] and options["exposure_column"] == 6
    np.testing.assert_allclose(study.design[:, 6], columns["years"])
    again = read_study(study.path, like=study)
    np.testing.assert_allclose(again.design, study.design)
    with pytest.raises(TableError, match="exposure='years' holds 0 at line 2; a number above 0"):
        read({**columns, "years": 0}, target="visits", task="counts", exposure="years")
    with pytest.raises(TableError, match="exposure is for counts: task='counts'"):
        read(columns, target="visits", exposure="years")


def test_constant_numbers_and_copies(read):
    with pytest.raises(TableError, match="column 'v' has only one value, 7, in all 40 samples"):
        read({"v": 7}, target="v", task="regression")
    study = read({"v": 3 * X["g1"] + 2}, target="v", task="regression")
    assert said(study) == [
        "feature 'g1' is the same as the target 'v', perhaps in another unit: drop='g1' leaves it out"
    ]


# --- several columns --------------------------------------------------------------------------------


def test_several_flags(read):
    columns = {
        "er": np.where(EVENTS, "yes", "no"),
        "pr": ["TRUE", "FALSE"] * (N // 2),
        "her2": ["", *["1", "0", "0"] * (N // 3)],
    }
    study = read(columns, target=["er", "pr", "her2"])
    assert (study.outcome, study.targets) == ("flags", ("er", "pr", "her2"))
    assert study.y.shape == (N, 3)
    np.testing.assert_array_equal(study.y[:, 0], EVENTS)
    assert np.isnan(study.y[0, 2]) and study.labeled.all()
    assert (
        "some labels of some samples are missing: 'her2' (1); these samples count for their other labels"
        in said(study)
    )
    with pytest.raises(TableError, match="column 'pr' has only one value, yes"):
        read({**columns, "pr": "yes"}, target=["er", "pr"])


def test_several_numbers(read):
    columns = {"a": RNG.normal(size=N), "b": RNG.normal(size=N)}
    study = read(columns, target=["a", "b"])
    assert study.outcome == "numbers" and study.y.shape == (N, 2)
    columns["b"] = [None, *columns["b"][1:]]
    with pytest.raises(TableError, match="1 of 40 samples have some of the targets 'a' and 'b' and not"):
        read(columns, target=["a", "b"])


def test_mixtures_are_refused(read):
    columns = {"a": RNG.normal(size=N), "flag": EVENTS.astype(int), "word": ["x", "z"] * (N // 2)}
    with pytest.raises(TableError, match=r"yes and no in 'flag', numbers in 'a'.*task='regression' predicts"):
        read(columns, target=["a", "flag"], drop="word")
    assert read(columns, target=["a", "flag"], drop="word", task="regression").y.shape == (N, 2)
    with pytest.raises(TableError, match="numbers in 'a', words in 'word'; columns of one kind"):
        read(columns, target=["a", "word"], drop="flag")


# --- times ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "more", "note"),
    [
        (EVENTS.astype(int), {}, None),
        (np.where(EVENTS, "TRUE", "FALSE"), {}, None),
        (EVENTS + 1, {}, "2 is used as an event and 1 as none, as in R"),
        (np.where(EVENTS, "Dead", "alive"), {"event_word": "dead"}, None),
    ],
    ids=["0/1", "TRUE/FALSE", "R", "words"],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_codes_of_events(cells, more, note, swapped, read):
    roles = {"time": "status", "event": "days"} if swapped else {"time": "days", "event": "status"}
    study = read({"days": TIMES, "status": cells}, **roles, **more)
    assert (study.outcome, study.targets) == ("times", (roles["time"], roles["event"]))
    np.testing.assert_array_equal(study.y["event"], EVENTS)
    np.testing.assert_array_equal(study.y["time"], TIMES)
    np.testing.assert_array_equal(check_survival(study.y, study.X, "test").values[:, 1], TIMES)
    assert any("swapped" in line or "other way round" in line for line in said(study)) >= swapped
    assert note is None or any(note in line for line in said(study))
    again = read_study(study.path, like=study, **roles)
    np.testing.assert_array_equal(again.y, study.y)


def test_unknown_times(read):
    study = read({"days": [None, 0, *TIMES[2:]], "dead": EVENTS.astype(int)}, time="days", event="dead")
    assert not study.labeled[0] and study.labeled[1:].all()
    assert any("1 sample with time 0" in line for line in said(study))


@pytest.mark.parametrize(
    ("columns", "more", "message"),
    [
        ({"dead": 0}, {}, "none of the 40 samples with a time has an event, 'dead' holds '0'"),
        ({"days": -TIMES}, {}, "finite numbers >= 0 are required, got -"),
        (
            {"dead": ["a", "b"] * 20},
            {},
            "'dead' holds the words 'a', 'b'; give the word that means an event with",
        ),
        ({"dead": ["alive", "died"] * 20}, {}, "give the word that means an event with event_word='died'"),
        ({"dead": ["a", "b"] * 20}, {"event_word": "c"}, "event_word='c': no sample has it; column 'dead'"),
        ({"dead": np.arange(N)}, {}, "'dead' holds 40 different numbers; 0 and 1, or R's 1 and 2, are"),
        ({"dead": None}, {}, "none of the 0 samples with a time has an event"),
        ({}, {"target": "dead"}, "time and event already are the outcome: leave out target"),
        ({}, {"event": None}, "time needs event, the column that states whether the event was seen"),
        ({}, {"event": "ded"}, "event: there is no column 'ded'; did you mean 'dead'?"),
        ({}, {"min_class": 3}, "min_class is for one column of classes; leave it out"),
    ],
)
def test_bad_times_are_refused(columns, more, message, read):
    table = {"days": TIMES, "dead": EVENTS.astype(int), **columns}
    with pytest.raises(TableError) as caught:
        read(table, **{"time": "days", "event": "dead", **more})
    assert message in str(caught.value)
