"""`SamplesDisplay`: samples in the space of one or two factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.stats import f

from superfactor._deprecated import renamed_attributes, renamed_parameters
from superfactor.interpretation import FactorView, HeldOut, factor_view
from superfactor.interpretation.roles import PREDICTIVE, roles
from superfactor.plotting.drawing import figures, lettering, palette
from superfactor.plotting.drawing.positions import positions_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FEWEST = 5  # smallest class with an ellipse
LEVEL = 0.95  # share of a normal distribution inside an ellipse


@renamed_attributes(codes="scores")
@dataclass(eq=False, repr=False)
class SamplesDisplay:
    """Samples by their scores, coloured by class, or by the predicted number or time.

    With two factors it is a scatter plot, with an ellipse around each class that contains 95 % of a normal
    distribution. With one factor, each class has a row of points.

    Parameters
    ----------
    scores : array of shape (n_samples, 2) or (n_samples, 1)
    y : array of shape (n_samples,), optional
        Labels as strings, or real targets. None draws all samples in the same colour.
    factors : names of the axes, one for each column of `scores`
    classes : sequence of str, optional
        All labels, in the order of the legend. None if y is real.
    target : str, default="y"
        The name of a real y.
    events : array of shape (n_samples,) of bool, optional
        For survival times: which of them are times of an event. The others are censored, and hollow.
    colors : dict from class to colour, optional
        Colours of some or all classes; the others have the default colours.
    said : str, default=""
        A sentence for the caption on the kind of samples.
    outlined : bool, default=True
        Whether ``plot`` draws ellipses by default.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    points_ : dict of PathCollection
        By class, or "event" and "censored"; one entry "all" without y.
    ellipses_ : dict of Ellipse
        By class, for classes with an ellipse.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from superfactor import SMFClassifier
    >>> from superfactor.plotting import SamplesDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SMFClassifier(3).fit(scale(X), y)
    >>> display = SamplesDisplay.from_estimator(model, scale(X), y, factors=(1, 3))
    >>> sorted(display.points_)
    ['0', '1', '2']
    >>> display.said
    'Held-out samples: each score comes from a model fitted without the sample.'
    """

    scores: Any
    y: Any = None
    _: KW_ONLY
    factors: Sequence[str]
    classes: Sequence[str] | None = None
    target: str = "y"
    events: Any = None
    colors: Mapping[str, str] | None = None
    said: str = ""
    outlined: bool = True

    @classmethod
    @renamed_parameters(ellipse="ellipses")
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        covariates: Any = None,
        factors: int | Sequence[int] = (1, 2),
        samples: str = "auto",
        held_out: HeldOut | None = None,
        predicts: bool | None = None,
        rotation: str | None = None,
        positive: Any = None,
        ellipses: str | bool = "auto",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot samples in the factor space of a fitted model.

        Parameters
        ----------
        model : SMFClassifier, SMFRegressor, SMFSurvival, a pipeline of one, SMFClassifierCV, FactorView
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            Samples, as ``model.predict`` takes them. None shows the scores of the training samples; it is
            required with a FactorView.
        y : array-like of shape (n_samples,), optional
            Their labels (targets); labels unknown to the model are shown too. Survival times, in the form for
            `SMFSurvival`, are shown as colours, with hollow marks for censored ones.
        covariates : array-like of shape (n_samples, n_covariates), optional
            As ``model.fit`` took them.
        factors : int or one or two of them, default=(1, 2)
            Numbers of the factors, from 1 in display order. A model with one factor shows that.
        samples : {"auto", "held_out", "training", "new"}, default="auto"
            The kind of scores. A model separates the classes of its training samples, on wide data even if
            the labels are random. Therefore "held_out" fits it again without each of five parts of the
            samples (`superfactor.interpretation.held_out_scores`), and shows out-of-fold scores. "training"
            shows scores of the training samples from the model itself, and "new" those of new samples.
            "auto" is "held_out" if X and y are the training data. The caption states the kind.
        held_out : HeldOut, optional
            The result of `superfactor.interpretation.held_out_scores` for this model, rotation and positive
            class: with other folds, groups or sample weights, or to save time. X is not required then.
        predicts : bool, optional
            Whether the model is shown to predict, for example by `superfactor.selection.nested_scores`.
            None uses the held-out samples.
        rotation : None, "predictive", "variance" or "varimax", default=None
        positive : class label, optional
            Both as in `superfactor.interpretation.factor_view`.
        ellipses, ax, **kwargs
            See ``plot``. "auto" draws ellipses for held-out and new samples of a model that predicts.
        """
        figures.pyplot()  # raise before the computation if it is missing
        display = cls._made(
            model,
            X,
            y,
            covariates=covariates,
            factors=factors,
            samples=samples,
            held_out=held_out,
            predicts=predicts,
            rotation=rotation,
            positive=positive,
        )
        return display.plot(ax, ellipses=ellipses, **kwargs)

    @classmethod
    def _made(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        factors: int | Sequence[int],
        rotation: str | None,
        positive: Any,
        **which: Any,
    ) -> Self:
        """Return a display that is not plotted yet; parameters are those of ``from_estimator``."""
        turned = {"rotation": rotation, "positive": positive}
        view = factor_view(model, **turned)
        chosen = check_factors(factors, len(view.weights))
        shown = figures.shown_samples(y, view)
        found = positions_of(model, view, X, y, **which, **turned)
        shown.check_length(len(found.scores))
        return cls(
            found.scores[:, [j - 1 for j in chosen]],
            shown.values,
            factors=axis_names(view, chosen, found.held_out, which["predicts"]),
            classes=shown.classes,
            target=shown.name,
            events=shown.events,
            said=found.said,
            outlined=found.outlined,
        )

    @renamed_parameters(ellipse="ellipses")
    def plot(self, ax: Axes | None = None, *, ellipses: str | bool = "auto", **kwargs: Any) -> Self:
        """Draw the samples.

        Parameters
        ----------
        ax : Axes, optional
            None makes a new figure.
        ellipses : "auto" or bool, default="auto"
            Draw the 95 % normal ellipse of each class of at least 5 samples, in two factors. "auto" uses the
            attribute ``outlined``.
        **kwargs
            Passed on to ``Axes.scatter``.
        """
        own = ax is None
        self._draw(ax, ellipses, kwargs)
        figures.say(self.ax_, [self.said], own)
        figures.fit_labels(self.ax_)
        if self.classes is not None and np.shape(self.scores)[1] == 1:
            figures.fit_rows([self.ax_])
        return self

    def _draw(self, ax: Axes | None, ellipses: str | bool, kwargs: dict[str, Any]) -> None:
        """Draw everything except the caption."""
        if ellipses != "auto" and not isinstance(ellipses, bool):
            raise ValueError(f"ellipses={ellipses!r}: 'auto', True or False is required")
        outlined = self.outlined if ellipses == "auto" else bool(ellipses)
        scores = np.asarray(self.scores)
        flat = scores.shape[1] == 1
        strip = flat and (self.y is None or self.classes is not None)
        rows = len(self.classes or "1")
        self.ax_ = ax = figures.single(ax, (6.0, 1.1 + 0.4 * rows if strip else 4.4))
        self.figure_ = ax.figure
        # Marks are smaller with more samples.
        size = float(np.clip(600 / np.sqrt(max(len(scores), 1)), 12, 32))
        look = {"s": size, "alpha": 0.8 if len(scores) < 1500 else 0.5} | kwargs
        ax.set_xlabel(self.factors[0], parse_math=False)
        self.ellipses_: dict[str, Any] = {}
        if self.classes is not None:
            self.points_ = self._by_class(ax, scores, look, outlined)
        elif self.y is not None:
            self.points_ = self._by_value(ax, scores, look)
        else:
            height = _scattered(len(scores)) if flat else scores[:, 1]
            points = ax.scatter(scores[:, 0], height, **palette.point_style(0) | look)
            self.points_ = {"all": points}
        if not flat:
            ax.set_ylabel(self.factors[1], parse_math=False)
        elif self.y is None:
            ax.set_yticks([])
        figures.tidy(ax)

    def _by_class(self, ax: Axes, scores: np.ndarray, look: dict[str, Any], outlined: bool) -> dict[str, Any]:
        """Draw one colour and shape per class, and a legend; with one factor a row per class."""
        points, y, classes = {}, np.asarray(self.y), self.classes or ()
        for k, name in enumerate(classes):
            mine = scores[y == name]
            height = mine[:, 1] if scores.shape[1] > 1 else _scattered(len(mine)) - k
            color = (self.colors or {}).get(name)
            style = palette.point_style(k, color)
            points[name] = ax.scatter(mine[:, 0], height, **style | look)
            if outlined and scores.shape[1] > 1 and len(mine) >= FEWEST:
                edge = color or palette.style(k)["color"]
                self.ellipses_[name] = _draw_ellipse(ax, mine, edge)
        if scores.shape[1] > 1:
            scale = float(np.sqrt(32 / np.mean(look["s"])))
            figures.add_legend(ax, points, beside=True, markerscale=scale)
        else:
            names = lettering.short_names(classes, lettering.room_for_names(ax, 1))
            lettering.name_rows(ax, -np.arange(len(classes)), [names[name] for name in classes])
        return points

    def _by_value(self, ax: Axes, scores: np.ndarray, look: dict[str, Any]) -> dict[str, Any]:
        """Draw colours from dark to light by the target; with one factor the target is the height.

        Survival times of events are filled, censored ones hollow, and samples without a time grey.
        """
        from matplotlib.colors import Normalize

        y, flat = np.asarray(self.y, dtype=float), scores.shape[1] == 1
        parts = {"all": np.ones(len(y), dtype=bool)}
        if self.events is not None:
            events, known = np.asarray(self.events, dtype=bool), np.isfinite(y)
            parts = {"event": known & events, "censored": known & ~events, "not known": ~known}
            parts = {name: mine for name, mine in parts.items() if mine.any()}
        look = {"cmap": "cividis", "norm": Normalize(np.nanmin(y), np.nanmax(y))} | look
        plain = {name: value for name, value in look.items() if name not in ("cmap", "norm")}
        points, style = {}, dict[str, Any]()
        for name, mine in parts.items():
            height = y[mine] if flat else scores[mine, 1]
            if name == "not known":
                height = np.full(mine.sum(), np.nanmin(y)) if flat else height
                style = {"marker": "x", "color": "0.6", "linewidth": 0.8} | plain
            else:
                style = palette.point_style(0) | plain if flat else {"c": y[mine]} | look
            points[name] = ax.scatter(scores[mine, 0], height, **style)
            if name == "censored":
                points[name].set(facecolor="none", linewidth=1.2)
            if name == "censored" and not flat:
                points[name].set(edgecolor=None)  # edges take the colours
        if flat:
            ax.set_ylabel(self.target, parse_math=False)
        else:
            bar = ax.figure.colorbar(next(iter(points.values())), ax=ax)
            bar.set_label(self.target, fontsize=9, parse_math=False)
            bar.ax.tick_params(labelsize=lettering.SMALL)
        if len(points) > 1:
            figures.add_legend(ax, {name: _handle(name) for name in points}, beside=False)
        return points


