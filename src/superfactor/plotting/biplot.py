"""`BiplotDisplay`: samples and top features in the space of two factors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from superfactor._deprecated import renamed_attributes, renamed_parameters
from superfactor.interpretation import HeldOut, factor_view
from superfactor.interpretation.tables import check_count
from superfactor.interpretation.view import check_by
from superfactor.plotting.drawing import figures, sides
from superfactor.plotting.samples import SamplesDisplay, check_factors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REACH = 0.9  # of the farthest sample: how far a correlation of 1 reaches
ARROWS = {
    "correlation": "Arrows: correlations with the factors; the dotted circle is 1.",
    "weight": "Arrows: weights in the factors' scores (largest of each factor: ±1).",
}


@renamed_attributes(weights="directions")
@dataclass(eq=False, repr=False)
class BiplotDisplay:
    """Samples by two of their scores, with an arrow for each of the top features.

    A correlation biplot: scores have unit variance, and the extent of an arrow along an axis is the
    correlation of the feature with that factor. Samples in the direction of an arrow tend to have higher
    values of that feature, more clearly for arrows close to the dotted circle. Names are at the sides, each
    connected to the end of its arrow.

    Parameters
    ----------
    samples : SamplesDisplay
        The samples by two factors.
    directions : array of shape (n_features, 2)
        From −1 to 1: correlations with (or weights in) the two factors.
    features : sequence of n_features names
    by : {"correlation", "weight"}, default="correlation"
        The kind of the directions.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    arrows_ : dict of FancyArrowPatch
        By feature.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from superfactor import SMFClassifier
    >>> from superfactor.plotting import BiplotDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SMFClassifier(2).fit(X.apply(scale), y)
    >>> display = BiplotDisplay.from_estimator(model, X.apply(scale), y, n=3)
    >>> 3 <= len(display.arrows_) <= 6
    True
    """

    samples: SamplesDisplay
    directions: Any
    features: Sequence[str]
    _: KW_ONLY
    by: str = "correlation"

    @classmethod
    @renamed_parameters(ellipse="ellipses")
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        covariates: Any = None,
        factors: Sequence[int] = (1, 2),
        n: int = 5,
        by: str = "correlation",
        samples: str = "auto",
        held_out: HeldOut | None = None,
        predicts: bool | None = None,
        rotation: str | None = None,
        positive: Any = None,
        ellipses: str | bool = "auto",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot samples and top features of a fitted model.

        Parameters
        ----------
        model, X, y, covariates, samples, held_out, predicts, rotation, positive
            See `SamplesDisplay.from_estimator`.
        factors : two int, default=(1, 2)
            Numbers of the factors, from 1 in display order.
        n : int, default=5
            Features of each of the two factors: those with the largest absolute correlation.
        by : {"correlation", "weight"}, default="correlation"
            The values of the arrows, by which features are ranked: correlations with the factors, or weights
            in their scores.
        ellipses, ax, **kwargs
            See ``plot``.
        """
        figures.pyplot()  # raise before the computation if it is missing
        check_count("n", n)
        check_by(by)
        view = factor_view(model, rotation=rotation, positive=positive)
        chosen = check_factors(factors, len(view.weights))
        if len(chosen) != 2:
            raise ValueError(f"factors={factors!r}: two factors are required")
        shown = view.shown(by)[[j - 1 for j in chosen]]
        largest = np.argsort(-np.abs(shown), axis=1, kind="stable")[:, :n]
        top = [i for i in dict.fromkeys(largest.ravel().tolist()) if shown[:, i].any()]
        points = SamplesDisplay._made(
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
        display = cls(points, shown[:, top].T, [view.features[i] for i in top], by=by)
        return display.plot(ax, ellipses=ellipses, **kwargs)

    @renamed_parameters(ellipse="ellipses")
    def plot(self, ax: Axes | None = None, *, ellipses: str | bool = "auto", **kwargs: Any) -> Self:
        """Draw samples, arrows and names.

        Parameters
        ----------
        ax : Axes, optional
            None makes a new figure.
        ellipses : "auto" or bool, default="auto"
            As in `SamplesDisplay.plot`.
        **kwargs
            Passed on to ``Axes.scatter``.
        """
        own, directions = ax is None, np.reshape(self.directions, (-1, 2))
        self.ax_ = ax = figures.single(ax, (8.0, max(4.6, 1.1 + sides.height_for(directions))))
        self.figure_ = ax.figure
        self.samples._draw(ax, ellipses, {"alpha": 0.6} | kwargs)
        figures.say(ax, [self.samples.said, ARROWS[self.by]], own)
        figures.fit_labels(ax)
        one = REACH * float(np.abs(self.samples.scores).max())
        limits = np.transpose([ax.get_xlim(), ax.get_ylim()])
        low, high = np.minimum(limits[0], -one), np.maximum(limits[1], one)
        sides.leave_room(ax, low, high, self.features)
        if self.by == "correlation":
            sides.draw_circle(ax, one, linestyle=":")
        ends = directions * one
        self.arrows_ = {name: _arrow(ax, end) for name, end in zip(self.features, ends, strict=True)}
        sides.name_points(ax, self.features, ends, low[0], high[0])
        return self


def _arrow(ax: Axes, end: Any) -> Any:
    from matplotlib.patches import FancyArrowPatch

    look: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 8, "color": "0.15", "linewidth": 0.9}
    return ax.add_patch(FancyArrowPatch((0, 0), tuple(end), shrinkA=0, shrinkB=0, zorder=3, **look))
