"""`HeatmapDisplay`: the top features in all samples, both clustered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from superfactor.estimators.inputs import as_numpy
from superfactor.interpretation import FactorView, factor_view, top_features
from superfactor.interpretation.models import fitted_model
from superfactor.interpretation.tables import check_count
from superfactor.plotting.drawing import figures, lettering, palette
from superfactor.plotting.samples import check_factors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SATURATED = 2.5  # standard deviations
MOST_ORDERED = 300  # optimal ordering of leaves takes cubic time
HEAT = 4.6  # width of the image in inches
CHOSEN = (
    "The features were selected with the labels of the training samples: "
    "in these samples, classes can look separated even if the labels are random."
)
TREE, STRIP, GAP = 0.5, 0.13, 0.03  # inches


@dataclass(eq=False, repr=False)
class HeatmapDisplay:
    """The top features (rows) in the samples (columns), both clustered, below the classes.

    Each feature is shown in standard deviations from its mean, blue below and red above. Trees are those of
    Ward's method, so similar features and similar samples are next to each other. In mixOmics the plot is
    called cim. A separation of the classes is no evidence if the features were selected with the labels of
    the same samples, as the caption states; `SamplesDisplay` shows held-out samples.

    Parameters
    ----------
    values : array of shape (n_features, n_samples)
    features : sequence of n_features names
    y : array of shape (n_samples,), optional
        Labels as strings, or real targets.
    classes : sequence of str, optional
        All labels, in the order of the legend. None if y is real.
    said : str, default=""
        A sentence for the caption on how the features were selected.

    Attributes
    ----------
    ax_ : Axes
        The axes of the image.
    figure_ : Figure
    image_ : AxesImage
    features_ : list of int
        Positions of the features from top to bottom.
    samples_ : list of int
        Positions of the samples from left to right.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from superfactor import SMFClassifier
    >>> from superfactor.plotting import HeatmapDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SMFClassifier(2).fit(X.apply(scale), y)
    >>> display = HeatmapDisplay.from_estimator(model, X.apply(scale), y, n=3)
    >>> len(display.samples_)
    178
    """

    values: Any
    features: Sequence[str]
    y: Any = None
    classes: Any = None
    _: KW_ONLY
    said: str = ""

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        factors: int | Sequence[int] | None = None,
        n: int = 10,
        by: str = "correlation",
        rotation: str | None = None,
        positive: Any = None,
        max_samples: int = 500,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the top features of a fitted model in samples.

        Parameters
        ----------
        model : SMFClassifier, SMFRegressor, SMFSurvival, a pipeline that ends in one, SMFClassifierCV
        X : array-like or sparse matrix of shape (n_samples, n_features)
            As ``model.predict`` takes it.
        y : array-like of shape (n_samples,), optional
            Labels (targets), for the strip above the image.
        factors : int or one or two of them, optional
            The factors of the top features, from 1 in display order; by default all predictive ones.
        n : int, default=10
            Features at each end of a factor.
        by : {"correlation", "weight"}, default="correlation"
            The ranking criterion of features: their correlations with a factor, or their weights in it.
        rotation, positive
            See `superfactor.interpretation.factor_view`.
        max_samples : int, default=500
            More samples are thinned evenly, class by class.
        ax, **kwargs
            See ``plot``.
        """
        figures.pyplot()  # raise before the computation if it is missing
        check_count("n", n)
        check_count("max_samples", max_samples)
        view, fitted = factor_view(model, rotation=rotation, positive=positive), fitted_model(model)
        columns = _top(view, factors, n, by)
        seen = as_numpy(fitted.estimator.split_columns(fitted.preprocess(X))[0])
        values = seen[:, columns]
        values = values.toarray() if sp.issparse(values) else np.asarray(values, dtype=float)
        outcome = figures.shown_samples(y, view)
        outcome.check_length(len(values))
        labels, classes = outcome.as_classes
        shown = _some(labels if classes else None, len(values), max_samples)
        display = cls(
            _standardised(values)[shown].T,
            [view.features[i] for i in columns],
            None if labels is None else labels[shown],
            classes,
            said=CHOSEN,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw image, trees, classes and names.

        Parameters
        ----------
        ax : Axes, optional
            None makes a figure that is large enough. Trees and names are outside the axes.
        **kwargs
            Passed on to ``Axes.imshow``.
        """
        figures.pyplot()
        values = np.asarray(self.values, dtype=float)
        names = lettering.short_names(self.features, lettering.room_for_names(ax, 1))
        own = ax is None
        self.ax_ = ax = self._axes(ax, names)
        self.figure_ = ax.figure
        box = ax.get_window_extent()
        width, height = (float(side) / float(ax.figure.dpi) for side in (box.width, box.height))
        tree = ax.inset_axes((-(TREE + GAP) / width, 0, TREE / width, 1))
        self.features_ = _draw_tree(tree, values, sideways=True)
        top = 1 + (STRIP + 2 * GAP if self.y is not None else GAP) / height
        tree = ax.inset_axes((0, top, 1, TREE / height))
        self.samples_ = _draw_tree(tree, values.T, sideways=False)
        look: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -SATURATED, "vmax": SATURATED} | kwargs
        shown = values[np.ix_(self.features_, self.samples_)]
        look = {"aspect": "auto", "interpolation": "nearest"} | look
        self.image_ = ax.imshow(shown, **look)
        ax.set_xticks([])
        ax.set_xlabel(f"{values.shape[1]} samples", fontsize=9)
        ax.yaxis.tick_right()
        places = range(len(self.features_))
        lettering.name_rows(ax, places, [names[self.features[i]] for i in self.features_])
        for spine in ax.spines.values():
            spine.set_visible(False)
        if self.y is not None:
            strip = ax.inset_axes((0, 1 + GAP / height, 1, STRIP / height))
            beyond = (lettering.inches(names.values()) + 0.1) / width if self._crowded else 0.0
            self._draw_strip(strip, 1 + beyond, (TREE + GAP + STRIP) / STRIP)
        bar = ax.inset_axes((0, -0.32, min(1.3, 0.4 * width), 0.08), transform=figures.inches_from(ax))
        scale = ax.figure.colorbar(self.image_, cax=bar, orientation="horizontal")
        scale.set_ticks([-2, 0, 2], labels=["−2", "0", "2 s.d."])
        scale.outline.set_visible(False)
        bar.tick_params(labelsize=7, length=2)
        if own and self.said:
            figure: Any = self.figure_
            figures.caption(figure, lettering.wrapped([self.said], figure.get_figwidth() - 0.3))
        elif not own:
            figures.say(ax, [self.said], own, below=0.27)  # the height of the scale
            figures.fit_rows([ax])
        return self

    def _axes(self, ax: Axes | None, names: dict[str, str]) -> Axes:
        """Return the axes of the user, or those of a new figure with space for trees and names."""
        if ax is not None:
            return ax
        classes = self.classes or ()
        name = lettering.inches(names.values()) + 0.2
        legend = -(-len(classes) // 20) * (0.5 + lettering.inches(lettering.shorten(c, 160) for c in classes))
        right = name + legend if self._crowded else max(name, legend)
        left, bottom, top = TREE + 0.1, 0.62, TREE + STRIP + 0.15
        if self.said:
            lines = lettering.wrapped([self.said], left + HEAT + right - 0.3).count("\n") + 1
            top += 0.12 + 0.16 * lines
        tall = max(1.2, figures.ROW * len(self.features), 0.19 * min(len(classes), 20) - top)
        edges = left, bottom, right, top
        made: Axes = figures.one_panel(None, (HEAT, tall), edges)
        return made

    @property
    def _crowded(self) -> bool:
        """Whether the legend is higher than the tree; then it is to the right of the names."""
        return len(self.classes or ()) > 3

    def _draw_strip(self, ax: Axes, right: float, top: float) -> None:
        """Draw the class (or target) of each sample, and a legend of the classes next to the tree."""
        from matplotlib.colors import ListedColormap, to_rgb
        from matplotlib.patches import Patch

        look: dict[str, Any] = {"aspect": "auto", "interpolation": "nearest"}
        y = np.asarray(self.y)[self.samples_]
        if self.classes is None:
            ax.imshow(y[None, :].astype(float), cmap="cividis", **look)
        else:
            colors = [palette.style(k)["color"] for k in range(len(self.classes))]
            # Hatches are too small here; repeated colours are paler.
            shades: list[Any] = [
                tuple(1 - (1 - part) * 0.55 ** (k // len(palette.COLORS)) for part in to_rgb(color))
                for k, color in enumerate(colors)
            ]
            number = {name: k for k, name in enumerate(self.classes)}
            codes = np.array([[number[name] for name in y]])
            most = max(len(shades) - 1, 1)
            ax.imshow(codes, cmap=ListedColormap(shades), vmin=0, vmax=most, **look)
            entries = {name: Patch(color=shade) for name, shade in zip(self.classes, shades, strict=True)}
            place: dict[str, Any] = {"bbox_to_anchor": (right, top), "handlelength": 1.0, "handleheight": 1.0}
            figures.add_legend(ax, entries, beside=True, **place)
        ax.set_axis_off()


def _top(view: FactorView, factors: Any, n: int, by: str) -> list[int]:
    """Return positions of the top features of the factors, each once."""
    chosen = np.flatnonzero(view.predictive) + 1
    if factors is not None:
        chosen = np.array(check_factors(factors, len(view.weights)))
    elif not len(chosen):
        chosen = np.array([1])
    numbered = replace(view, features=np.arange(len(view.features)))  # names can be duplicates
    table = top_features(numbered, n, by=by)
    return list(dict.fromkeys(int(i) for i in table[table["factor"].isin(chosen)]["feature"]))


def _some(labels: Any, n: int, most: int) -> Any:
    """Return ascending positions of at most `most` samples, evenly over each class."""
    if n <= most:
        return np.arange(n)
    order = np.arange(n) if labels is None else np.argsort(labels.astype(str), kind="stable")
    return np.sort(order[np.linspace(0, n - 1, most).astype(int)])


def _standardised(values: Any) -> Any:
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1)


def clustered(points: Any) -> Any:
    """Return Ward's tree of points (k, m), k ≥ 2, as SciPy's linkage; its leaves order a heat map.

    Up to `MOST_ORDERED` points, neighbours are as similar as the tree allows.
    """
    from scipy.cluster.hierarchy import linkage

    return linkage(points, "ward", optimal_ordering=len(points) <= MOST_ORDERED)


def _draw_tree(ax: Axes, rows: Any, *, sideways: bool) -> list[int]:
    """Draw Ward's tree of the rows (k, m) at the left or on top, and return their order."""
    from scipy.cluster.hierarchy import dendrogram

    ax.set_axis_off()
    k = len(rows)
    if k < 2:
        return list(range(k))
    tree = dendrogram(clustered(rows), no_plot=True)
    for across, along in zip(tree["icoord"], tree["dcoord"], strict=True):
        places = (np.array(across) - 5) / 10  # leaves at 0, 1, …
        x, y = (-np.array(along), places) if sideways else (places, np.array(along))
        ax.plot(x, y, color="0.35", linewidth=0.5, solid_joinstyle="miter")
    if sideways:
        ax.set_ylim(k - 0.5, -0.5)
        ax.margins(x=0)
    else:
        ax.set_xlim(-0.5, k - 0.5)
        ax.margins(y=0)
    return [int(i) for i in tree["leaves"]]
