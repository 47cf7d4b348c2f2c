"""The figure of a comparison of solvers: one column per setting, loss above, loss − optimum below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction import drawing
from reproduction.convergence.comparison import (
    DEFAULT,
    OUR_BCD,
    OUR_LPGD,
    SOLVERS,
    THEIR_BCD,
    THEIR_LPGD,
    UNTUNED,
    Comparison,
)
from reproduction.convergence.curves import RESOLUTION, rises
from reproduction.convergence.panels import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw"]

_LPGD, _BCD, _DEFAULT = drawing.COLORS[0], drawing.COLORS[1], drawing.COLORS[6]
LOOKS: dict[str, dict[str, Any]] = {
    DEFAULT: {"color": _DEFAULT, "linewidth": 2.2},
    OUR_LPGD: {"color": _LPGD},
    OUR_BCD: {"color": _BCD},
    THEIR_LPGD: {"color": _LPGD, "linestyle": (0, (5, 2))},
    THEIR_BCD: {"color": _BCD, "linestyle": (0, (5, 2))},
    UNTUNED: {"color": drawing.COLORS[4], "linestyle": (0, (1, 1))},
}


def draw(comparisons: Sequence[Comparison], title: str) -> Figure:
    """One line a start; a dot where it ends."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(11, 6.2), layout="constrained")
    axes = figure.subplots(2, len(comparisons), sharex=True)
    figure.suptitle(title, fontsize=10)
    for column, comparison in enumerate(comparisons):
        for solver, curves in comparison.curves.items():
            for curve in curves:
                shown = curve.seconds > 0
                swings = rises(curve.objective) > 30  # a thick line would be a blot
                excess = np.maximum(curve.objective - comparison.best, RESOLUTION * abs(comparison.best))
                for ax, height in zip(axes[:, column], (curve.objective, excess), strict=True):
                    look = {"linewidth": 0.4 if swings else 1.3} | LOOKS[solver]
                    ax.plot(curve.seconds[shown], height[shown], **look)
                    ax.plot(curve.seconds[-1], height[-1], "o", color=look["color"], markersize=3.5)
        axes[0, column].set_title(
            f"{NAMES[comparison.model]}, ξ = {comparison.xi:g}\n(LPGD at τ = {comparison.step})", fontsize=9
        )
        axes[1, column].set_xlabel("seconds")
        for ax in axes[:, column]:
            ax.set_xscale("log")
            ax.set_yscale("log")
            drawing.tidy(ax)
        axes[0, column].tick_params(which="minor", labelsize=drawing.SMALL)
        for which in ("major", "minor"):
            getattr(axes[0, column].yaxis, f"set_{which}_formatter")(_thousands)
    axes[0, 0].set_ylabel("training loss F, thousands")
    axes[1, 0].set_ylabel("F − F*")
    shown_solvers = [solver for solver in SOLVERS if solver in comparisons[0].curves]
    figure.legend(
        [Line2D([], [], **{"linewidth": 1.6} | LOOKS[solver]) for solver in shown_solvers],
        shown_solvers,
        loc="outside lower center",
        ncols=len(shown_solvers),
        frameon=False,
        fontsize=drawing.SMALL + 0.5,
    )
    return figure


def _thousands(value: float, _: int) -> str:
    return f"{value / 1e3:,.0f}"
