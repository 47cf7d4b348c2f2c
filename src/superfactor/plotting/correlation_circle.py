"""`CorrelationCircleDisplay`: correlations of features with two factors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from superfactor.interpretation import factor_view
from superfactor.interpretation.tables import check_count
from superfactor.plotting.drawing import figures, palette, sides
from superfactor.plotting.samples import axis_names, check_factors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CIRCLES = (0.5, 1.0)
EDGE = 1.08  # the largest distance of anything drawn from the centre
MANY = 5000  # more points are rasterized in vector files


@dataclass(eq=False, repr=False)
class CorrelationCircleDisplay:
    """Features as points: the correlations with two factors are the coordinates.

    Scores of two factors are uncorrelated, so the squared distance from the centre is the share of the
    variance of a feature that both factors explain, and all points lie within the circle of radius 1.
    Features close to each other are positively related in this plane, opposite features negatively, and
    features near the centre are hardly related to these two factors. In mixOmics the plot is called plotVar.

    Parameters
    ----------
    correlations : array of shape (n_features, 2)
    features : sequence of n_features names
    factors : names of the two axes
    n : int, default=10
        Named features: for each factor those with the largest absolute correlation.
    cutoff : float, default=0.0
        From 0 to 1: features closer to the centre are left out.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    points_ : dict of PathCollection
        "named" and "others".
    features_ : list of int
        Positions of the features that are shown, the farthest from the centre first.

    See Also
    --------
    BiplotDisplay : Samples in the same plane.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from superfactor import SMFClassifier
    >>> from superfactor.plotting import CorrelationCircleDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SMFClassifier(2).fit(X.apply(scale), y)
    >>> display = CorrelationCircleDisplay.from_estimator(model, cutoff=0.8)
    >>> [display.features[i] for i in display.features_[:2]]
    ['flavanoids', 'proline']
    """

    correlations: Any
    features: Sequence[str]
    _: KW_ONLY
    factors: Sequence[str]
    n: int = 10
    cutoff: float = 0.0

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        factors: Sequence[int] = (1, 2),
        n: int = 10,
        cutoff: float = 0.0,
        rotation: str | None = None,
        positive: Any = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the features of a fitted model.

        Parameters
        ----------
        model : SMFClassifier, SMFRegressor, SMFSurvival, a pipeline of one, SMFClassifierCV, FactorView
        factors : two int, default=(1, 2)
            Numbers of the factors, from 1 in display order.
        n, cutoff
            As in the class.
        rotation : None, "predictive", "variance" or "varimax", default=None
        positive : class label, optional
            Both as in `superfactor.interpretation.factor_view`.
        ax, **kwargs
            See ``plot``.
        """
        view = factor_view(model, rotation=rotation, positive=positive)
        chosen = check_factors(factors, len(view.weights))
        if len(chosen) != 2:
            raise ValueError(f"factors={factors!r}: two factors are required")
        display = cls(
            view.correlations[[j - 1 for j in chosen]].T,
            list(view.features),
            factors=axis_names(view, chosen),
            n=n,
            cutoff=cutoff,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw circles, points and names.

        Parameters
        ----------
        ax : Axes, optional
            None makes a new figure.
        **kwargs
            Passed on to ``Axes.scatter``.
        """
        check_count("n", self.n)
        if not isinstance(self.cutoff, Real) or not 0 <= self.cutoff <= 1:
            raise ValueError(f"cutoff={self.cutoff!r}: a number from 0 to 1 is required")
        places = np.asarray(self.correlations, dtype=float).reshape(-1, 2)
        far = np.hypot(*places.T)
        order = np.argsort(-far, kind="stable")
        self.features_: list[int] = [int(i) for i in order[far[order] >= self.cutoff]]
        largest = np.argsort(-np.abs(places), axis=0, kind="stable")[: self.n].ravel()
        # A feature at the centre has no side for its name.
        named = [i for i in self.features_ if i in set(largest.tolist()) and far[i] > 0]
        others = [i for i in self.features_ if i not in set(named)]
        own = ax is None
        self.ax_ = ax = figures.single(ax, (8.0, max(5.2, 1.2 + sides.height_for(places[named]))))
        self.figure_ = ax.figure
        across, upwards = (f"correlation with {name}" for name in self.factors)
        ax.set_xlabel(across, parse_math=False)
        ax.set_ylabel(upwards.replace(" (", "\n("), parse_math=False)
        figures.tidy(ax)
        figures.say(ax, self._said(len(places)), own)
        figures.fit_labels(ax)
        names = [self.features[i] for i in named]
        sides.leave_room(ax, (-EDGE, -EDGE), (EDGE, EDGE), names)
        self._draw_plane(ax)
        size = float(np.clip(600 / np.sqrt(max(len(self.features_), 1)), 6, 24))
        look: dict[str, Any] = {"s": size, "linewidth": 0, "zorder": 3} | kwargs
        few: dict[str, Any] = {"color": palette.COLORS[0]} | look
        many: dict[str, Any] = {"color": "0.6", "alpha": 0.6, "rasterized": len(others) > MANY}
        self.points_ = {
            "named": ax.scatter(*places[named].T, **few),
            "others": ax.scatter(*places[others].T, **many | look | {"zorder": 2}),
        }
        sides.name_points(ax, names, places[named], -EDGE, EDGE)
        return self

    def _said(self, total: int) -> list[str]:
        """Return the sentences of the caption."""
        shown = len(self.features_)
        which = "Features" if shown == total else f"{shown:,} of {total:,} features"
        more = f" at a distance of at least {self.cutoff:g} from the centre" if shown < total else ""
        return [
            f"{which}{more}, by their correlations with two factors in the training samples.",
            "Circles: 0.5 and 1.",
        ]

    def _draw_plane(self, ax: Axes) -> None:
        """Draw circles, the two axes through the centre, and scales from −1 to 1."""
        for radius in CIRCLES:
            sides.draw_circle(ax, radius)
        cross: dict[str, Any] = {"color": "0.8", "linewidth": 0.6, "zorder": 0.3}
        ax.plot([-1, 1], [0, 0], **cross)
        ax.plot([0, 0], [-1, 1], **cross)
        ticks, labels = [-1, -0.5, 0, 0.5, 1], ["−1", "−0.5", "0", "0.5", "1"]
        ax.set_xticks(ticks, labels=labels)
        ax.set_yticks(ticks, labels=labels)
        for side in ("bottom", "left"):
            ax.spines[side].set_bounds(-1, 1)
