"""`FactorsDisplay`: what each factor is made of, under its coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from superfactor.interpretation import (
    FactorView,
    Matched,
    factor_view,
    matched,
    read_markers,
    top_features,
    unsupervised,
)
from superfactor.plotting import drawing, lettering

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

ROW_TITLES = {
    "filter": "supervised (filter)",
    "feature": "supervised (feature)",
    "svd": "unsupervised (SVD)",
}
BARS = 1.9  # inches the bars of a panel take
SHORTEST = 1.5  # inches a row's title takes


class FactorsDisplay:
    """The most extreme features of each factor, under the factor's coefficients.

    One panel per factor, predictive ones first. The grey band on top holds its coefficients: by how
    much the log-odds of the positive class change with one standard deviation of the factor; with
    several classes those of each class against the mean of all, and in regression the prediction.
    Below are the features at both ends with their weights, the largest being ±1. Bars to the right are
    positive (blue), bars to the left negative (orange); those of background factors are grey.

    Parameters
    ----------
    view : FactorView
        From `superfactor.interpretation.factor_view`.
    unsupervised : FactorView, optional
        Factors to compare with, each drawn under the factor of `view` that it is paired with (see
        `superfactor.interpretation.matched`), in its sign, and titled by its own number.
    n : int, default=5
        Features at each end.
    markers : dict, DataFrame or path of a CSV, optional
        Known features and a note on each; they are framed, with the note beside their bars.

    Attributes
    ----------
    axes_ : array of shape (number of views, number of factors) of Axes
        None where a factor has no partner to compare with.
    bars_ : array of the same shape of BarContainer
        The features' bars, from top to bottom.
    figure_ : Figure

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from superfactor import SMFClassifier
    >>> from superfactor.plotting import FactorsDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = (X - X.mean()) / X.std()
    >>> display = FactorsDisplay.from_estimator(SMFClassifier(2).fit(X, y), X, y, n=3)
    >>> display.axes_.shape
    (2, 2)
    """

    def __init__(
        self,
        view: FactorView,
        *,
        unsupervised: FactorView | None = None,
        n: int = 5,
        markers: Any = None,
    ):
        self.view = view
        self.unsupervised = unsupervised
        self.n = n
        self.markers = markers

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        covariates: Any = None,
        n: int = 5,
        rotation: str | None = None,
        positive: Any = None,
        markers: Any = None,
        compare: bool = True,
        max_factors: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the factors of a fitted model.

        Parameters
        ----------
        model : SMFClassifier, SMFRegressor, SMFSurvival, a pipeline of one, SMFClassifierCV, FactorView
        X, y : training data, optional
            As ``model.fit`` took them. Where given, the factors of a plain SVD of the same data are
            drawn under those of the model they are matched to.
        covariates : array-like of shape (n_samples, n_covariates), optional
            As ``model.fit`` took them.
        n : int, default=5
            Features at each end of a factor.
        rotation : None, "predictive", "variance" or "varimax", default=None
        positive : class label, optional
            The class that is up; both as in `superfactor.interpretation.factor_view`. Factors of the
            SVD stay its principal axes, unless the rotation is "varimax".
        markers : dict, DataFrame or path of a CSV, optional
            Known features and a note on each.
        compare : bool, default=True
            False leaves the unsupervised factors out even where X and y are given.
        max_factors, ax, **kwargs
            See ``plot``.

        Returns
        -------
        display : FactorsDisplay
        """
        drawing.pyplot()  # say that it is missing before the work, not after
        view = factor_view(model, rotation=rotation, positive=positive)
        if (X is None) != (y is None):
            missing, given = ("X", "y") if X is None else ("y", "X")
            raise ValueError(f"{missing}=None with {given} given: both or neither are required")
        other = None
        if compare and X is not None:
            axes = rotation if rotation == "varimax" else None
            other = unsupervised(
                model, X, y, covariates=covariates, rotation=axes, positive=positive
            )
        display = cls(view, unsupervised=other, n=n, markers=markers)
        return display.plot(ax, max_factors=max_factors, **kwargs)

    def plot(self, ax: Any = None, *, max_factors: int | None = None, **kwargs: Any) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : None, Axes or array of Axes, default=None
            None makes a figure that is large enough. Axes give their place to the panels. With an
            array each panel takes one; those of the unsupervised factors come last.
        max_factors : int, optional
            Show the first few factors only: those that contribute most to the prediction.
        **kwargs
            Passed on to ``Axes.barh``, for the features' bars.

        Returns
        -------
        self
        """
        drawing.pyplot()
        shown = drawing.how_many(len(self.view.weights), max_factors)
        rows = [_Row.of(self.view, shown)]
        if self.unsupervised is not None:
            rows.append(_Row.beside(matched(self.view, self.unsupervised), shown))
        _, columns = drawing.grid_shape(shown)
        panels = [(v, k, j) for v, row in enumerate(rows) for k, j in enumerate(row.places)]
        # Under each row of the first view comes the same row of the second.
        cells = [(j // columns * len(rows) + v, j % columns) for v, _, j in panels]
        shared = _Shared.of(self, rows, lettering.room_for_names(ax, columns))
        caption = self._caption(shown, columns * (BARS + shared.left))
        size, spacing = drawing.spread(
            cells,
            panel=(BARS, max(SHORTEST, drawing.ROW * (len(self.view.outputs) + shared.most + 1))),
            gaps=(shared.left + 0.1, 0.62 if len(rows) == 1 else 0.76),
            edges=(shared.left + 0.3, 0.3, 0.2, 0.48 + 0.17 * caption.count("\n")),
        )
        axes = drawing.panels(ax, cells, size, spacing)
        self.figure_ = axes[0].figure
        self.axes_ = np.full((len(rows), shown), None, dtype=object)
        self.bars_ = self.axes_.copy()
        for panel, (v, k, j), (_, column) in zip(axes, panels, cells, strict=True):
            view = rows[v].view
            self.axes_[v, j] = panel
            self.bars_[v, j] = _draw_factor(panel, view, k, shared.tables[v], shared, kwargs)
            panel.set_title(rows[v].titles[k], fontsize=9)
            if column == 0 and np.size(ax) == 1:
                panel.set_ylabel(ROW_TITLES[view.model], fontsize=9, fontweight="bold")
        if ax is None:
            drawing.caption(self.figure_, caption)
        return self

    def _caption(self, shown: int, width: float) -> str:
        """What the panels show, on lines of `width` inches."""
        view, total = self.view, len(self.view.weights)
        first = f"The first {shown} of {total} factors. " if shown < total else ""
        if view.classes is None:
            change = "change of the prediction"
        elif len(view.outputs) == 1:
            name = lettering.shorten(view.outputs[0], lettering.NAMES)
            change = f"change of the log-odds of “{name}”"
        else:
            change = "change of the log-odds of each class, against the mean of all,"
        sentences = [
            f"{first}Grey band: {change} with one standard deviation of the factor.",
            "Below: weights of the most extreme features, the largest being ±1.",
        ]
        if not all(view.predictive[:shown]):
            sentences.append("Grey: background factors, which have no part in the prediction.")
        if self.unsupervised is not None:
            sentences.append(
                "Each SVD factor is matched to the one above it; similarity 1 is the same factor."
            )
        return lettering.wrapped(sentences, width)


@dataclass(frozen=True)
class _Row:
    """A kind of factors: the view of them, the place along the row and the title of each."""

    view: FactorView
    places: list[int]
    titles: list[str]

    @classmethod
    def of(cls, view: FactorView, shown: int) -> Self:
        titles = [f"{drawing.called(view, k)}: {_share(view, k)}" for k in range(shown)]
        return cls(view, list(range(shown)), titles)

    @classmethod
    def beside(cls, pairs: Matched, shown: int) -> Self:
        """Those paired with one of the first `shown` factors."""
        places = [int(j) for j in pairs.beside if j < shown]
        titles = [
            f"SVD factor {pairs.number[k]}, similarity {pairs.similarity[k]:.2f}:\n"
            f"{_share(pairs.view, k)}"
            for k in range(len(places))
        ]
        return cls(pairs.view, places, titles)


def _share(view: FactorView, k: int) -> str:
    return f"{drawing.percent(view.share[k])} of variance"


@dataclass(frozen=True)
class _Shared:
    """What all panels need: the top features of each view, short names, notes, inches."""

    tables: list[Any]
    names: dict[str, str]
    outputs: dict[str, str]
    notes: dict[str, str]
    most: int
    left: float
    largest: float

    @classmethod
    def of(cls, display: FactorsDisplay, kinds: list[_Row], room: float) -> Self:
        tables = [top_features(kind.view, display.n) for kind in kinds]
        features = (name for table in tables for name in table["feature"])
        names = lettering.short_names(features, room)
        outputs = lettering.short_names(display.view.outputs, room, "bold")
        notes = {} if display.markers is None else read_markers(display.markers)
        left = (
            max(lettering.inches(names.values()), lettering.inches(outputs.values(), "bold")) + 0.1
        )
        most = max(map(drawing.longest, tables))
        # One scale for all coefficients, of both kinds of factors.
        largest = max(float(np.abs(kind.view.coef).max()) for kind in kinds) or 1.0
        return cls(tables, names, outputs, notes, most, left, largest)


def _draw_factor(
    ax: Axes, view: FactorView, j: int, table: Any, shared: _Shared, kwargs: dict[str, Any]
) -> BarContainer:
    """Coefficients of factor j on top, its features below; returns the features' bars."""
    outputs, coef = len(view.outputs), view.coef[:, j]
    tops = -np.arange(outputs, dtype=float)
    rows, places = drawing.features_down(table, j + 1, -outputs - 0.3)
    ax.axhspan(0.6, 0.5 - outputs, color="0.5", alpha=0.18, linewidth=0)
    # Paler where the labels had no say, so that rows that take turns are told apart.
    kwargs = {"alpha": 1.0 if view.supervised else 0.6} | kwargs
    if not view.predictive[j]:
        kwargs = {"color": [drawing.MUTED[end == "low"] for end in rows["end"]]} | kwargs
    largest = shared.largest
    _signed_bars(ax, tops, coef / largest, alpha=kwargs["alpha"])
    bars = _signed_bars(ax, places, rows["weight"], **kwargs)
    ax.axvline(0, color="0.3", linewidth=0.8)
    for place, value in zip(tops, coef, strict=True):
        _beside_zero(ax, place, value, _written(value, largest), lettering.SMALL)
    names = [shared.outputs[name] for name in view.outputs]
    names += [shared.names[name] for name in rows["feature"]]
    lettering.name_rows(ax, [*tops, *places], names)
    labels = ax.get_yticklabels()
    for label in labels[:outputs]:
        label.set_fontweight("bold")
    for label, place, row in zip(labels[outputs:], places, rows.itertuples(), strict=True):
        if row.feature in shared.notes:
            label.set_bbox({"boxstyle": "round,pad=0.15", "facecolor": "none", "linewidth": 0.8})
            note = lettering.shorten(shared.notes[row.feature], lettering.axes_width(ax) / 2 - 6, 7)
            _beside_zero(ax, place, row.weight, note, 7)
    ax.set_xlim(-1.05, 1.05)
    # All panels in one scale, even where a factor has fewer features at an end.
    ax.set_ylim(-outputs - 0.3 - shared.most - 0.2, 0.6)
    ax.set_xticks([-1, 0, 1], labels=["−1", "0", "1"])
    drawing.tidy(ax)
    ax.spines["left"].set_visible(False)
    return bars


def _signed_bars(ax: Axes, places: Any, lengths: Any, **kwargs: Any) -> BarContainer:
    """Horizontal bars from zero, coloured by their sign."""
    colors = [drawing.POSITIVE if length >= 0 else drawing.NEGATIVE for length in lengths]
    look: dict[str, Any] = {"height": 0.72, "color": colors} | kwargs
    return ax.barh(places, lengths, **look)


def _written(value: float, largest: float) -> str:
    """A coefficient with its sign, to about a hundredth of the largest one."""
    digits = max(0, 2 - math.floor(math.log10(largest)))
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else "0"


def _beside_zero(ax: Axes, place: float, length: float, text: str, size: float) -> None:
    """Text in the half of the panel that a bar of this length leaves empty."""
    side = -1 if length >= 0 else 1
    ax.annotate(
        text,
        (0, place),
        xytext=(4 * side, 0),
        textcoords="offset points",
        ha="right" if side < 0 else "left",
        va="center_baseline",
        fontsize=size,
        parse_math=False,
        annotation_clip=False,
    )
