"""Errors against the number of samples, one curve a regime, with the theorem's promise beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.drawing import SMALL, style, tidy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

PANELS = {
    "A": "error of A, ‖Â − A*‖",
    "B": "error of B, ‖B̂ − B*‖",
    "gamma": "error of γ, ‖γ̂ − γ*‖",
    "all": "A, B and γ together, and the bound",
}


def draw(table: pd.DataFrame, slopes: pd.DataFrame) -> Figure:
    """A row of panels for each model: A, B, γ, and all three with the bound.

    `table` has one row a fit, `slopes` the fitted exponents; see `reproduction.statistical`.
    """
    from matplotlib.figure import Figure

    models = list(table["model"].unique())
    figure = Figure(figsize=(11.0, 4.3 * len(models)), layout="constrained")
    parts = figure.subfigures(len(models), 1, squeeze=False)[:, 0]
    for part, model in zip(parts, models, strict=True):
        _row(part, table[table["model"] == model], slopes[slopes["model"] == model])
    return figure


def _row(part: SubFigure, table: pd.DataFrame, slopes: pd.DataFrame) -> None:
    """The panels of one model, with a legend below them."""
    from matplotlib.lines import Line2D

    first = table.iloc[0]
    draws = table.groupby(["regime", "n"]).size().max()
    part.suptitle(
        f"{first['model']} model: p = {first['p']}, q = {first['q']}, r = {table['rank'].min()} unless said, "
        f"ξ = 1/(2σ²); median and quartiles of {draws} draws for each n; numbers: fitted exponents of n",
        fontsize=10,
    )
    for ax, (name, title) in zip(part.subplots(1, len(PANELS)), PANELS.items(), strict=True):
        _panel(ax, table, slopes[slopes["quantity"] == f"error_{name}"], name)
        ax.set_title(title, fontsize=9.5)
    entries: dict[str, Any] = {
        regime: Line2D([], [], **style(k)) for k, regime in enumerate(table["regime"].unique())
    }
    dot: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": "0.4"}
    entries |= {
        "filled: L/μ < 3 holds": Line2D([], [], **dot),
        "hollow: L/μ < 3 fails": Line2D([], [], markerfacecolor="white", **dot),
        "log n/√n, as promised": Line2D([], [], linestyle="--", color="black"),
        "the truth's own size": Line2D([], [], color="0.8", linewidth=4),
    }
    if table["holds"].any():
        dotted = Line2D([], [], linestyle=":", color="0.4")
        entries["bound with c = 1, where L/μ < 3"] = dotted
    part.legend(
        list(entries.values()),
        list(entries),
        loc="outside lower center",
        ncols=3,
        fontsize=SMALL,
        frameon=False,
    )


def _panel(ax: Axes, table: pd.DataFrame, slopes: pd.DataFrame, name: str) -> None:
    """One curve for each regime."""
    tops = []
    for k, (regime, fits) in enumerate(table.groupby("regime", sort=False)):
        row = slopes[slopes["regime"] == regime].iloc[0]
        label = exponent_text(row["exponent"], row["standard_error"])
        tops.append(_curve(ax, fits, f"error_{name}", label, **style(k)))
        if name == "all":
            bound = fits[fits["holds"]].groupby("n")["bound"].median()
            ax.plot(bound.index, bound, linestyle=":", color=style(k)["color"])
    sizes = np.sort(table["n"].unique())
    promise = np.log(sizes) / np.sqrt(sizes)
    ax.plot(sizes, max(tops) * promise / promise[0], "--", color="black", linewidth=1)
    if name != "all":
        for _, fits in table.groupby("regime"):
            size = fits.groupby("n")[f"size_{name}"].median()
            ax.plot(size.index, size, color="0.85", linewidth=4, zorder=0)
    ax.set_xscale("log")
    marked = sizes[:: len(sizes) // 4 + (len(sizes) < 4)]
    ax.set_xticks(marked, labels=[str(n) for n in marked])
    ax.set_xticks([], minor=True)
    ax.set_yscale("log")
    ax.set_xlabel("n, samples")
    tidy(ax)
    low_end, high_end = ax.get_ylim()
    ax.set_ylim(low_end, high_end * (high_end / low_end) ** 0.45)  # room for the exponents
    ax.legend(fontsize=SMALL, loc="upper left", frameon=False, ncols=2, columnspacing=0.8, handlelength=1)


def exponent_text(slope: float, error: float) -> str:
    """Two digits, with the sign and the standard error: +0.50 ± 0.01."""
    return f"{signed(slope)} ± {error:.2f}" if error >= 0.005 else f"{signed(slope)} ± <0.01"


def signed(slope: float) -> str:
    """Two digits with the sign, and none of them a negative zero: −0.50, +0.00."""
    return f"{round(slope, 2) + 0.0:+.2f}".replace("-", "−")


def _curve(ax: Axes, fits: pd.DataFrame, quantity: str, label: str, color: str, marker: str) -> float:
    """Median, quartiles as a band, points filled where L/μ < 3 in most draws; the first median."""
    grouped = fits.groupby("n")
    low, middle, high = (grouped[quantity].quantile(share) for share in (0.25, 0.5, 0.75))
    holds = grouped["holds"].mean() > 0.5
    ax.fill_between(middle.index, low, high, color=color, alpha=0.2, linewidth=0)
    ax.plot(middle.index, middle, color=color, linewidth=1.2, label=label)
    for where, fill in ((holds, color), (~holds, "white")):
        points = middle[where]
        ax.plot(points.index, points, marker, color=color, markerfacecolor=fill, markersize=4.5)
    return float(middle.iloc[0])
