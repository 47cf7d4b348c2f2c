"""Copies of samples and columns that give the outcome away: on the terminal, in JSON and on the page."""

import numpy as np
import pandas as pd
from tests.cli.command import SETTING, superfactor

RNG = np.random.default_rng(0)
GENES = [f"g{j}" for j in range(60)]


def table():
    data = pd.DataFrame(RNG.standard_normal((40, 60)), columns=GENES)
    data.insert(0, "status", np.repeat(["case", "control"], 20))
    data.insert(0, "patient", [f"P{i}" for i in range(40)])
    return data


def fit(data, folder, *more):
    data.to_csv(folder / "t.csv", index=False)
    words = ("fit", folder / "t.csv", "--target", "status", "--id", "patient", *SETTING, "--no-stable", *more)
    done = superfactor(*words, "--out", folder / "m.skops", "--report", folder / "p.html", "--json")
    assert done.code == 0, done
    return done.json, (folder / "p.html").read_text()


def test_samples_with_the_same_name(tmp_path):
    data = table()
    again = data.copy()
    again[GENES] += 0.5 * RNG.standard_normal((40, 60))
    found, page = fit(pd.concat([data, again]), tmp_path, "--repeats", "1")
    said = (
        "40 pairs of samples have the same name (P0, 2 times; P1, 2 times; P2, 2 times; and 37 more pairs); "
        "copies stay in one fold"
    )
    assert [note for note in found["notes"] if "pairs" in note] == [said]
    assert page.count(said) == 1
    assert found["copies"]["kept_together"]
    assert found["copies"]["groups"][0] == ["P0", "P0"]
    assert found["verdict"]["grade"] != "better"
    # Tests of single features count copies as samples of their own, which the page says beside them.
    assert page.count("p and q are too small") == 1
    assert "Samples of a group (40 groups) were in the same fold." in page


def test_intervals_of_covariates_count_copies(tmp_path):
    data = table().assign(age=RNG.integers(30, 80, 40))
    again = data.assign(patient=[f"Q{i}" for i in range(40)])
    found, page = fit(pd.concat([data, again]), tmp_path, "--repeats", "0", "--covariates", "age")
    (said,) = [note for note in found["notes"] if "pairs" in note]
    assert said.endswith("; copies stay in one fold; intervals of covariates count every copy")
    assert page.count("the intervals are too narrow") == 1


def test_copies_with_new_names(tmp_path):
    data = table()
    again = data.assign(patient=[f"Q{i}" for i in range(40)])
    found, page = fit(pd.concat([data, again]), tmp_path, "--repeats", "1", "--test-size", "0.25")
    (said,) = [note for note in found["notes"] if "pairs" in note]
    assert said.startswith("40 pairs of samples are identical (P0 and Q0; P1 and Q1;")
    assert page.count("40 pairs of samples are identical") == 1
    assert found["scores"]["held_out"]["accuracy"] < 0.8
    done = superfactor("select", tmp_path / "t.csv", "--target", "status", "--id", "patient", *SETTING)
    assert done.err.count("40 pairs of samples are identical") == 1


def test_a_column_that_gives_the_outcome_away(tmp_path):
    data = table().assign(dose=np.repeat([0.0, 1.0], 20) * RNG.uniform(1, 2, 40))
    found, page = fit(data, tmp_path, "--repeats", "0")
    said = (
        "'dose' alone separates the classes without error; if it was recorded after or because of the "
        "outcome, --drop dose leaves it out"
    )
    assert [note for note in found["notes"] if " alone " in note] == [said]
    assert page.replace("&#39;", "'").count(said) == 1
    assert found["given_away_by"] == [{"name": "dose", "score": 1.0, "covariate": False}]
    found, _ = fit(data, tmp_path, "--repeats", "0", "--covariates", "dose")
    assert found["given_away_by"][0]["covariate"]
    assert any(note.endswith("leave it out of --covariates") for note in found["notes"])
    done = superfactor("report", tmp_path / "m.skops", tmp_path / "t.csv", "--out", tmp_path / "again.html")
    assert done.err.count("'dose' alone separates the classes without error") == 1
    assert (tmp_path / "again.html").read_text().count("alone separates the classes without error") == 1


def test_options_that_leave_a_column_out_can_be_typed(tmp_path):
    data = table().assign(**{"dose, mg": np.repeat([0.0, 1.0], 20) * RNG.uniform(1, 2, 40)})
    found, _ = fit(data, tmp_path, "--repeats", "0")
    (said,) = [note for note in found["notes"] if " alone " in note]
    assert said.endswith("""--drop '"dose, mg"' leaves it out""")
    found, _ = fit(data, tmp_path, "--repeats", "0", "--drop", '"dose, mg"')
    assert not any(" alone " in note for note in found["notes"])


def test_the_target_in_another_unit_is_named_once(tmp_path):
    data = table().drop(columns="status")
    data["dose"] = RNG.uniform(1, 9, 40)
    data.assign(grams=data["dose"] / 1000).to_csv(tmp_path / "n.csv", index=False)
    words = ("fit", tmp_path / "n.csv", "--target", "dose", "--id", "patient", *SETTING, "--no-stable")
    done = superfactor(*words, "--repeats", "0", "--out", tmp_path / "m.skops", "--json")
    (said,) = [note for note in done.json["notes"] if "grams" in note]
    assert said.startswith("feature 'grams' is the same as the target 'dose'")
    assert done.json["given_away_by"][0]["name"] == "grams"


def test_a_feature_and_a_covariate_that_give_the_outcome_away(tmp_path):
    dose = np.repeat([0.0, 1.0], 20)
    data = table().assign(dose=dose * RNG.uniform(1, 2, 40), stage=dose)
    found, _ = fit(data, tmp_path, "--repeats", "0", "--covariates", "stage")
    (said,) = [note for note in found["notes"] if " alone " in note]
    assert said.startswith("'stage' and 'dose' alone separate")
    assert said.endswith(", leave them out")


def test_ordinary_tables_have_no_such_notes(tmp_path):
    found, _ = fit(table(), tmp_path, "--repeats", "0")
    assert found["copies"] is None
    assert found["given_away_by"] == []
    assert found["notes"] == []
    page = (tmp_path / "p.html").read_text()
    assert "p and q are too small" not in page


def test_copies_among_samples_of_an_evaluation_are_named(tmp_path):
    fit(table(), tmp_path, "--repeats", "0")
    new = table().assign(patient=[f"N{i}" for i in range(40)])
    new[GENES] += RNG.standard_normal((40, 60))
    again = new.iloc[:5].assign(patient=[f"Q{i}" for i in range(5)])
    pd.concat([new, again]).to_csv(tmp_path / "new.csv", index=False)
    done = superfactor("evaluate", tmp_path / "m.skops", tmp_path / "new.csv")
    said = "5 pairs of samples are identical (N0 and Q0; N1 and Q1; N2 and Q2; and 2 more pairs); every copy"
    assert done.err.replace("\n", " ").count(said) == 1
    new.to_csv(tmp_path / "new.csv", index=False)
    assert "identical" not in superfactor("evaluate", tmp_path / "m.skops", tmp_path / "new.csv").err
