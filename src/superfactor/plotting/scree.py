"""`ScreeDisplay`: share of each singular direction of X, and the elbow."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from superfactor.estimators.inputs import as_numpy
from superfactor.interpretation.models import fitted_model
from superfactor.plotting.drawing import figures, palette
from superfactor.selection import Scree, scree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class ScreeDisplay:
    """Share of the sum of squares of X in each direction, with the elbow marked.

    Parameters
    ----------
    scree : Scree
        From `superfactor.selection.scree`.
    n_components : int, optional
        The rank of a model, marked if it differs from the elbow.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    line_ : Line2D
        The shares, in percent.
    elbow_ : Line2D
        The mark at the elbow.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from superfactor.plotting import ScreeDisplay
    >>> X, _ = load_digits(return_X_y=True)
    >>> display = ScreeDisplay.from_data(X, n_values=20)
    >>> len(display.line_.get_xdata())
    20
    """

    scree: Scree
    _: KW_ONLY
    n_components: int | None = None

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        n_values: int | None = None,
        center: bool = True,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the scree of a data matrix.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n_values, center
            See `superfactor.selection.scree`.
        ax, **kwargs
            See ``plot``.
        """
        return cls(scree(X, n_values=n_values, center=center)).plot(ax, **kwargs)

    @classmethod
    def from_scree(cls, scree: Scree, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot a scree that is already computed; ``ax`` and ``kwargs`` as in ``plot``."""
        return cls(scree).plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        *,
        n_values: int | None = None,
        center: bool = True,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the scree behind a fitted model, with the model's rank marked.

        Parameters
        ----------
        model : SMFClassifier, SMFRegressor, SMFSurvival, a pipeline that ends in one, or SMFClassifierCV
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            The training data; the scree is that of the preprocessed data. Not required for SMFClassifierCV,
            which stores its own scree (of preprocessed X, without further centring).
        n_values, center
            See `superfactor.selection.scree`.
        ax, **kwargs
            See ``plot``.
        """
        fitted = fitted_model(model)
        estimator = fitted.estimator
        if X is not None:
            X, _ = estimator.split_columns(fitted.preprocess(X))
            found = scree(as_numpy(X), n_values=n_values, center=center)
        elif hasattr(model, "scree_"):
            found = model.scree_
        else:
            raise ValueError(
                f"X=None: the training data are required, because {type(model).__name__} has no scree_"
            )
        return cls(found, n_components=len(estimator.components_)).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the shares against their number.

        Parameters
        ----------
        ax : Axes, optional
            None makes a new figure.
        **kwargs
            Passed on to ``Axes.plot``, for the line of shares.
        """
        self.ax_ = ax = figures.single(ax)
        self.figure_ = ax.figure
        share = np.asarray(self.scree.share)
        look: dict[str, Any] = {"color": palette.COLORS[0], "marker": "o", "markersize": 4, "linewidth": 1.2}
        (self.line_,) = ax.plot(np.arange(1, len(share) + 1), 100 * share, **look | kwargs)
        elbow = int(self.scree.elbow)
        self.elbow_ = figures.ring(ax, elbow, 100 * share[elbow - 1])
        marks = {f"elbow: {_holding(share, elbow)}": self.elbow_}
        rank = self.n_components
        if rank is not None and rank != elbow and rank <= len(share):
            mark = figures.ring(ax, rank, 100 * share[rank - 1], marker="s", color=palette.COLORS[1])
            marks[f"model: {_holding(share, rank)}"] = mark
        figures.add_legend(ax, marks, beside=False, loc="upper right", labelspacing=0.8)
        ax.set_xlabel("factor of a plain SVD")
        ax.set_ylabel("share of the sum of squares (%)")
        ax.set_ylim(bottom=0)
        ax.set_xlim(0.5 - 0.02 * len(share), 0.5 + 1.02 * len(share))
        figures.whole_numbers(ax.xaxis)
        figures.tidy(ax)
        return self


def _holding(share: np.ndarray, rank: int) -> str:
    """Return the share of the first `rank` factors as text."""
    noun = "factor" if rank == 1 else "factors"
    return f"{rank} {noun}, {figures.percent(float(share[:rank].sum()))}"
