"""`StableFeaturesDisplay`: the share of half-samples in which each feature is selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from superfactor.interpretation import StableFeatures, stable_features
from superfactor.interpretation.tables import check_count
from superfactor.plotting.drawing import figures, lettering, palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = 3.2  # width of the bars in inches
LEGEND = 0.5  # distance of the legend below the bars in inches


@dataclass(eq=False, repr=False)
class StableFeaturesDisplay:
    """Share of half-samples in which each feature is a top feature, the most stable on top.

    Selected features are blue, others grey and hatched. The dashed line is the smallest share of a selected
    feature. A tick on a bar is the share with shuffled labels or other outcomes.

    Parameters
    ----------
    found : StableFeatures
        From `superfactor.interpretation.stable_features`.

    Attributes
    ----------
    ax_ : Axes
    bars_ : BarContainer
        From top to bottom.
    shuffled_ : Line2D
        The ticks.
    threshold_ : Line2D
    figure_ : Figure

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from superfactor import SMFClassifier
    >>> from superfactor.plotting import StableFeaturesDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SMFClassifier(3).fit(scale(X), y)
    >>> display = StableFeaturesDisplay.from_estimator(model, scale(X), y, n_pairs=5)
    >>> display.found.selected
    ['x12', 'x6']
    """

    found: StableFeatures

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        expected_false: float = 1,
        n_pairs: int = 50,
        threshold: float = 0.75,
        covariates: Any = None,
        groups: Any = None,
        search_again: bool = False,
        random_state: Any = None,
        progress: Any = None,
        n_jobs: int | None = None,
        n: int = 20,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Fit a model to halves of the samples and plot the stability of its features.

        Parameters
        ----------
        model, X, y, expected_false, n_pairs, threshold, covariates, groups, search_again
            See `superfactor.interpretation.stable_features`.
        random_state, progress, n_jobs
            See `superfactor.interpretation.stable_features`.
        n, ax, **kwargs
            See ``plot``.
        """
        figures.pyplot()  # raise before the computation if it is missing
        check_count("n", n)
        found = stable_features(
            model,
            X,
            y,
            expected_false=expected_false,
            n_pairs=n_pairs,
            threshold=threshold,
            covariates=covariates,
            groups=groups,
            search_again=search_again,
            random_state=random_state,
            progress=progress,
            n_jobs=n_jobs,
        )
        return cls(found).plot(ax, n=n, **kwargs)

    @classmethod
    def from_stable_features(
        cls, found: StableFeatures, *, n: int = 20, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Plot a result of `superfactor.interpretation.stable_features`; other parameters as in ``plot``."""
        return cls(found).plot(ax, n=n, **kwargs)

    def plot(self, ax: Axes | None = None, *, n: int = 20, **kwargs: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : Axes, optional
            None makes a figure that is large enough.
        n : int, default=20
            The largest number of features shown.
        **kwargs
            Passed on to ``Axes.barh``.
        """
        figures.pyplot()
        check_count("n", n)
        table = self.found.table
        rows = table[table["share"] > 0].head(n)
        names = [lettering.shorten(name, lettering.room_for_names(ax, 1)) for name in rows["feature"]]
        left = max(lettering.inches(names) + 0.1, 0.3)
        text = lettering.wrapped([self.found.statement], BARS + left)
        edges = left + 0.1, LEGEND + 0.25, 0.2, 0.35 + 0.16 * text.count("\n")
        self.ax_ = figures.one_panel(ax, (BARS, figures.ROW * (len(rows) + 1)), edges)
        self.figure_ = self.ax_.figure
        self._draw(rows, names, kwargs)
        if ax is None:
            figures.caption(self.figure_, text)
        else:
            figures.fit_rows([self.ax_])
        return self

    def _draw(self, rows: Any, names: list[str], kwargs: dict[str, Any]) -> None:
        ax, places = self.ax_, -np.arange(len(rows), dtype=float)
        selected = rows["selected"].to_numpy()
        colors = palette.POSITIVE, palette.MUTED[1]
        self.bars_ = figures.hatched_bars(ax, places, rows["share"], selected, colors, kwargs)
        (self.shuffled_,) = ax.plot(
            rows["share_shuffled"], places, "|", color="black", markersize=7, markeredgewidth=1.2
        )
        self.threshold_ = ax.axvline(self.found.threshold, color="black", linestyle="--", linewidth=0.8)
        lettering.name_rows(ax, places, names)
        ax.set_ylim(-len(rows) + 0.4, 0.6)
        ax.set_xlim(0, 1)
        ax.set_xlabel(f"Share of {2 * self.found.n_pairs} half-samples")
        figures.tidy(ax)
        entries = {}
        for is_selected, label in ((True, "selected"), (False, "not selected")):
            places_of = np.flatnonzero(selected == is_selected)
            if len(places_of):
                entries[label] = self.bars_[int(places_of[0])]
        entries[f"with shuffled {self.found.shuffled}"] = self.shuffled_
        height = float(ax.get_window_extent().height) / float(ax.figure.dpi)
        place = {"loc": "upper right", "bbox_to_anchor": (1.02, -LEGEND / height)}
        look = {"borderaxespad": 0.0, "handlelength": 1.2, "columnspacing": 1.2}
        figures.add_legend(ax, entries, beside=False, ncols=3, **place, **look)
