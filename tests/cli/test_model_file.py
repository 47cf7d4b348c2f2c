"""Model files of the command line; tests/saving is about the files themselves."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.command import cohort, refused, superfactor
from tests.saving.test_saving import FOREIGN_FILES, MODELS, OLD

import superfactor as package
from superfactor import saving


def test_metadata(model, table):
    about = saving.read(model).about
    assert about["features"].tolist() == [f"gene{j}" for j in range(12)]
    assert about["classes"] == ["normal", "tumoral"]
    assert about["target"] == "status"
    assert about["id"] == "patient"
    assert about["log2"] is False
    assert about["params"]["preprocess"] == "standardize"
    assert about["params"]["lam"] == 1.0
    assert about["command"].startswith(f"superfactor fit {table} --target status")
    assert about["versions"]["superfactor"]
    assert about["date"][:2] == "20"
    ids = [*about["training_ids"], *about["held_out_ids"]]
    assert sorted(ids) == cohort()["patient"].tolist()
    assert about["scores"]["held_out"]["samples"] == len(about["held_out_ids"]) == 10


def test_columns_have_their_names_in_python(model):
    pipeline = saving.read(model).model
    names = [*(f"gene{j}" for j in range(12)), "sex=F", "age"]
    assert pipeline.feature_names_in_.tolist() == names
    assert pipeline[-1].component_names_.tolist() == names[:12]
    data = pd.DataFrame(np.zeros((1, 14)), columns=names[::-1])
    with pytest.raises(ValueError, match="feature names"):
        pipeline.predict(data)


def test_other_versions_are_noted(model, table, tmp_path, monkeypatch):
    loaded = saving.read(model)
    loaded.about["versions"]["numpy"] = "1.0"
    monkeypatch.setattr(saving, "read", lambda path: loaded)
    done = superfactor("predict", model, table, "--out", tmp_path / "p.csv")
    assert done.code == 0
    assert "was written with numpy 1.0; this is " in done.err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("text", "not a superfactor model (File is not a zip file); a file written by superfactor fit"),
        ("system", "types that are not superfactor's: os.system; a file written by superfactor fit"),
    ],
)
def test_foreign_files_are_refused(name, message, model, table, tmp_path):
    FOREIGN_FILES[name][0](tmp_path / "m.skops", model)
    line = refused("predict", tmp_path / "m.skops", table, "--out", tmp_path / "out")
    assert line.startswith(f"error: {tmp_path / 'm.skops'}: ")
    assert message in line
    assert not (tmp_path / "out").exists()


def test_commands_require_the_metadata_of_a_fit(table, tmp_path):
    model, y = MODELS["filter"]
    package.save(model.fit(np.eye(len(y)), y), tmp_path / "m")
    line = refused("factors", tmp_path / "m")
    assert "saved from Python, without the metadata of superfactor fit" in line


@pytest.mark.parametrize("command", ["predict", "factors"])
def test_a_model_of_1_0_must_be_fitted_again(command, table, tmp_path):
    words = [command, OLD, *([table] if command != "factors" else []), "--out", tmp_path / "out"]
    line = refused(*words)
    assert line.startswith(f"error: {OLD}: saved by superfactor 1.0.0, without the correlations")
    assert line.endswith("fit again with superfactor fit\n")
    assert list(tmp_path.iterdir()) == []


def test_missing_model(table, tmp_path):
    line = refused("predict", tmp_path / "none.skops", table, "--out", tmp_path / "p.csv")
    assert line == f"error: {tmp_path / 'none.skops'}: No such file or directory\n"
