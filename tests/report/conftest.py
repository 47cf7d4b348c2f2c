"""Models to report on, their facts and pages, and a browser to open them in."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.interpretation import stability, top_features
from superfactor.preprocessing import Adjuster, BlockScaler
from superfactor.report import write_report
from superfactor.report.facts import Facts, gather
from superfactor.selection import SMFClassifierCV, Verdict

HOSTILE = [
    "</script><img src=x onerror=\"window.hacked = 'name'\">",
    "<b>bold</b> & &amp; \"quoted\" 'too'",
    "k__Bacteria;p__Firmicutes;c__Clostridia;" * 8,
    "\u202eexe.gnp",
    "line\nbreak\u2028and\u2029more",
    "${payload} {{ 7 * 7 }} $title",
    "=HYPERLINK(0)",
    "遺伝子",
    "",
]


@dataclass
class Case:
    """A fitted model with the data it was fitted to, and what else the report is options."""

    model: Any
    X: Any
    y: Any
    X_test: Any = None
    y_test: Any = None
    options: dict[str, Any] = field(default_factory=dict)

    def write(self, path: Path, **changed: Any) -> Path:
        options = {"X_test": self.X_test, "y_test": self.y_test, "stable": False} | self.options | changed
        return write_report(path, self.model, self.X, self.y, **options)

    @cached_property
    def facts(self) -> Facts:
        """With held-out samples, out-of-fold scores and tables of features, without halves of samples."""
        beside = {"X_test": self.X_test, "y_test": self.y_test, "held_out": None, "features": True}
        return gather(self.model, self.X, self.y, **beside, near=None)


def words(page: str) -> str:
    """The text of a page as people read it."""
    body = page.partition("<main")[2].partition("</main>")[0]
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", body)))


def payload(page: str) -> dict[str, Any]:
    """What the figures are drawn from."""
    return json.loads(re.search(r'id="payload">(.*?)</script>', page, flags=re.S)[1])


def panel(page: str, name: str) -> str:
    """The HTML of a tab; empty where there is none."""
    found = re.search(rf'<section class="panel" id="{name}".*?(?=<section class="panel"|</main>)', page, re.S)
    return found[0] if found else ""


def number(text: str) -> float:
    return np.nan if text == "–" else float(text.replace("−", "-"))


def nested_like(grade: str, **more: Any) -> SimpleNamespace:
    """What the page reads of the `NestedScores` of two classes, with numbers made up."""

    def around(value: float, width: float = 0.05) -> dict[str, float]:
        return {"mean": value, "low": value - width, "high": value + width}

    names = ("accuracy", "balanced_accuracy", "roc_auc", "log_loss", "calibration_slope")

    def summary(*values: float) -> dict[str, dict[str, float]]:
        return {name: around(value) for name, value in zip(names, values, strict=False)}

    own = summary(0.91, 0.91, 0.96, 0.25, 0.93)
    baselines = {
        "PCA + logistic regression": summary(0.86, 0.86, 0.92, 0.35, 0.8),
        "always the most frequent class": summary(0.51, 0.5, 0.5, 0.69),
    }
    differences = {
        baseline: {"metric": "balanced_accuracy"} | around(0.91 - found["balanced_accuracy"]["mean"], 0.04)
        for baseline, found in baselines.items()
    }
    verdict = Verdict(
        grade=grade,
        headline=f"This is {grade}.",
        sentences=("A sentence.", "Another <b>one</b>."),
        advice=("Try this.",),
    )
    options = {
        "summary": own,
        "baselines": baselines,
        "differences": differences,
        "n_splits": 5,
        "n_repeats": 2,
    }
    return SimpleNamespace(**options, verdict=verdict, **more)


def table(n: int, p: int, classes: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """X (n, p) with named rows and columns, and labels that depend on it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    truth = np.arange(n) % classes
    X[:, :classes] += 1.6 * (truth[:, None] == np.arange(classes))
    names = [f"gene {i}" for i in range(p)]
    frame = pd.DataFrame(X, columns=names, index=[f"sample {i}" for i in range(n)])
    return frame, np.array([f"class {k}" for k in truth])


def scaled(**options: Any) -> Pipeline:
    return Pipeline([("scaler", StandardScaler()), ("smf", SMFClassifier(**options))])


