"""Gene groups drawn: all weights in order, the genes at both ends by name, markers in blue rings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction import drawing
from reproduction.genes.study import KINDS, N_TOP, Groups
from superfactor.interpretation import FactorView, top_features

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "draw_group"]

SHOWN = 2  # groups of each kind
HEIGHT = 2.5  # inches of a panel
MARKER = drawing.POSITIVE
NAMES_AT = 1.14  # where names begin, the curve ending at 1
WIDTH = 1.95  # the same units, up to the right edge of a panel
LONGEST = 16  # letters of a name


def draw_group(ax: Axes, view: FactorView, j: int, notes: dict[str, str], n: int, gap: float) -> None:
    """Factor `j` of a view.

    Parameters
    ----------
    notes : gene by feature, for the features that are markers
    n : genes to name at each end
    gap : least distance of two names, the weights reaching from −1 to 1
    """
    weights = view.shown("weight")[j]
    order = np.argsort(weights, kind="stable")
    across = np.empty(len(weights))
    across[order] = np.linspace(0, 1, len(weights))
    ax.axhline(0, xmax=1.05 / WIDTH, color="0.75", linewidth=0.8)
    ax.plot(across[order], weights[order], color="0.45", linewidth=1.6)
    top = top_features(view, n, by="weight")
    ends = set(top.loc[top["factor"] == j + 1, "feature"])
    named = {i: name for i, name in enumerate(view.features) if name in ends}
    markers = [i for i, name in enumerate(view.features) if name in notes]
    ax.plot(across[list(named)], weights[list(named)], ".", color="black", markersize=4)
    ring: dict[str, Any] = {"markersize": 7, "markeredgewidth": 1.2, "markerfacecolor": "none"}
    ax.plot(across[markers], weights[markers], "o", color=MARKER, zorder=4, **ring)
    names = named | {i: notes[view.features[i]] for i in _leading(markers, view, weights, notes)}
    _write_names(ax, across, weights, names, set(markers), gap)
    ax.set_xlim(-0.04, WIDTH)
    ax.set_ylim(-1.12, 1.12)
    ax.set_xticks([0, 1], labels=["0", f"{len(weights):,}"])
    ax.set_yticks([-1, 0, 1], labels=["−1", "0", "1"])
    drawing.tidy(ax)
    ax.spines["bottom"].set_bounds(0, 1)


def _leading(markers: list[int], view: FactorView, weights: Any, notes: dict[str, str]) -> list[int]:
    """Of the probes of one gene that with the most extreme weight (p,): only that one is named."""
    best: dict[str, int] = {}
    for i in sorted(markers, key=lambda i: -abs(weights[i])):
        best.setdefault(notes[view.features[i]], i)
    return list(best.values())


def _write_names(
    ax: Axes, across: Any, weights: Any, names: dict[int, str], markers: set[int], gap: float
) -> None:
    """Names in one column beside the curve, from the largest weight down, a line to each point.

    Points along a rising curve and names are in the same order, so that no two lines cross.
    """
    ordered = sorted(names, key=lambda i: -across[i])
    heights = apart([float(weights[i]) for i in ordered], gap, 1.05)
    for i, height in zip(ordered, heights, strict=True):
        color = MARKER if i in markers else "black"
        xs, ys = [across[i], 1.04, NAMES_AT - 0.03], [weights[i], height, height]
        ax.plot(xs, ys, color=color, linewidth=0.4, alpha=0.6)
        text = drawing.shorten(names[i], LONGEST)
        look: dict[str, Any] = {"fontsize": drawing.SMALL, "color": color, "parse_math": False}
        weight = "bold" if i in markers else "normal"
        ax.text(NAMES_AT, height, text, va="center", fontweight=weight, **look)


def apart(heights: list[float], gap: float, limit: float) -> list[float]:
    """Descending heights moved as little as a pass down and one up need to be `gap` apart within ±limit."""
    placed: list[float] = []
    for height in heights:
        placed.append(min(height, limit, placed[-1] - gap if placed else limit))
    lowest = -limit
    for k in range(len(placed) - 1, -1, -1):
        placed[k] = max(placed[k], lowest)
        lowest = placed[k] + gap
    return placed


def draw(results: list[Groups]) -> Figure:
    """A row for each study: two supervised groups on the left, two unsupervised ones on the right."""
    from matplotlib.figure import Figure

    shape = (len(results), 2 * SHOWN)
    size, spacing = drawing.spread(shape, panel=(2.35, HEIGHT), gaps=(0.3, 1.4), edges=(0.5, 0.45, 0.1, 1.35))
    figure = Figure(figsize=size)
    grid = figure.add_gridspec(shape[0], shape[1], **spacing)
    gap = 0.145 * 2.24 / HEIGHT  # 0.145 inches from name to name; weights take 2.24 in all
    for i, result in enumerate(results):
        panels = [(kind, j) for kind in KINDS for j in range(SHOWN)]
        for k, (kind, j) in enumerate(panels):
            view = result.views[kind]
            ax = figure.add_subplot(grid[i, k])
            if j >= len(view.share):
                ax.set_axis_off()
                continue
            draw_group(ax, view, j, result.notes, N_TOP, gap)
            title = f"{kind} group {j + 1} of {len(view.share)}\ncoefficient {view.coef[0, j]:+.2f}"
            ax.set_title(
                f"{title}, {drawing.percent(view.share[j])} of variance".replace("-", "−"),
                fontsize=9,
                loc="left",
            )
            ax.set_xlabel("genes by weight", loc="left")
            if k == 0:
                ax.set_ylabel("weight (largest = ±1)")
                place = ax.get_position()
                top = place.y1 + 0.43 / size[1]
                heading = figure.text(place.x0, top, _heading(result), va="bottom", fontsize=9)
                heading.set(fontweight="bold", parse_math=False)
    caption = [
        "All genes in the order of their weights, those at either end by name; known markers in blue.",
        "Coefficient: change of the log-odds with one standard deviation of the group.",
    ]
    drawing.caption(figure, caption)
    return figure


def _heading(result: Groups) -> str:
    n, p = result.data.X.shape
    best, accuracy = result.model.best_params_, result.accuracy
    stands_in = "" if result.data.name == result.study.name else f" (for {result.study.name})"
    scores = ", ".join(f"{100 * accuracy[kind].mean():.1f} % {kind}" for kind in KINDS)
    return (
        f"{result.data.name}{stands_in}: log-odds of “{result.target}”, n = {n}, p = {p:,}\n"
        f"r = {best['n_components']}, ξ = {best['xi']:.2g}, λ = {best['lam']:.2g}; "
        f"accuracy on the other half: {scores}"
    )
