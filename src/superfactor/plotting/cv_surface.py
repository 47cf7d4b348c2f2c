"""`CVSurfaceDisplay`: the cross-validated score over the weights ξ and λ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from superfactor.plotting import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.collections import QuadMesh
    from matplotlib.lines import Line2D

Point = dict[str, Any]

AXIS = {
    "xi": "ξ, weight of the reconstruction",
    "lam": "λ, ridge",
    "n_components": "number of factors",
}
SCORE = "mean score over splits"
CELL = (0.62, 0.42)  # inches of a cell, enough for its number
WIDEST = 12  # cells a side of which every one is labelled


class CVSurfaceDisplay:
    """Mean cross-validated score over (ξ, λ), with the chosen point ringed.

    One heat map for each number of factors and model. Where only one of ξ and λ was varied, one
    line for each instead, with the standard deviation over splits; where neither was, the score
    against the number of factors.

    Parameters
    ----------
    cv_results : dict of arrays
        ``cv_results_`` of `SMFClassifierCV`, or of a ``GridSearchCV`` over `SMFClassifier`'s xi, lam,
        n_components and model.
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
        The ring at the chosen point; None where the panels shown leave it out.

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

    def __init__(self, cv_results: dict[str, Any], best_index: int):
        self.cv_results = cv_results
        self.best_index = best_index

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
        search : SMFClassifierCV, or a GridSearchCV over SMFClassifier
        n_components, model, ax, **kwargs
            See ``plot``.

        Returns
        -------
        display : CVSurfaceDisplay
        """
        if not hasattr(search, "cv_results_"):
            raise TypeError(
                f"search={type(search).__name__}: a fitted SMFClassifierCV (or GridSearchCV) is "
                "required"
            )
        display = cls(search.cv_results_, search.best_index_)
        return display.plot(ax, n_components=n_components, model=model, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        n_components: int | None = None,
        model: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the scores.

        Parameters
        ----------
        ax : None, Axes or array of Axes, default=None
            None makes a figure that is large enough. Axes give their place to the panels. With an
            array each panel takes one.
        n_components : int, optional
            Show this number of factors only.
        model : {"filter", "feature"}, optional
            Show this model only.
        **kwargs
            Passed on to ``Axes.pcolormesh`` (heat maps) or ``Axes.errorbar`` (lines).

        Returns
        -------
        self
        """
        points = _points(self.cv_results, self.best_index)
        points = _only(_only(points, "n_components", n_components), "model", model)
        varied = [name for name in ("xi", "lam") if len({point[name] for point in points}) > 1]
        self.best_: Line2D | None = None
        if varied == ["xi", "lam"]:
            self._heat_maps(ax, _grouped(points, "model", "n_components"), kwargs)
        elif varied:
            self._lines(ax, varied[0], _grouped(points, "model", "n_components"), kwargs)
        else:
            self._lines(ax, "n_components", _grouped(points, "model"), kwargs)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        return self

    def _heat_maps(self, ax: Any, groups: dict[str, list[Point]], kwargs: Any) -> None:
        """One panel per group, all on one scale of colours."""
        everyone = [point for points in groups.values() for point in points]
        cells, wide, high = _layout(groups)
        rows, columns = (1 + max(numbers) for numbers in zip(*cells, strict=True))
        width, height = 1.0 + CELL[0] * wide, max(2.2, 0.9 + CELL[1] * high)
        self.axes_ = drawing.panels(ax, cells, (columns * width + 0.9, rows * height))
        means = [point["mean"] for point in everyone]
        look = {"vmin": np.nanmin(means), "vmax": np.nanmax(means), "cmap": "viridis"} | kwargs
        for panel, (title, points) in zip(self.axes_, groups.items(), strict=True):
            mesh = _heat_map(panel, points, look)
            panel.set_title(title, fontsize=9)
            chosen = _chosen(points)
            if chosen is not None:
                place = _places(points, "xi")[chosen["xi"]], _places(points, "lam")[chosen["lam"]]
                size = 28 if max(wide, high) < WIDEST else 12
                drawing.ring(panel, *place, markersize=size, color="white", markeredgewidth=4)
                self.best_ = drawing.ring(panel, *place, markersize=size)
        bar = self.axes_[0].figure.colorbar(mesh, ax=list(self.axes_))
        bar.set_label(SCORE, fontsize=9)
        bar.ax.tick_params(labelsize=drawing.SMALL)

    def _lines(self, ax: Any, name: str, groups: dict[str, list[Point]], kwargs: Any) -> None:
        """One line per group over the one parameter that varies, in one panel."""
        panel = drawing.single(ax if ax is None else np.ravel(ax)[0])
        self.axes_ = np.array([panel], dtype=object)
        everyone = [point for points in groups.values() for point in points]
        places = _places(everyone, name)
        handles: list[Any] = []
        for k, points in enumerate(groups.values()):
            points.sort(key=lambda point: point[name])
            across = [places[point[name]] for point in points]
            mean, spread = ([point[what] for point in points] for what in ("mean", "std"))
            look = drawing.style(k) | {"markersize": 5, "linewidth": 1.2, "capsize": 2} | kwargs
            handles.append(panel.errorbar(across, mean, yerr=spread, **look))
        chosen = _chosen(everyone)
        if chosen is not None:
            self.best_ = drawing.ring(panel, places[chosen[name]], chosen["mean"])
            handles.append(self.best_)
        labels = [*groups, "chosen"][: len(handles)]
        drawing.add_legend(panel, handles, labels, frameon=False)
        if name != "n_components":
            panel.set_xscale("log")
        _mark_values(panel.xaxis, places)
        panel.set_xlabel(AXIS[name], fontsize=9)
        panel.set_ylabel(SCORE, fontsize=9)
        drawing.tidy(panel)


