"""Colours and shapes of classes are told apart, and the page of a model has the same ones."""

import re
from importlib.resources import files

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.datasets import load_digits
from tests.colours import SEEN, contrast, nearest, parts
from tests.plotting.models import made_view

from superfactor.plotting import HeatmapDisplay, SamplesDisplay
from superfactor.plotting.drawing.palette import COLORS, NEGATIVE, POSITIVE, style

CSS = (files("superfactor.report") / "assets" / "page.css").read_text(encoding="utf-8")


@pytest.mark.parametrize("eyes", SEEN)
def test_ten_colours_differ_for_usual_and_for_red_green_blind_eyes(eyes):
    assert len(COLORS) == 10
    assert nearest(COLORS, eyes) > (25 if eyes == "usual" else 12)
    assert nearest([POSITIVE, NEGATIVE], eyes) > 40


def test_marks_stand_out_on_white():
    white = np.full(3, 255)
    assert min(contrast(parts(color), white) for color in (*COLORS, POSITIVE, NEGATIVE)) >= 3


def test_the_page_has_the_same_colours():
    light = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}),", CSS))
    assert tuple(light[f"class-{k}"].upper() for k in range(10)) == COLORS
    assert (light["high"].upper(), light["low"].upper()) == (POSITIVE, NEGATIVE)


def test_no_two_of_60_classes_look_alike():
    assert len({tuple(style(k).values()) for k in range(60)}) == 60


def test_the_ten_digits_have_ten_colours_in_every_plot_of_classes():
    X, digits = (part[:150] for part in load_digits(return_X_y=True))
    y, classes = digits.astype(str), [str(k) for k in range(10)]
    samples = SamplesDisplay(made_view(2, n=150).scores, y, factors=["1", "2"], classes=classes).plot()
    shown = [to_hex(points.get_facecolor()[0]).upper() for points in samples.points_.values()]
    assert tuple(shown) == COLORS
    heat = HeatmapDisplay(X[:, 20:24].T, ["a", "b", "c", "d"], y, classes).plot()
    (legend,) = [ax.get_legend() for ax in heat.ax_.child_axes if ax.get_legend()]
    assert tuple(to_hex(patch.get_facecolor()).upper() for patch in legend.get_patches()) == COLORS
