"""`ConvergenceDisplay`: the objective against iterations or seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from superfactor.interpretation.models import fitted_model
from superfactor.plotting.drawing import figures, palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class ConvergenceDisplay:
    """Objective against iteration or seconds, for one fit or several.

    Parameters
    ----------
    histories : dict of dicts
        Name of a fit → its ``history_``, with lists "objective" and "seconds".

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    lines_ : dict of Line2D
        One per fit, by name.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from superfactor import SMFClassifier
    >>> from superfactor.plotting import ConvergenceDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> fits = {
    ...     solver: SMFClassifier(2, solver=solver).fit(scale(X), y)
    ...     for solver in ("lifted-newton", "bcd")
    ... }
    >>> best = min(fit.objective_ for fit in fits.values())
    >>> display = ConvergenceDisplay.from_estimator(fits, x="seconds", best=best)
    >>> sorted(display.lines_)
    ['bcd', 'lifted-newton']
    """

    histories: Mapping[str, Mapping[str, Any]]

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        x: str = "iteration",
        value: str = "excess",
        best: float | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the convergence of one fit or several.

        Parameters
        ----------
        model : SMFClassifier, SMFRegressor, SMFSurvival, a pipeline of one, SMFClassifierCV, or a dict
            A dict of several, by name, draws one line each.
        x, value, best, ax, **kwargs
            See ``plot``.
        """
        models = model if isinstance(model, Mapping) else {"": model}
        if not models:
            raise ValueError("model={}: at least one fitted model is required")
        histories = {str(k): fitted_model(fit).estimator.history_ for k, fit in models.items()}
        return cls(histories).plot(ax, x=x, value=value, best=best, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        x: str = "iteration",
        value: str = "excess",
        best: float | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw one line per fit.

        Parameters
        ----------
        ax : Axes, optional
            None makes a new figure.
        x : {"iteration", "seconds"}, default="iteration"
        value : {"excess", "objective"}, default="excess"
            "excess" is the objective minus `best` on a logarithmic scale, where exponential
            convergence is a straight line. Points at the best value are not drawn.
        best : float, optional
            None takes the smallest objective of each fit. To compare solvers on one problem,
            pass the smallest of all of them, or a bound: ``model.certificate_.lower_bound``.
        **kwargs
            Passed on to ``Axes.plot``.
        """
        figures.check_choice("x", x, ("iteration", "seconds"))
        figures.check_choice("value", value, ("excess", "objective"))
        self.ax_ = ax = figures.single(ax)
        self.figure_ = ax.figure
        self.lines_ = {}
        logarithmic = False
        for k, (name, history) in enumerate(self.histories.items()):
            height = np.asarray(history["objective"], dtype=float)
            across = np.arange(1, len(height) + 1)
            if x == "seconds":
                across = np.asarray(history["seconds"], dtype=float)
            if value == "excess":
                height = height - (height.min() if best is None else best)
                above = height > 0
                if above.any():
                    across, height, logarithmic = across[above], height[above], True
            look = palette.style(k) | {"markersize": 4, "linewidth": 1.4}
            look["markevery"] = max(1, len(height) // 15)
            (self.lines_[name],) = ax.plot(across, height, **look | kwargs)
        if logarithmic:
            ax.set_yscale("log")
        else:
            ax.ticklabel_format(axis="y", useOffset=False)
        if len(self.lines_) > 1:
            figures.add_legend(ax, self.lines_, beside=len(self.lines_) > 6)
        ax.set_xlabel(x if x == "iteration" else "seconds since the start of the fit")
        ax.set_ylabel("objective" if value == "objective" else "objective − best")
        if x == "iteration":
            figures.whole_numbers(ax.xaxis)
        figures.tidy(ax)
        return self
