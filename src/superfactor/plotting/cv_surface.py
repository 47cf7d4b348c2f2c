"""`CVSurfaceDisplay`: the cross-validated score over the weights ξ and λ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from superfactor.models import MODELS
from superfactor.plotting.drawing import figures, lettering, palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.collections import QuadMesh
    from matplotlib.lines import Line2D

# xi, lam, n_components and model (None if the search did not vary them), mean, std, chosen.
Point = dict[str, Any]
VARIED = ("xi", "lam", "n_components", "model")
AXIS = {"xi": "ξ, weight of the reconstruction", "lam": "λ, ridge", "n_components": "number of factors"}
SCORE = "mean score over splits"
CELL = (0.62, 0.42)  # inches of a cell, enough for its number
PAGE = 13.0  # largest width of a row of panels, in inches
WIDEST = 12  # largest number of cells per side with labels


@dataclass(eq=False, repr=False)
class CVSurfaceDisplay:
    """Mean cross-validated score over (ξ, λ); a ring marks the chosen point.

    There is one heat map for each number of factors and model. If the search varied only one of ξ and λ,
    there is one line for each instead, with the standard deviation over splits. If it varied neither, the
    plot shows the score against the number of factors.

    Parameters
    ----------
    cv_results : dict of arrays
        ``cv_results_`` of `SMFClassifierCV` or `SMFRegressorCV`, or of a ``GridSearchCV`` over some of
        xi, lam, n_components and model.
    best_index : int
        The chosen candidate.

    Attributes
    ----------
    axes_ : array of Axes
        One per panel.
    ax_ : Axes
        The first of them.
    figure_ : Figure
    best_ : Line2D or None
        The ring at the chosen point; None if no panel contains it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from superfactor import SMFClassifierCV
    >>> from superfactor.plotting import CVSurfaceDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> search = SMFClassifierCV([2, 3], preprocess="standardize", cv=3).fit(X, y)
    >>> display = CVSurfaceDisplay.from_estimator(search)
    >>> len(display.axes_)
    2
    """

    cv_results: dict[str, Any]
    best_index: int

    @classmethod
    def from_estimator(
        cls,
        search: Any,
        *,
        n_components: int | None = None,
        model: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the scores of a fitted search.

        Parameters
        ----------
        search : SMFClassifierCV, SMFRegressorCV, or a GridSearchCV over SMFClassifier or SMFRegressor
        n_components, model, ax, **kwargs
            See ``plot``.
        """
        if not hasattr(search, "cv_results_"):
            raise TypeError(
                f"search={type(search).__name__}: a fitted SMFClassifierCV, SMFRegressorCV or "
                "GridSearchCV is required"
            )
        display = cls(search.cv_results_, search.best_index_)
        return display.plot(ax, n_components=n_components, model=model, **kwargs)

    def plot(
        self, ax: Any = None, *, n_components: int | None = None, model: str | None = None, **kwargs: Any
    ) -> Self:
        """Draw the scores.

        Parameters
        ----------
        ax : None, Axes or array of Axes, default=None
            None makes a figure that is large enough. The panels take the place of a single Axes. With an
            array each panel uses one.
        n_components : int, optional
            Show only this number of factors.
        model : {"filter", "feature"}, optional
            Show only this model.
        **kwargs
            Passed on to ``Axes.pcolormesh`` (heat maps) or ``Axes.errorbar`` (lines).
        """
        points = _listed(self.cv_results, self.best_index)
        points = _only(points, "n_components", n_components)
        points = _only(points, "model", model)
        varied = [name for name in ("xi", "lam") if len(_distinct(points, name)) > 1]
        self.best_: Line2D | None = None
        if varied == ["xi", "lam"]:
            self._heat_maps(ax, _grouped(points, "model", "n_components"), kwargs)
        elif varied:
            groups = _grouped(points, "model", "n_components")
            self._lines(ax, varied[0], groups, kwargs)
        else:
            self._lines(ax, "n_components", _grouped(points, "model"), kwargs)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        return self

    def _heat_maps(self, ax: Any, groups: dict[str, list[Point]], kwargs: dict[str, Any]) -> None:
        """Draw one panel per group, with the same colour scale."""
        places = [tuple(_places(points, name) for name in ("xi", "lam")) for points in groups.values()]
        wide, high = (min(WIDEST, max(map(_cells, side))) for side in zip(*places, strict=True))
        width, height = 1.0 + CELL[0] * wide, max(2.2, 0.9 + CELL[1] * high)
        cells = _panel_cells(groups, widest=max(1, int(PAGE / width)))
        rows, columns = figures.extent(cells)
        self.axes_ = figures.panels(ax, cells, (columns * width + 0.9, rows * height))
        means = [point["mean"] for points in groups.values() for point in points]
        finite = [mean for mean in means if np.isfinite(mean)] or [0.0]
        look = {"vmin": min(finite), "vmax": max(finite), "cmap": "viridis"} | kwargs
        for panel, title, (xi, lam) in zip(self.axes_, groups, places, strict=True):
            mesh = _heat_map(panel, groups[title], xi, lam, look)
            panel.set_title(title, fontsize=9)
            chosen = _chosen(groups[title])
            if chosen is not None:
                place = xi[chosen["xi"]], lam[chosen["lam"]]
                round_it = _around_a_score() if max(wide, high) < WIDEST else {"markersize": 12}
                figures.ring(panel, *place, **round_it, color="white", markeredgewidth=4)
                self.best_ = figures.ring(panel, *place, **round_it)
        bar = self.axes_[0].figure.colorbar(mesh, ax=list(self.axes_))
        bar.set_label(SCORE, fontsize=9)
        bar.ax.tick_params(labelsize=lettering.SMALL)

    def _lines(self, ax: Any, name: str, groups: dict[str, list[Point]], kwargs: dict[str, Any]) -> None:
        """Draw one line per group over the parameter that varies, in one panel."""
        panel = figures.single(ax if ax is None else np.ravel(ax)[0])
        self.axes_ = np.array([panel], dtype=object)
        everyone = [point for points in groups.values() for point in points]
        places = _places(everyone, name)
        entries: dict[str, Any] = {}
        for k, (title, points) in enumerate(groups.items()):
            points = sorted(points, key=lambda point: point[name])
            across = [places[point[name]] for point in points]
            mean, spread = ([point[what] for point in points] for what in ("mean", "std"))
            look = palette.style(k) | {"markersize": 5, "linewidth": 1.2, "capsize": 2} | kwargs
            entries[title] = panel.errorbar(across, mean, yerr=spread, **look)
        chosen = _chosen(everyone)
        if chosen is not None:
            self.best_ = figures.ring(panel, places[chosen[name]], chosen["mean"])
            entries["chosen"] = self.best_
        figures.add_legend(panel, entries, beside=len(entries) > 6)
        if name != "n_components":
            panel.set_xscale("log")
        _mark_values(panel.xaxis, places)
        panel.set_xlabel(AXIS[name])
        panel.set_ylabel(SCORE)
        figures.tidy(panel)


