from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.plotting.models import ODD_NAMES, cancer, made_view, odd_frame, wine
from tests.plotting.texts import assert_readable

from superfactor import SMFClassifier
from superfactor.interpretation import factor_view
from superfactor.plotting import BiplotDisplay


def test_samples_stand_at_their_codes_and_arrows_point_along_the_weights():
    X, y, model = wine()
    display = BiplotDisplay.from_estimator(model, X, y, n=4, factors=(1, 3))
    view = factor_view(model)
    points = np.concatenate([p.get_offsets() for p in display.samples.points_.values()])
    codes = np.concatenate([view.codes[y == name][:, [0, 2]] for name in np.unique(y)])
    np.testing.assert_allclose(points, codes, atol=1e-8)
    reach = np.abs(codes).max(axis=0)
    expected = {i for j in (0, 2) for i in np.argsort(-np.abs(view.scaled[j]), kind="stable")[:4]}
    assert set(display.arrows_) == {view.features[i] for i in expected}
    for name, arrow in display.arrows_.items():
        i = list(view.features).index(name)
        _, end = arrow._posA_posB
        np.testing.assert_allclose(end, 0.9 * reach * view.scaled[[0, 2], i])


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


def test_many_features_are_readable():
    view = made_view(3)
    y = np.array(["class 0", "class 1"] * 20)
    assert_readable(BiplotDisplay.from_estimator(view, y=y, n=20).figure_)


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
    scaled = view.scaled.copy()
    scaled[1] = 0.8 + 0.2 * scaled[1]  # crowded: names stand far from the heights of their arrows
    view = replace(view, scaled=scaled)
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
        model, X, y, n=2, rotation="variance", positive="benign", ellipse=False, ax=ax
    )
    assert display.ax_ is ax
    assert not display.samples.ellipses_
    view = factor_view(model, rotation="variance", positive="benign")
    np.testing.assert_allclose(display.samples.codes, view.codes[:, :2], atol=1e-8)
    for arguments, line in [
        ({"factors": 1}, "factors=1: a biplot needs two factors"),
        ({"factors": (1, 9)}, r"factors=\(1, 9\): one or two integers"),
        ({"n": 0}, "n=0: an integer >= 1"),
        ({"rotation": "promax"}, "rotation='promax'"),
        ({"positive": "cured"}, "positive='cured'"),
    ]:
        with pytest.raises(ValueError, match=line):
            BiplotDisplay.from_estimator(model, X, y, **arguments)
