"""The commands for numbers, several numbers and survival times: fit, predict, evaluate, select, factors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from tests.cli.command import ALL, SETTING, refused, superfactor
from tests.report.conftest import payload

from superfactor import load, saving

N = 90


def study():
    """A number, a second one and a time that two factors of the features know about; an event in most."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(N, 2))
    table = pd.DataFrame((Z @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(N, 8))).round(3))
    table.columns = [f"g{j}" for j in range(8)]
    table.insert(0, "patient", [f"P{i}" for i in range(N)])
    table["dose"] = (10 + 3 * Z[:, 0] + 0.3 * rng.normal(size=N)).round(3)
    table["score"] = (Z[:, 1] + 0.3 * rng.normal(size=N)).round(3)
    days = rng.exponential(np.exp(-2 * Z[:, 0])) * 300
    table["status"] = np.where(days < 500, "deceased", "living")
    table["days"] = np.minimum(days, 500).round(1) + 1
    table["age"] = rng.integers(30, 80, N)
    return table


OTHERS = {
    "numbers": ("--target", "dose", "--task", "regression", "--drop", "score,status,days"),
    "several": ("--target", "dose,score", "--drop", "status,days"),
    "times": ("--time", "days", "--event", "status", "--event-word", "deceased", "--drop", "dose,score"),
}
HEADLINE = {"numbers": "r2", "several": "r2", "times": "concordance"}
COLUMNS = {"numbers": ["predicted"], "several": ["predicted[dose]", "predicted[score]"], "times": ["risk"]}


@pytest.fixture(scope="module", params=list(OTHERS))
def fitted(request, tmp_path_factory):
    """The kind, the folder with first.csv, second.csv and m.skops, and the JSON of the fit."""
    folder, table = tmp_path_factory.mktemp(request.param), study()
    table[:60].to_csv(folder / "first.csv", index=False)
    table[60:].to_csv(folder / "second.csv", index=False)
    words = (*OTHERS[request.param], "--id", "patient", "--covariates", "age", *SETTING, "--no-stable")
    words = (*words, "--repeats", "1", "--cv", "3", "--test-size", "0.2", "--report", folder / "r.html")
    done = superfactor("fit", folder / "first.csv", *words, "--out", folder / "m.skops", "--json")
    assert done.code == 0, done
    return request.param, folder, done.json


@pytest.fixture(scope="module")
def evaluated(fitted):
    """The JSON of `superfactor evaluate` for second.csv."""
    _, folder, _ = fitted
    done = superfactor("evaluate", folder / "m.skops", folder / "second.csv", "--json")
    assert done.code == 0, done
    return done.json


def test_output_of_a_fit(fitted):
    kind, _, told = fitted
    assert told["nested"]["headline"] == HEADLINE[kind] and told["verdict"]["grade"] == "better"
    assert told["table"]["outcome"] == {"several": "numbers"}.get(kind, kind)
    assert told["scores"]["held_out"]["samples"] == 12
    assert told["scores"]["held_out"][HEADLINE[kind]] > told["scores"]["held_out"]["guess"][HEADLINE[kind]]
    # Risks are chosen by the likelihood, and judged by the concordance.
    assert ("log_partial_likelihood" if kind == "times" else "r2") in told["selection"]
    assert {row["kind"] for row in told["covariates"]} == {"hazard ratio" if kind == "times" else "slope"}
    outputs = {"numbers": ["dose"], "several": ["dose", "score"], "times": ["risk"]}
    assert list(told["factors"][0]["coef"]) == outputs[kind]


