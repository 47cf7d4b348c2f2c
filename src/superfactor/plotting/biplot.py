"""`BiplotDisplay`: samples in the space of two factors, and the features that span it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from superfactor.interpretation import factor_view
from superfactor.interpretation.tables import check_count
from superfactor.plotting import drawing, lettering
from superfactor.plotting.samples import (
    SamplesDisplay,
    axis_names,
    check_factors,
    codes_of,
    labels_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 90.0  # points a name may take
SIDE = 0.22  # share of the width that names have at each side
MARGIN = 0.04  # share of the width between names and the farthest arrow
REACH = 0.9  # of the farthest sample: where the largest weight of a factor ends


class BiplotDisplay:
    """Samples by two of their codes, with an arrow for each of the top features.

    The extent of an arrow along an axis is the weight of the feature in that factor, the largest
    weight of a factor reaching about as far as its farthest sample: samples at the end of an
    arrow have more of that feature. Names stand at the sides, each joined to the end of its arrow.

    Parameters
    ----------
    samples : SamplesDisplay
        Of two factors.
    weights : array of shape (n_features, 2)
        From −1 to 1, in the two factors.
    features : sequence of n_features names

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    arrows_ : dict of FancyArrowPatch
        By feature.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from superfactor import SMFClassifier
    >>> from superfactor.plotting import BiplotDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SMFClassifier(2).fit(X.apply(scale), y)
    >>> display = BiplotDisplay.from_estimator(model, X.apply(scale), y, n=3)
    >>> 3 <= len(display.arrows_) <= 6
    True
    """

    def __init__(self, samples: SamplesDisplay, weights: Any, features: Sequence[str]):
        self.samples = samples
        self.weights = weights
        self.features = features

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        covariates: Any = None,
        factors: Sequence[int] = (1, 2),
        n: int = 5,
        rotation: str | None = None,
        positive: Any = None,
        ellipse: bool = True,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot samples and top features of a fitted model.

        Parameters
        ----------
        model, X, y, covariates, rotation, positive
            See `SamplesDisplay.from_estimator`.
        factors : two int, default=(1, 2)
            Numbers of the factors, from 1 in display order.
        n : int, default=5
            Features of each of the two factors: those of the largest weight in size.
        ellipse, ax, **kwargs
            See ``plot``.

        Returns
        -------
        display : BiplotDisplay
        """
        drawing.pyplot()  # say that it is missing before the work, not after
        check_count("n", n)
        view = factor_view(model, rotation=rotation, positive=positive)
        chosen = check_factors(factors, len(view.weights))
        if len(chosen) != 2:
            raise ValueError(f"factors={factors!r}: a biplot needs two factors")
        columns = [j - 1 for j in chosen]
        codes = view.codes if X is None else codes_of(model, view, X, covariates)
        labels, classes = labels_of(y, len(codes), view)
        samples = SamplesDisplay(
            codes[:, columns],
            labels,
            factors=axis_names(view, chosen),
            classes=classes,
            target=view.outputs[0],
        )
        scaled = view.scaled[columns]
        largest = np.argsort(-np.abs(scaled), axis=1, kind="stable")[:, :n]
        top = [i for i in dict.fromkeys(largest.ravel().tolist()) if scaled[:, i].any()]
        display = cls(samples, scaled[:, top].T, [view.features[i] for i in top])
        return display.plot(ax, ellipse=ellipse, **kwargs)

    def plot(self, ax: Axes | None = None, *, ellipse: bool = True, **kwargs: Any) -> Self:
        """Draw samples, arrows and names.

        Parameters
        ----------
        ax : Axes, optional
            None makes a new figure.
        ellipse : bool, default=True
            Draw the 95 % normal ellipse of each class of at least 5 samples.
        **kwargs
            Passed on to ``Axes.scatter``.

        Returns
        -------
        self
        """
        rows, own = _most_at_a_side(self.weights), ax is None
        self.ax_ = ax = drawing.single(ax, (8.0, max(4.4, 0.8 + 0.17 * rows)))
        self.figure_ = ax.figure
        self.samples.plot(ax, ellipse=ellipse, **{"alpha": 0.6} | kwargs)
        ends = np.asarray(self.weights) * REACH * np.abs(self.samples.codes).max(axis=0)
        (left, right), (low, high) = (
            (min(limits[0], ends[:, k].min()), max(limits[1], ends[:, k].max()))
            for k, limits in enumerate((ax.get_xlim(), ax.get_ylim()))
        )
        # Names have the sides for themselves.
        side = SIDE / (1 - 2 * SIDE) * (right - left)
        ax.set_xlim(left - side, right + side)
        ax.set_ylim(low, high)
        self.arrows_ = {
            name: _arrow(ax, end) for name, end in zip(self.features, ends, strict=True)
        }
        if own:  # the legend takes its place now: names are measured against what is left
            figure: Any = self.figure_
            figure.get_layout_engine().execute(figure)
        for side in (-1, 1):
            mine = np.flatnonzero(np.where(ends[:, 0] < 0, -1, 1) == side)
            _name(ax, side, [self.features[int(i)] for i in mine], ends[mine])
        return self


def _most_at_a_side(weights: Any) -> int:
    left = int(np.sum(np.asarray(weights)[:, 0] < 0))
    return max(left, len(weights) - left)


def _arrow(ax: Axes, end: Any) -> Any:
    from matplotlib.patches import FancyArrowPatch

    look: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 8,
        "color": "0.15",
        "linewidth": 0.9,
    }
    return ax.add_patch(FancyArrowPatch((0, 0), tuple(end), shrinkA=0, shrinkB=0, zorder=3, **look))


def _name(ax: Axes, side: int, names: list[str], ends: Any) -> None:
    """Names in a column at one side, in the order of the heights of their arrows, joined to them.

    Lines leave the column level, so that none crosses a longer name above or below its own.
    """
    low, high = ax.get_ylim()
    heights = (ends[:, 1] - low) / (high - low)
    points = 72 * float(ax.get_window_extent().height) / float(ax.figure.dpi)
    gap = min(12.0 / points, 0.96 / max(len(names), 1))
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
        ax.annotate("", tuple(ends[i]), **start, arrowprops=look | line)


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
