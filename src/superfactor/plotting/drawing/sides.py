"""Names of points in columns at both sides of a plot, each joined to its point: none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.plotting.drawing import lettering

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 90.0  # points a name may take
SIDE = 0.22  # share of the width that names have at each side
MARGIN = 0.04  # share of the width between names and the farthest point
LINE = 0.17  # inches a name takes downwards


def height_for(points: Any) -> float:
    """Inches that the names of these points (k, 2) take at the fuller side."""
    left = int(np.sum(np.asarray(points)[:, 0] < 0))
    return LINE * max(left, len(points) - left)


def leave_room(ax: Axes, low: Any, high: Any) -> None:
    """Limits around `low` and `high`, both (x, y), with the sides for names, and one scale for both axes."""
    box = ax.get_window_extent()
    pixels = np.array([(1 - 2 * SIDE) * box.width, box.height])
    middle, extent = (np.add(low, high)) / 2, np.subtract(high, low)
    reach = np.max(extent / pixels) * pixels / 2 / [1 - 2 * SIDE, 1]
    ax.set_xlim(middle[0] - reach[0], middle[0] + reach[0])
    ax.set_ylim(middle[1] - reach[1], middle[1] + reach[1])


def draw_circle(ax: Axes, radius: float, **kwargs: Any) -> None:
    """A thin circle around zero that leaves the limits as they are."""
    from matplotlib.patches import Circle

    ax.add_artist(Circle((0, 0), radius, fill=False, edgecolor="0.5", linewidth=0.8, zorder=0.4, **kwargs))


def name_points(ax: Axes, names: Sequence[str], points: Any) -> None:
    """Names of points (k, 2), those left of zero at the left side; limits are as they will stay."""
    points = np.asarray(points)
    for side in (-1, 1):
        mine = np.flatnonzero(np.where(points[:, 0] < 0, -1, 1) == side)
        _name_side(ax, side, [names[int(i)] for i in mine], points[mine])


def _name_side(ax: Axes, side: int, names: list[str], points: Any) -> None:
    """Names in a column at one side, in the order of the heights of their points, joined to them.

    Lines leave the column level, so that none crosses a longer name above or below its own.
    """
    low, high = ax.get_ylim()
    heights = (points[:, 1] - low) / (high - low)
    tall = 72 * float(ax.get_window_extent().height) / float(ax.figure.dpi)
    gap = min(12.0 / tall, 0.96 / max(len(names), 1))
    width = lettering.axes_width(ax)
    names = [lettering.shorten(name, min(ROOM, (SIDE - MARGIN) * width)) for name in names]
    widths = [lettering.text_width(name) / width + 0.005 for name in names]
    at = 0.99 if side > 0 else 0.01
    line: dict[str, Any] = {"color": "0.6", "linewidth": 0.5}
    for i, place in zip(*_apart(heights, gap), strict=True):
        ax.text(
            at,
            place,
            names[i],
            transform=ax.transAxes,
            ha="right" if side > 0 else "left",
            va="center",
            fontsize=lettering.SMALL,
            parse_math=False,
        )
        own, edge = at - side * widths[i], at - side * max(widths)
        ax.plot([own, edge], [place, place], transform=ax.transAxes, **line)
        look: dict[str, Any] = {"arrowstyle": "-", "shrinkA": 0, "shrinkB": 1}
        start: dict[str, Any] = {"xytext": (edge, place), "textcoords": "axes fraction"}
        ax.annotate("", tuple(points[i]), **start, arrowprops=look | line)


def _apart(heights: Any, gap: float) -> tuple[Any, Any]:
    """The order of heights (k,) upwards, and places near them in [0.02, 0.98] that are `gap` apart."""
    order = np.argsort(heights, kind="stable")
    places = np.clip(heights[order], 0.02, 0.98)
    for k in range(1, len(places)):
        places[k] = max(places[k], places[k - 1] + gap)
    if len(places) and places[-1] > 0.98:  # push back down what has left at the top
        places[-1] = 0.98
        for k in range(len(places) - 2, -1, -1):
            places[k] = min(places[k], places[k + 1] - gap)
    return order, places
