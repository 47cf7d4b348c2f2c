"""Figures, panels, captions and legends; matplotlib is optional and imported inside functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.interpretation import FactorView
from superfactor.interpretation.roles import beyond, roles
from superfactor.interpretation.tables import check_count
from superfactor.outcomes.reading import ShownSamples
from superfactor.plotting.drawing import lettering
from superfactor.plotting.drawing.lettering import (
    SMALL,
    axes_height,
    axes_width,
    shorten,
    text_width,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

ROW = 0.17  # height of a bar in inches
TITLE = 0.62  # inches between rows of panels
NARROW = 230.0  # in narrower axes (in points) the caption is smaller


def pyplot() -> Any:
    """Return `matplotlib.pyplot`, or raise an error that names the extra to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'plots require matplotlib, which is not installed: pip install "superfactor[plot]"'
        ) from error
    return plt


def single(ax: Axes | None, size: tuple[float, float] = (6.0, 4.0)) -> Axes:
    """Return the axes to draw in: those of the user, or of a new figure of `size` inches."""
    plt = pyplot()
    if ax is not None:
        return ax
    _, made = plt.subplots(figsize=size, layout="constrained")
    return made  # type: ignore[no-any-return]


def panels(
    ax: Any,
    cells: Sequence[tuple[int, int]],
    size: tuple[float, float],
    spacing: dict[str, float] | None = None,
    names: float = 0.0,
) -> np.ndarray:
    """Return one axes for each (row, column) of `cells`, as an array (len(cells),).

    `ax` is None for a new figure of `size` inches, axes that the grid replaces, or as many axes as cells.
    Without `spacing` (from `spread`), matplotlib computes one, which is slow for many panels. If the grid
    replaces axes of a figure without a layout engine, names at the left of a panel have `names` inches.
    """
    plt = pyplot()
    from matplotlib.axes import Axes

    if len(cells) == 1 and isinstance(ax, Axes):
        return np.array([ax], dtype=object)
    shape = extent(cells)
    if ax is None:
        figure = plt.figure(figsize=size, layout=None if spacing else "constrained")
        grid = figure.add_gridspec(*shape, **spacing or {})
    elif isinstance(ax, Axes):
        place = ax.get_subplotspec()
        if place is None:
            raise ValueError(
                "ax: axes made by plt.subplots or add_subplot are required, because several panels replace "
                "them in their grid"
            )
        figure = ax.figure
        ax.set_axis_off()
        if figure.figure.get_layout_engine() is None:
            cells = [(row, 2 * column + 1) for row, column in cells]
            grid = _grid_with_names(ax, place, shape, names)
        else:
            grid = place.subgridspec(*shape)
    else:
        given = np.asarray(ax, dtype=object).ravel()
        if len(given) != len(cells):
            raise ValueError(
                f"ax: {len(given)} axes for {len(cells)} panels; None, one axes or {len(cells)} axes "
                "are required"
            )
        return given
    made = np.empty(len(cells), dtype=object)
    for k, cell in enumerate(cells):
        made[k] = figure.add_subplot(grid[cell])
    return made


def _grid_with_names(ax: Axes, place: Any, shape: tuple[int, int], names: float) -> Any:
    """Return a grid in place of axes, with `names` inches before each column and titles between rows."""
    rows, columns = shape
    wide, tall = axes_width(ax) / 72 / columns, axes_height(ax) / 72
    names = min(names, 0.6 * wide)
    between = min(TITLE, 0.5 * tall / rows)
    widths = [names, wide - names] * columns
    hspace = between / ((tall - (rows - 1) * between) / rows)
    return place.subgridspec(rows, 2 * columns, width_ratios=widths, wspace=0, hspace=hspace)


def spread(
    cells: Sequence[tuple[int, int]],
    panel: tuple[float, float],
    gaps: tuple[float, float],
    edges: tuple[float, float, float, float],
) -> tuple[tuple[float, float], dict[str, float]]:
    """Return the size of a figure and the spacing of its grid, from lengths in inches.

    `panel` is (width, height) without labels, `gaps` (between columns, between rows), `edges` (left, bottom,
    right, top).
    """
    rows, columns = extent(cells)
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


def one_panel(ax: Any, panel: tuple[float, float], edges: tuple[float, float, float, float]) -> Any:
    """Return the axes of the user, or those of a new figure with these inches for the panel and its edges."""
    size, spacing = spread([(0, 0)], panel, (0.0, 0.0), edges)
    return panels(ax, [(0, 0)], size, spacing)[0]


