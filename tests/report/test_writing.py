import re
import sys
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.report.conftest import CASES, nested_like, scaled, table

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor
from superfactor.interpretation import covariate_effects
from superfactor.report import methods_paragraph, page, write_report, writing
from superfactor.selection import nested_scores


@pytest.mark.parametrize("name", CASES)
def test_pages_are_small(pages, name):
    assert 20_000 < pages[name].stat().st_size < 3_000_000


def test_large_data_give_small_pages(tmp_path):
    """Many features, samples, factors and classes, and long names."""
    rng = np.random.default_rng(0)
    n, p, classes = 1300, 100, 20
    y = np.arange(n) % classes
    X = rng.standard_normal((n, p)).astype(np.float32)
    X[:, :classes] += 2 * (y[:, None] == np.arange(classes))
    X = pd.DataFrame(X, columns=[f"{'長い名前' * 60}{i}" for i in range(p)])
    model = SMFClassifier(25, xi=1.0, lam=1e4, tol=0.5, certify=None)
    path = write_report(tmp_path / "large.html", model.fit(X, y), X, y)
    assert path.stat().st_size < 3_000_000
    assert "are drawn" in path.read_text(encoding="utf-8")


class TestAtomic:
    def test_the_file_is_there_and_nothing_else(self, tmp_path, training_only):
        path = training_only.write(tmp_path / "report.html")
        assert path == tmp_path / "report.html"
        assert [f.name for f in tmp_path.iterdir()] == ["report.html"]

    @pytest.mark.parametrize("when", ["writing", "renaming"])
    def test_a_failure_leaves_what_was_there(self, tmp_path, training_only, monkeypatch, when):
        path = tmp_path / "report.html"
        path.write_text("the old one")

        def fail(*_args, **_options):
            raise OSError("disk full")

        if when == "writing":
            monkeypatch.setattr(writing, "open", _FullDisk, raising=False)
        else:
            monkeypatch.setattr(writing.os, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            training_only.write(path)
        assert path.read_text() == "the old one"
        assert [f.name for f in tmp_path.iterdir()] == ["report.html"]

    def test_a_missing_folder_is_named(self, tmp_path, training_only):
        with pytest.raises(FileNotFoundError, match=r"nowhere.* does not exist"):
            training_only.write(tmp_path / "nowhere" / "report.html")


class _FullDisk:
    """A file that takes the beginning of a text and no more."""

    def __init__(self, *args, **options):
        self.file = open(*args, **options)  # noqa: SIM115

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, text):
        self.file.write(text[:1000])
        raise OSError("disk full")


class TestInputs:
    @pytest.mark.parametrize("kind", ["array", "sparse", "lists"])
    def test_x_may_be(self, tmp_path, kind):
        X, y = table(40, 12, 2)
        X = X.to_numpy()
        given = {"array": X, "sparse": sp.csr_array(X), "lists": X.tolist()}[kind]
        model = SMFClassifier(2, xi=0.1, lam=0.1).fit(given, y)
        text = write_report(tmp_path / "r.html", model, given, y).read_text(encoding="utf-8")
        assert "x0" in text and "40 for training" in text

    def test_covariates_beside_and_inside_x(self, tmp_path):
        X, y = table(60, 12, 2)
        Z = np.random.default_rng(0).standard_normal((60, 2))
        model = scaled(n_components=2, covariate_columns=[0], xi=0.1, lam=0.1)
        model.fit(X[:40], y[:40], smf__covariates=Z[:40])
        told = {"covariates": Z[:40], "covariates_test": Z[40:]}
        path = write_report(tmp_path / "r.html", model, X[:40], y[:40], X_test=X[40:], y_test=y[40:], **told)
        text = path.read_text(encoding="utf-8")
        assert "Covariates beside the factors</dt><dd>3<" in text
        accuracy = np.mean(model.predict(X[40:], covariates=Z[40:]) == y[40:])
        assert f"{100 * accuracy:.1f} %" in text
        names = [*covariate_effects(model)["covariate"]]
        assert len(names) == 3
        assert all(f'<th scope="row">{name}' in text for name in names)

    def test_no_covariates_no_table(self, pages):
        assert "Covariates" not in pages["two_classes"].read_text(encoding="utf-8")

    @pytest.mark.parametrize("labels", [[0, 1], [True, False], [1.0, 2.0], ["a", "b"]], ids=str)
    def test_labels_of_any_kind(self, tmp_path, labels):
        X, _ = table(40, 12, 2)
        y = np.array(labels)[np.arange(40) % 2]
        model = SMFClassifier(1).fit(X, y)
        text = write_report(tmp_path / "r.html", model, X, y).read_text(encoding="utf-8")
        assert all(f">{label}</th>" in text for label in labels)


