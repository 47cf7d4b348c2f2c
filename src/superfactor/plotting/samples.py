"""`SamplesDisplay`: samples in the space of two factors, or along one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from superfactor.estimators import SMFSurvival
from superfactor.estimators.inputs import as_numpy
from superfactor.estimators.survival_targets import check_survival
from superfactor.interpretation import FactorView, factor_view
from superfactor.interpretation.models import fitted_model
from superfactor.plotting import drawing, lettering

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FEWEST = 5  # samples of a class that has an ellipse
QUANTILE = 5.991464547107979  # of χ² with two degrees of freedom, 95 %


class SamplesDisplay:
    """Samples by their codes, coloured by class (or by the target, in regression).

    With two factors a scatter plot, with an ellipse around each class that holds 95 % of it were it
    normal; with one factor, a row of points per class.

    Parameters
    ----------
    codes : array of shape (n_samples, 2) or (n_samples, 1)
    y : array of shape (n_samples,), optional
        Labels as strings, or real targets. None draws all samples alike.
    factors : names of the axes, one for each column of `codes`
    classes : sequence of str, optional
        All labels, in the order of the legend. None where y is real.
    target : str, default="y"
        What y is called where it is real.
    colors : dict from class to colour, optional
        Of some or all classes; the others have the usual ones.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    points_ : dict of PathCollection
        By class; one entry "all" where there are none.
    ellipses_ : dict of Ellipse
        By class, of those that have one.

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
    """

    def __init__(
        self,
        codes: Any,
        y: Any = None,
        *,
        factors: Sequence[str],
        classes: Sequence[str] | None = None,
        target: str = "y",
        colors: Mapping[str, str] | None = None,
    ):
        self.codes = codes
        self.y = y
        self.factors = factors
        self.classes = classes
        self.target = target
        self.colors = colors

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        covariates: Any = None,
        factors: int | Sequence[int] = (1, 2),
        rotation: str | None = None,
        positive: Any = None,
        ellipse: bool = True,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot samples in the factor space of a fitted model.

        Parameters
        ----------
        model : SMFClassifier, SMFRegressor, SMFSurvival, a pipeline of one, SMFClassifierCV, FactorView
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            Samples to code, as ``model.predict`` takes them. None shows the codes the training
            samples got, as it has to be with a FactorView; those of the feature model have seen the
            labels.
        y : array-like of shape (n_samples,), optional
            Their labels (targets); labels the model does not know are shown too. Of events and times, as
            `SMFSurvival` takes them, the events are shown.
        covariates : array-like of shape (n_samples, n_covariates), optional
            Accepted as everywhere; codes do not depend on them.
        factors : int or one or two of them, default=(1, 2)
            Numbers of the factors, from 1 in display order. A model with one factor shows that.
        rotation : None, "predictive", "variance" or "varimax", default=None
        positive : class label, optional
            The class that is up; both as in `superfactor.interpretation.factor_view`.
        ellipse, ax, **kwargs
            See ``plot``.

        Returns
        -------
        display : SamplesDisplay
        """
        view = factor_view(model, rotation=rotation, positive=positive)
        chosen = check_factors(factors, len(view.weights))
        codes = view.codes if X is None else codes_of(model, view, X, covariates)
        labels, classes = labels_of(y, len(codes), view)
        display = cls(
            codes[:, [j - 1 for j in chosen]],
            labels,
            factors=axis_names(view, chosen),
            classes=classes,
            target=view.outputs[0],
        )
        return display.plot(ax, ellipse=ellipse, **kwargs)

    def plot(self, ax: Axes | None = None, *, ellipse: bool = True, **kwargs: Any) -> Self:
        """Draw the samples.

        Parameters
        ----------
        ax : Axes, optional
            None makes a new figure.
        ellipse : bool, default=True
            Draw the 95 % normal ellipse of each class of at least 5 samples, in two factors.
        **kwargs
            Passed on to ``Axes.scatter``.

        Returns
        -------
        self
        """
        codes = np.asarray(self.codes)
        flat = codes.shape[1] == 1
        strip = flat and (self.y is None or self.classes is not None)
        rows = len(self.classes or "1")
        self.ax_ = ax = drawing.single(ax, (6.0, 0.9 + 0.4 * rows if strip else 4.2))
        self.figure_ = ax.figure
        # Smaller where there are more, and never too small to see.
        size = float(np.clip(600 / np.sqrt(max(len(codes), 1)), 12, 32))
        look = {"s": size, "alpha": 0.8 if len(codes) < 1500 else 0.5} | kwargs
        ax.set_xlabel(self.factors[0])
        self.ellipses_: dict[str, Any] = {}
        if self.classes is not None:
            self.points_ = self._by_class(ax, codes, look, ellipse)
        elif self.y is not None:
            self.points_ = self._by_value(ax, codes, look)
        else:
            height = _scattered(len(codes)) if flat else codes[:, 1]
            self.points_ = {"all": ax.scatter(codes[:, 0], height, **drawing.point_style(0) | look)}
        if not flat:
            ax.set_ylabel(self.factors[1])
        elif self.y is None:
            ax.set_yticks([])
        drawing.tidy(ax)
        return self

    def _by_class(
        self, ax: Axes, codes: np.ndarray, look: dict[str, Any], ellipse: bool
    ) -> dict[str, Any]:
        """One colour and shape per class, and a legend; along one factor a row per class instead."""
        points, y, classes = {}, np.asarray(self.y), self.classes or ()
        for k, name in enumerate(classes):
            mine = codes[y == name]
            height = mine[:, 1] if codes.shape[1] > 1 else _scattered(len(mine)) - k
            color = (self.colors or {}).get(name)
            style = drawing.point_style(k, color)
            points[name] = ax.scatter(mine[:, 0], height, **style | look)
            if ellipse and codes.shape[1] > 1 and len(mine) >= FEWEST:
                edge = color or drawing.style(k)["color"]
                self.ellipses_[name] = _draw_ellipse(ax, mine, edge)
        if codes.shape[1] > 1:
            scale = float(np.sqrt(32 / np.mean(look["s"])))
            drawing.add_legend(ax, points, beside=True, markerscale=scale)
        else:
            names = lettering.short_names(classes, lettering.room_for_names(ax, 1))
            lettering.name_rows(ax, -np.arange(len(classes)), [names[name] for name in classes])
        return points

    def _by_value(self, ax: Axes, codes: np.ndarray, look: dict[str, Any]) -> dict[str, Any]:
        """Colour from dark to light by the target; along one factor the target is the height."""
        if codes.shape[1] == 1:
            ax.set_ylabel(self.target, parse_math=False)
            return {"all": ax.scatter(codes[:, 0], self.y, **drawing.point_style(0) | look)}
        points = ax.scatter(codes[:, 0], codes[:, 1], c=self.y, **{"cmap": "cividis"} | look)
        bar = ax.figure.colorbar(points, ax=ax)
        bar.set_label(self.target, fontsize=9, parse_math=False)
        bar.ax.tick_params(labelsize=lettering.SMALL)
        return {"all": points}


