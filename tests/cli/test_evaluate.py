"""`superfactor evaluate`: a model on another cohort."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix
from tests.cli.command import cohort, refused, superfactor

from superfactor import saving


@pytest.fixture
def other(tmp_path):
    path = tmp_path / "other.csv"
    data = cohort(n=60, seed=1)
    data["patient"] = [f"Q{i:03}" for i in range(60)]
    data.to_csv(path, index=False)
    return path


def test_figures_are_those_of_the_model(model, other):
    told = superfactor("evaluate", model, other, "--json").json
    data = pd.read_csv(other)
    loaded = saving.read(model).model
    X = data.filter(like="gene").assign(F=data["sex"] == "F", age=data["age"]).to_numpy(dtype=float)
    predicted = loaded.predict(X)
    assert told["summary"]["accuracy"]["mean"] == accuracy_score(data["status"], predicted)
    assert told["confusion"] == confusion_matrix(data["status"], predicted).tolist()
    assert told["verdict"]["grade"] == "better"
    assert told["notes"] == []


def test_the_terminal_shows_the_same(model, other):
    told = superfactor("evaluate", model, other, "--json").json
    done = superfactor("evaluate", model, other)
    assert done.code == 0, done
    said = " ".join(done.out.split())
    assert told["verdict"]["headline"] in said
    assert "60 (normal: 30, tumoral: 30)" in said
    assert "95 % interval" in said
    assert max(map(len, done.out.splitlines())) <= 80


def test_shuffled_labels_are_not_better(model, other, tmp_path):
    data = pd.read_csv(other)
    data["status"] = np.random.default_rng(0).permutation(data["status"])
    data.to_csv(tmp_path / "shuffled.csv", index=False)
    told = superfactor("evaluate", model, tmp_path / "shuffled.csv", "--json").json
    assert told["verdict"]["grade"] == "not shown"


def test_samples_of_the_fit_are_noted(model, table):
    done = superfactor("evaluate", model, table)
    assert "note: 30 of 40 samples have the values or names of training samples" in done.err


def test_invalid_input(model, other, tmp_path):
    data = pd.read_csv(other)
    data.drop(columns="status").to_csv(tmp_path / "a.csv", index=False)
    assert "'status' with the outcome is missing" in refused("evaluate", model, tmp_path / "a.csv")
    data["status"] = data["status"].replace("tumoral", "TUMOUR")
    data.to_csv(tmp_path / "b.csv", index=False)
    line = refused("evaluate", model, tmp_path / "b.csv")
    assert "'TUMOUR'" in line
    assert "the classes of the model are normal, tumoral" in line


def test_one_class_only(model, other, tmp_path):
    data = pd.read_csv(other)
    data[data["status"] == "normal"].to_csv(tmp_path / "n.csv", index=False)
    done = superfactor("evaluate", model, tmp_path / "n.csv")
    assert done.code == 0, done
    assert "One class only, 'normal'" in done.out
