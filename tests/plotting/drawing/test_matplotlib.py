"""A guest in other people's figures: nothing imported early, shown, or set for good."""

import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.plotting.models import made_view

from superfactor.interpretation import Stability, top_features
from superfactor.plotting import (
    BiplotDisplay,
    ConvergenceDisplay,
    CorrelationCircleDisplay,
    CVSurfaceDisplay,
    FactorsDisplay,
    HeatmapDisplay,
    SamplesDisplay,
    ScreeDisplay,
    StabilityDisplay,
)
from superfactor.selection import scree


def displays():
    view = made_view(2)
    table = top_features(view, 2)
    table["frequency"] = 0.5
    params = [{"xi": 1.0, "lam": lam, "n_components": 2, "model": "filter"} for lam in (1.0, 2.0)]
    results = {"params": params, "mean_test_score": [0.5, 0.6], "std_test_score": [0.1, 0.1]}
    return {
        "factors": FactorsDisplay(view),
        "samples": SamplesDisplay(view.scores, factors=["a", "b"]),
        "biplot": BiplotDisplay(SamplesDisplay(view.scores, factors=["a", "b"]), [[0.5, 0.1]], ["gene"]),
        "circle": CorrelationCircleDisplay(view.correlations.T, view.features, factors=["a", "b"]),
        "heatmap": HeatmapDisplay(view.correlations, ["gene 1", "gene 2"]),
        "scree": ScreeDisplay(scree(np.eye(4) + 1)),
        "convergence": ConvergenceDisplay({"": {"objective": [3.0, 2.0, 1.0], "seconds": [1, 2, 3]}}),
        "search": CVSurfaceDisplay(results, 0),
        "stability": StabilityDisplay(Stability(table, np.ones((1, 2)), 1)),
    }


@pytest.mark.parametrize("name", list(displays()))
def test_a_display_makes_one_figure_and_keeps_the_settings(name, monkeypatch):
    def show(*args, **kwargs):
        raise AssertionError("plt.show was called")

    monkeypatch.setattr(plt, "show", show)
    before = dict(matplotlib.rcParams)
    display = displays()[name]
    assert plt.get_fignums() == []  # nothing happens before plot
    assert display.plot() is display
    assert plt.get_fignums() == [display.figure_.number]
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("name", list(displays()))
def test_without_matplotlib_the_error_names_the_extra(name, monkeypatch):
    display = displays()[name]
    for module in [key for key in sys.modules if key.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "superfactor\[plot\]"') as caught:
        display.plot()
    assert "\n" not in str(caught.value)
