"""Saved models predict the same after loading, and files of other kinds are refused."""

import json
import pickle
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from tests.saving import fixtures

import superfactor
from superfactor import preprocessing, saving
from superfactor.spectrum.rows import RowSource

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 5))
LABELS = np.where(X[:, 0] > 0, "a", "b")
TIMES = np.array(
    [(i % 3 > 0, 1.0 + abs(x)) for i, x in enumerate(X[:, 1])], [("event", bool), ("time", float)]
)
STRATA = np.array(
    [(e, t, "ab"[i % 2]) for i, (e, t) in enumerate(TIMES.tolist())],
    [("event", bool), ("time", float), ("stratum", "U1")],
)
OLD = Path(__file__).parent / "model-1.0.skops"
ONE = {"xi": [0.1], "lam": [1.0], "cv": 2}
MODELS = {
    "filter": (superfactor.SMFClassifier(2), LABELS),
    "feature": (superfactor.SMFClassifier(2, model="feature", link="probit"), LABELS),
    "numbers": (superfactor.SMFRegressor(2), X[:, :2]),
    "times": (superfactor.SMFSurvival(2), TIMES),
    "strata": (superfactor.SMFSurvival(2, ties="efron"), STRATA),
    "classifier-search": (superfactor.SMFClassifierCV([1, 2], **ONE), LABELS),
    "scored-search": (superfactor.SMFClassifierCV(2, **ONE, scoring="balanced_accuracy"), LABELS),
    "regressor-search": (superfactor.SMFRegressorCV([1, 2], **ONE), X[:, 0]),
    "survival-search": (superfactor.SMFSurvivalCV([1, 2], **ONE), TIMES),
    "pipeline": (make_pipeline(StandardScaler(), superfactor.SMFClassifier(2)), LABELS),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file with a fitted model."""
    path = tmp_path_factory.mktemp("saved") / "model.skops"
    superfactor.save(superfactor.SMFClassifier(2).fit(X, LABELS), path, about={"table": "cells.csv"})
    return path


def test_mixed_outcomes_named_by_two_columns_are_saved(tmp_path):
    y = pd.DataFrame({"kind": LABELS, "time": TIMES["time"], "event": TIMES["event"]})
    outcomes = {"kind": "classes", ("time", "event"): "times"}
    model = superfactor.SMFMixed(outcomes, outcome_weight={("time", "event"): 2.0}).fit(X, y)
    superfactor.save(model, tmp_path / "m.skops")
    loaded = superfactor.load(tmp_path / "m.skops")
    assert loaded.outcomes == outcomes and loaded.outcome_weight_ == model.outcome_weight_
    assert loaded.get_params() == model.get_params() and loaded.scores(X, y) == model.scores(X, y)
    for key, predicted in model.predict(X).items():
        np.testing.assert_array_equal(loaded.predict(X)[key], predicted)


@pytest.mark.parametrize("kind", MODELS)
def test_loaded_model_predicts_bit_identically(kind, tmp_path):
    model, y = MODELS[kind]
    model.fit(X, y)
    superfactor.save(model, tmp_path / "m.skops")
    loaded = superfactor.load(str(tmp_path / "m.skops"))
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    if kind == "strata":
        curves = [m.predict_survival_function(X, strata=STRATA["stratum"]) for m in (loaded, model)]
        np.testing.assert_array_equal(*curves)


def test_record_has_the_given_entries_date_and_versions(path):
    about = saving.read(path).about
    assert about["table"] == "cells.csv"
    assert about["date"][:2] == "20"
    assert about["versions"] == saving.versions()
    assert about["versions"]["superfactor"] == superfactor.__version__


@pytest.mark.parametrize("kind", ["filter", "pipeline"])
def test_column_names_are_restored(kind, tmp_path):
    model, y = MODELS[kind]
    names = [f"gene{j}" for j in range(5)]
    superfactor.save(model.fit(X, y), tmp_path / "m", about={"columns": np.array(names)})
    loaded = superfactor.load(tmp_path / "m")
    assert loaded.feature_names_in_.tolist() == names
    table = pd.DataFrame(X, columns=names)
    np.testing.assert_array_equal(loaded.predict(table), model.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(table[names[::-1]])


def test_save_refuses_foreign_models(tmp_path):
    for model in (LogisticRegression(), make_pipeline(StandardScaler()), "a model"):
        with pytest.raises(TypeError, match="an estimator or a search of superfactor is required"):
            superfactor.save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def mine(X):
    return X


def after(function):
    """A fitted model whose pipeline begins with this function."""
    return make_pipeline(FunctionTransformer(function), superfactor.SMFClassifier(2)).fit(X, LABELS)


def test_save_refuses_what_load_would_refuse(tmp_path):
    with pytest.raises(TypeError, match=r"not saved: it contains .*\bmine, which superfactor.load would"):
        superfactor.save(after(mine), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
    superfactor.save(after(np.abs), tmp_path / "m")
    assert superfactor.load(tmp_path / "m")[0].func is np.abs


class CreatesFile:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def archive(module, name, loader, **more):
    """A hand-made skops file that requests one object."""

    def write(path, model):
        requested = {"__class__": name, "__module__": module, "__loader__": loader, "__id__": 1, **more}
        with zipfile.ZipFile(path, "w") as file:
            head = {"protocol": 2, "_skops_version": skops.__version__}
            file.writestr("schema.json", json.dumps(requested | head))

    return write


def function(module, name):
    content = {"module_path": module, "function": name}
    return archive(module, name, "FunctionNode", content=content)


def dumped(content):
    return lambda path, model: skops.io.dump(content, path)


def model_with(**other):
    content = {"superfactor_model": saving.FORMAT, "estimator": LogisticRegression(), "metadata": {}}
    return dumped(content | other)


def zipped(path, model):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a.txt", "hello")


NOT_A_MODEL = "not a superfactor model"
TEXT = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "__id__": 2, "is_json": True}
FOREIGN_FILES = {
    "text": (lambda path, model: path.write_text("gene\n"), f"{NOT_A_MODEL} (File is not a zip file)"),
    "empty": (lambda path, model: path.write_bytes(b""), NOT_A_MODEL),
    "zip": (zipped, NOT_A_MODEL),
    "pickle": (
        lambda path, model: path.write_bytes(pickle.dumps(CreatesFile(path.parent / "created"))),
        f"{NOT_A_MODEL} (File is not a zip file)",
    ),
    "truncated": (lambda path, model: path.write_bytes(model.read_bytes()[:-500]), NOT_A_MODEL),
    "estimator": (dumped(LogisticRegression()), "a skops file, but not a superfactor model"),
    "dict": (dumped({"a": 1}), "a skops file, but not a superfactor model"),
    "no-record": (model_with(metadata=1), "a skops file, but not a superfactor model"),
    "inside": (model_with(), f"{NOT_A_MODEL} (LogisticRegression inside)"),
    "system": (function("os", "system"), "types that are not superfactor's: os.system"),
    "ours": (
        function("superfactor._files", "replacing"),
        "types that are not superfactor's: superfactor._files.replacing",
    ),
    "missing": (function("superfactor.none", "x"), "types that are not superfactor's: superfactor.none.x"),
    "class": (
        archive("subprocess", "Popen", "ObjectNode", content=TEXT | {"content": '"x"'}),
        "types that are not superfactor's: subprocess.Popen",
    ),
}


@pytest.mark.parametrize("name", FOREIGN_FILES)
def test_foreign_files_are_refused_and_nothing_runs(name, path, tmp_path):
    write, message = FOREIGN_FILES[name]
    write(tmp_path / "m.skops", path)
    with pytest.raises(saving.ModelFileError) as refusal:
        superfactor.load(tmp_path / "m.skops")
    assert str(refusal.value).startswith(f"{tmp_path / 'm.skops'}: ")
    assert message in str(refusal.value)
    assert not (tmp_path / "created").exists()


def test_unpickling_the_test_object_creates_a_file(tmp_path):
    pickle.loads(pickle.dumps(CreatesFile(tmp_path / "created")))
    assert (tmp_path / "created").exists()


def test_other_formats_are_refused_before_looking_up_classes(tmp_path):
    """The first file is of superfactor 1.0.0: no patterns, and coef_ holds coefficients of the factors."""
    model_with(superfactor_model=99)(tmp_path / "m", None)
    for file, message in (
        (OLD, "saved by superfactor 1.0.0, without the correlations of features and factors (format 1;"),
        (tmp_path / "m", "saved by another superfactor, in another way (format 99; this version reads 2)"),
    ):
        with pytest.raises(saving.OtherFormatError) as refusal:
            superfactor.load(file)
        assert message in str(refusal.value)


def test_missing_file_raises_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        superfactor.load(tmp_path / "none.skops")


@pytest.mark.parametrize("name", fixtures.studies())
def test_every_class_that_a_model_holds_may_be_loaded(name, tmp_path):
    """`save` refuses models with classes that are not on the list of `superfactor.saving`."""
    model, X, y, given = fixtures.studies()[name]
    model.fit(X, y, **{k: v for k, v in given.items() if k == "covariates"})
    superfactor.save(model, tmp_path / "m.skops")
    loaded = fixtures.answers(superfactor.load(tmp_path / "m.skops"), X, given)
    for method, values in fixtures.answers(model, X, given).items():
        np.testing.assert_array_equal(loaded[method], values)


def test_every_public_estimator_is_among_them():
    models = [model for model, *_ in fixtures.studies().values()]
    models += [step for model in models if hasattr(model, "steps") for _, step in model.steps]
    public = {name for name in superfactor.__all__ if name.startswith("SMF")}
    assert {type(model).__name__ for model in models} >= public | {
        name for name in preprocessing.__all__ if hasattr(getattr(preprocessing, name), "fit")
    }


def test_classes_on_the_list_exist_and_open_nothing():
    for name in saving.CLASSES:
        module, _, attribute = name.rpartition(".")
        found = getattr(import_module(module), attribute)
        assert found.__module__ == module and isinstance(found, type)
        assert not issubclass(found, RowSource)
    assert set(saving.MOVED.values()) <= saving.CLASSES


def renamed(path, old, new):
    """Write the model of this file with another name of a class."""
    with zipfile.ZipFile(fixtures.FOLDER / "two-classes.skops") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    (module, name), (before, first) = old.rsplit(".", 1), new.rsplit(".", 1)
    text = parts["schema.json"].decode()
    assert f'"__module__": "{before}"' in text
    text = text.replace(f'"__module__": "{before}"', f'"__module__": "{module}"')
    parts["schema.json"] = text.replace(f'"__class__": "{first}"', f'"__class__": "{name}"').encode()
    with zipfile.ZipFile(path, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, content)


@pytest.mark.parametrize("old", [None, "superfactor.earlier.place.Supervised"])
def test_classes_that_have_moved_are_found(old, tmp_path, monkeypatch):
    """Files of 1.0 had the first name; the other one stands for what later versions move."""
    if old is None:
        old, new = next(iter(saving.MOVED.items()))
    else:
        new = "superfactor.estimators.classifier.SMFClassifier"
    renamed(tmp_path / "m.skops", old, new)
    if old not in saving.MOVED:
        with pytest.raises(saving.ModelFileError, match=r"superfactor\.earlier\.place\.Supervised"):
            superfactor.load(tmp_path / "m.skops")
        monkeypatch.setitem(saving.MOVED, old, new)
    _, X, _, _ = fixtures.studies()["two-classes"]
    found = superfactor.load(tmp_path / "m.skops").predict(X)
    assert (found == superfactor.load(fixtures.FOLDER / "two-classes.skops").predict(X)).all()


def test_a_loaded_model_names_no_file_for_a_later_fit(tmp_path):
    """Fitting it again would write where the file says."""
    model = superfactor.SMFClassifier(2, checkpoint=str(tmp_path / "c")).fit(X, LABELS)
    superfactor.save(model, tmp_path / "m")
    assert superfactor.load(tmp_path / "m").checkpoint is None
    cached = make_pipeline(StandardScaler(), superfactor.SMFClassifier(2), memory=str(tmp_path / "cache"))
    superfactor.save(cached.fit(X, LABELS), tmp_path / "m")
    loaded = superfactor.load(tmp_path / "m")
    assert loaded.memory is None
    np.testing.assert_array_equal(loaded.predict(X), cached.predict(X))


def test_object_arrays_of_text_numbers_and_none_are_kept(tmp_path):
    words = np.array([["a", None], [1.5, np.float64(2)]], dtype=object)
    superfactor.save(superfactor.SMFClassifier(2).fit(X, LABELS), tmp_path / "m", about={"words": words})
    assert saving.read(tmp_path / "m").about["words"].tolist() == words.tolist()


def test_keys_of_numpy_are_kept(tmp_path):
    weights = {label: 1.0 + k for k, label in enumerate(np.unique(LABELS))}
    model = superfactor.SMFClassifier(2, class_weight=weights).fit(X, LABELS)
    superfactor.save(model, tmp_path / "m", about={"counts": {np.int64(3): 1, 2.5: 2, True: 3}})
    assert superfactor.load(tmp_path / "m").class_weight == weights
    assert saving.read(tmp_path / "m").about["counts"] == {3: 1, 2.5: 2, True: 3}


def test_imputers_of_scikit_learn_are_saved(tmp_path):
    """They keep a dtype."""
    model = make_pipeline(SimpleImputer(), superfactor.SMFClassifier(2)).fit(X, LABELS)
    superfactor.save(model, tmp_path / "m")
    assert (superfactor.load(tmp_path / "m").predict(X) == model.predict(X)).all()


def test_saving_is_there_after_importing_the_package():
    code = "import superfactor; print(superfactor.saving.read.__name__, superfactor.tables.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["read", "superfactor.tables"]


def test_importing_the_package_imports_no_large_libraries():
    code = "import sys, superfactor; print({'numpy', 'sklearn', 'skops'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
