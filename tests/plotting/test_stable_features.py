"""The plot of stable features: bars, marks and words are those of the table."""

import numpy as np
import pandas as pd
import pytest
from tests.plotting.drawing.texts import assert_readable
from tests.plotting.models import ODD_NAMES, wine

from superfactor.interpretation import StableFeatures, stable_features
from superfactor.plotting import StableFeaturesDisplay


def made(p=30, selected=4, names=None):
    share = np.linspace(1, 0.05, p)
    return StableFeatures(
        pd.DataFrame(
            {
                "feature": [f"gene {j}" for j in range(p)] if names is None else names,
                "share": share,
                "share_shuffled": np.linspace(0, 0.3, p),
                "selected": np.arange(p) < selected,
                "correlation": share,
                "low": share - 0.1,
                "high": share + 0.1,
            }
        ),
        n_top=5,
        n_pairs=50,
        threshold=0.8,
        expected_false=1.0,
        bound_without_assumption=2.0,
    )


def test_bars_ticks_and_line_are_those_of_the_table():
    found = made()
    display = StableFeaturesDisplay.from_stable_features(found, n=6)
    assert [bar.get_width() for bar in display.bars_] == list(found.table["share"][:6])
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == list(found.table["feature"][:6])
    tops = [bar.get_y() for bar in display.bars_]
    assert tops == sorted(tops, reverse=True)
    np.testing.assert_array_equal(display.shuffled_.get_xdata(), found.table["share_shuffled"][:6])
    assert set(display.threshold_.get_xdata()) == {0.8}
    assert display.figure_.get_suptitle().replace("\n", " ") == found.statement


def test_features_that_are_never_selected_are_not_shown():
    found = made()
    found.table.loc[3:, "share"] = 0.0
    display = StableFeaturesDisplay.from_stable_features(found)
    assert len(display.bars_) == 3
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["selected", "with shuffled labels"]
    found.table["share"] = 0.0
    assert len(StableFeaturesDisplay.from_stable_features(found).bars_) == 0


def test_from_a_model_as_from_its_features():
    X, y, model = wine()
    options = {"n_pairs": 2, "threshold": 1.0, "random_state": 1, "expected_false": 2}
    found = stable_features(model, X, y, **options)
    display = StableFeaturesDisplay.from_estimator(model, X, y, n=4, **options)
    pd.testing.assert_frame_equal(display.found.table, found.table)
    assert len(display.bars_) == 4


@pytest.mark.parametrize("names", [None, ODD_NAMES], ids=["plain", "odd"])
@pytest.mark.parametrize("n", [1, 12])
def test_words_stay_apart(names, n):
    display = StableFeaturesDisplay.from_stable_features(made(12, names=names), n=n)
    assert_readable(display.figure_)


def test_bad_options():
    X, y, model = wine()
    with pytest.raises(ValueError, match="n=0: an integer >= 1"):
        StableFeaturesDisplay.from_estimator(model, X, y, n=0)
    with pytest.raises(ValueError, match="n=0: an integer >= 1"):
        StableFeaturesDisplay.from_stable_features(made(), n=0)
