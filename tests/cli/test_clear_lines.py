"""Small mistakes in tables get one line that names the place and what is allowed."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.command import ALL, cohort, refused, superfactor

from superfactor import SMFClassifier, SMFClassifierCV, SMFSurvival, SMFSurvivalCV
from superfactor.tables import open_table

ROLES = ("--target", "status", "--id", "patient")


@pytest.fixture
def fit(tmp_path):
    def words(data, *more, ending="csv"):
        path = tmp_path / f"t.{ending}"
        data.to_csv(path, index=False) if ending == "csv" else data.to_excel(path, index=False)
        return ("fit", path, *more, *ALL, "--out", tmp_path / "m.skops")

    return words


def people(n=40):
    """Genes, ages, days and events, with one cell that is no number."""
    rng = np.random.default_rng(0)
    data = cohort(n).drop(columns="sex").astype({"age": object})
    data["days"] = rng.integers(1, 999, n).astype(object)
    data["dead"] = np.resize([0, 1, 1], n)
    return data


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize(
    ("column", "more"),
    [
        ("gene3", (*ROLES, "--drop", "days,dead,age")),
        ("age", (*ROLES, "--covariates", "age", "--drop", "days,dead")),
        ("age", (*ROLES, "--adjust", "age", "--drop", "days,dead")),
        ("days", ("--time", "days", "--event", "dead", "--id", "patient", "--drop", "status,age")),
        ("days", ("--target", "days", "--id", "patient", "--drop", "status,age,dead")),
    ],
)
def test_text_among_numbers_names_the_cell(column, more, ending, fit):
    data = people().astype({column: object})
    data.loc[7, column] = "ca. 50"
    line = refused(*fit(data, *more, ending=ending))
    where = "line" if ending == "csv" else "row"
    assert f"'ca. 50' is not a number, at sample P007 ({where} 9), column {column!r}" in line
    assert "--missing 'ca. 50' makes them empty" in line
    done = superfactor(*fit(data, *more, "--missing", "ca. 50", ending=ending), "--json")
    if column != "days":  # times and classes of so few samples have troubles of their own
        assert done.code == 0, done


@pytest.mark.parametrize(
    ("column", "cells", "said"),
    [
        ("age", [f"{i} y" for i in range(20, 60)], "'20 y' is not a number, at sample P000 (line 2)"),
        ("age", [f"19{i}-03-04" for i in range(20, 60)], "covariate 'age' holds dates, such as '1920-03-04'"),
        ("age", ["90+", *range(20, 59)], "use numbers, or leave the column out"),
        (
            "gene3",
            [f"5,{i}" for i in range(20, 60)],
            "use numbers with a decimal point and without separators",
        ),
        ("gene3", [f"{i} mg/l" for i in range(20, 60)], "'20 mg/l' is not a number"),
        ("gene3", ["n.a.", "-", "n.a.", "n.d.", *range(36)], "(--missing n.a.,-,n.d. makes them empty)"),
        (
            "status",
            [f"2024-01-{1 + i % 20:02}" for i in range(40)],
            "'status' holds dates, such as '2024-01-01'",
        ),
    ],
)
def test_units_dates_and_numbers_in_other_forms(column, cells, said, fit):
    data = people().assign(**{column: cells})
    assert said in refused(*fit(data, *ROLES, "--covariates", "age", "--drop", "days,dead"))


def test_exports_of_spreadsheets(fit, tmp_path):
    """Empty rows and columns at the end, and the line with the delimiter, are no data."""
    words = fit(people(), *ROLES, "--covariates", "age", "--drop", "days,dead", "--json")
    path = tmp_path / "t.csv"
    lines = path.read_text().splitlines()
    expected = superfactor(*words).json
    path.write_text("\n".join([*(f"{line},,," for line in lines), "," * (lines[0].count(",") + 3)]))
    assert superfactor(*words).json["table"] == expected["table"]
    path.write_text("sep=;\n" + "\n".join(lines).replace(",", ";"))
    assert superfactor(*words).json["table"] == expected["table"]
    path.write_text("\n".join(f"{line}," for line in lines) + "x")
    assert f"column {lines[0].count(',') + 2} has no name in the header" in refused(*words)
    path.write_text("# made by hand\n" + "\n".join(lines))
    assert "the first line is '# made by hand', but line 2 has" in refused(*words)


def test_codes_among_words_are_categories(fit):
    data = people().assign(ward=np.resize([*map(str, range(1, 14)), "ICU", "3B"], 40))
    more = (*ROLES, "--covariates", "ward", "--drop", "days,dead,age", "--json")
    assert len(superfactor(*fit(data, *more)).json["table"]["covariates"]) == 14


@pytest.mark.parametrize(("old", "new"), [("gene0", "gene\0"), ("P001", "P\x00001")])
def test_nul_characters(old, new, fit, tmp_path):
    words = fit(people(), *ROLES)
    text = (tmp_path / "t.csv").read_text()
    (tmp_path / "t.csv").write_text(text.replace(old, new, 1))
    line = refused(*words)
    assert f"line {1 if old == 'gene0' else 3} has a NUL character, at" in line
    assert "\0" not in line


def test_nul_in_names_of_other_formats(tmp_path):
    people().drop(columns=["age", "days"]).rename(columns={"gene0": "gene\0"}).to_parquet(
        tmp_path / "t.parquet"
    )
    with pytest.raises(
        ValueError, match=r"the name of column \d+, 'gene\\x00', has a NUL character; remove it"
    ):
        open_table(tmp_path / "t.parquet")


@pytest.mark.parametrize("asked", ["age, years", "age", "years"])
def test_a_comma_in_the_name_of_a_column(asked, fit):
    data = people().rename(columns={"age": "age, years"})
    more = (*ROLES, "--drop", "days,dead")
    line = refused(*fit(data, *more, "--covariates", asked))
    assert "put a name with a comma in double quotes: '\"age, years\"'" in line
    done = superfactor(*fit(data, *more, "--covariates", '"age, years"', "--json"))
    assert done.json["table"]["covariates"] == ["age, years"]


def test_options_in_messages_quote_a_comma(fit):
    data = people().assign(**{"chip no, id": range(40)})
    done = superfactor(*fit(data, *ROLES, "--drop", "days,dead,age"))
    assert "--drop '\"chip no, id\"' leaves it out" in done.err
    assert superfactor(*fit(data, *ROLES, "--drop", "days,dead,age", "--drop", '"chip no, id"')).code == 0


@pytest.mark.parametrize("estimator", [SMFSurvival(1), SMFSurvivalCV(1)])
def test_one_sample_with_a_time(estimator):
    y = np.array([(True, 3.0)], dtype=[("event", bool), ("time", float)])
    with pytest.raises(ValueError, match=r"^y: (one sample|n_samples=1)[^\n]* at least 2 samples[^\n]*$"):
        estimator.fit(np.ones((1, 3)), y)


# --- class weights of 0 -----------------------------------------------------------------------------

RNG = np.random.default_rng(0)
Y = np.resize(["a", "b", "c"], 90)
X = RNG.normal(size=(90, 8)) + 2 * pd.get_dummies(Y).to_numpy() @ np.eye(3, 8)


@pytest.mark.parametrize("left_out", ["a", "b", "c"])
@pytest.mark.parametrize("model", ["filter", "feature"])
def test_a_class_of_weight_0_is_left_out_of_the_loss(left_out, model):
    fit = SMFClassifier(3, xi=0.3, lam=1.0, model=model, class_weight={left_out: 0}).fit(X, Y)
    P, k = fit.predict_proba(X), "abc".index(left_out)
    assert fit.classes_.tolist() == ["a", "b", "c"]
    assert P[:, k].max() < 1e-9
    assert left_out not in fit.predict(X)
    # Its samples still shape the factors, as those without a label do. Of the first class the coefficients
    # are 0 in every model, so without it the ridge of the others is another one.
    if left_out == "a":
        return
    unlabelled = np.array([None if label == left_out else label for label in Y], dtype=object)
    other = SMFClassifier(3, xi=0.3, lam=1.0, model=model).fit(X, unlabelled)
    np.testing.assert_allclose(np.delete(P, k, axis=1), other.predict_proba(X), atol=1e-3)


def test_searches_do_not_choose_by_a_class_of_weight_0():
    search = SMFClassifierCV(2, xi=[0.01, 1.0], lam=1.0, class_weight={"a": 0}).fit(X, Y)
    assert search.best_score_ > -1  # its own likelihood would be about -12
    assert "a" not in search.predict(X)


@pytest.mark.parametrize("weights", [{"a": 0, "b": 0}, {"a": 0.0, "b": 0, "c": 0}])
def test_two_classes_need_a_weight(weights):
    with pytest.raises(ValueError, match=r"^class_weight=[^\n]*: at least 2 classes need a weight above 0$"):
        SMFClassifier(2, class_weight=weights).fit(X, Y)
