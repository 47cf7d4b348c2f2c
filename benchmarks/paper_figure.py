"""Draw the figure of docs/paper/paper.md from the results of `defaults`: `python -m benchmarks pages`."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.pages import DOCS, Row, kept

FIGURE = DOCS / "paper" / "time.png"
# Shapes differ, so that the figure can be read without colours.
MARKS = {"filter": ("o", "#0072b2"), "feature": ("s", "#d55e00")}
INCHES, DOTS = (6.5, 3.7), 300  # the width of the printed text


def write() -> None:
    """Draw the figure from benchmarks/results/."""
    draw(times(kept()["defaults"]))


def times(rows: list[Row]) -> list[dict[str, Any]]:
    """Return the marks of the figure: table, model, time in pipelines, and whether the optimum is proven."""
    return [
        {
            "table": row["table"],
            "model": row["model"],
            "times": float(f"{row['pipelines']:.3g}"),
            "proven": row["proven"],
        }
        for row in rows
    ]


def draw(marks: list[dict[str, Any]]) -> None:
    """Draw the marks; the image description stores them for the test."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.lines import Line2D

    tables = list(dict.fromkeys(mark["table"] for mark in marks))
    with plt.rc_context({"font.size": 8.5, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(figsize=INCHES, layout="constrained")
        for mark in marks:
            shape, colour = MARKS[mark["model"]]
            height = tables.index(mark["table"]) + (-0.17 if mark["model"] == "filter" else 0.17)
            face = colour if mark["proven"] else "white"
            axes.plot(mark["times"], height, shape, color=colour, mfc=face, ms=5)
        axes.axvline(1, color="0.4", lw=0.8)
        axes.set_xscale("log")
        ticks = [0.3, 1, 3, 10, 30, 100]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_yticks(range(len(tables)), tables)
        axes.invert_yaxis()
        axes.grid(axis="x", color="0.9", lw=0.6)
        axes.set_axisbelow(True)
        axes.set_xlabel("time of a fit, in fits of PCA or TruncatedSVD + LogisticRegression")
        handles = [
            Line2D([], [], ls="", marker=shape, color=colour, mfc=colour if proven else "white")
            for shape, colour in MARKS.values()
            for proven in (True, False)
        ]
        labels = [f"{model}, {word}" for model in MARKS for word in ("proven optimal", "not proven")]
        axes.legend(handles, labels, loc="best", frameon=False, fontsize=8)
        # Without the version of the software, equal figures are equal files.
        about = {"Software": None, "Description": json.dumps(marks)}
        figure.savefig(FIGURE, dpi=DOTS, facecolor="white", metadata=about)
        plt.close(figure)