def test_predictions_are_those_of_the_model(fitted):
    kind, folder, _ = fitted
    done = superfactor("predict", folder / "m.skops", folder / "second.csv", "--out", folder / "p.csv")
    assert done.code == 0, done
    found = pd.read_csv(folder / "p.csv")
    names = ["patient", *COLUMNS[kind], "trained_on", "missing"]
    assert [name for name in found if not name.startswith("survival")] == names
    table = study()[60:]
    X = table[[*(f"g{j}" for j in range(8)), "age"]].to_numpy(float)
    model = load(folder / "m.skops")
    own = np.asarray(model.predict(X)).reshape(30, -1)
    np.testing.assert_allclose(found[COLUMNS[kind][: own.shape[1]]], own)
    curves = found.filter(like="survival")
    assert curves.shape[1] == (3 if kind == "times" else 0)
    for name in curves:
        when = float(name[9:-1])
        assert model[-1].event_times_[0] < when < model[-1].event_times_[-1]
        own = model[-1].predict_survival_function(model[:-1].transform(X), times=when)
        np.testing.assert_allclose(found[name], own[:, 0])


def test_evaluate_is_the_score_of_the_model(fitted, evaluated):
    kind, folder, _ = fitted
    table = study()[60:]
    X = table[[*(f"g{j}" for j in range(8)), "age"]].to_numpy(float)
    y = {
        "numbers": table["dose"].to_numpy(),
        "several": table[["dose", "score"]].to_numpy(),
        "times": np.column_stack([table["status"] == "deceased", table["days"]]),
    }[kind]
    score = load(folder / "m.skops").score(X, y)
    assert evaluated["summary"][HEADLINE[kind]]["mean"] == pytest.approx(score)


def test_the_page_names_every_target(fitted):
    kind, folder, _ = fitted
    done = superfactor("report", folder / "m.skops", folder / "first.csv", "--out", folder / "r2.html")
    assert done.code == 0, done
    names = {"numbers": ["dose"], "several": ["dose", "score"], "times": ["risk"]}
    for page in ("r.html", "r2.html"):
        assert payload((folder / page).read_text(encoding="utf-8"))["factors"]["outputs"] == names[kind]


def test_a_column_of_another_name(fitted, evaluated):
    kind, folder, _ = fitted
    names = {"dose": "dosis", "status": "vital"}
    table = pd.read_csv(folder / "second.csv").rename(columns=names)
    table.to_csv(folder / "renamed.csv", index=False)
    where = {"numbers": ("--target", "dosis"), "several": ("--target", "dosis,score")}
    words = where.get(kind, ("--event", "vital"))
    done = superfactor("evaluate", folder / "m.skops", folder / "renamed.csv", *words, "--json")
    assert done.code == 0 and done.json["summary"] == evaluated["summary"]
    missing = refused("evaluate", folder / "m.skops", folder / "renamed.csv")
    assert f"with the outcome is missing; add it, or name the one that holds it with {words[0]}" in missing
    wrong = ("--target", "dosis") if kind == "times" else ("--time", "days")
    said = refused("evaluate", folder / "m.skops", folder / "second.csv", *wrong)
    assert f"error: {wrong[0]}: the model predicts" in said


def test_factors_of_a_saved_model(fitted):
    kind, folder, _ = fitted
    done = superfactor("factors", folder / "m.skops")
    assert done.code == 0, done
    words = {
        "numbers": "change of dose per standard",
        "several": "the target that changes",
        "times": "log hazard",
    }
    assert words[kind] in done.out
    said = refused("factors", folder / "m.skops", "--positive", "living")
    assert "has no classes; leave the option out" in said


def test_the_file_stores_how_the_table_is_read(fitted):
    kind, folder, _ = fitted
    about = saving.read(folder / "m.skops").about
    names = {"numbers": ["dose"], "several": ["dose", "score"], "times": ["days", "status"]}
    assert about["targets"] == names[kind] and about["classes"] == []
    assert about["event_word"] == ("deceased" if kind == "times" else None)


@pytest.mark.parametrize("kind", list(OTHERS))
def test_select_names_its_score(kind, tmp_path):
    study().to_csv(tmp_path / "t.csv", index=False)
    words = (*OTHERS[kind], "--id", "patient", "--rank", "2", "--xi", "0.1,1", "--lam", "1", "--cv", "3")
    done = superfactor("select", tmp_path / "t.csv", *words)
    assert done.code == 0, done
    assert (
        "Log partial likelihood per event over 3 folds" if kind == "times" else "R² over 3 folds"
    ) in done.out