def axis_names(
    view: FactorView, chosen: Sequence[int], held_out: HeldOut | None = None, predicts: bool | None = None
) -> list[str]:
    """Return names of the axes of these factors (from 1), with their association in held-out samples."""
    names, found = [], roles(view, None if held_out is None else held_out.predictive, predicts)
    for j in chosen:
        share = f"{figures.percent(view.share[j - 1])} of variance"
        # One word, because axes are short; the caption has the full text.
        role = "" if found[j - 1] == PREDICTIVE else f"{found[j - 1]}, "
        alone = "" if held_out is None else f"\n{_alone(held_out, view, j - 1)}"
        names.append(f"factor {j} ({role}{share}){alone}")
    return names


def _alone(held_out: HeldOut, view: FactorView, j: int) -> str:
    """Return the association of factor j alone with the outcome, such as "AUC 0.93"."""
    value, of = f"{held_out.own[j]:z.2f}".replace("-", "−"), ""
    if view.outputs != (held_out.own_of[j],):
        of = f" of {lettering.shorten(held_out.own_of[j], lettering.NAMES, 9)}"
    return f"{held_out.own_name}{of} {value}, held out"


def _handle(name: str) -> Any:
    """Return the legend mark of an event, a censored time or a missing time."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"marker": "x" if name == "not known" else "o", "color": "0.4"}
    look["markerfacecolor"] = "none" if name == "censored" else "0.4"
    return Line2D([], [], linestyle="none", markersize=5, **look)


def ellipse_radius(n: int) -> float:
    """Return the radius of the ellipse of n ≥ 3 points in two factors, in standard deviations.

    A further sample of a normal distribution is inside with probability 95 %: the square is
    2(n−1)(n+1)/(n(n−2))·F, with the quantile F of F(2, n−2). It is that of χ² only for large n.
    """
    return float(np.sqrt(2 * (n - 1) * (n + 1) / (n * (n - 2)) * f.ppf(LEVEL, 2, n - 2)))


def _draw_ellipse(ax: Axes, points: np.ndarray, color: str) -> Any:
    """Draw the ellipse with 95 % of a normal distribution with mean and covariance of points (n, 2)."""
    from matplotlib.patches import Ellipse

    values, axes = np.linalg.eigh(np.cov(points.T))
    width, height = 2 * ellipse_radius(len(points)) * np.sqrt(np.clip(values, 0, None))
    angle = float(np.degrees(np.arctan2(axes[1, 0], axes[0, 0])))
    patch = Ellipse(tuple(points.mean(axis=0)), width, height, angle=angle)
    patch.set(facecolor=color, edgecolor="none", alpha=0.08, zorder=0.5)
    edge = Ellipse(patch.center, width, height, angle=angle)
    edge.set(fill=False, edgecolor=color, linewidth=1.0, alpha=0.9, zorder=0.6)
    ax.add_patch(patch)
    return ax.add_patch(edge)


def check_factors(factors: Any, r: int) -> list[int]:
    """Return `factors` as a list of one or two integers from 1 to r, or raise a ValueError."""
    chosen: list[Any] = [factors] if isinstance(factors, Integral) else list(factors)
    if r == 1 and chosen == [1, 2]:
        return [1]
    whole = all(isinstance(j, Integral) and not isinstance(j, bool) for j in chosen)
    if not (whole and len(chosen) in (1, 2) and all(1 <= j <= r for j in chosen)):
        raise ValueError(f"factors={factors!r}: one or two integers from 1 to {r} are required")
    return [int(j) for j in chosen]


def _scattered(count: int) -> Any:
    """Return heights (count,) around 0 that look random but are fixed."""
    golden = (np.sqrt(5) - 1) / 2
    return 0.5 * (np.arange(count) * golden % 1 - 0.5)
