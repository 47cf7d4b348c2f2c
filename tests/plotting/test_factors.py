from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from tests.plotting.models import cancer, made_view, wine

from superfactor import SMFRegressor
from superfactor.interpretation import factor_view, top_features
from superfactor.plotting import FactorsDisplay
from superfactor.plotting.drawing.factor_panel import AGREES
from superfactor.plotting.drawing.palette import MUTED, NEGATIVE, POSITIVE


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def extremes(values, n):
    """Positions of the n largest positive and the n smallest negative values, descending."""
    order = np.argsort(-values)
    high = [i for i in order[:n] if values[i] > 0]
    low = [i for i in order[-n:] if values[i] < 0]
    return high + low


def lengths(container):
    return np.array([bar.get_width() for bar in container])


def marks(ax):
    """Positions (k, 2) of the circles, and of the crosses, beside the bars."""
    found = {"o": np.empty((0, 2)), "X": np.empty((0, 2))}
    for points in ax.collections:
        if len(points.get_sizes()):
            found["o" if points.get_sizes()[0] == AGREES["s"] else "X"] = points.get_offsets()
    return np.asarray(found["o"]), np.asarray(found["X"])


@pytest.mark.parametrize(("n", "by"), [(1, "weight"), (5, "correlation"), (20, "weight")])
def test_bars_are_correlations_or_weights_of_the_features_beside_them(n, by):
    X, _, model = cancer()
    view = factor_view(model)
    values = view.correlations
    if by == "weight":
        values = view.weights / np.abs(view.weights).max(axis=1, keepdims=True)
    display = FactorsDisplay.from_estimator(model, n=n, by=by)
    assert display.axes_.shape == (1, 3)
    for j in range(3):
        expected = extremes(values[j], n)
        found = lengths(display.bars_[0, j])
        np.testing.assert_allclose(found, values[j][expected])
        assert labels(display.axes_[0, j])[1:] == [X.columns[i] for i in expected]
        # From the top down, each beside its own label.
        middles = [bar.get_y() + bar.get_height() / 2 for bar in display.bars_[0, j]]
        steps, turns = -np.diff(middles), np.diff(np.sign(found)) != 0
        assert np.allclose(steps[~turns], 1) and np.all(steps[turns] > 1.3)  # apart, where the end changes
        np.testing.assert_allclose(middles, display.axes_[0, j].get_yticks()[1:])


@pytest.mark.parametrize("by, other", [("correlation", "weight"), ("weight", "correlation")])
def test_the_other_value_is_a_mark(by, other):
    _, _, model = cancer()
    display = FactorsDisplay.from_estimator(model, n=30, by=by)
    table = top_features(model, 30, by=by)
    for j, ax in enumerate(display.axes_[0]):
        rows = table[table["factor"] == j + 1].set_index("feature")
        where = dict(zip(ax.get_yticks(), labels(ax), strict=True))
        for points, against in zip(marks(ax), (False, True), strict=True):
            found = {where[y]: x for x, y in points}
            expected = rows[rows["disagrees"] == against][other]
            assert set(found) == set(expected.index)
            np.testing.assert_allclose([found[name] for name in expected.index], expected)
        assert (rows[by] * rows[other] < 0).equals(rows["disagrees"])
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert any(text.startswith(other) for text in texts)
    assert f"{other} with the opposite sign of the {by}" in texts
    assert table["disagrees"].any()


def test_coefficients_are_written_and_drawn_above_the_features():
    _, _, model = wine()
    view = factor_view(model)
    display = FactorsDisplay.from_estimator(model)
    largest = np.abs(view.coef).max()
    for j, ax in enumerate(display.axes_[0]):
        assert labels(ax)[:3] == list(view.outputs) == list(view.classes)
        bars = ax.containers[0]
        np.testing.assert_allclose(lengths(bars), view.coef[:, j] / largest)
        assert min(bar.get_y() for bar in bars) > max(bar.get_y() for bar in display.bars_[0, j])
        written = [float(text.get_text().replace("−", "-")) for text in ax.texts]
        np.testing.assert_allclose(written, view.coef[:, j], atol=0.006 * largest)


def test_a_coefficient_has_three_digits():
    written = {1234.0: "+1234", 55.34: "+55.3", -2.0: "−2.00", 0.0123: "+0.0123", 1e-12: "+0.00000000000100"}
    for coef, text in (written | {0.0: "0"}).items():
        view = made_view(1, p=4)
        view.coef[...] = coef
        assert FactorsDisplay(view).plot().axes_[0, 0].texts[0].get_text() == text


def test_titles_have_share_and_number():
    view = made_view(3)
    view.share[...] = 0.4412, 0.0312, 0.0001
    titles = [ax.get_title() for ax in FactorsDisplay(view).plot().axes_[0]]
    assert titles == [
        "Factor 1: 44 % of variance",
        "Factor 2: 3.1 % of variance",
        "Factor 3: <0.1 % of variance",
    ]


