"""Colours and shapes of classes and lines; the page of a model (`superfactor.report`) has the same ones."""

from __future__ import annotations

from typing import Any

# Chosen by search for the largest smallest distance between two of them, for usual and for red-green blind
# eyes, with a contrast of at least 3 to white. tests/plotting/drawing/test_palette.py measures both.
COLORS = (
    "#00558A",  # blue
    "#DE770A",  # orange
    "#008C70",  # green
    "#E26D91",  # pink
    "#766B2B",  # olive
    "#149FD2",  # sky blue
    "#20201A",  # black
    "#9148CC",  # violet
    "#850543",  # wine
    "#722D01",  # brown
)
# One shape per class as well, so that a plot printed in grey shows the same.
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*", "h")
POSITIVE, NEGATIVE = "#1F6FB2", "#C4520A"  # the high and the low end of a factor
MUTED = ("#8A8F94", "#BFC3C7")  # high and low end of a background factor


def style(index: int) -> dict[str, Any]:
    """Colour and shape of class (or line) number `index`: no two of the first 60 are alike."""
    return {"color": COLORS[index % len(COLORS)], "marker": SHAPES[index % len(SHAPES)]}


def point_style(index: int, color: str | None = None) -> dict[str, Any]:
    """For `Axes.scatter`: with a darker edge; hollow where a colour is used again."""
    from matplotlib.colors import to_rgb

    usual, marker = style(index).values()
    color, again = color or usual, color is None and index >= len(COLORS)
    if again:
        return {"facecolor": "none", "edgecolor": color, "linewidth": 1.0, "marker": marker}
    edge = [0.6 * part for part in to_rgb(color)]
    return {"facecolor": color, "edgecolor": edge, "linewidth": 0.4, "marker": marker}