def _points(results: dict[str, Any], best_index: int) -> list[Point]:
    """The candidates with their scores; parameters of a pipeline's step go by their short names."""
    points = []
    for k, params in enumerate(results["params"]):
        point: Point = {"xi": 1.0, "lam": 1.0, "n_components": 2, "model": "filter"}
        point |= {name.split("__")[-1]: value for name, value in params.items()}
        point["mean"] = float(results["mean_test_score"][k])
        point["std"] = float(results["std_test_score"][k])
        point["chosen"] = k == best_index
        points.append(point)
    return points


def _only(points: list[Point], name: str, value: Any) -> list[Point]:
    """The points with this value of a parameter; None keeps all."""
    kept = [point for point in points if value is None or point[name] == value]
    if not kept:
        found = ", ".join(repr(v) for v in _distinct(points, name))
        raise ValueError(f"{name}={value!r}: None or one of {found} is required")
    return kept


def _distinct(points: list[Point], name: str) -> list[Any]:
    return sorted({point[name] for point in points})


def _chosen(points: list[Point]) -> Point | None:
    return next((point for point in points if point["chosen"]), None)


def _grouped(points: list[Point], *names: str) -> dict[str, list[Point]]:
    """Points that agree in these parameters, by a title such as "filter model, 3 factors"."""
    groups: dict[str, list[Point]] = {}
    # The filter model first, as everywhere.
    for point in sorted(
        points, key=lambda point: (point["model"] != "filter", point["n_components"])
    ):
        r = point["n_components"]
        words = {
            "n_components": f"{r} factor" if r == 1 else f"{r} factors",
            "model": f"{point['model']} model",
        }
        groups.setdefault(", ".join(words[name] for name in names), []).append(point)
    return groups


def _layout(groups: dict[str, list[Point]]) -> tuple[list[tuple[int, int]], int, int]:
    """A cell for each group, one model under the other, and the size of a panel in ξs and λs."""
    models = [points[0]["model"] for points in groups.values()]
    rows, columns = drawing.grid_shape(max(map(models.count, models)))
    cells = []
    for k, model in enumerate(models):
        first = models.index(model)
        row, column = divmod(k - first, columns)
        cells.append((row + (rows if first else 0), column))
    wide, high = (
        min(WIDEST, max(len(_distinct(points, name)) for points in groups.values()))
        for name in ("xi", "lam")
    )
    return cells, wide, high


def _places(points: list[Point], name: str) -> dict[Any, float]:
    """Where each value stands on its axis: at itself, but λ = 0 one step before all others."""
    values = _distinct(points, name)
    if name == "n_components" or values[0] > 0:
        return {value: float(value) for value in values}
    positive = values[1:]
    step = positive[1] / positive[0] if len(positive) > 1 else 10.0
    return {0: positive[0] / step} | {value: float(value) for value in positive}


def _heat_map(ax: Axes, points: list[Point], look: dict[str, Any]) -> QuadMesh:
    """Coloured cells with their scores written in, where there are few enough to read."""
    xi, lam = _places(points, "xi"), _places(points, "lam")
    mean = np.full((len(lam), len(xi)), np.nan)
    columns, rows = list(xi), list(lam)
    for point in points:
        mean[rows.index(point["lam"]), columns.index(point["xi"])] = point["mean"]
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_facecolor("0.85")  # a score that is no number leaves its cell empty
    mesh = ax.pcolormesh(_edges(xi.values()), _edges(lam.values()), mean, **look)
    if max(mean.shape) <= WIDEST:
        for point in points:
            if np.isfinite(point["mean"]):
                _write_score(ax, xi[point["xi"]], lam[point["lam"]], point["mean"], mesh)
    _mark_values(ax.xaxis, xi)
    _mark_values(ax.yaxis, lam)
    ax.set_xlabel(AXIS["xi"], fontsize=9)
    ax.set_ylabel(AXIS["lam"], fontsize=9)
    ax.tick_params(labelsize=drawing.SMALL)
    return mesh


def _write_score(ax: Axes, x: float, y: float, score: float, mesh: QuadMesh) -> None:
    """The number, dark on light colours and light on dark ones."""
    red, green, blue, _ = mesh.to_rgba(np.asarray(score))
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    text = f"{score:.3f}" if abs(score) < 10 else f"{score:.3g}"
    text = text.replace("-", "−")
    ax.text(x, y, text, ha="center", va="center", fontsize=7.5, color="w" if dark else "k")


def _edges(places: Any) -> Any:
    """Boundaries (k + 1,) of cells around k places on a logarithmic axis."""
    logs = np.log(list(places))
    middles = (logs[1:] + logs[:-1]) / 2
    first, last = 2 * logs[0] - middles[0], 2 * logs[-1] - middles[-1]
    return np.exp(np.concatenate([[first], middles, [last]]))


def _mark_values(axis: Axis, places: dict[Any, float]) -> None:
    """Ticks at the values tried, every second or so where there are many."""
    kept = list(places)[:: 1 + (len(places) - 1) // WIDEST]
    # Three digits, and 1530 rather than 1.53e+03.
    labels = [f"{float(f'{value:.3g}'):g}" for value in kept]
    axis.set_ticks([places[value] for value in kept], labels=labels)
    axis.set_ticks([], minor=True)