def _heat_map(
    ax: Axes, points: list[Point], xi: dict[Any, float], lam: dict[Any, float], look: dict[str, Any]
) -> QuadMesh:
    """Draw coloured cells, with their scores if the cells are large enough."""
    columns, rows = list(xi), list(lam)
    mean = np.full((len(rows), len(columns)), np.nan)
    for point in points:
        mean[rows.index(point["lam"]), columns.index(point["xi"])] = point["mean"]
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_facecolor("0.85")  # cells without a score are empty
    mesh = ax.pcolormesh(_edges(xi), _edges(lam), mean, **look)
    if max(_cells(xi), _cells(lam)) <= WIDEST:
        for point in points:
            if np.isfinite(point["mean"]):
                _write_score(ax, xi[point["xi"]], lam[point["lam"]], point["mean"], mesh)
    _mark_values(ax.xaxis, xi)
    _mark_values(ax.yaxis, lam)
    ax.set_xlabel(AXIS["xi"], fontsize=9)
    ax.set_ylabel(AXIS["lam"], fontsize=9)
    ax.tick_params(labelsize=lettering.SMALL)
    return mesh


def _write_score(ax: Axes, x: float, y: float, score: float, mesh: QuadMesh) -> None:
    """Write the score, dark on light colours and light on dark ones."""
    red, green, blue, _ = mesh.to_rgba(np.asarray(score))
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    text = f"{score:z.3f}" if abs(score) < 10 else f"{score:.3g}"
    text = text.replace("-", "−")
    ax.text(x, y, text, ha="center", va="center", fontsize=7.5, color="w" if dark else "k")


def _around_a_score() -> dict[str, Any]:
    """Return the style of a ring around a number in a cell."""
    from matplotlib.markers import MarkerStyle

    return {"marker": MarkerStyle("o").scaled(1.45, 0.95), "markersize": 26}


