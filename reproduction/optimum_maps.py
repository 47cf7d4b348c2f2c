"""Maps over (ξ, λ) of who can tell that an answer is optimal."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from reproduction.drawing import COLORS, SMALL

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PRINTED = "theorem as printed: L/μ < 3"
PROFILED = "L/μ < 3 once γ is minimised over and blocks are rescaled"
CERTIFICATE = "certificate at the residuals only"
ASCENT = "certificate after dual ascent only"
UNPROVEN = "not proven, no restart lower"
BEATEN = "a restart is lower"

BLUE, VERMILION, GREEN, _, ORANGE, SKY, _, YELLOW = COLORS
# Fill and lettering of a cell.
LOOKS = {
    PRINTED: (BLUE, "white"),
    PROFILED: (SKY, "black"),
    CERTIFICATE: (GREEN, "white"),
    ASCENT: (YELLOW, "black"),
    UNPROVEN: (ORANGE, "black"),
    BEATEN: (VERMILION, "white"),
}
CELL = (0.6, 0.36)  # inches, enough for a number
READING = (
    "Number in a cell: the most that any model of this rank could gain, as a share of the part of\n"
    "the objective that supervision can change; where a restart is lower: its gain"
)


def draw(table: pd.DataFrame) -> Figure:
    """One panel per model and rank, for one data set."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    models, ranks = list(table["model"].unique()), sorted(table["rank"].unique())
    cells = list(product(models, ranks))
    columns = len(ranks) if len(ranks) > 1 else len(models)
    rows, side = len(cells) // columns, table["xi"].nunique()
    size = (max(columns * (0.9 + CELL[0] * side), 7.5), rows * (0.75 + CELL[1] * side) + 1.6)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, (model, rank) in zip(axes, cells, strict=True):
        _panel(ax, table[(table["model"] == model) & (table["rank"] == rank)])
        ax.set_title(f"{model} model, r = {rank}", fontsize=10)
    first = table.iloc[0]
    proven = table["proven_ascent"]
    counts = {
        "where nothing is proven": table.loc[~proven, "restarts"],
        "where the certificate proves it": table.loc[proven, "restarts"],
    }
    words = ", ".join(f"{count.iloc[0]} {words}" for words, count in counts.items() if len(count))
    figure.suptitle(
        f"{first['data']} (n = {first['n']}, p = {first['p']}): who can tell that the fit is a global "
        f"optimum?\nrandom restarts: {words}",
        fontsize=10,
    )
    present = [name for name in LOOKS if (table["category"] == name).any()]
    handles = [Patch(facecolor=LOOKS[name][0], edgecolor="0.3", label=name) for name in present]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=2,
        fontsize=SMALL,
        frameon=False,
        title=READING,
        title_fontsize=SMALL,
    )
    return figure


def _panel(ax: Axes, cells: pd.DataFrame) -> None:
    """Coloured cells with their numbers."""
    from matplotlib.patches import Rectangle

    across, up = sorted(cells["xi"].unique()), sorted(cells["lam"].unique())
    for _, row in cells.iterrows():
        x, y = across.index(row["xi"]), up.index(row["lam"])
        fill, ink = LOOKS[row["category"]]
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=fill, edgecolor="white"))
        ax.text(x, y, number(row), ha="center", va="center", fontsize=SMALL, color=ink)
    for axis, values, label in (
        (ax.xaxis, across, "ξ, weight of the reconstruction"),
        (ax.yaxis, up, "λ, ridge"),
    ):
        axis.set_ticks(range(len(values)), labels=[f"{value:g}" for value in values])
        axis.set_label_text(label, fontsize=9)
    ax.set_xlim(-0.5, len(across) - 0.5)
    ax.set_ylim(-0.5, len(up) - 0.5)
    ax.tick_params(labelsize=SMALL, length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def number(row: Any) -> str:
    """The gap of a cell, or by how much restarts were lower: per cent, or a power of ten where tiny."""
    beaten = row["category"] == BEATEN
    share = -row["excess_of_restarts"] if beaten else row["relative_gap_ascent"]
    sign = "−" if beaten else ""
    if share >= 0.0995:
        return f"{sign}{100 * share:.0f} %"
    if share >= 0.00095:
        return f"{sign}{100 * share:.1f} %"
    return f"{sign}{share:.0e}".replace("e-", "e−").replace("e−0", "e−")
