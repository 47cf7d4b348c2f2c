"""Names that fit their space: measured, shortened, and shown literally."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 8.0  # points, for names and numbers
SMALLEST = 4.5  # points, for low rows
LEADING = 1.25  # height of a line, relative to the font size
NAMES = 110.0  # largest width of a name in points


def text_width(text: str, size: float = SMALL, weight: str = "normal") -> float:
    """Return the width in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    prop = FontProperties(size=size, weight=weight)
    width, _, _ = text_to_path.get_text_width_height_descent(text, prop, False)
    return float(width)


def on_one_line(name: str) -> str:
    """Return `name` without line breaks and tabs."""
    return " ".join(str(name).split())


def shorten(name: str, width: float, size: float = SMALL, weight: str = "normal") -> str:
    """Return `name` on one line, at most `width` points wide, with an ellipsis for the omitted part.

    Both ends are kept, because related names often differ in their last letters.
    """
    name = on_one_line(name)
    if text_width(name, size, weight) <= width:
        return name
    kept, most = 1, len(name) - 1
    while kept < most:
        middle = (kept + most + 1) // 2
        if text_width(_without_middle(name, middle), size, weight) <= width:
            kept = middle
        else:
            most = middle - 1
    return _without_middle(name, kept)


def _without_middle(name: str, kept: int) -> str:
    tail = kept // 3
    return f"{name[: kept - tail].rstrip()}…{name[len(name) - tail :].lstrip()}"


def short_names(names: Iterable[str], width: float, weight: str = "normal") -> dict[str, str]:
    """Return a short form of each name, at most `width` points wide."""
    return {name: shorten(name, width, weight=weight) for name in set(names)}


def inches(names: Iterable[str], weight: str = "normal") -> float:
    """Width of the widest of these names."""
    return max((text_width(name, SMALL, weight) for name in names), default=0.0) / 72


def wrapped(sentences: Sequence[str], width: float, size: float = 9.0) -> str:
    """Return each sentence in separate lines, at most `width` inches long at this size in points."""
    # On a screen, letters are aligned to pixels, which makes long lines up to 6 % longer.
    points = 72 * width / 1.06
    return "\n".join(line for sentence in sentences for line in _lines(sentence, points, size))


def _lines(sentence: str, width: float, size: float) -> list[str]:
    """Return lines of at most `width` points, with at least one word each."""
    lines: list[str] = []
    for word in sentence.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def slot(ax: Any, columns: int) -> float:
    """Return the width in inches of a panel with its names in the axes of the user."""
    return axes_width(np.ravel(ax)[0]) / 72 / (columns if np.size(ax) == 1 else 1)


def room_for_names(ax: Any, columns: int) -> float:
    """Return the largest width of a name in points: less than half a panel in the axes of the user."""
    return NAMES if ax is None else min(NAMES, 0.45 * 72 * slot(ax, columns))


def axes_width(ax: Axes) -> float:
    """Return the width in points."""
    return 72 * float(ax.get_window_extent().width) / float(ax.figure.dpi)


def axes_height(ax: Axes) -> float:
    """Return the height in points."""
    return 72 * float(ax.get_window_extent().height) / float(ax.figure.dpi)


def name_rows(ax: Axes, places: Any, names: Sequence[str]) -> None:
    """Set short names as literal labels of the vertical axis."""
    ax.set_yticks(places, labels=names, fontsize=SMALL, parse_math=False)
    ax.tick_params(axis="y", length=0)


def fit_rows(ax: Axes) -> None:
    """Make names smaller if rows are lower than a line, and omit some if that is not enough.

    Height and limits of the axes must be final. Other texts in the axes shrink with the names.
    """
    places = ax.get_yticks()
    if len(places) < 2:
        return
    low, high = ax.get_ylim()
    row = axes_height(ax) * float(np.diff(np.sort(places)).min() / abs(high - low))
    size = float(np.clip(row / LEADING, SMALLEST, SMALL))
    for text in ax.texts:
        text.set_fontsize(min(float(text.get_fontsize()), size))
    every = max(1, math.ceil(SMALLEST * LEADING / row - 1e-9))
    labels = ax.get_yticklabels()
    for label in labels:
        label.set_fontsize(size)
    if every > 1:
        names = ["" if k % every else label.get_text() for k, label in enumerate(labels)]
        ax.set_yticks(places, labels=names)
