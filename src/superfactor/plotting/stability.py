"""`StabilityDisplay`: how often the top features of each factor are found again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from superfactor.interpretation import Stability, stability
from superfactor.plotting.drawing import figures, lettering, palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

BARS = 1.5  # width of the bars of a panel in inches
SHUFFLED = "the feature at this place with shuffled {}"


@dataclass(eq=False, repr=False)
class StabilityDisplay:
    """Share of resamples in which each top feature is found again, one panel per factor.

    A hollow mark shows the same for the feature at this place with shuffled labels or other outcomes, as a
    reference. The title of a panel shows the stability of the factor: the median over resamples of the cosine
    between the factor and the matched one (1 means the same factor), and the same with shuffled outcomes.
    Features of the high end are on top, those of the low end below and hatched. Background factors are grey.

    Parameters
    ----------
    stability : Stability
        From `superfactor.interpretation.stability`.

    Attributes
    ----------
    axes_ : array of shape (number of factors,) of Axes
    ax_ : Axes
        The first of them.
    bars_ : list of BarContainer
        Per factor, from top to bottom.
    marks_ : list of PathCollection
        Per factor, with shuffled outcomes, from top to bottom.
    figure_ : Figure

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from superfactor import SMFClassifier
    >>> from superfactor.plotting import StabilityDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SMFClassifier(2).fit(scale(X), y)
    >>> display = StabilityDisplay.from_estimator(model, scale(X), y, n_resamples=5, n=3)
    >>> len(display.axes_)
    2
    """

    stability: Stability

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        n_resamples: int = 50,
        *,
        n: int = 5,
        fraction: float = 0.8,
        by: str = "correlation",
        shuffles: int = 5,
        rotation: str | None = None,
        positive: Any = None,
        covariates: Any = None,
        sample_weight: Any = None,
        random_state: Any = None,
        progress: Any = None,
        n_jobs: int | None = None,
        max_factors: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Fit a model again to resamples and plot the stability of its top features.

        Parameters
        ----------
        model, X, y, n_resamples, n, fraction, by, shuffles, rotation, positive, covariates, sample_weight
            See `superfactor.interpretation.stability`.
        random_state, progress, n_jobs
            See `superfactor.interpretation.stability`.
        max_factors, ax, **kwargs
            See ``plot``.
        """
        figures.pyplot()  # raise before the computation if it is missing
        found = stability(
            model,
            X,
            y,
            n_resamples,
            n=n,
            fraction=fraction,
            by=by,
            shuffles=shuffles,
            rotation=rotation,
            positive=positive,
            covariates=covariates,
            sample_weight=sample_weight,
            random_state=random_state,
            progress=progress,
            n_jobs=n_jobs,
        )
        return cls(found).plot(ax, max_factors=max_factors, **kwargs)

    @classmethod
    def from_stability(
        cls, stability: Stability, *, max_factors: int | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Plot a result of `superfactor.interpretation.stability`; other parameters as in ``plot``."""
        return cls(stability).plot(ax, max_factors=max_factors, **kwargs)

    def plot(self, ax: Any = None, *, max_factors: int | None = None, **kwargs: Any) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : None, Axes or array of Axes, default=None
            None makes a figure that is large enough. The panels take the place of a single Axes. With an
            array each panel uses one.
        max_factors : int, optional
            Show only the first factors.
        **kwargs
            Passed on to ``Axes.barh``.
        """
        figures.pyplot()
        table, similarity = self.stability.table, np.asarray(self.stability.similarity)
        shown = figures.how_many(similarity.shape[1], max_factors)
        _, columns = figures.grid_shape(shown)
        cells = [divmod(j, columns) for j in range(shown)]
        names = lettering.short_names(table["feature"], lettering.room_for_names(ax, columns))
        left, most = lettering.inches(names.values()) + 0.1, figures.longest(table)
        count = self.stability.n_resamples
        text = f"Bars: share of {count} resamples in which a top feature is a top feature again."
        shuffled = "frequency_shuffled" in table and table["frequency_shuffled"].notna().any()
        width = columns * (BARS + left)
        text, below = lettering.wrapped([text], width), 0.0
        shuffles = SHUFFLED.format(self.stability.shuffled)
        if shuffled:
            below = figures.legend_height([shuffles], width)
        size, spacing = figures.spread(
            cells,
            panel=(BARS, figures.ROW * (most + 1)),
            gaps=(left + 0.2, 0.78 if shuffled else 0.62),
            edges=(left + 0.1, 0.3 + below, 0.2, 0.55 + 0.16 * (text.count("\n") + shuffled)),
        )
        self.axes_ = figures.panels(ax, cells, size, spacing, left)
        slot = BARS + left if ax is None else lettering.slot(ax, columns)
        self.bars_, self.marks_ = [], []
        for j, panel in enumerate(self.axes_):
            carries = self.stability.predictive is None or self.stability.predictive[j]
            look = kwargs if carries else {"color": palette.MUTED[0]} | kwargs
            bars, marks = _draw_factor(panel, table, j + 1, names, look)
            self.bars_.append(bars)
            self.marks_.append(marks)
            panel.set_ylim(-most - 0.2, 0.6)  # the same scale in all panels
            title = f"{'Factor' if carries else 'Background'} {j + 1}: similarity "
            title += f"{np.median(similarity[:, j]):.2f}"
            if self.stability.similarity_shuffled is not None:
                chance = np.median(np.asarray(self.stability.similarity_shuffled)[:, j])
                title += f"\n(shuffled {self.stability.shuffled} {chance:.2f})"
            figures.title_panel(panel, title, slot)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        if ax is None:
            figures.caption(self.figure_, text)
            if shuffled:
                figures.legend_below(self.figure_, {shuffles: self.marks_[0]})
        else:
            figures.fit_rows(self.axes_)
        return self


def _draw_factor(
    ax: Axes, table: Any, factor: int, names: dict[str, str], kwargs: dict[str, Any]
) -> tuple[BarContainer, Any]:
    """Draw the bars, and the marks of shuffled outcomes if there are any."""
    rows, places = figures.features_down(table, factor, 0.0)
    high = rows["end"] == "high"
    colors = palette.POSITIVE, palette.NEGATIVE
    bars = figures.hatched_bars(ax, places, rows["frequency"], high, colors, kwargs)
    marks = None
    if "frequency_shuffled" in rows:
        shape: dict[str, Any] = {"marker": "D", "s": 16.0, "linewidth": 0.9, "zorder": 3}
        marks = ax.scatter(
            rows["frequency_shuffled"], places, facecolor="white", edgecolor="0.15", clip_on=False, **shape
        )
    lettering.name_rows(ax, places, [names[name] for name in rows["feature"]])
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
    ax.grid(axis="x", linewidth=0.4, alpha=0.5)
    ax.set_axisbelow(True)
    figures.tidy(ax)
    return bars, marks
