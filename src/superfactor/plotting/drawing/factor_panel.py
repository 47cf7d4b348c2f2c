"""A panel of `FactorsDisplay`: coefficients on top; below, correlations of features, and their weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.interpretation import FactorView
from superfactor.plotting.drawing import figures, lettering, palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

# The values that are not bars are marks.
OTHER = {"correlation": "weight", "weight": "correlation"}
AXIS = {"correlation": "correlation with the factor", "weight": "weight in the score, largest ±1"}
MEANING = {
    "weight": "weight in the score (largest of a factor: ±1)",
    "correlation": "correlation with the factor",
}
AGREES: dict[str, Any] = {
    "marker": "o",
    "s": 11.0,
    "facecolor": "white",
    "edgecolor": "0.2",
    "linewidth": 0.7,
}
AGAINST: dict[str, Any] = {
    "marker": "X",
    "s": 26.0,
    "facecolor": "0.1",
    "edgecolor": "white",
    "linewidth": 0.5,
}


@dataclass(frozen=True)
class Shared:
    """Values shared by all panels.

    Attributes
    ----------
    by : the values of the bars, "correlation" or "weight"
    names, outputs : short names of features and outputs
    notes : notes on known features
    most : the largest number of features in a panel
    largest : the largest absolute coefficient of all panels
    """

    by: str
    names: dict[str, str]
    outputs: dict[str, str]
    notes: dict[str, str]
    most: int
    largest: float


def handles(by: str, disagree: bool) -> dict[str, Any]:
    """Return the marks by their meaning, for a legend."""
    from matplotlib.lines import Line2D

    def mark(look: dict[str, Any]) -> Line2D:
        return Line2D(
            [],
            [],
            linestyle="none",
            marker=look["marker"],
            markersize=np.sqrt(look["s"]),
            markerfacecolor=look["facecolor"],
            markeredgecolor=look["edgecolor"],
            markeredgewidth=look["linewidth"],
        )

    other = OTHER[by]
    entries = {MEANING[other]: mark(AGREES)}
    if disagree:
        entries[f"{other} with the opposite sign of the {by}"] = mark(AGAINST)
    return entries


def draw_factor(
    ax: Axes, view: FactorView, j: int, table: Any, shared: Shared, kwargs: dict[str, Any]
) -> BarContainer:
    """Draw coefficients of factor j on top and its features below; return the bars of the features."""
    outputs, coef = len(view.outputs), view.coef[:, j]
    tops = -np.arange(outputs, dtype=float)
    rows, places = figures.features_down(table, j + 1, -outputs - 0.3)
    ax.axhspan(0.6, 0.5 - outputs, color="0.5", alpha=0.18, linewidth=0)
    # Unsupervised factors are paler, to distinguish them from the supervised ones above.
    kwargs = {"alpha": 1.0 if view.supervised else 0.6} | kwargs
    if not view.predictive[j]:
        kwargs = {"color": [palette.MUTED[end == "low"] for end in rows["end"]]} | kwargs
    _signed_bars(ax, tops, coef / shared.largest, alpha=kwargs["alpha"])
    bars = _signed_bars(ax, places, rows[shared.by], **kwargs)
    ax.axvline(0, color="0.3", linewidth=0.8)
    for place, value in zip(tops, coef, strict=True):
        _beside_zero(ax, place, value, _written(value, shared.largest), lettering.SMALL)
    other, against = rows[OTHER[shared.by]].to_numpy(), rows["disagrees"].to_numpy(dtype=bool)
    for mine, look in ((~against, AGREES), (against, AGAINST)):
        if mine.any():
            ax.scatter(other[mine], places[mine], zorder=3, clip_on=False, **look)
    names = [shared.outputs[name] for name in view.outputs]
    names += [shared.names[name] for name in rows["feature"]]
    lettering.name_rows(ax, [*tops, *places], names)
    labels = ax.get_yticklabels()
    for label in labels[:outputs]:
        label.set_fontweight("bold")
    ax.set_xlim(-1.1, 1.1)
    for label, place, row in zip(labels[outputs:], places, rows.itertuples(), strict=True):
        if row.feature in shared.notes:
            label.set_bbox({"boxstyle": "round,pad=0.15", "facecolor": "none", "linewidth": 0.8})
            value, mark = getattr(row, shared.by), getattr(row, OTHER[shared.by])
            _note(ax, place, value, mark if row.disagrees else 0.0, shared.notes[row.feature])
    # The same scale for all panels, even if a factor has fewer features at an end.
    ax.set_ylim(-outputs - 0.3 - shared.most - 0.2, 0.6)
    ax.set_xticks([-1, 0, 1], labels=["−1", "0", "1"])
    figures.tidy(ax)
    ax.spines["left"].set_visible(False)
    return bars


def _signed_bars(ax: Axes, places: Any, lengths: Any, **kwargs: Any) -> BarContainer:
    """Draw horizontal bars from zero, coloured by their sign."""
    colors = [palette.POSITIVE if length >= 0 else palette.NEGATIVE for length in lengths]
    look: dict[str, Any] = {"height": 0.72, "color": colors} | kwargs
    return ax.barh(places, lengths, **look)


def _written(value: float, largest: float) -> str:
    """Format a coefficient with its sign, to about a hundredth of the largest one."""
    digits = max(0, 2 - math.floor(math.log10(largest)))
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else "0"


def _note(ax: Axes, place: float, length: float, mark: float, text: str) -> None:
    """Write a note in the half without the bar, on the wider side of a mark there."""
    half = lettering.axes_width(ax) / 2.2
    before, after = abs(mark) * half - 9, (1 - abs(mark)) * half - 9
    start, room = (abs(mark) * half + 5, after) if after >= before else (4.0, before)
    _beside_zero(ax, place, length, lettering.shorten(text, room, 7), 7, start)


def _beside_zero(ax: Axes, place: float, length: float, text: str, size: float, start: float = 4.0) -> None:
    """Write text in the half of the panel without the bar, `start` points from zero."""
    side = -1 if length >= 0 else 1
    ax.annotate(
        text,
        (0, place),
        xytext=(start * side, 0),
        textcoords="offset points",
        ha="right" if side < 0 else "left",
        va="center_baseline",
        fontsize=size,
        parse_math=False,
        annotation_clip=False,
    )