def axis_names(view: FactorView, chosen: Sequence[int]) -> list[str]:
    """What the axes of these factors (from 1) are called."""
    shares = [f"{drawing.percent(view.share[j - 1])} of variance" for j in chosen]
    return [
        f"factor {j} ({share})" if view.predictive[j - 1] else f"factor {j} (background, {share})"
        for j, share in zip(chosen, shares, strict=True)
    ]


def _draw_ellipse(ax: Axes, points: np.ndarray, color: str) -> Any:
    """The ellipse that holds 95 % of a normal distribution with mean and covariance of points (n, 2)."""
    from matplotlib.patches import Ellipse

    values, axes = np.linalg.eigh(np.cov(points.T))
    width, height = 2 * np.sqrt(QUANTILE * np.clip(values, 0, None))
    angle = float(np.degrees(np.arctan2(axes[1, 0], axes[0, 0])))
    patch = Ellipse(tuple(points.mean(axis=0)), width, height, angle=angle)
    patch.set(facecolor=color, edgecolor="none", alpha=0.08, zorder=0.5)
    edge = Ellipse(patch.center, width, height, angle=angle)
    edge.set(fill=False, edgecolor=color, linewidth=1.0, alpha=0.9, zorder=0.6)
    ax.add_patch(patch)
    return ax.add_patch(edge)


def check_factors(factors: Any, r: int) -> list[int]:
    """One or two numbers from 1 to r."""
    chosen: list[Any] = [factors] if isinstance(factors, Integral) else list(factors)
    if r == 1 and chosen == [1, 2]:
        return [1]
    whole = all(isinstance(j, Integral) and not isinstance(j, bool) for j in chosen)
    if not (whole and len(chosen) in (1, 2) and all(1 <= j <= r for j in chosen)):
        raise ValueError(f"factors={factors!r}: one or two integers from 1 to {r} are required")
    return [int(j) for j in chosen]


def codes_of(model: Any, view: FactorView, X: Any, covariates: Any) -> Any:
    """Codes (n, r) of new samples, in the order, sign and rotation of the view."""
    if isinstance(model, FactorView):
        raise ValueError("X: None is required with a FactorView, which cannot code other samples")
    fitted = fitted_model(model)
    codes = fitted.estimator.transform(fitted.preprocess(X), covariates=covariates)
    return np.asarray(as_numpy(codes)) @ view.turn


def labels_of(y: Any, n: int, view: FactorView) -> tuple[np.ndarray | None, list[str] | None]:
    """y (n,) as strings with all classes, those of the model first; or as numbers and None."""
    if y is None:
        return None, None
    several = np.ndim(y) == 2 or np.asarray(y).dtype.names
    if view.classes is None and view.outputs == (SMFSurvival._predicted,) and several:
        return _events(y, n)
    y, classes = np.asarray(as_numpy(y)), view.classes
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.shape != (n,):
        raise ValueError(f"y of shape {y.shape}: one value for each of {n} samples is required")
    if classes is None:
        return y.astype(float), None
    labels = np.array([str(label) for label in y], dtype=object)
    return labels, [*classes, *sorted(set(labels) - set(classes))]


def _events(y: Any, n: int) -> tuple[np.ndarray, list[str]]:
    """Who had an event, of events and times (n, 2) in any of their forms."""
    given = check_survival(y, np.empty((n, 0)), "y")
    labels = np.where(given.values[:, 0] == 1, "event", "censored").astype(object)
    names = ["censored", "event"]
    if given.known is not None:
        labels[~given.known] = "not known"
        names.append("not known")
    return labels, names


def _scattered(count: int) -> Any:
    """Heights (count,) around 0 that look random and are the same each time."""
    golden = (np.sqrt(5) - 1) / 2
    return 0.5 * (np.arange(count) * golden % 1 - 0.5)
