"""`write_report`: one file, complete or not at all, from all that `fit` takes; and what it refuses."""

import re
import sys
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.report.conftest import CASES, KINDS, nested_like, scaled, table

from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.interpretation import covariate_effects, held_out_scores
from superfactor.report import methods_paragraph, page, write_report, writing
from superfactor.selection import nested_scores

QUICK = {"stable": False, "nearness": False, "held_out": False}


def test_pages_are_small_and_every_section_and_script_is_on_one(pages):
    assert all(20_000 < pages[name].stat().st_size < 3_000_000 for name in CASES)
    text = "".join(pages[name].read_text(encoding="utf-8") for name in CASES + KINDS)
    folder = files("superfactor.report")
    found = {f.name.removesuffix(".html") for f in (folder / "templates").iterdir() if f.is_file()}
    assert found == {"page", "macros", *re.findall(r'class="panel" id="(\w+)"', text)}
    scripts = {f.name.removesuffix(".js") for f in (folder / "assets").iterdir() if f.name.endswith(".js")}
    assert scripts == set(page.SCRIPTS)


def test_large_data_give_small_pages(tmp_path):
    """Many features, samples, factors and classes, and long names."""
    rng = np.random.default_rng(0)
    n, p, classes = 1300, 60, 20
    y = np.arange(n) % classes
    X = rng.standard_normal((n, p)).astype(np.float32)
    X[:, :classes] += 2 * (y[:, None] == np.arange(classes))
    X = pd.DataFrame(X, columns=[f"{'長い名前' * 60}{i}" for i in range(p)])
    model = SMFClassifier(25, xi=1.0, lam=1e4, tol=0.5, certify=None).fit(X, y)
    path = write_report(tmp_path / "large.html", model, X, y, **QUICK)
    assert path.stat().st_size < 3_000_000
    assert "The plot shows" in path.read_text(encoding="utf-8")


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


def test_a_failure_keeps_the_old_file(tmp_path, training_only, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("the old one")
    monkeypatch.setattr(writing, "open", _FullDisk, raising=False)
    with pytest.raises(OSError, match="disk full"):
        training_only.write(path, **QUICK)
    assert path.read_text() == "the old one"
    assert [f.name for f in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileNotFoundError, match=r"nowhere.* does not exist"):
        training_only.write(tmp_path / "nowhere" / "report.html")


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, np.ndarray.tolist])
@pytest.mark.parametrize("labels", [[0, 1], [True, False], ["a", "b"]], ids=str)
def test_x_and_labels_of_any_kind(tmp_path, kind, labels):
    X, _ = table(40, 12, 2)
    X, y = kind(X.to_numpy()), np.array(labels)[np.arange(40) % 2]
    model = SMFClassifier(2, xi=0.1, lam=0.1).fit(X, y)
    text = write_report(tmp_path / "r.html", model, X, y, **QUICK).read_text(encoding="utf-8")
    assert "x0" in text and "40 for training" in text
    assert all(f">{label}</th>" in text for label in labels)


def test_covariates_in_x_and_separate(tmp_path):
    X, y = table(60, 12, 2)
    Z = np.random.default_rng(0).standard_normal((60, 2))
    model = scaled(n_components=2, covariate_columns=[0], xi=0.1, lam=0.1)
    model.fit(X[:40], y[:40], smf__covariates=Z[:40])
    content = {"covariates": Z[:40], "covariates_test": Z[40:], "X_test": X[40:], "y_test": y[40:]}
    path = write_report(tmp_path / "r.html", model, X[:40], y[:40], **content, **QUICK)
    text = path.read_text(encoding="utf-8")
    assert "Covariates</dt><dd>3<" in text
    assert f"{100 * np.mean(model.predict(X[40:], covariates=Z[40:]) == y[40:]):.1f} %" in text
    names = [*covariate_effects(model)["covariate"]]
    assert len(names) == 3 and all(f'<th scope="row">{name}' in text for name in names)


X, y = table(40, 12, 2)


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"model": "model"}, TypeError, "model=str"),
        ({"nested": True}, TypeError, "nested=bool: the result of nested_scores is required"),
        ({"search": 3}, TypeError, "search=int: a fitted search, such as SMFClassifierCV"),
        ({"search": SMFClassifierCV()}, TypeError, "search=SMFClassifierCV: a fitted search"),
        ({"X_test": X, "y_test": ["new"] * 40}, ValueError, "y_test: 'new' is no class of the model"),
        ({"X_test": X}, ValueError, "y_test=None: X_test and y_test are required together"),
        ({"y": y[:39]}, ValueError, "y: 39 labels for 40 samples"),
        ({"ids": ["a", "b", "c"]}, ValueError, "ids: 3 names are given, 40"),
        (
            {"nested": nested_like("better", classes=np.array(["class 0", "class 2"]))},
            ValueError,
            "^nested: its classes are .* same samples",
        ),
        (
            {"nested": nested_like("better", counts=np.array([21, 19]))},
            ValueError,
            "^nested: its counts are .* same samples",
        ),
    ],
)
def test_bad_input(tmp_path, changed, error, said):
    given = {"model": SMFClassifier(1, certify=None).fit(X, y), "X": X, "y": y}
    with pytest.raises(error, match=said):
        write_report(tmp_path / "r.html", **given | QUICK | changed)
    assert not list(tmp_path.iterdir())


def test_out_of_fold_scores_of_other_samples(tmp_path, training_only):
    case = training_only
    held = held_out_scores(case.model, case.X, case.y)
    with pytest.raises(ValueError, match=r"held_out: scores of shape \(50, 1\), \(40, 1\) is"):
        write_report(tmp_path / "r.html", case.model, case.X[:40], case.y[:40], **QUICK | {"held_out": held})


def test_nested_scores_of_another_procedure():
    one = {"n_components": 1, "xi": 0.1, "lam": 1.0, "cv": 2, "certify": None}
    search = SMFClassifierCV(**one).fit(X, y)
    own, other = (
        nested_scores(judged, X, y, n_splits=2, n_repeats=1, baselines=False)
        for judged in (clone(search).set_params(n_jobs=1, cv=3), SMFClassifierCV(**one, preprocess=None))
    )
    chosen = search.best_estimator_
    assert methods_paragraph(search, X, y, nested=own) == methods_paragraph(
        chosen, X, y, search=search, nested=own
    )
    said = "nested: scores of SMFClassifierCV with preprocess=None and not 'standardize'; nested_sc"
    with pytest.raises(ValueError, match=said) as error:
        methods_paragraph(search, X, y, nested=other)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match=r"of SMFClassifierCV and not Pipeline; .*as search="):
        methods_paragraph(chosen, X, y, nested=own)


def test_without_jinja_the_error_names_the_extra(tmp_path, training_only, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    page.templates.cache_clear()
    with pytest.raises(ImportError, match=r'Jinja2.* pip install "superfactor\[report\]"'):
        training_only.write(tmp_path / "r.html")