def test_samples_without_a_number_are_predicted(tmp_path):
    table = study().drop(columns=["score", "status", "days"])
    table.loc[:4, "dose"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ("--target", "dose", "--task", "regression", "--id", "patient", *ALL)
    out = ("--out", tmp_path / "m.skops", "--predictions", tmp_path / "p.csv")
    done = superfactor("fit", tmp_path / "t.csv", *words, *out)
    assert done.code == 0, done
    assert "85 (dose: " in done.out and "+ 5 without a value" in done.out
    assert "Samples without a value: 5 (predicted dose: " in " ".join(done.out.split())
    found = pd.read_csv(tmp_path / "p.csv")
    assert found["patient"].tolist() == [f"P{i}" for i in range(5)]
    assert np.corrcoef(found["predicted"], study()["dose"][:5])[0, 1] > 0.8


def test_a_target_with_few_events_is_noted(tmp_path):
    table = study().drop(columns=["status", "days"])
    (table.assign(score=table["score"] / 100)).to_csv(tmp_path / "t.csv", index=False)
    words = ("--target", "dose,score", "--id", "patient", *ALL, "--out", tmp_path / "m.skops")
    done = superfactor("fit", tmp_path / "t.csv", *words)
    ratio = table["dose"].std() / table["score"].std() * 100
    assert f"the standard deviation of 'dose' is {ratio:.3g} times that of 'score'" in done.err


def test_a_name_with_a_comma_is_given_in_quotes(tmp_path):
    table = study().drop(columns=["score", "status", "days"]).rename(columns={"dose": "dose, mg"})
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", "--task", "regression", "--id", "patient", *ALL)
    out = ("--out", tmp_path / "m.skops")
    said = refused(*words, "--target", "dose, mg", *out)
    assert """did you mean 'dose, mg'; put a name with a comma in double quotes: '"dose, mg"'""" in said
    done = superfactor(*words, "--target", '"dose, mg"', "--drop", "age", *out)
    assert done.code == 0 and "90 (dose, mg: " in done.out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--balance",), "--balance: 'target' has no classes; leave the option out"),
        (("--positive", "M"), "--positive M: 'target' has no classes"),
        (("--min-class", "4"), "--min-class is for one column of classes; leave it out"),
        (("--drop-rare",), "--drop-rare is for one column of classes; leave it out"),
        (("--time", "age"), "--time needs --event, the column that states whether the event was seen"),
        (("--task", "survival"), "--task survival: classes, regression, counts or labels is required"),
    ],
)
def test_options_of_other_kinds(more, message, tmp_path):
    load_diabetes(as_frame=True).frame.to_csv(tmp_path / "t.csv", index=False)
    words = ("--target", "target", "--task", "regression", *SETTING, *more)
    assert message in refused("fit", tmp_path / "t.csv", *words, "--out", tmp_path / "m.skops")


def test_a_numeric_target_is_predicted_with_a_note(tmp_path):
    load_diabetes(as_frame=True).frame.to_csv(tmp_path / "t.csv", index=False)
    done = superfactor("fit", tmp_path / "t.csv", "--target", "target", *ALL, "--out", tmp_path / "m.skops")
    said = " ".join((done.out + done.err).split())
    assert done.code == 0
    assert "column 'target' holds 214 different numbers, predicted as numbers: --task regression" in said
    assert "times until an event are for --time and --event" in said


@pytest.mark.parametrize(("column", "shown"), [("follow-up (days)", "follow-up (days)"), ("entry", "time")])
def test_the_page_names_times_by_their_column(tmp_path, column, shown):
    study().rename(columns={"days": column}).to_csv(tmp_path / "t.csv", index=False)
    words = ("--time", column, *OTHERS["times"][2:], "--id", "patient", *SETTING, "--no-stable")
    words = (*words, "--repeats", "1", "--cv", "3", "--out", tmp_path / "m", "--report", tmp_path / "p.html")
    done = superfactor("fit", tmp_path / "t.csv", *words)
    assert done.code == 0, done
    assert f'"axis":"{shown}"' in (tmp_path / "p.html").read_text(encoding="utf-8").replace('": "', '":"')