def test_the_second_row_is_the_svd_of_the_same_data():
    X, y, model = cancer()
    display = FactorsDisplay.from_estimator(model, X, y, n=4)
    assert display.axes_.shape == (2, 3)
    titles = ["supervised (filter)", "unsupervised (SVD)"]
    assert [ax.get_ylabel() for ax in display.axes_.T.ravel()] == titles + [""] * 4
    standard = ((X - X.mean()) / X.std(ddof=0)).to_numpy()
    scores = np.linalg.svd(standard, full_matrices=False)[0][:, :3]
    correlations = np.corrcoef(scores.T, standard.T)[:3, 3:]
    found = []
    for j in range(3):
        features = labels(display.axes_[1, j])[1:]
        width = lengths(display.bars_[1, j])
        shown = correlations[:, [X.columns.get_loc(name) for name in features]]
        distance = np.minimum(np.abs(shown - width), np.abs(shown + width)).max(axis=1)
        found.append(int(np.argmin(distance)))
        assert distance.min() < 1e-6
    assert sorted(found) == [0, 1, 2]


def test_each_svd_factor_is_below_the_matched_one():
    view = made_view(5)
    order, signs = [3, 0, 4, 2, 1], np.array([1.0, -1, -1, 1, -1])
    other = replace(
        view,
        weights=view.weights[order] * signs[:, None],
        correlations=view.correlations[order] * signs[:, None],
        coef=view.coef[:, order] * signs,
        share=view.share[order],
        model="svd",
        supervised=False,
    )
    display = FactorsDisplay(view, unsupervised=other).plot(max_factors=3)
    assert display.axes_.shape == (2, 3)
    for j, number in enumerate([2, 5, 4]):
        upper, lower = display.axes_[:, j]
        assert upper.get_title().startswith(f"Factor {j + 1}: ")
        share = upper.get_title().split(": ")[1]
        assert lower.get_title() == f"SVD factor {number}, similarity 1.00:\n{share}"
        assert labels(upper) == labels(lower)
        widths = [[bar.get_width() for bar in bars] for bars in display.bars_[:, j]]
        np.testing.assert_array_equal(*widths)
    assert "matched to the one above" in display.figure_.get_suptitle()


def test_a_factor_without_partner_has_an_empty_place():
    view = made_view(3)
    rows = {
        name: getattr(view, name)[[2]]
        for name in ("weights", "correlations", "patterns", "share", "contribution")
    }
    columns = {name: getattr(view, name)[:, [2]] for name in ("coef", "scores", "turn")}
    few = replace(view, **rows, **columns)
    display = FactorsDisplay(view, unsupervised=few).plot()
    assert [ax is None for ax in display.axes_[1]] == [True, True, False]
    assert labels(display.axes_[1, 2]) == labels(display.axes_[0, 2])


def test_what_is_shown():
    X, y, model = wine()
    assert FactorsDisplay.from_estimator(model, X, y, compare=False).axes_.shape == (1, 3)
    few = FactorsDisplay.from_estimator(model, X, y, max_factors=2, color="black", height=0.5)
    assert few.axes_.shape == (2, 2) and "The first 2 of 3 factors" in few.figure_.get_suptitle()
    bar = few.bars_[0, 0][0]
    assert (to_hex(bar.get_facecolor()), bar.get_height()) == ("#000000", 0.5)
    numbers = X["alcohol"].to_numpy()
    shown = FactorsDisplay.from_estimator(SMFRegressor(1, model="feature").fit(X, numbers))
    assert labels(shown.axes_[0, 0])[0] == "y"
    assert "change of the prediction" in shown.figure_.get_suptitle()


def test_rotation_reaches_both_rows():
    X, y, model = cancer()
    view = factor_view(model, rotation="varimax")
    display = FactorsDisplay.from_estimator(model, X, y, rotation="varimax", n=30, max_factors=1)
    np.testing.assert_allclose(sorted(lengths(display.bars_[0, 0])), sorted(view.correlations[0]))
    plain = FactorsDisplay.from_estimator(model, X, y, n=30, max_factors=1)
    turned = [bar.get_width() for bar in display.bars_[1, 0]]
    assert not np.allclose(turned, [bar.get_width() for bar in plain.bars_[1, 0]])


def test_known_markers_are_boxed_and_carry_their_note():
    _, _, model = cancer()
    name = labels(FactorsDisplay.from_estimator(model).axes_[0, 0])[1]
    display = FactorsDisplay.from_estimator(model, markers={name: "seen before", "unknown": "?"})
    ax = display.axes_[0, 0]
    boxed = [label.get_text() for label in ax.get_yticklabels() if label.get_bbox_patch()]
    assert boxed == [name]
    assert ax.texts[-1].get_text() == "seen before"
    # Beside the bar, not on it.
    assert ax.texts[-1].xyann[0] * display.bars_[0, 0][0].get_width() < 0


