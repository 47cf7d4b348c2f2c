from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import Circle
from tests.plotting.drawing.texts import assert_readable
from tests.plotting.models import ODD_NAMES, cancer, made_view, odd_frame, wine

from superfactor import SMFClassifier
from superfactor.interpretation import factor_view, held_out_scores
from superfactor.plotting import BiplotDisplay


def points_of(display):
    return np.concatenate([p.get_offsets() for p in display.samples.points_.values()])


@pytest.mark.parametrize("by", ["correlation", "weight"])
def test_arrows_are_correlations_on_one_scale_for_both_axes(by):
    X, y, model = wine()
    display = BiplotDisplay.from_estimator(model, X, y, n=4, factors=(1, 3), by=by, samples="training")
    view = factor_view(model)
    scores = np.concatenate([view.scores[y == name][:, [0, 2]] for name in np.unique(y)])
    np.testing.assert_allclose(points_of(display), scores, atol=1e-8)
    values = np.array([[np.corrcoef(X[name], view.scores[:, j])[0, 1] for name in X] for j in (0, 2)])
    if by == "weight":
        values = view.weights[[0, 2]] / np.abs(view.weights[[0, 2]]).max(axis=1, keepdims=True)
    expected = {i for row in values for i in np.argsort(-np.abs(row), kind="stable")[:4]}
    assert set(display.arrows_) == {view.features[i] for i in expected}
    for name, arrow in display.arrows_.items():
        i = list(view.features).index(name)
        _, end = arrow._posA_posB
        np.testing.assert_allclose(end, 0.9 * np.abs(scores).max() * values[:, i], atol=1e-7)


def test_one_unit_is_as_long_on_both_axes_and_a_circle_is_correlation_1():
    X, y, model = wine()
    display = BiplotDisplay.from_estimator(model, X, y)
    display.figure_.canvas.draw()
    unit = np.diff(display.ax_.transData.transform([[0, 0], [1, 1]]), axis=0)[0]
    assert unit[0] == pytest.approx(unit[1], rel=0.01)
    (circle,) = [a for a in display.ax_.patches if isinstance(a, Circle)]
    assert circle.radius == pytest.approx(0.9 * np.abs(display.samples.scores).max())
    # No arrow leaves it: the scores are uncorrelated, so that squares of correlations sum to 1 at most.
    ends = np.array([arrow._posA_posB[1] for arrow in display.arrows_.values()])
    assert np.all(np.hypot(*ends.T) <= circle.radius * (1 + 1e-9))


def test_samples_are_held_out_by_default():
    X, y, model = wine()
    display = BiplotDisplay.from_estimator(model, X, y)
    held = held_out_scores(model, X, y).scores
    expected = np.concatenate([held[y == name][:, :2] for name in np.unique(y)])
    np.testing.assert_allclose(points_of(display), expected)
    said = display.figure_.get_suptitle()
    assert "Held-out samples" in said and "Arrows: correlations" in said


def test_everything_drawn_is_within_the_axes():
    X, y, model = cancer()
    display = BiplotDisplay.from_estimator(model, X, y)
    (left, right), (low, high) = display.ax_.get_xlim(), display.ax_.get_ylim()
    for arrow in display.arrows_.values():
        x, y = arrow._posA_posB[1]
        assert left < x < right and low <= y <= high


@pytest.mark.parametrize("n", [1, 12])
def test_names_of_all_kinds_are_readable(n):
    X = odd_frame()
    y = np.array(["$healthy$ control with a very long class name", "_b"])[np.arange(60) % 2]
    model = SMFClassifier(3, max_iter=5, tol=0, certify=None).fit(X, y)
    display = BiplotDisplay.from_estimator(model, X, y, n=n)
    assert_readable(display.figure_)
    assert set(display.arrows_) <= set(ODD_NAMES)


def _lines_to_names(ax):
    """Places in pixels of the lines that join names to arrows, as many points of each."""
    ax.figure.canvas.draw()
    for note in ax.texts:
        if getattr(note, "arrow_patch", None) is not None:
            vertices = note.arrow_patch.get_path().vertices
            first, last = note.arrow_patch.get_transform().transform(vertices[[0, -1]])
            yield first + np.linspace(0, 1, 200)[:, None] * (last - first)


@pytest.mark.parametrize("own", [True, False])
def test_lines_cross_no_name_and_arrows_end_before_them(own):
    names = [f"x{j}" if j % 2 else f"a long name, no. {j}" for j in range(30)]
    view = made_view(2, p=30, names=names)
    crowded = view.correlations.copy()
    crowded[1] = 0.5 + 0.2 * crowded[1]  # names stand far from the heights of their arrows
    view = replace(view, correlations=crowded)
    ax = None if own else plt.subplots(figsize=(4.5, 3.5))[1]
    display = BiplotDisplay.from_estimator(view, n=12, ax=ax)
    ax = display.ax_
    points = np.concatenate([*_lines_to_names(ax)])
    ends = ax.transData.transform([arrow._posA_posB[1] for arrow in display.arrows_.values()])
    texts = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert len(texts) == len(display.arrows_) > 12
    for box in texts:
        inside = (points > [box.x0, box.y0 + 3]) & (points < [box.x1, box.y1 - 3])
        assert not inside.all(axis=1).any()
        room = 3 * ax.figure.dpi / 72
        near = (ends > [box.x0 - room, box.y0]) & (ends < [box.x1 + room, box.y1])
        assert not near.all(axis=1).any()


def test_the_users_axes_rotation_and_bad_input():
    X, y, model = cancer()
    _, ax = plt.subplots()
    display = BiplotDisplay.from_estimator(
        model, X, y, n=2, rotation="variance", positive="benign", samples="training", ax=ax
    )
    assert display.ax_ is ax
    assert not display.samples.ellipses_
    view = factor_view(model, rotation="variance", positive="benign")
    np.testing.assert_allclose(display.samples.scores, view.scores[:, :2], atol=1e-8)
    for arguments, line in [
        ({"factors": 1}, "factors=1: two factors are required"),
        ({"factors": (1, 9)}, r"factors=\(1, 9\): one or two integers"),
        ({"n": 0}, "n=0: an integer >= 1"),
        ({"by": "size"}, "by='size': 'correlation' or 'weight'"),
        ({"rotation": "promax"}, "rotation='promax'"),
        ({"positive": "cured"}, "positive='cured'"),
    ]:
        with pytest.raises(ValueError, match=line):
            BiplotDisplay.from_estimator(model, X, y, **arguments)
