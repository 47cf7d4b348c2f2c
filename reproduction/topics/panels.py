"""Drawing of topics: the words of each as bars, coloured by the class they speak for; scores below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction import drawing
from reproduction.topics.models import Topics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "shown_topics", "top_words"]

WORDS = 8  # a panel
PANELS = 4  # a method
LEAST = 0.05  # weight of a word worth naming, the largest of a topic being 1
LONGEST = 18  # letters of a word


def draw(
    topics: dict[str, Topics], words: Any, table: Any, metrics: dict[str, str], caption: list[str]
) -> Figure:
    """A row of topics for each method, and a row of scores.

    Parameters
    ----------
    topics : by method
    words : (p,), names of the columns
    table : one row per score, with the columns method, covariates, metric and value
    metrics : titles of the score panels by metric
    caption : sentences for the top of the figure
    """
    from matplotlib.figure import Figure

    rows = len(topics) + 1
    size, spacing = drawing.spread(
        (rows, PANELS), panel=(1.25, 1.42), gaps=(1.3, 0.8), edges=(1.35, 0.45, 0.2, 1.2)
    )
    figure = Figure(figsize=size)
    grid = figure.add_gridspec(rows, PANELS, **spacing)
    for i, (method, found) in enumerate(topics.items()):
        for k, j in enumerate(shown_topics(found, PANELS)):
            ax = figure.add_subplot(grid[i, k])
            _draw_topic(ax, found, j, words)
            if k == 0:
                _row_title(figure, ax, method)
    for k, (metric, title) in enumerate(metrics.items()):
        ax = figure.add_subplot(grid[rows - 1, k])
        marks = _draw_scores(ax, table[table["metric"] == metric], names=k == 0)
        ax.set_title(title, fontsize=9, loc="left")
        if k == 0:
            height = _row_title(figure, ax, "Scores on held-out postings")
            look: dict[str, Any] = {"frameon": False, "fontsize": drawing.SMALL, "ncols": 2}
            place = (1.0, height)
            figure.legend(marks.values(), marks.keys(), loc="lower right", bbox_to_anchor=place, **look)
    drawing.caption(figure, caption)
    return figure


def shown_topics(topics: Topics, count: int) -> list[int]:
    """Positions of the topics that say most; without signs as many for as against the class."""
    total = len(topics.coef)
    if topics.signed or total <= count:
        return list(range(min(total, count)))
    return [*range(count - count // 2), *range(total - count // 2, total)]


def top_words(topics: Topics, j: int, count: int) -> list[int]:
    """Positions of the words of topic `j`, from the highest weight down; with two ends half of each.

    Words that hardly weigh, as at the lower end of a topic that has only one, are left out.
    """
    weights = np.where(np.abs(topics.weights[j]) >= LEAST, topics.weights[j], 0.0)
    order = np.argsort(-weights, kind="stable")
    half = count // 2 if topics.signed else count
    high, low = order[weights[order] > 0][:half], order[weights[order] < 0][-half:]
    return [int(i) for i in (*high, *low)]


def _draw_topic(ax: Axes, topics: Topics, j: int, words: Any) -> None:
    chosen = top_words(topics, j, WORDS)
    weights, coef = topics.weights[j, chosen], topics.coef[j]
    colors = [drawing.NEGATIVE if w * coef >= 0 else drawing.POSITIVE for w in weights]
    places = -np.arange(len(chosen), dtype=float)
    ax.barh(places, weights, height=0.72, color=colors)
    drawing.name_rows(ax, places, [drawing.shorten(words[i], LONGEST) for i in chosen])
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.set_ylim(0.5 - WORDS, 0.6)
    lowest = -1 if topics.signed else 0
    ax.set_xlim(1.05 * lowest, 1.05)
    ax.set_xticks([-1, 0, 1] if topics.signed else [0, 1])
    ax.set_title(f"coefficient {coef:+.2f}".replace("-", "−"), fontsize=9, loc="left")
    drawing.tidy(ax)
    ax.spines["left"].set_visible(False)


def _draw_scores(ax: Axes, table: Any, names: bool) -> dict[str, Any]:
    """Mean and standard deviation over the splits, a row for each method; what to put in a legend."""
    methods = list(dict.fromkeys(table["method"]))
    marks = {}
    for used, label, shift in ((False, "words alone", 0.16), (True, "with covariates", -0.16)):
        values = table[table["covariates"] == used].groupby("method", sort=False)["value"]
        mean, spread = values.mean(), values.std(ddof=0)
        heights = [-methods.index(method) + shift for method in mean.index]
        look = drawing.style(2 + used) | {"linestyle": "none", "elinewidth": 1, "markersize": 4}
        marks[label] = ax.errorbar(mean, heights, xerr=spread, **look)
    drawing.name_rows(ax, -np.arange(len(methods)), methods if names else [""] * len(methods))
    ax.set_ylim(0.5 - len(methods), 0.6)
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    drawing.tidy(ax)
    return marks


def _row_title(figure: Figure, ax: Axes, text: str) -> float:
    """Above the first panel of a row; returns how high."""
    height = float(ax.get_position().y1 + 0.26 / figure.get_figheight())
    figure.text(0.01, height, text, fontsize=10, fontweight="bold", va="bottom", parse_math=False)
    return height