@pytest.fixture(scope="session")
def two_classes() -> Case:
    """Everything there is: search, held-out samples, stability, markers, baselines, a command."""
    X, y = table(90, 40, 2)
    search = SMFClassifierCV(
        [1, 2], model=["filter", "feature"], xi=[0.01, 0.1], lam=[1.0, 0.1],
        preprocess="standardize", cv=3,
    ).fit(X[:60], y[:60])  # fmt: skip
    options = {
        "stability": stability(search, X[:60], y[:60], n_resamples=4, random_state=0),
        "markers": {top_features(search, 1)["feature"].iloc[0]: "a known marker"},
        "baselines": {"PCA + logistic regression": 0.75},
        "title": "Two classes",
        "target": "kind",
        "command": "superfactor fit table.csv --target kind",
        "notes": ["A note."],
    }
    return Case(search, X[:60], y[:60], X[60:], y[60:], options)


@pytest.fixture(scope="session")
def many() -> Case:
    """Ten classes, twenty factors."""
    X, y = table(160, 50, 10)
    model = scaled(n_components=20, xi=0.01, lam=10.0, tol=1e-4, certify=None)
    return Case(model.fit(X[:100], y[:100]), X[:100], y[:100], X[100:], y[100:])


@pytest.fixture(scope="session")
def hostile() -> Case:
    """Names that try to be code wherever a name may stand."""
    X, y = table(60, 20, 3)
    evil = HOSTILE + [f"gene {i}" for i in range(len(HOSTILE), 20)]
    X.columns = evil
    X.index = [f"<i onclick='window.hacked = 1'>{i}</i>" for i in range(60)]
    names = ["</title><script>window.hacked = 'class'</script>", "<style>*{display:none}", "c" * 300]
    y = np.array(names)[np.arange(60) % 3]
    model = SMFClassifier(2, xi=0.05, lam=1.0).fit(X[:40], y[:40])
    code = "</code><script>window.hacked = 'command'</script>"
    options = {
        "title": "<script>window.hacked = 'title'</script>",
        "target": "<img src=x onerror=\"window.hacked = 'target'\">",
        "markers": {evil[0]: "<svg onload=\"window.hacked = 'note'\">"},
        "baselines": {"<script>window.hacked = 'baseline'</script>": 0.5},
        "command": code,
        "notes": [code, "half a pair \ud800"],
    }
    return Case(model, X[:40], y[:40], X[40:], y[40:], options)


@pytest.fixture(scope="session")
def training_only() -> Case:
    """One factor, no held-out samples, nothing options."""
    X, y = table(50, 30, 2)
    return Case(SMFClassifier(1, model="feature", xi=0.1, lam=0.01).fit(X, y), X, y)


@pytest.fixture(scope="session")
def blocks_and_batches() -> Case:
    """Three blocks, one name of which tries to be code, and two confounders that are words."""
    X, y = table(90, 40, 3)
    X["batch <1>"] = np.array(["May", "June"])[np.arange(90) % 2]
    X["site"] = np.array(["Boston", "Kyoto", "<b>Rome</b>"])[np.arange(90) // 2 % 3]
    X.loc[X["batch <1>"] == "May", "gene 0"] += 4
    blocks = {"genes": slice(0, 20), HOSTILE[0]: slice(20, 30), "blood": slice(30, 35)}
    steps = [
        ("adjuster", Adjuster(["batch <1>", "site"])),
        ("scaler", StandardScaler()),
        ("blocks", BlockScaler(blocks)),
        ("smf", SMFClassifier(3)),
    ]
    return Case(Pipeline(steps).fit(X[:60], y[:60]), X[:60], y[:60], X[60:], y[60:])


def features(n=90, p=30, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((n, 2))
    X = F @ rng.standard_normal((2, p)) + rng.standard_normal((n, p))
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(p)], index=[f"sample {i}" for i in range(n)])
    return frame, F, rng


def numbers(shuffle=False):
    X, F, rng = features()
    y = 150 + 30 * F[:, 0] + 10 * rng.standard_normal(len(F))
    return X, rng.permutation(y) if shuffle else y


def times(shuffle=False):
    X, F, rng = features(150)
    time, end = rng.exponential(10 * np.exp(-F[:, 0])), rng.exponential(20, len(F))
    y = np.column_stack([time <= end, np.minimum(time, end)]).astype(float)
    return X, rng.permutation(y) if shuffle else y


