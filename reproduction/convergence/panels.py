"""Figure and curves of a convergence study: four panels a row, {filter, feature} × {paper's τ, 1/L}."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction import drawing
from reproduction.convergence.curves import RESOLUTION, on_clock
from reproduction.convergence.study import MODELS, PAPER, SAFE, WINDOW, XI, Runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

__all__ = ["curves_table", "draw"]

NAMES = {"filter": "SMF-W (filter)", "feature": "SMF-H (feature)"}
COLORS = dict(zip(XI, drawing.COLORS, strict=False))
POINTS = 200


def draw(runs: Sequence[Runs], title: str) -> Figure:
    """Loss above as in the paper, loss − optimum below, where exponential decay is a straight line."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(11, 6.2), layout="constrained")
    axes = figure.subplots(2, 2 * len(MODELS), sharex="col")
    figure.suptitle(title, fontsize=10)
    xis = sorted({each.xi for each in runs})
    for column, (model, step) in enumerate((m, s) for m in MODELS for s in (PAPER, SAFE)):
        here = [each for each in runs if each.model == model and each.step in (step, _also(step))]
        for each in here:
            look: dict[str, Any] = {"color": COLORS[each.xi], "linewidth": 1.4}
            if each.step == WINDOW:
                look["linestyle"] = (0, (4, 2))
            _loss(axes[0, column], each, look)
            _excess(axes[1, column], each, look)
        axes[0, column].set_title(f"{NAMES[model]}, τ = {step}", fontsize=9)
        axes[1, column].set_xlabel("seconds")
        for ax in axes[:, column]:
            ax.set_yscale("log")
            ax.set_xlim(left=0)
            drawing.tidy(ax)
            ax.tick_params(which="minor", labelsize=drawing.SMALL)
    axes[0, 0].set_ylabel("training loss F (mean ± sd over starts)")
    axes[1, 0].set_ylabel("F − F* (geometric mean and sd)")
    entries: dict[str, Any] = {f"ξ = {xi:g}": Line2D([], [], color=COLORS[xi], linewidth=2) for xi in xis}
    if any(each.step == WINDOW for each in runs):
        entries["τ = 2/(μ+L), inside the theorem's window (where L/μ < 3)"] = Line2D(
            [], [], color="black", linestyle=(0, (4, 2))
        )
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="outside lower center",
        ncols=len(entries),
        frameon=False,
        fontsize=drawing.SMALL + 0.5,
    )
    return figure


def _also(step: str) -> str | None:
    """Runs inside the theorem's window are drawn with those that are safe."""
    return WINDOW if step == SAFE else None


def _loss(ax: Axes, runs: Runs, look: dict[str, Any]) -> None:
    times, values = on_clock(runs.curves, POINTS)
    mean, sd = values.mean(axis=0), values.std(axis=0)
    ax.plot(times, mean, **look)
    low = np.maximum(mean - sd, values.min(axis=0))  # a deviation below zero has no place here
    ax.fill_between(times, low, mean + sd, color=look["color"], alpha=0.2, linewidth=0)


def _excess(ax: Axes, runs: Runs, look: dict[str, Any]) -> None:
    times, logs = _log_excess(runs)
    # A line ends where all starts are at F*: what follows is rounding.
    arrived = (logs <= np.log(RESOLUTION * abs(runs.best))).all(axis=0)
    shown = slice(int(arrived.argmax()) + 1 if arrived.any() else None)
    times, logs = times[shown], logs[:, shown]
    mean, sd = logs.mean(axis=0), logs.std(axis=0)
    ax.plot(times, np.exp(mean), **look)
    ax.fill_between(times, np.exp(mean - sd), np.exp(mean + sd), color=look["color"], alpha=0.2, linewidth=0)


def _log_excess(runs: Runs) -> tuple[Any, Any]:
    """Times (points,) and log(F − F*) of each start (starts, points), from rounding upwards."""
    times, values = on_clock(runs.curves, POINTS)
    return times, np.log(np.maximum(values - runs.best, RESOLUTION * abs(runs.best)))


def curves_table(runs: Sequence[Runs]) -> DataFrame:
    """The lines of the figure: one row a point."""
    import pandas as pd

    parts = []
    for each in runs:
        times, values = on_clock(each.curves, POINTS)
        logs = _log_excess(each)[1]
        part = {
            "model": each.model,
            "xi": each.xi,
            "step": each.step,
            "tau": each.tau,
            "seconds": times,
            "loss_mean": values.mean(axis=0),
            "loss_sd": values.std(axis=0),
            "excess_geometric_mean": np.exp(logs.mean(axis=0)),
            "excess_log_sd": logs.std(axis=0),
        }
        parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)
