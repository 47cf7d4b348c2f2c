"""What the figures share: colours, small print, panels of a given size, names that fit.

matplotlib is imported by those who draw: a list of the experiments should not wait for it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours of Okabe and Ito, suitable for colour-blind readers; the lightest come last.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
# One shape a line as well, so that a figure printed in grey says the same.
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "<")
POSITIVE, NEGATIVE = COLORS[0], COLORS[1]
SMALL = 8.0  # points, for names and numbers


def style(index: int) -> dict[str, Any]:
    """Colour and shape of line number `index`."""
    return {"color": COLORS[index % len(COLORS)], "marker": SHAPES[index % len(SHAPES)]}


def tidy(ax: Axes) -> None:
    """Only the two spines that carry a scale, and small print."""
    ax.xaxis.label.set_fontsize(9)
    ax.yaxis.label.set_fontsize(9)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL)


def name_rows(ax: Axes, places: Any, names: Sequence[str]) -> None:
    """Names as labels of the vertical axis, never read as formulas."""
    ax.set_yticks(places, labels=names, fontsize=SMALL, parse_math=False)
    ax.tick_params(axis="y", length=0)


def spread(
    shape: tuple[int, int],
    panel: tuple[float, float],
    gaps: tuple[float, float],
    edges: tuple[float, float, float, float],
) -> tuple[tuple[float, float], dict[str, float]]:
    """Size of a figure, and spacing of its grid, from lengths in inches.

    Parameters
    ----------
    shape : rows and columns of panels
    panel : width and height of a panel without its labels
    gaps : between columns, between rows
    edges : left, bottom, right, top
    """
    rows, columns = shape
    left, bottom, right, top = edges
    width = left + columns * panel[0] + (columns - 1) * gaps[0] + right
    height = bottom + rows * panel[1] + (rows - 1) * gaps[1] + top
    spacing = {
        "left": left / width,
        "right": 1 - right / width,
        "bottom": bottom / height,
        "top": 1 - top / height,
        "wspace": gaps[0] / panel[0],
        "hspace": gaps[1] / panel[1],
    }
    return (width, height), spacing


def caption(figure: Figure, sentences: Sequence[str]) -> None:
    """Each sentence on lines of its own, in the top left corner of a figure, as it is."""
    width, height = figure.get_size_inches()
    text = "\n".join(textwrap.fill(sentence, int(14.5 * width)) for sentence in sentences)
    look: dict[str, Any] = {"ha": "left", "va": "top", "fontsize": 9, "parse_math": False}
    figure.suptitle(text, x=0.01, y=1 - 0.08 / height, **look)


def shorten(name: str, most: int) -> str:
    """At most so many letters; the ends stay, since names of one family often differ in their last ones."""
    name = " ".join(str(name).split())
    tail = (most - 1) // 3
    return name if len(name) <= most else f"{name[: most - 1 - tail]}…{name[len(name) - tail :]}"


def percent(share: float) -> str:
    """A share as people write it: 44 %, 3.1 %, <0.1 %."""
    if share < 0.001:
        return "<0.1 %"
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"