class TestBadInput:
    X, y = table(40, 12, 2)

    def fitted(self):
        return SMFClassifier(1).fit(self.X, self.y)

    def test_regression(self, tmp_path):
        model = SMFRegressor(1).fit(self.X, np.arange(40.0))
        with pytest.raises(TypeError, match="model=SMFRegressor: the report shows classifiers"):
            write_report(tmp_path / "r.html", model, self.X, np.arange(40.0))

    def test_another_estimator(self, tmp_path):
        with pytest.raises(TypeError, match="model=str"):
            write_report(tmp_path / "r.html", "model", self.X, self.y)

    def test_a_label_the_model_does_not_know(self, tmp_path):
        with pytest.raises(ValueError, match="y_test: 'new' is no class of the model"):
            write_report(
                tmp_path / "r.html", self.fitted(), self.X, self.y, X_test=self.X, y_test=["new"] * 40
            )

    def test_held_out_samples_without_labels(self, tmp_path):
        with pytest.raises(ValueError, match="y_test=None: X_test and y_test are required together"):
            write_report(tmp_path / "r.html", self.fitted(), self.X, self.y, X_test=self.X)

    def test_as_many_labels_as_samples(self, tmp_path):
        with pytest.raises(ValueError, match="y: 39 labels for 40 samples"):
            write_report(tmp_path / "r.html", self.fitted(), self.X, self.y[:39])

    def test_as_many_ids_as_samples(self, tmp_path):
        with pytest.raises(ValueError, match="ids: 3 names are given, 40"):
            write_report(tmp_path / "r.html", self.fitted(), self.X, self.y, ids=["a", "b", "c"])

    @pytest.mark.parametrize(("name", "other"), [("classes", ["class 0", "class 2"]), ("counts", [21, 19])])
    def test_nested_scores_of_other_samples(self, tmp_path, name, other):
        nested = nested_like("better")
        nested.classes, nested.counts = np.array(["class 0", "class 1"]), np.array([20, 20])
        write_report(tmp_path / "r.html", self.fitted(), self.X, self.y, nested=nested)
        setattr(nested, name, np.array(other))
        with pytest.raises(ValueError, match=f"^nested: its {name} are .* same samples"):
            write_report(tmp_path / "no.html", self.fitted(), self.X, self.y, nested=nested)
        assert not (tmp_path / "no.html").exists()

    def test_nested_scores_of_another_procedure(self, tmp_path):
        one = {"n_components": 1, "xi": 0.1, "lam": 1.0, "cv": 2, "certify": None}
        search = SMFClassifierCV(**one).fit(self.X, self.y)
        own, other = (
            nested_scores(judged, self.X, self.y, n_splits=2, n_repeats=1, rivals=False)
            for judged in (clone(search).set_params(n_jobs=1, cv=3), SMFClassifierCV(**one, preprocess=None))
        )
        write_report(tmp_path / "r.html", search, self.X, self.y, nested=own)
        chosen = {"model": search.best_estimator_, "X": self.X, "y": self.y}
        write_report(tmp_path / "r.html", **chosen, search=search, nested=own)
        said = "nested: scores of SMFClassifierCV with preprocess=None and not 'standardize'; nested_sc"
        for tell in (write_report, methods_paragraph):
            path = [tmp_path / "no.html"] if tell is write_report else []
            with pytest.raises(ValueError, match=said) as error:
                tell(*path, search, self.X, self.y, nested=other)
            assert "\n" not in str(error.value)
            with pytest.raises(ValueError, match=r"of SMFClassifierCV and not Pipeline; .*search= says"):
                tell(*path, **chosen, nested=own)
        assert not (tmp_path / "no.html").exists()

    def test_nested_scores_of_a_model_that_no_search_chose(self, tmp_path):
        model = self.fitted()
        nested = nested_scores(model, self.X, self.y, n_splits=2, n_repeats=1, rivals=False)
        write_report(tmp_path / "r.html", model, self.X, self.y, nested=nested)
        other = clone(model).set_params(xi=1.0).fit(self.X, self.y)
        with pytest.raises(ValueError, match=r"with xi='auto' and not 1\.0;"):
            write_report(tmp_path / "no.html", other, self.X, self.y, nested=nested)

    def test_a_search_of_another_kind(self, tmp_path):
        with pytest.raises(TypeError, match="search=int: a fitted SMFClassifierCV"):
            write_report(tmp_path / "r.html", self.fitted(), self.X, self.y, search=3)


def test_without_jinja_one_line_says_what_to_install(tmp_path, training_only, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    page.templates.cache_clear()
    with pytest.raises(ImportError, match=r'Jinja2.* pip install "superfactor\[report\]"'):
        training_only.write(tmp_path / "r.html")


def test_every_section_has_its_template_and_no_template_is_left_over(pages):
    text = "".join(path.read_text(encoding="utf-8") for path in pages.values())
    folder = files("superfactor.report") / "templates"
    found = {f.name.removesuffix(".html") for f in folder.iterdir()}
    assert found == {"page", "macros"} | set(re.findall(r'class="panel" id="(\w+)"', text))


def test_every_script_is_on_the_page():
    assets = files("superfactor.report") / "assets"
    scripts = {f.name.removesuffix(".js") for f in assets.iterdir() if f.name.endswith(".js")}
    assert scripts == set(page.SCRIPTS)