def _edges(places: dict[Any, float]) -> Any:
    """Return the boundaries (k + 1,) of cells around k places on a logarithmic axis."""
    logs = np.log(list(places.values()))
    if len(logs) == 1:
        return np.exp(logs[0] + np.array([-1.0, 1.0]))
    middles = (logs[1:] + logs[:-1]) / 2
    first, last = 2 * logs[0] - middles[0], 2 * logs[-1] - middles[-1]
    return np.exp(np.concatenate([[first], middles, [last]]))


def _cells(places: dict[Any, float]) -> int:
    """Return how many cells of the smallest width fill the axis."""
    logs = np.log(_edges(places))
    return math.ceil(float((logs[-1] - logs[0]) / np.diff(logs).min()) - 1e-6)


def _mark_values(axis: Axis, places: dict[Any, float]) -> None:
    """Set ticks at the values tried, without those too close to the previous tick."""
    scale = np.array(list(places.values()))
    scale = np.log(scale) if axis.get_scale() == "log" else scale
    least, kept = (scale[-1] - scale[0]) / WIDEST, [0]
    for k in range(1, len(scale)):
        if scale[k] - scale[kept[-1]] >= least:
            kept.append(k)
    values = [list(places)[k] for k in kept]
    # Three digits, and 1530 rather than 1.53e+03.
    labels = [f"{float(f'{value:.3g}'):g}" for value in values]
    axis.set_ticks([places[value] for value in values], labels=labels)
    axis.set_ticks([], minor=True)


# --- the candidates, grouped for a plot --------------------------------------------------------------------


def _listed(results: dict[str, Any], best_index: int) -> list[Point]:
    """Return every candidate of `cv_results_`; parameters of a step in a pipeline get their short names."""
    points = []
    for k, params in enumerate(results["params"]):
        point: Point = dict.fromkeys(VARIED)
        point |= {name.split("__")[-1]: value for name, value in params.items()}
        point["mean"] = float(results["mean_test_score"][k])
        point["std"] = float(results["std_test_score"][k])
        point["chosen"] = k == best_index
        points.append(point)
    if all(points[0][name] is None for name in VARIED[:3]):
        raise ValueError(
            f"cv_results: it varies {', '.join(results['params'][0]) or 'no parameters'}; one of xi, lam "
            "and n_components is required"
        )
    return points


def _only(points: list[Point], name: str, value: Any) -> list[Point]:
    """Return the points with this value of a parameter; None keeps all."""
    kept = [point for point in points if value is None or point[name] == value]
    if not kept:
        found = ", ".join(map(repr, _distinct(points, name)))
        raise ValueError(f"{name}={value!r}: None or one of {found} is required")
    return kept


def _distinct(points: list[Point], name: str) -> list[Any]:
    """Return the values of a parameter, ascending."""
    return sorted({point[name] for point in points})


def _chosen(points: list[Point]) -> Point | None:
    """Return the chosen candidate, if it is one of these."""
    return next((point for point in points if point["chosen"]), None)


def _grouped(points: list[Point], *names: str) -> dict[str, list[Point]]:
    """Return groups of points with equal parameters, by a title such as "filter model, 3 factors"."""

    def order(point: Point) -> tuple[int, int]:
        name = point["model"]
        return -1 if name is None else list(MODELS).index(name), point["n_components"] or 0

    groups: dict[str, list[Point]] = {}
    for point in sorted(points, key=order):
        r = point["n_components"]
        words = {
            "n_components": "" if r is None else f"{r} factor" + "s" * (r > 1),
            "model": "" if point["model"] is None else f"{point['model']} model",
        }
        title = ", ".join(words[name] for name in names if words[name])
        groups.setdefault(title or "mean score", []).append(point)
    return groups


def _panel_cells(groups: dict[str, list[Point]], widest: int) -> list[tuple[int, int]]:
    """Return row and column of each panel, one model below the other, in at most `widest` columns."""
    models = [points[0]["model"] for points in groups.values()]
    rows, columns = figures.grid_shape(max(map(models.count, models)), widest)
    found = []
    for k, model in enumerate(models):
        first = models.index(model)
        row, column = divmod(k - first, columns)
        found.append((row + (rows if first else 0), column))
    return found


def _places(points: list[Point], name: str) -> dict[Any, float]:
    """Return the position of each value on its axis; λ = 0 is one step before the other values."""
    values = _distinct(points, name)
    if name == "n_components" or values[0] > 0:
        return {value: float(value) for value in values}
    positive = values[1:] or [1.0]
    step = positive[1] / positive[0] if len(positive) > 1 else 10.0
    return {0: positive[0] / step} | {value: float(value) for value in values[1:]}