def flags():
    X, F, rng = features(120)
    Y = (F @ [[2, -1, 0], [0, 1, 2]] + rng.standard_normal((120, 3)) > 0).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return X, pd.DataFrame(Y, columns=["ill", "relapse", "smoker"])


def survival(y):
    """As `SMFSurvival` takes it: a structured array is never taken the wrong way round."""
    return np.array([(e > 0, t) for e, t in y], dtype=[("event", bool), ("time", float)])


@pytest.fixture(scope="session")
def of_numbers() -> Case:
    X, y = numbers()
    return Case(SMFRegressor(2).fit(X, y), X, y)


@pytest.fixture(scope="session")
def of_several_numbers() -> Case:
    """Two targets, one of which has a name that tries to be code, and held-out samples."""
    X, y = numbers()
    Y = pd.DataFrame({HOSTILE[0]: y, "age": 2 * X["gene 3"].to_numpy()})
    return Case(SMFRegressor(2).fit(X[:60], Y[:60]), X[:60], Y[:60], X[60:], Y[60:])


@pytest.fixture(scope="session")
def of_times() -> Case:
    X, y = times()
    return Case(SMFSurvival(2).fit(X, survival(y)), X, survival(y))


@pytest.fixture(scope="session")
def of_flags() -> Case:
    X, Y = flags()
    return Case(SMFClassifier(2).fit(X, Y), X, Y)


CASES = ("two_classes", "many", "hostile", "training_only", "blocks_and_batches")
KINDS = ("of_numbers", "of_several_numbers", "of_times", "of_flags")


class Pages(dict):
    """A page of each case, by its name: written when it is first needed, since one takes seconds."""

    def __init__(self, case_named: Any, folder: Path):
        super().__init__()
        self.case_named, self.folder = case_named, folder

    def __missing__(self, name: str) -> Path:
        self[name] = self.case_named(name).write(self.folder / f"{name}.html")
        return self[name]


@pytest.fixture(scope="session")
def pages(request, tmp_path_factory) -> Pages:
    return Pages(request.getfixturevalue, tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="session")
def shuffled() -> Case:
    """Wide noise: in training the classes separate perfectly."""
    X, _ = table(60, 400, 2)
    X = X.sample(frac=1, random_state=0).reset_index(drop=True)
    y = np.random.default_rng(3).permutation(np.repeat(["ill", "well"], 30))
    model = scaled(n_components=2, xi=1e-3, lam=1.0).fit(X, y)
    assert model.score(X, y) == 1
    return Case(model, X, y)


class Window:
    """A window of the browser, and what the page in it said and asked for."""

    def __init__(self, browser: Any, **options: Any):
        self.page = browser.new_context(**options).new_page()
        self.page.set_default_timeout(5000)
        self.size = options["viewport"]
        self.said: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path) -> Window:
        self.page.set_viewport_size(self.size)
        self.page.emulate_media(media="screen")
        self.page.mouse.move(0, 0)
        self.said.clear()
        self.requests.clear()
        self.page.goto(path.as_uri())
        return self

    def tab(self, name: str) -> None:
        """Open a tab, without the time a mouse takes to get there."""
        self.page.evaluate(f"document.getElementById('{name}-tab').click()")

    @property
    def tabs(self) -> list[str]:
        return [link.get_attribute("href")[1:] for link in self.page.query_selector_all("#tabs a")]

    @property
    def tooltip(self) -> list[str]:
        """Its lines; none where it is hidden."""
        node = self.page.locator("#tooltip")
        return node.inner_text().split("\n") if node.is_visible() else []


@pytest.fixture(scope="session")
def opened(browser, pages):
    """opened("many", viewport=…): the page of a case, or a file, fresh in a window with these options."""
    windows: dict[str, Window] = {}  # opening one takes longer than most tests

    def open_page(page: str | Path, **options: Any) -> Window:
        options = {"viewport": {"width": 1400, "height": 900}} | options
        key = repr(sorted(options.items()))
        if key not in windows:
            windows[key] = Window(browser, **options)
        return windows[key].open(pages[page] if isinstance(page, str) else page)

    return open_page
