"""Names of points in columns at both sides of a plot, connected to their points, without overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.plotting.drawing import lettering

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 140.0  # largest width of a name in points
SHARE = 0.22  # largest share of the width for names at each side
SHARE_NARROW = 0.3  # the same in narrow axes
MARGIN = 12.0  # points between names and the farthest point
NARROW = 230.0  # in narrower axes (in points) letters are smaller
LINE = 0.17  # height of a name in inches in a new figure


def height_for(points: Any) -> float:
    """Return the height in inches of the names of these points (k, 2) at the side with more names."""
    left = int(np.sum(np.asarray(points)[:, 0] < 0))
    return LINE * max(left, len(points) - left)


def leave_room(ax: Axes, low: Any, high: Any, names: Sequence[str]) -> None:
    """Set limits around `low` and `high`, both (x, y), with space for names and equal scales."""
    box, size = ax.get_window_extent(), _size(ax)
    widest = max((lettering.text_width(lettering.on_one_line(name), size) for name in names), default=0.0)
    width = lettering.axes_width(ax)
    side = min(SHARE if width >= NARROW else SHARE_NARROW, (min(widest, ROOM) + MARGIN) / width)
    pixels = np.array([(1 - 2 * side) * box.width, box.height])
    middle, extent = (np.add(low, high)) / 2, np.subtract(high, low)
    reach = np.max(extent / pixels) * pixels / 2 / [1 - 2 * side, 1]
    ax.set_xlim(middle[0] - reach[0], middle[0] + reach[0])
    ax.set_ylim(middle[1] - reach[1], middle[1] + reach[1])


def draw_circle(ax: Axes, radius: float, **kwargs: Any) -> None:
    """Draw a thin circle around zero without changing the limits."""
    from matplotlib.patches import Circle

    ax.add_artist(Circle((0, 0), radius, fill=False, edgecolor="0.5", linewidth=0.8, zorder=0.4, **kwargs))


def name_points(ax: Axes, names: Sequence[str], points: Any, low: float, high: float) -> None:
    """Write names of points (k, 2) at both sides of the drawing, which extends from `low` to `high` in x.

    Points left of zero have their names at the left. Limits must be final.
    """
    points, (start, end) = np.asarray(points), ax.get_xlim()
    unit = lettering.axes_width(ax) / (end - start)
    for side, free in ((-1, low - start), (1, end - high)):
        mine = np.flatnonzero(np.where(points[:, 0] < 0, -1, 1) == side)
        room = min(ROOM, free * unit - MARGIN)
        _name_side(ax, side, [names[int(i)] for i in mine], points[mine], room)


def _size(ax: Axes) -> float:
    """Return the font size for axes of this width."""
    return lettering.SMALL if lettering.axes_width(ax) >= NARROW else 6.5


def _name_side(ax: Axes, side: int, names: list[str], points: Any, room: float) -> None:
    """Write names in a column at one side, in the order of the heights of their points, with lines to them.

    Lines start horizontally, so that none crosses a longer name. If a column is too short for all names, the
    letters are smaller; then points near the centre have no names.
    """
    tall, width = lettering.axes_height(ax), lettering.axes_width(ax)
    size = min(_size(ax), tall / max(len(names), 1) / lettering.LEADING)
    size = max(size, lettering.SMALLEST)
    most = int(tall / (size * lettering.LEADING) + 1e-9)
    kept = np.sort(np.argsort(-np.hypot(*points.T), kind="stable")[:most])
    names, points = [lettering.shorten(names[int(i)], room, size) for i in kept], points[kept]
    low, high = ax.get_ylim()
    edge = size * lettering.LEADING / 2 / tall
    gap = min(1.5 * size / tall, (1 - 2 * edge) / max(len(names) - 1, 1))
    widths = [lettering.text_width(name, size) / width + 0.005 for name in names]
    at = 0.99 if side > 0 else 0.01
    line: dict[str, Any] = {"color": "0.6", "linewidth": 0.5}
    for i, place in zip(*_apart((points[:, 1] - low) / (high - low), gap, edge), strict=True):
        ax.text(
            at,
            place,
            names[i],
            transform=ax.transAxes,
            ha="right" if side > 0 else "left",
            va="center",
            fontsize=size,
            parse_math=False,
        )
        own, joint = at - side * widths[i], at - side * max(widths)
        ax.plot([own, joint], [place, place], transform=ax.transAxes, **line)
        look: dict[str, Any] = {"arrowstyle": "-", "shrinkA": 0, "shrinkB": 1}
        start: dict[str, Any] = {"xytext": (joint, place), "textcoords": "axes fraction"}
        ax.annotate("", tuple(points[i]), **start, arrowprops=look | line)


def _apart(heights: Any, gap: float, edge: float) -> tuple[Any, Any]:
    """Return the ascending order of heights (k,), and places `gap` apart and `edge` from the ends."""
    order = np.argsort(heights, kind="stable")
    places = np.clip(heights[order], edge, 1 - edge)
    for k in range(1, len(places)):
        places[k] = max(places[k], places[k - 1] + gap)
    if len(places) and places[-1] > 1 - edge:  # move names down that are above the top
        places[-1] = 1 - edge
        for k in range(len(places) - 2, -1, -1):
            places[k] = min(places[k], places[k + 1] - gap)
    return order, places
