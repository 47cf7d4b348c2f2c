"""Model files: the same predictions after loading, and nothing else is ever loaded."""

import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from tests.cli.command import QUICK, cohort, refused, roles, superfactor

from superfactor import saving


@pytest.mark.parametrize("kind", ["filter", "feature"])
def test_the_same_predictions_to_the_last_bit(kind, table, tmp_path, monkeypatch):
    kept = {}
    save = saving.save
    monkeypatch.setattr(
        saving, "save", lambda model, *to, about: kept.update(model=model) or save(model, *to, about=about)
    )
    words = ("fit", table, *roles(), *QUICK, "--model", kind, "--out", tmp_path / "m.skops")
    assert superfactor(*words).code == 0
    loaded = saving.read(tmp_path / "m.skops").model
    data = cohort(seed=4)
    X = data.filter(like="gene").assign(**{"sex=F": data["sex"] == "F", "age": data["age"]})
    X = X.astype(float)
    array = X.to_numpy()  # names are compared once a model has been loaded
    np.testing.assert_array_equal(kept["model"].predict_proba(array), loaded.predict_proba(X))
    np.testing.assert_array_equal(kept["model"].predict(array), loaded.predict(X))
    assert str(loaded[-1].certificate_) == str(kept["model"][-1].certificate_)


def test_tells_how_it_came_about(model, table):
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


class Trap:
    """Unpickling this creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def zipped(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            file.writestr(name.replace("_", "."), text)


def schema(module, name, loader, **more):
    """A hand-made skops file that asks for one object."""
    return json.dumps(
        {"__class__": name, "__module__": module, "__loader__": loader, "__id__": 1, **more}
        | {"protocol": 2, "_skops_version": skops.__version__}
    )


@pytest.fixture
def impostors(tmp_path, model):
    """Files that are no models, by name."""
    trap = tmp_path / "sprung"
    made = {name: tmp_path / f"{name}.skops" for name in (
        "text", "empty", "zip", "pickle", "truncated", "estimator", "dict", "format", "inside", "bare",
        "system", "function", "foreign-class",
    )}  # fmt: skip
    made["text"].write_text("gene,weight\n")
    made["empty"].write_bytes(b"")
    zipped(made["zip"], a_txt="hello")
    made["pickle"].write_bytes(pickle.dumps(Trap(trap)))
    made["truncated"].write_bytes(model.read_bytes()[:-500])
    skops.io.dump(LogisticRegression(), made["estimator"])
    skops.io.dump({"a": 1}, made["dict"])
    right = {"superfactor_model": saving.FORMAT, "estimator": LogisticRegression(), "metadata": {}}
    skops.io.dump(right | {"superfactor_model": 99}, made["format"])
    skops.io.dump(right, made["inside"])
    skops.io.dump(right | {"estimator": saving.read(model).model}, made["bare"])
    call = {"content": {"module_path": "os", "function": "system"}}
    zipped(made["system"], schema_json=schema("os", "system", "FunctionNode", **call))
    output = "superfactor.cli.told.output"
    call = {"content": {"module_path": output, "function": "write_bytes"}}
    zipped(made["function"], schema_json=schema(output, "write_bytes", "FunctionNode", **call))
    content = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "__id__": 2}
    content |= {"is_json": True, "content": '"x"'}
    zipped(made["foreign-class"], schema_json=schema("subprocess", "Popen", "ObjectNode", content=content))
    return made, trap


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("text", "not a superfactor model (File is not a zip file)"),
        ("empty", "not a superfactor model"),
        ("zip", "not a superfactor model"),
        ("pickle", "not a superfactor model (File is not a zip file)"),
        ("truncated", "not a superfactor model"),
        ("estimator", "a skops file, but not a superfactor model"),
        ("dict", "a skops file, but not a superfactor model"),
        ("format", "saved by another superfactor, in another way (format 99; this version reads 2)"),
        ("inside", "not a superfactor model (LogisticRegression inside)"),
        ("bare", "not a complete superfactor model (its description is missing)"),
        ("system", "types that are not superfactor's: os.system"),
        ("function", "types that are not superfactor's: superfactor.cli.told.output.write_bytes"),
        ("foreign-class", "types that are not superfactor's: subprocess.Popen"),
    ],
)
@pytest.mark.parametrize("command", ["predict", "report"])
def test_impostors_are_refused_and_nothing_runs(command, name, message, impostors, table, tmp_path):
    made, trap = impostors
    line = refused(command, made[name], table, "--out", tmp_path / "out")
    assert str(made[name]) in line
    assert message in line
    assert not trap.exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["predict", "evaluate", "report", "factors"])
def test_a_model_of_1_0_has_to_be_fitted_again(command, table, tmp_path):
    """Written by superfactor 1.0.0 and compressed: it has no patterns, and its coef_ weighs the factors."""
    old = Path(__file__).parent / "data" / "model-1.0.skops"
    words = [command, old, *([table] if command != "factors" else [])]
    words += ["--out", tmp_path / "out"] if command != "evaluate" else []
    line = refused(*words)
    assert line.startswith(f"error: {old}: saved by superfactor 1.0.0, without the correlations")
    assert line.endswith("fit again with superfactor fit\n")
    assert list(tmp_path.iterdir()) == []


def test_the_trap_works(tmp_path):
    pickle.loads(pickle.dumps(Trap(tmp_path / "sprung")))
    assert (tmp_path / "sprung").exists()


def test_missing_model(table, tmp_path):
    line = refused("predict", tmp_path / "none.skops", table, "--out", tmp_path / "p.csv")
    assert line == f"error: {tmp_path / 'none.skops'}: No such file or directory\n"