def test_notes_stand_clear_of_marks_on_their_side():
    view = made_view(1, p=8)
    view.correlations[0] = np.linspace(0.9, 0.2, 8)
    view.weights[0] = np.linspace(-1.0, 0.1, 8)
    display = FactorsDisplay(view, n=8, markers=dict.fromkeys(view.features, "a long note " * 9)).plot()
    display.figure_.canvas.draw()
    ax = display.axes_[0, 0]
    crosses = ax.transData.transform(marks(ax)[1])
    assert len(crosses) == 7
    for text in ax.texts[1:]:
        box = text.get_window_extent()
        inside = (crosses > [box.x0 - 2, box.y0]) & (crosses < [box.x1 + 2, box.y1])
        assert "…" in text.get_text() and not inside.all(axis=1).any()


@pytest.mark.parametrize("rank", [2, 5])
def test_the_grid_wraps_and_the_figure_grows(rank):
    display = FactorsDisplay(made_view(rank)).plot()
    lefts = {round(ax.get_position().x0, 6) for ax in display.axes_[0]}
    tops = {round(ax.get_position().y0, 6) for ax in display.axes_[0]}
    assert (len(lefts), len(tops)) == {2: (2, 1), 5: (3, 2)}[rank]
    height = display.axes_[0, 0].get_position().height * display.figure_.get_figheight()
    assert height > 11 * 0.15  # eleven bars, however many panels


def test_in_the_users_axes():
    view = made_view(3)
    figure, axes = plt.subplots(1, 2, figsize=(12, 4))
    display = FactorsDisplay(view).plot(axes[0])
    assert display.figure_ is figure
    assert all(ax.get_position().x1 <= axes[0].get_position().x1 + 1e-9 for ax in display.axes_[0])
    _, axes = plt.subplots(3, 1)
    display = FactorsDisplay(view).plot(axes)
    assert list(display.axes_[0]) == list(axes)
    _, ax = plt.subplots()
    assert FactorsDisplay(view).plot(ax, max_factors=1).axes_[0, 0] is ax


def test_bad_input_is_named_in_one_line():
    X, y, model = cancer()
    view = made_view(3)
    _, two = plt.subplots(1, 2)
    free = plt.figure().add_axes((0, 0, 1, 1))
    for call, line in [
        (lambda: FactorsDisplay.from_estimator(model, X), "y=None, but X is given"),
        (lambda: FactorsDisplay.from_estimator(model, y=y), "X=None, but y is given"),
        (lambda: FactorsDisplay.from_estimator(model, n=0), "n=0: an integer >= 1"),
        (lambda: FactorsDisplay.from_estimator(model, rotation="oblimin"), "rotation='oblimin'"),
        (lambda: FactorsDisplay.from_estimator(model, by="size"), "by='size': 'correlation' or"),
        (lambda: FactorsDisplay(view).plot(max_factors=0), "max_factors=0: an integer >= 1"),
        (lambda: FactorsDisplay(view).plot(two), "ax: 2 axes for 3 panels"),
        (lambda: FactorsDisplay(view).plot(free), "ax: axes made by plt.subplots"),
    ]:
        with pytest.raises(ValueError, match=line) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_background_factors_are_named_and_grey():
    X, y, model = cancer()
    display = FactorsDisplay.from_estimator(model, X, y, positive="benign")
    titles = [ax.get_title() for ax in display.axes_[0]]
    assert [title.split(":")[0] for title in titles] == ["Factor 1", "Background 2", "Background 3"]
    assert {to_hex(bar.get_facecolor()).upper() for bar in display.bars_[0, 1]} == set(MUTED)
    assert {to_hex(bar.get_facecolor()).upper() for bar in display.bars_[0, 0]} == {POSITIVE, NEGATIVE}
    assert "log-odds of “benign”" in display.figure_.get_suptitle()
    said = display.figure_.get_suptitle()
    assert "Grey bars: background, which adds nothing to the prediction beyond factor 1." in said
    assert labels(display.axes_[0, 0])[0] == "benign"


def test_the_text_about_background_factors():
    for contribution, said in (
        ([0.6, 0.005, 0.3], "adds less than 1 % to the prediction beyond factors 1 and 3."),
        ([0.0, 0.0, 0.0], "adds nothing to the prediction, and no factor does."),
    ):
        view = replace(made_view(3, p=4), contribution=np.array(contribution))
        assert said in FactorsDisplay(view).plot().figure_.get_suptitle()
