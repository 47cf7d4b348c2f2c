"""`FactorsDisplay`: coefficients and top features of each factor."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

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
from superfactor.interpretation.view import check_by
from superfactor.plotting.drawing import figures, lettering
from superfactor.plotting.drawing.factor_panel import AXIS, Shared, draw_factor, handles

ROW_TITLES = {"filter": "supervised (filter)", "feature": "supervised (feature)", "svd": "unsupervised (SVD)"}
BARS_ARE = {
    "correlation": "correlations of the top features with the factor, in the training samples.",
    "weight": "weights in the factor's score (largest: ±1). Weights do not show what the factor represents.",
}
BARS = 1.9  # width of the bars of a panel in inches
SHORTEST = 1.5  # height of the title of a row in inches


@dataclass(eq=False, repr=False)
class FactorsDisplay:
    """The coefficients of each factor, and its top features.

    There is one panel per factor, predictive ones first. The grey band on top shows its coefficients: the
    change of the log-odds of the positive class per standard deviation of the factor; with several classes
    that of each class against the mean of all, and in regression that of the prediction. Below are the
    features at both ends. Bars are correlations with the factor, from −1 to 1: to the right positive (blue),
    to the left negative (orange). Bars of background factors, which add nothing to the prediction of the
    other factors, are grey.

    A circle marks the weight of the feature in the score, divided by the largest of the factor. It is a cross
    if weight and correlation have opposite signs: the feature is in the score because it cancels noise in
    others.

    Parameters
    ----------
    view : FactorView
        From `superfactor.interpretation.factor_view`.
    unsupervised : FactorView, optional
        Factors to compare with, each drawn below the factor of `view` that it is matched to (see
        `superfactor.interpretation.matched`), with its sign, and titled by its own number.
    n : int, default=5
        Features at each end.
    by : {"correlation", "weight"}, default="correlation"
        The values of the bars, by which features are ranked; the other values are the marks.
    markers : dict, DataFrame or path of a CSV, optional
        Known features and a note on each; they have a frame, and the note next to the bar.

    Attributes
    ----------
    axes_ : array of shape (number of views, number of factors) of Axes
        None if a factor has no matched factor.
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

    view: FactorView
    _: KW_ONLY
    unsupervised: FactorView | None = None
    n: int = 5
    by: str = "correlation"
    markers: Any = None

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        covariates: Any = None,
        n: int = 5,
        by: str = "correlation",
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
            As ``model.fit`` took them. If given, the factors of a plain SVD of the same data are drawn below
            the matched factors of the model.
        covariates : array-like of shape (n_samples, n_covariates), optional
            As ``model.fit`` took them.
        n, by, markers
            As in the class.
        rotation : None, "predictive", "variance" or "varimax", default=None
        positive : class label, optional
            Both as in `superfactor.interpretation.factor_view`. Factors of the SVD are its principal axes,
            unless the rotation is "varimax".
        compare : bool, default=True
            False omits the unsupervised factors even if X and y are given.
        max_factors, ax, **kwargs
            See ``plot``.
        """
        figures.pyplot()  # raise before the computation if it is missing
        view = factor_view(model, rotation=rotation, positive=positive)
        if (X is None) != (y is None):
            missing, given = ("X", "y") if X is None else ("y", "X")
            raise ValueError(f"{missing}=None, but {given} is given: both or neither are required")
        other = None
        if compare and X is not None:
            axes = rotation if rotation == "varimax" else None
            other = unsupervised(model, X, y, covariates=covariates, rotation=axes, positive=positive)
        display = cls(view, unsupervised=other, n=n, by=by, markers=markers)
        return display.plot(ax, max_factors=max_factors, **kwargs)

    def plot(self, ax: Any = None, *, max_factors: int | None = None, **kwargs: Any) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : None, Axes or array of Axes, default=None
            None makes a figure that is large enough. The panels take the place of a single Axes. With an
            array each panel uses one; those of the unsupervised factors come last.
        max_factors : int, optional
            Show only the first factors: those with the largest effect on the prediction.
        **kwargs
            Passed on to ``Axes.barh`` for the bars of the features.
        """
        figures.pyplot()
        check_by(self.by)
        shown = figures.how_many(len(self.view.weights), max_factors)
        rows = [_Row.of(self.view, shown)]
        if self.unsupervised is not None:
            rows.append(_Row.matched_to(matched(self.view, self.unsupervised), shown))
        _, columns = figures.grid_shape(shown)
        panels = [(v, k, j) for v, row in enumerate(rows) for k, j in enumerate(row.places)]
        # Below each row of the first view comes the same row of the second.
        cells = [(j // columns * len(rows) + v, j % columns) for v, _, j in panels]
        tables = [top_features(row.view, self.n, by=self.by) for row in rows]
        shared = self._shared(tables, rows, lettering.room_for_names(ax, columns))
        room = 0.1 + max(
            lettering.inches(shared.names.values()), lettering.inches(shared.outputs.values(), "bold")
        )
        width = columns * (BARS + room) + 0.3
        caption = self._caption(shown, width)
        disagree = any(tables[v].query("factor == @k + 1")["disagrees"].any() for v, k, _ in panels)
        marks = handles(self.by, disagree)
        size, spacing = figures.spread(
            cells,
            panel=(BARS, max(SHORTEST, figures.ROW * (len(self.view.outputs) + shared.most + 1))),
            gaps=(room + 0.1, 0.62 if len(rows) == 1 else 0.76),
            edges=(
                room + 0.3,
                0.48 + figures.legend_height([*marks], width),
                0.2,
                0.53 + 0.17 * caption.count("\n"),
            ),
        )
        axes = figures.panels(ax, cells, size, spacing, room)
        slot = BARS + room if ax is None else lettering.slot(ax, columns)
        self.figure_ = axes[0].figure
        self.axes_ = np.full((len(rows), shown), None, dtype=object)
        self.bars_ = self.axes_.copy()
        for panel, (v, k, j), (row, column) in zip(axes, panels, cells, strict=True):
            view = rows[v].view
            self.axes_[v, j] = panel
            self.bars_[v, j] = draw_factor(panel, view, k, tables[v], shared, kwargs)
            figures.title_panel(panel, rows[v].titles[k], slot)
            if column == 0 and np.size(ax) == 1:
                panel.set_ylabel(ROW_TITLES[view.model], fontsize=9, fontweight="bold")
            if row == max(r for r, c in cells if c == column):
                words = lettering.wrapped([AXIS[self.by]], slot, lettering.SMALL)
                panel.set_xlabel(words, fontsize=lettering.SMALL)
        if ax is None:
            figures.caption(self.figure_, caption)
            figures.legend_below(self.figure_, marks)
        else:
            figures.fit_rows(axes)
        return self

    def _shared(self, tables: list[Any], rows: list[_Row], room: float) -> Shared:
        """Return the values that panels share, with `room` points for a name."""
        features = (name for table in tables for name in table["feature"])
        return Shared(
            by=self.by,
            names=lettering.short_names(features, room),
            outputs=lettering.short_names(self.view.outputs, room, "bold"),
            notes={} if self.markers is None else read_markers(self.markers),
            most=max(map(figures.longest, tables)),
            # The same scale for all coefficients, of both kinds of factors.
            largest=max(float(np.abs(row.view.coef).max()) for row in rows) or 1.0,
        )

    def _caption(self, shown: int, width: float) -> str:
        """Return the caption in lines of `width` inches."""
        view, total = self.view, len(self.view.weights)
        first = f"The first {shown} of {total} factors. " if shown < total else ""
        change = view.outcome.change_words(
            [lettering.shorten(name, lettering.NAMES) for name in view.outputs]
        )
        sentences = [
            f"{first}Grey band: {change} per standard deviation of the factor.",
            f"Bars: {BARS_ARE[self.by]}",
        ]
        if not all(view.predictive[:shown]):
            sentences.append(f"Grey bars: background, which {figures.adds_nothing(view)}.")
        if self.unsupervised is not None:
            sentences.append(
                "Each SVD factor is matched to the one above it; similarity 1 means the same factor."
            )
        return lettering.wrapped(sentences, width)


@dataclass(frozen=True)
class _Row:
    """One kind of factors: their view, their places in the row, and their titles."""

    view: FactorView
    places: list[int]
    titles: list[str]

    @classmethod
    def of(cls, view: FactorView, shown: int) -> Self:
        titles = [f"{figures.called(view, k)}: {_share(view, k)}" for k in range(shown)]
        return cls(view, list(range(shown)), titles)

    @classmethod
    def matched_to(cls, pairs: Matched, shown: int) -> Self:
        """Return the factors matched to the first `shown` factors."""
        places = [int(j) for j in pairs.beside if j < shown]
        titles = [
            f"SVD factor {pairs.number[k]}, similarity {pairs.similarity[k]:.2f}:\n{_share(pairs.view, k)}"
            for k in range(len(places))
        ]
        return cls(pairs.view, places, titles)


def _share(view: FactorView, k: int) -> str:
    return f"{figures.percent(view.share[k])} of variance"
