import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.plotting.models import made_view, wine

from superfactor.interpretation import Stability, stability, top_features
from superfactor.plotting import StabilityDisplay


def made(rank=3, n=2, shuffled="labels"):
    rng = np.random.default_rng(0)
    table = top_features(made_view(rank), n)
    table["frequency"] = rng.uniform(size=len(table))
    table["frequency_shuffled"] = rng.uniform(size=len(table))
    alike, chance = rng.uniform(size=(2, 7, rank))
    return Stability(table, alike, 7, similarity_shuffled=chance, shuffled=shuffled)


def test_bars_are_the_frequencies_of_the_features_beside_them():
    found = made()
    display = StabilityDisplay.from_stability(found)
    for j, (ax, bars) in enumerate(zip(display.axes_, display.bars_, strict=True)):
        rows = found.table[found.table["factor"] == j + 1]
        expected = dict(zip(rows["feature"], rows["frequency"], strict=True))
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert len(names) == 4
        assert {name: bar.get_width() for name, bar in zip(names, bars, strict=True)} == expected
        # As in the plot of factors: from the highest correlation on top to the lowest.
        order = rows.sort_values("correlation", ascending=False)["feature"]
        assert names == list(order)
        assert f"similarity {np.median(found.similarity[:, j]):.2f}" in ax.get_title()


@pytest.mark.parametrize("shuffled", ["labels", "outcomes"])
def test_hollow_marks_are_the_frequencies_with_shuffled_labels(shuffled):
    found = made(shuffled=shuffled)
    display = StabilityDisplay.from_stability(found)
    for j, (ax, marks) in enumerate(zip(display.axes_, display.marks_, strict=True)):
        rows = found.table[found.table["factor"] == j + 1].set_index("feature")
        places = dict(zip(ax.get_yticks(), ax.get_yticklabels(), strict=True))
        shown = {places[y].get_text(): x for x, y in marks.get_offsets()}
        assert shown == dict(rows["frequency_shuffled"])
        chance = np.median(found.similarity_shuffled[:, j])
        assert ax.get_title().endswith(f"(shuffled {shuffled} {chance:.2f})")
    (text,) = display.figure_.legends[0].get_texts()
    assert f"shuffled {shuffled}" in text.get_text()


def test_without_shuffles_there_are_no_marks():
    X, y, model = wine()
    display = StabilityDisplay.from_estimator(model, X, y, 2, n=2, shuffles=0)
    assert not display.figure_.legends
    assert not any("shuffled" in ax.get_title() for ax in display.axes_)


def test_from_a_model_as_from_its_stability():
    X, y, model = wine()
    options = {"n": 3, "fraction": 0.7, "by": "weight", "shuffles": 1, "random_state": 1}
    found = stability(model, X, y, 2, **options)
    display = StabilityDisplay.from_estimator(model, X, y, 2, **options)
    assert display.stability.n_resamples == 2
    np.testing.assert_array_equal(display.stability.similarity, found.similarity)
    shown = sorted(bar.get_width() for bars in display.bars_ for bar in bars)
    assert shown == sorted(found.table["frequency"])
    marks = sorted(x for marks in display.marks_ for x, _ in marks.get_offsets())
    assert marks == sorted(found.table["frequency_shuffled"])


def test_few_factors_and_the_users_axes():
    found = made(5)
    assert len(StabilityDisplay.from_stability(found, max_factors=2).axes_) == 2
    _, axes = plt.subplots(5)
    display = StabilityDisplay.from_stability(found, ax=axes, color="0.5")
    assert list(display.axes_) == list(axes)
    assert display.ax_ is axes[0]
    with pytest.raises(ValueError, match="ax: 5 axes for 3 panels"):
        StabilityDisplay.from_stability(found, ax=axes, max_factors=3)


def test_background_factors_are_named():
    X, y, model = wine()
    display = StabilityDisplay.from_estimator(model, X, y, 2, n=2, positive="class_2")
    names = [ax.get_title().split(":")[0] for ax in display.axes_]
    assert names == ["Factor 1", "Factor 2", "Background 3"]
    colors = {bar.get_facecolor() for bar in display.bars_[2]}
    assert colors != {bar.get_facecolor() for bar in display.bars_[0]}
