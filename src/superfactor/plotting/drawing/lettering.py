"""Names that fit: shortened, measured, and shown as they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 8.0  # points, for names and numbers
SMALLEST = 4.5  # points, where rows are low
LEADING = 1.25  # height of a line, in sizes of its letters
NAMES = 110.0  # points a name may take


def text_width(text: str, size: float = SMALL, weight: str = "normal") -> float:
    """Width in points, as it will be drawn."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    prop = FontProperties(size=size, weight=weight)
    width, _, _ = text_to_path.get_text_width_height_descent(text, prop, False)
    return float(width)


def on_one_line(name: str) -> str:
    """`name` without line breaks and tabs."""
    return " ".join(str(name).split())


def shorten(name: str, width: float, size: float = SMALL, weight: str = "normal") -> str:
    """`name` on one line, at most `width` points wide; an ellipsis stands for what is left out.

    The ends stay, since names of one family often differ in their last letters.
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
    """What each of the names is called in at most `width` points."""
    return {name: shorten(name, width, weight=weight) for name in set(names)}


def inches(names: Iterable[str], weight: str = "normal") -> float:
    """Width of the widest of these names."""
    return max((text_width(name, SMALL, weight) for name in names), default=0.0) / 72


def wrapped(sentences: Sequence[str], width: float, size: float = 9.0) -> str:
    """Each sentence on lines of its own, at most `width` inches long at this size in points."""
    # On a screen letters are moved to whole pixels, which makes long lines up to 6 % longer.
    points = 72 * width / 1.06
    return "\n".join(line for sentence in sentences for line in _lines(sentence, points, size))


def _lines(sentence: str, width: float, size: float) -> list[str]:
    """As many words on a line as `width` points hold, and one at least."""
    lines: list[str] = []
    for word in sentence.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def slot(ax: Any, columns: int) -> float:
    """Inches that a panel and its names have in the user's axes: their share of one, or one of many."""
    return axes_width(np.ravel(ax)[0]) / 72 / (columns if np.size(ax) == 1 else 1)


def room_for_names(ax: Any, columns: int) -> float:
    """Points a name may take: less than half a panel, where the user's axes set its width."""
    return NAMES if ax is None else min(NAMES, 0.45 * 72 * slot(ax, columns))


def axes_width(ax: Axes) -> float:
    """Points."""
    return 72 * float(ax.get_window_extent().width) / float(ax.figure.dpi)


def axes_height(ax: Axes) -> float:
    """Points."""
    return 72 * float(ax.get_window_extent().height) / float(ax.figure.dpi)


def name_rows(ax: Axes, places: Any, names: Sequence[str]) -> None:
    """Names (already short) as labels of the vertical axis, never read as formulas."""
    ax.set_yticks(places, labels=names, fontsize=SMALL, parse_math=False)
    ax.tick_params(axis="y", length=0)


def fit_rows(ax: Axes) -> None:
    """Make names smaller where rows are lower than a line, and leave some out where that is not enough.

    Height and limits of the axes are as they will stay. Other texts in the axes shrink with the names.
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
