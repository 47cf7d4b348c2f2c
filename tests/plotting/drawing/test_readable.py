"""Text stays on the page and apart: few and many factors, classes, features; names of all kinds."""

from dataclasses import replace

import numpy as np
import pytest
from tests.plotting.drawing.texts import assert_readable
from tests.plotting.models import ODD_NAMES, made_view, odd_frame

from superfactor import SMFClassifier
from superfactor.interpretation import Stability, top_features
from superfactor.plotting import (
    CVSurfaceDisplay,
    FactorsDisplay,
    SamplesDisplay,
    ScreeDisplay,
    StabilityDisplay,
)
from superfactor.selection import scree

LABELS = np.array(["$healthy$ control with a very long class name", "_b", "type 2\ndiabetes", "d"])


@pytest.mark.parametrize("rank, n, outputs", [(1, 1, 1), (2, 12, 2), (5, 2, 9)])
def test_factors_with_those_of_svd(rank, n, outputs):
    view = made_view(rank, outputs=outputs)
    other = replace(made_view(rank, outputs=outputs, seed=1), model="svd", supervised=False)
    assert_readable(FactorsDisplay(view, unsupervised=other, n=n).plot().figure_)


def test_factors_of_odd_names():
    view = made_view(3, p=len(ODD_NAMES), outputs=3, names=ODD_NAMES)
    view = replace(view, classes=tuple(LABELS), outputs=tuple(LABELS[1:]))
    markers = {name: f"a note on {name}" for name in ODD_NAMES[::2]}
    display = FactorsDisplay(view, markers=markers).plot()
    assert_readable(display.figure_)
    shown = {label.get_text() for ax in display.axes_.ravel() for label in ax.get_yticklabels()}
    assert {"_hidden", "$x_1$ and $y$", "two lines and a tab", "x"} & shown
    assert any("…" in name for name in shown)


@pytest.mark.parametrize("rank, n", [(1, 1), (3, 12)])
def test_stability(rank, n):
    table = top_features(made_view(rank), n)
    table["frequency"] = np.linspace(0, 1, len(table))
    table["frequency_shuffled"] = np.linspace(0, 0.5, len(table))
    alike = np.full((5, rank), 0.876)
    found = Stability(table, alike, 5, similarity_shuffled=alike)
    assert_readable(StabilityDisplay(found).plot().figure_)


@pytest.mark.parametrize(("factors", "classes"), [((1, 2), 4), ((1,), 10), ((1, 2), 30)])
def test_samples(factors, classes):
    X = odd_frame()
    names = np.array([*LABELS, *(f"class number {k}" for k in range(4, classes))][:classes])
    y = names[np.arange(len(X)) % classes]
    model = SMFClassifier(2, max_iter=5, tol=0, certify=None).fit(X, y)
    display = SamplesDisplay.from_estimator(model, X, y, factors=factors, samples="training")
    assert_readable(display.figure_)


@pytest.mark.parametrize("k", [1, 50])
def test_scree(k):
    X = np.random.default_rng(0).standard_normal((80, k)) * np.arange(k, 0, -1)
    assert_readable(ScreeDisplay(scree(X), n_components=min(k, 2)).plot().figure_)


@pytest.mark.parametrize(
    "xi, lam, ranks",
    [
        ([1.0, 10.0], [0.0, 1.0], [3]),
        (np.logspace(-4, 2, 3), np.logspace(-5, 3, 3), [1, 2, 10, 20]),
        (np.logspace(-4, 2, 14), [0, *np.logspace(-4, 2, 14)], [2]),
        ([0.1, 0.11, 0.12, 5.0, 1000.0], [1.0, 2.0], [2, 3]),
        ([1.0], np.logspace(-9, 9, 40), [2, 3, 4]),
        ([1.0], [1.0], list(range(1, 41))),
        ([1.0], [1.0], [3]),
    ],
    ids=["2x2", "eight panels", "14x15", "uneven", "line", "ranks", "point"],
)
def test_search(xi, lam, ranks):
    models = ["filter", "feature"] if len(ranks) > 3 else ["filter"]
    params = [
        {"xi": a, "lam": b, "n_components": r, "model": m}
        for m in models
        for r in ranks
        for a in xi
        for b in lam
    ]
    scores = np.linspace(0.5, 0.9123, len(params))
    results = {"params": params, "mean_test_score": scores, "std_test_score": 0.1 * scores}
    assert_readable(CVSurfaceDisplay(results, len(params) // 2).plot().figure_)
