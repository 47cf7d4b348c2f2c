"""Samples without a label shape the factors, are predicted and counted; rare classes are a choice."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.command import ALL, QUICK, cohort, refused, superfactor

from superfactor import SMFClassifier, saving

ROLES = ("--target", "status", "--id", "patient", "--drop", "sex,age")
BLANK = [3, 10, 11, 24, 30, 37]


@pytest.fixture(scope="module")
def data():
    table = cohort()
    return table.assign(status=table["status"].where(~table.index.isin(BLANK)))


@pytest.fixture(scope="module")
def fitted(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("blank")
    data.to_csv(folder / "t.csv", index=False)
    words = ("fit", folder / "t.csv", *ROLES, *ALL, "--out", folder / "m.skops")
    outputs = ("--report", folder / "r.html", "--predictions", folder / "p.csv")
    return folder, superfactor(*words, *outputs, "--json"), superfactor(*words)


def genes(data):
    return data.filter(like="gene").to_numpy()


def test_the_model_is_that_of_the_estimator(data, fitted):
    _, done, _ = fitted
    assert done.code == 0, done
    X = genes(data)
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # of all samples, with a label or not
    y = np.where(data["status"].isna(), None, data["status"])
    same = SMFClassifier(2, xi=0.1, lam=1.0, random_state=0).fit(X, y)
    assert done.json["certificate"]["objective"] == pytest.approx(same.objective_, rel=1e-9)


def test_they_are_counted_and_predicted(data, fitted):
    folder, done, shown = fitted
    told = done.json
    assert told["table"]["unlabeled"] == len(BLANK)
    assert sum(told["table"]["classes"].values()) == 40 - len(BLANK)
    assert "+ 6 without a label" in shown.out
    assert "note: 6 of 40 samples have no label" in shown.err
    assert "Samples without a label: 6 (predicted" in shown.out
    rows = pd.read_csv(folder / "p.csv")
    assert rows["patient"].tolist() == data["patient"].iloc[BLANK].tolist()
    model = saving.read(folder / "m.skops").model
    shares = model.predict_proba(genes(data)[BLANK])
    np.testing.assert_allclose(rows.filter(like="probability").to_numpy(), shares)
    assert told["unlabeled"]["samples"] == len(BLANK)
    assert [row["sample"] for row in told["unlabeled"]["first"]] == rows["patient"].tolist()[:5]
    page = (folder / "r.html").read_text()
    assert "34 for training + 6 without a label" in page
    assert "<h3>Samples without a label</h3>" in page


def test_they_are_neither_new_nor_training_samples(data, fitted):
    folder, _, _ = fitted
    done = superfactor("predict", folder / "m.skops", folder / "t.csv", "--out", folder / "all.csv", "--json")
    assert done.json["trained_on"] == {"without its label": 6, "yes": 34}
    cohort().to_csv(folder / "known.csv", index=False)
    done = superfactor("evaluate", folder / "m.skops", folder / "known.csv", "--json")
    assert done.json["samples"] == len(BLANK)


def test_evaluate_leaves_them_out(data, model, tmp_path):
    other = cohort(seed=5).assign(patient=[f"Q{i}" for i in range(40)])
    other.assign(status=other["status"].where(other.index > 3)).to_csv(tmp_path / "t.csv", index=False)
    done = superfactor("evaluate", model, tmp_path / "t.csv", "--json")
    assert done.json["samples"] == 36
    assert "4 of 40 samples have no label and are excluded" in done.json["notes"]
    other.assign(status=None).to_csv(tmp_path / "t.csv", index=False)
    assert "no sample has a label" in refused("evaluate", model, tmp_path / "t.csv")


@pytest.mark.parametrize(("classes", "value"), [(("a", "b"), "unknown"), (("0", "1"), "-1")])
def test_a_marker_of_missing_labels(classes, value, data, fitted, tmp_path):
    table = cohort(classes=classes)
    table.loc[BLANK, "status"] = value
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", *ROLES, *ALL, "--unlabeled", value)
    done = superfactor(*words, "--out", tmp_path / "m.skops", "--json")
    own, same = done.json, fitted[1].json
    assert set(own["table"]["classes"]) == set(classes)
    assert own["certificate"]["objective"] == pytest.approx(same["certificate"]["objective"], rel=1e-9)
    done = superfactor("report", tmp_path / "m.skops", tmp_path / "t.csv", "--out", tmp_path / "r.html")
    assert done.code == 0, done


def test_held_out_samples_have_labels(data, tmp_path):
    data.to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", *ROLES, *QUICK, "--out", tmp_path / "m.skops")
    scores = superfactor(*words, "--json").json["scores"]
    assert scores["held_out"]["samples"] == 9  # a quarter of 34
    assert scores["training"]["samples"] == 25


def test_nothing_to_predict_is_reported(table, tmp_path):
    words = ("fit", table, *ROLES, *ALL, "--out", tmp_path / "m", "--predictions", tmp_path / "p")
    done = superfactor(*words)
    assert f"{tmp_path / 'p'}: not written, because every sample has a label" in done.err
    assert not (tmp_path / "p").exists()


# --- rare classes -----------------------------------------------------------------------------------


@pytest.fixture
def with_rare(tmp_path):
    table = cohort()
    table.loc[[0, 1], "status"] = "odd"
    table.loc[2, "status"] = "lone"
    table.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_rare_classes_are_a_choice(with_rare, tmp_path):
    words = ("fit", with_rare, *ROLES, *ALL, "--out", tmp_path / "m.skops")
    line = refused(*words)
    assert "class 'lone' has too few samples, 1; cross-validation requires 2 of each class" in line
    assert "--drop-rare drops classes with fewer than 3 samples, --min-class N" in line
    done = superfactor(*words, "--drop-rare", "--json")
    assert done.json["table"]["classes_left_out"] == {"lone": 1, "odd": 2}
    assert sum(done.json["table"]["classes"].values()) == 37
    (note,) = (note for note in done.json["notes"] if "left out" in note)
    assert note == "2 classes with fewer than 3 samples left out: 'lone' (1), 'odd' (2)"
    done = superfactor("report", tmp_path / "m.skops", with_rare, "--out", tmp_path / "r.html")
    assert done.code == 0, done
    done = superfactor(*words, "--min-class", "2", "--json")
    assert set(done.json["table"]["classes"]) == {"normal", "odd", "tumoral"}
    assert "two are required" in refused(*words, "--min-class", "20")
