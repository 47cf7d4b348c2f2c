"""The figure of docs/paper/paper.md, from the numbers that are kept: `python -m benchmarks pages`."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.pages import DOCS, MODELS, Row, kept

FIGURE = DOCS / "paper" / "time.png"
# As marked in the figure, also without colours.
MARKS = {"filter": ("o", "#0072b2"), "feature": ("s", "#d55e00")}
INCHES, DOTS = (6.5, 3.7), 300  # the width of the printed text


def write() -> None:
    """Draw it from the kept numbers."""
    draw(times(kept()["rivals"]))


def times(rows: list[Row]) -> list[dict[str, Any]]:
    """Marks of the figure: which table, which model, how many pipelines, whether the optimum is proven."""
    marks = []
    for row in rows:
        if row["method"] in MODELS:
            name = row["case"].partition(", ξ")[0]
            if name.startswith("200"):  # all of them are balanced, and differ in their classes
                name = name.replace(", balanced", "") + ("" if "classes" in name else ", 2 classes")
            pipelines = float(f"{row['pipelines']:.3g}")
            marks.append({"table": name, "model": row["method"], "times": pipelines, "proven": row["proven"]})
    return marks


def draw(marks: list[dict[str, Any]]) -> None:
    """The figure; the marks themselves are kept in its description."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.lines import Line2D

    order = sorted(marks, key=lambda mark: _place(mark["table"]))
    tables = list(dict.fromkeys(mark["table"] for mark in order))
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
        axes.set_xlabel("time of a fit, in fits of TruncatedSVD + LogisticRegression")
        handles = [
            Line2D([], [], ls="", marker=shape, color=colour, mfc=colour if proven else "white")
            for shape, colour in MARKS.values()
            for proven in (True, False)
        ]
        said = [f"{model}, {word}" for model in MARKS for word in ("proven optimal", "not proven")]
        axes.legend(handles, said, loc="upper right", frameon=False, fontsize=8)
        # No software version inside, so that equal figures are equal files.
        about = {"Software": None, "Description": json.dumps(marks)}
        figure.savefig(FIGURE, dpi=DOTS, facecolor="white", metadata=about)
        plt.close(figure)


def _place(table: str) -> int:
    """Wide tables first, then tall and small ones, then more and more classes; else as they come."""
    starts = ("54,676", "35,982", "2,480", "784", "200", "digits")
    return next(place for place, start in enumerate(starts) if table.startswith(start))