def hatched_bars(ax: Axes, places: Any, lengths: Any, plain: Any, colors: Any, kwargs: Any) -> BarContainer:
    """Draw horizontal bars, in the first colour where `plain`, else in the second colour and hatched."""
    look: dict[str, Any] = {"height": 0.72, "edgecolor": "white", "linewidth": 0}
    look |= {"color": np.where(plain, *colors), "hatch": np.where(plain, "", "////")}
    return ax.barh(places, lengths, **look | kwargs)


def extent(cells: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the numbers of rows and columns."""
    rows, columns = (1 + max(numbers) for numbers in zip(*cells, strict=True))
    return rows, columns


def title_panel(panel: Axes, title: str, width: float) -> None:
    """Set a title in lines of at most `width` inches, broken after a colon first."""
    if max(text_width(line, 9) for line in title.split("\n")) > 72 * width:
        title = wrapped(title.replace(": ", ":\n").split("\n"), width)
    panel.set_title(title, fontsize=9)


def caption(figure: Figure, text: str) -> None:
    """Write text in the top left corner of a figure."""
    height = 1 - 0.08 / figure.get_figheight()
    look = {"x": 0.01, "y": height, "ha": "left", "va": "top", "fontsize": 9, "parse_math": False}
    figure.suptitle(text, **look)


def say(ax: Axes, sentences: Sequence[str], own: bool, below: float = 0.0) -> None:
    """Write the caption: on top of a new figure (`own`), otherwise below the axes of the user.

    There it is `below` inches below the label of the axis.
    """
    sentences = [sentence for sentence in sentences if sentence]
    figure: Any = ax.figure
    if sentences and own:
        text = wrapped(sentences, figure.get_figwidth() - 0.2)
        figure.suptitle(text, x=0.01, ha="left", fontsize=9, parse_math=False)
    elif sentences:
        settle(ax)
        size = 9.0 if axes_width(ax) >= NARROW else 7.0
        text = wrapped(sentences, axes_width(ax) / 72, size)
        gap = "\n" * math.ceil(72 * below / (1.2 * size))
        ax.set_xlabel(f"{ax.get_xlabel()}\n{gap}{text}", fontsize=size, parse_math=False)
        ax.yaxis.label.set_fontsize(size)


def fit_labels(ax: Axes) -> None:
    """Wrap the labels of both axes to the length of the axes."""
    settle(ax)
    for label, length in ((ax.xaxis.label, axes_width(ax)), (ax.yaxis.label, axes_height(ax))):
        lines = label.get_text().split("\n")
        label.set_text(wrapped(lines, length / 72, float(label.get_fontsize())))
    settle(ax)


def inches_from(ax: Axes) -> Any:
    """Return the transform of inches from the lower left corner of axes."""
    from matplotlib.transforms import ScaledTranslation

    corner: Any = ax.transAxes  # typed as transforms of one kind only
    return ax.figure.dpi_scale_trans + ScaledTranslation(0, 0, corner)


def settle(ax: Axes) -> None:
    """Run the layout engine, so that later measurements use the space left by legend and caption."""
    figure: Any = ax.figure.figure
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def fit_rows(axes: Iterable[Axes]) -> None:
    """Fit the size of names to the height of their rows, after the layout."""
    axes = list(axes)
    settle(axes[0])
    for ax in axes:
        lettering.fit_rows(ax)


def grid_shape(count: int, widest: int = 4) -> tuple[int, int]:
    """Return rows and columns for `count` panels: at most `widest` columns, rows about equally full."""
    rows = math.ceil(count / widest)
    return rows, math.ceil(count / rows)


def tidy(ax: Axes) -> None:
    """Keep the two spines with a scale, and use small print."""
    ax.xaxis.label.set_fontsize(9)
    ax.yaxis.label.set_fontsize(9)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL)


def longest(table: Any) -> int:
    """Return the largest number of top features of a factor in a table."""
    return max(table.groupby("factor").size(), default=0)


def features_down(table: Any, factor: int, start: float) -> tuple[Any, np.ndarray]:
    """Return top features of a factor from high to low, and their places; a space separates the ends."""
    rows = table[table["factor"] == factor]
    high = np.flatnonzero(rows["end"] == "high")
    low = np.flatnonzero(rows["end"] == "low")
    places = start - np.arange(len(rows), dtype=float)
    places[len(high) :] -= 0.6
    return rows.iloc[[*high, *low[::-1]]], places


def called(view: FactorView, j: int) -> str:
    """Return the name of factor j, "Factor 1" or "Background 2", with its number in tables."""
    return f"{'Factor' if view.predictive[j] else 'Background'} {j + 1}"


def adds_nothing(view: FactorView) -> str:
    """Describe background factors: "adds nothing to the prediction beyond factor 1"."""
    others = beyond(roles(view))
    if not others:
        return "adds nothing to the prediction, and no factor does"
    exact = np.all(view.contribution[~view.predictive] < 1e-6)
    return f"adds {'nothing' if exact else 'less than 1 %'} to the prediction{others}"


def shown_samples(y: Any, view: FactorView) -> ShownSamples:
    """Return the outcome of samples for a plot; y may be None."""
    return ShownSamples(None) if y is None else view.outcome.shown_samples(y, view.classes, view.outputs)


def how_many(total: int, most: int | None) -> int:
    """Return the number of factors to show."""
    if most is None:
        return total
    check_count("max_factors", most)
    return min(int(most), total)


def check_choice(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Raise a ValueError unless the value is allowed."""
    if value not in allowed:
        words = ", ".join(map(repr, allowed))
        raise ValueError(f"{name}={value!r}: one of {words} is required")


def whole_numbers(axis: Axis) -> None:
    """Set ticks at integers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def ring(ax: Axes, x: float, y: float, **kwargs: Any) -> Line2D:
    """Draw a ring around a chosen point."""
    look: dict[str, Any] = {
        "marker": "o",
        "markersize": 10,
        "color": "black",
        "markeredgewidth": 1.5,
    } | kwargs
    (mark,) = ax.plot([x], [y], linestyle="none", markerfacecolor="none", zorder=4, **look)
    return mark


def add_legend(ax: Axes, entries: Mapping[str, Any], *, beside: bool, **kwargs: Any) -> Legend:
    """Add a legend inside the axes, or `beside` them in columns of twenty; labels such as _a$ are literal."""
    longest = 160.0
    if beside:
        columns = math.ceil(len(entries) / 20)
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
        kwargs = place | {"ncols": columns} | _legend_size(ax, math.ceil(len(entries) / columns)) | kwargs
        longest = float(np.clip(_slot_width(ax) - 260, 60 / columns, 160))
    kwargs = {"frameon": False, "fontsize": SMALL} | kwargs
    legend = ax.legend(list(entries.values()), ["x"] * len(entries), **kwargs)
    for text, label in zip(legend.get_texts(), entries, strict=True):
        text.set_parse_math(False)
        text.set_text(shorten(label, longest, kwargs["fontsize"]))
    return legend


def _legend_size(ax: Axes, lines: int) -> dict[str, float]:
    """Size and spacing with which so many lines fit beside the axes, down to the bottom of the figure."""
    top = ax.get_window_extent().y1 / ax.figure.dpi * 72
    for size, spacing in ((SMALL, 0.5), (SMALL, 0.25), (6.5, 0.25)):
        if lines * size * (1 + spacing) <= top:
            break
    return {"fontsize": size, "labelspacing": spacing}


def _slot_width(ax: Axes) -> float:
    """Points of a figure that belong to one of its columns of axes."""
    place = ax.get_subplotspec()
    columns = 1 if place is None else place.get_gridspec().ncols
    return 72 * float(ax.figure.figure.get_figwidth()) / columns


def legend_height(labels: Sequence[str], width: float) -> float:
    """Inches that `legend_below` takes in a figure of `width` inches."""
    lines = sum(label.count("\n") + 1 for label in _legend_labels(labels, width))
    return 0.15 * (1 if _on_one_line(labels, width) else lines) + 0.1


def legend_below(figure: Figure, entries: Mapping[str, Any]) -> None:
    """A legend of handles by label in the bottom left corner of a figure, in lines that fit."""
    width = figure.get_figwidth()
    look: dict[str, Any] = {"loc": "lower left", "frameon": False, "fontsize": SMALL}
    look |= {"handletextpad": 0.3, "columnspacing": 1.2, "borderaxespad": 0.2, "borderpad": 0.2}
    columns = len(entries) if _on_one_line(list(entries), width) else 1
    labels = _legend_labels(list(entries), width)
    figure.legend(list(entries.values()), labels, ncols=columns, labelspacing=0.3, **look)


def _on_one_line(labels: Sequence[str], width: float) -> bool:
    return sum(text_width(label) + 35 for label in labels) < 72 * width


def _legend_labels(labels: Sequence[str], width: float) -> list[str]:
    return [wrapped([label], width - 0.45) for label in labels]


def percent(share: float) -> str:
    """A share as people write it: 44 %, 3.1 %, <0.1 %."""
    if share < 0.001:
        return "<0.1 %"
    return f"{share:.0%}"[:-1] + " %" if share >= 0.0995 else f"{100 * share:.1f} %"
