"""Write the measured tables of docs/ from benchmarks/results/: `python -m benchmarks pages`.

A table lies between `<!-- benchmark: NAME -->` and `<!-- end -->`; version, machine and date of a benchmark
lie between `<!-- measured: NAME -->` and `<!-- end -->`. The sentences around a table are written by hand:
read them after each new measurement. A table without results stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.reading import MEASURES, means
from benchmarks.relatives import METHODS
from benchmarks.tables import markdown, text

Row = dict[str, Any]
Table = tuple[list[str], list[list[Any]]]
DOCS = Path(__file__).parents[1] / "docs"
RESULTS = Path(__file__).parent / "results"
PAGES = ("benchmarks.md", "choose.md", "missing.md", "scanpy.md", "unlabelled.md", "paper/paper.md")
MODELS = ("filter", "feature")
# What variance and time of `choose` are relative to.
PLAIN = "PCA + LR"
# The tables of `accuracy` by what they are of.
NAMES = {
    "GSE16515": "pancreas, 52 × 473",
    "chowdary": "breast/colon, 104 × 22,283",
    "singh": "prostate, 102 × 12,600",
}
BLOCK = re.compile(r"<!-- benchmark: (\S+) -->\n\n(.*?)\n\n<!-- end -->", re.DOTALL)
MEASURED = re.compile(r"<!-- measured: (\S+) -->(.*?)<!-- end -->")


def _figures() -> dict[str, dict[str, Any]]:
    """All results by benchmark; those of scale as "scale/…", since some share a name with others."""
    found: dict[str, dict[str, Any]] = {}
    for file in ("results", "choose", "scale", "nvidia-h200"):
        before = "" if file in ("results", "choose") else "scale/"
        figures = json.loads((RESULTS / f"{file}.json").read_text(encoding="utf-8"))
        found |= {before + name: figure for name, figure in figures.items()}
    return found


def kept() -> dict[str, list[Row]]:
    """The rows of all results by benchmark."""
    return {name: figure["rows"] for name, figure in _figures().items()}


def write() -> None:
    """Update the tables of all pages."""
    rows = kept()
    for name in PAGES:
        page = DOCS / name
        page.write_text(renewed(page.read_text(encoding="utf-8"), rows), encoding="utf-8")


def renewed(page: str, rows: dict[str, list[Row]]) -> str:
    """The page with new tables for all benchmarks in `rows`; rows of dashes are kept."""

    def block(found: re.Match[str]) -> str:
        if found[1] not in TABLES:
            raise ValueError(f"unknown benchmark table {found[1]!r}; allowed: {', '.join(TABLES)}")
        source, make = TABLES[found[1]]
        if source not in rows:
            return found[0]
        lines, old = markdown(*make(rows[source])).splitlines(), found[2].splitlines()
        if len(old) > 1 and old[1].count("|") == lines[1].count("|"):
            lines[1] = old[1]
        return "\n".join([f"<!-- benchmark: {found[1]} -->", "", *lines, "", "<!-- end -->"])

    figures = _figures()

    def measured(found: re.Match[str]) -> str:
        return f"<!-- measured: {found[1]} -->{origin(figures[found[1]]['machine'])}<!-- end -->"

    return MEASURED.sub(measured, BLOCK.sub(block, page))


def origin(machine: Row) -> str:
    """Version, machine and date of a benchmark."""
    day = date.fromisoformat(machine["date"])
    device = machine.get("device") or machine["processor"]
    return f"superfactor {machine['superfactor']}, {device}, {day.day} {day:%B %Y}"


# --- cells ------------------------------------------------------------------------------------------


def seconds(value: float | None) -> str:
    """Of whole fits."""
    return "too long" if value is None else f"{value:.1f} s" if value >= 9.5 else f"{value:.2g} s"


def ratio(one: float | None, other: float | None) -> str:
    """How many times as long; nothing where either is not known."""
    if one is None or other is None:
        return ""
    return f"{one / other:,.0f}" if one / other >= 9.5 else f"{one / other:.2g}"


def best_bold(cells: list[str]) -> list[str]:
    """The same, the largest number in bold."""
    numbers = {cell: float(cell.rstrip("%")) for cell in cells if cell[-1:].isdigit() or cell[-1:] == "%"}
    top = max(numbers.values())
    return [f"**{cell}**" if numbers.get(cell) == top else cell for cell in cells]


# --- docs/benchmarks.md, docs/unlabelled.md -----------------------------------------------------------


def _accuracy(rows: list[Row]) -> Table:
    methods = [key for key in rows[0] if key != "table"]
    table = []
    for row in rows:
        name, _, scale = row["table"].partition(", ")
        cells = best_bold([f"{row[method]:.1f}" for method in methods])
        table.append([f"the same, {scale}" if scale else NAMES.get(name, name), *cells])
    return ["", *(method.replace("+", " + ") for method in methods)], table


def _defaults(rows: list[Row]) -> Table:
    cases: dict[str, dict[str, Row]] = {}
    for row in rows:
        cases.setdefault(row["table"], {})[row["model"]] = row
    body = []
    for name, models in cases.items():
        times = (_times_a_pipeline(models[model]) for model in MODELS)
        body.append([name, seconds(models["filter"]["PCA + LR s"]), *times])
    middle = [f"{median(row['pipelines'] for row in rows if row['model'] == model):.1f}" for model in MODELS]
    return ["table", "PCA + LR", *MODELS], [*body, ["in the middle", "", *middle]]


def _times_a_pipeline(row: Row) -> str:
    """How many pipelines a fit takes, and whether it is proven."""
    return f"{row['pipelines']:.1f}" + (", proven" if row["proven"] else "")


def _searches(rows: list[Row]) -> Table:
    """Searches of classes. Those of numbers are in the results only."""
    head = ["samples × features", "search", "grid search", "its score", "the grid search's"]
    return head, [
        [row["table"], seconds(row["seconds"]), seconds(row["grid search s"])]
        + [f"{row[key]:.3f}" for key in ("score", "grid search score")]
        for row in rows
        if row["table"].endswith("classes")
    ]


def _hard(rows: list[Row]) -> Table:
    keys = ["problems", "proven", "unproven", "beaten", "by 1 % of supervised", "certificates violated"]
    head = ["", *keys[:3], "beaten by 1e-6", "by 1 %", keys[-1]]
    return head, [[row["case"], *(row[key] for key in keys)] for row in rows if row["of"] == "all"]


def _reading(rows: list[Row]) -> Table:
    head = ["", "return", "differ (q ≤ 0.05)", "at the right end", "against their end"]
    return head, [[row["method"], *(f"{row[key]:.0%}" for key in MEASURES)] for row in means(rows)]


def _labels(rows: list[Row]) -> Table:
    """Means over the tables, for each share of labels."""
    methods = [key for key in rows[0] if key not in ("table", "share", "labels")]
    table = []
    for share in sorted({row["share"] for row in rows}):
        group = [row for row in rows if row["share"] == share]
        counts = [row["labels"] for row in group]
        means = [f"{mean(row[method] for row in group):.1f}" for method in methods]
        table.append([f"{share:.0%}", f"{min(counts)}–{max(counts)}", *best_bold(means)])
    return ["share", "labels", *methods], table


# --- docs/missing.md, docs/scanpy.md ----------------------------------------------------------------------


def _missing(rows: list[Row]) -> Table:
    """Means over the tables, for each kind of missing values."""
    head = ["missing", "error: mean", "5 neighbours", "low rank"]
    head += ["accuracy: nothing missing", "mean", "low rank"]
    errors = [f"error, {name}" for name in ("mean", "5 neighbours", "low rank")]
    accuracies = [f"accuracy, {name}" for name in ("all entries", "mean", "low rank")]
    table = []
    for kind in dict.fromkeys(row["pattern"] for row in rows):
        group = [row for row in rows if row["pattern"] == kind]
        cells = [f"{mean(row[key] for row in group):.2f}" for key in errors]
        table.append([kind, *cells, *(f"{mean(row[key] for row in group):.1f}" for key in accuracies)])
    return head, table


def _absent(rows: list[Row]) -> Table:
    """Means over the tables, for each share of the weight."""
    head = ["weight absent"]
    body = [[f"{100 * weight:.0f} %"] for weight in dict.fromkeys(row["weight"] for row in rows)]
    for order in dict.fromkeys(row["absent"] for row in rows):
        head += [f"features, {order}", "correlation", "the worst", "accuracy"]
        for line in body:
            group = [
                row for row in rows if row["absent"] == order and f"{100 * row['weight']:.0f} %" == line[0]
            ]
            line.append(f"{100 * mean(row['features'] for row in group):.0f} %")
            line.append(f"{mean(row['correlation'] for row in group):.2f}")
            line.append(f"{min(row['correlation, worst'] for row in group):.2f}")
            line.append(f"{mean(row['accuracy'] for row in group):.1f}")
    whole = f"{mean(row['accuracy, complete'] for row in rows):.1f}"
    return head, [["none", *["0 %", "1.00", "1.00", whole] * (len(head) // 4)], *body]


def _cells(rows: list[Row]) -> Table:
    return ["cells × genes", "sparse X", "X is", "time", "peak memory, with X"], [
        [
            f"{row['cells']:,} × {row['genes']:,}",
            f"{row['sparse_megabytes']:.0f} MB",
            "in memory" if row["in"] == "memory" else "on disk",
            f"{row['seconds']:.0f} s",
            f"{row['peak_megabytes']:.0f} MB",
        ]
        for row in rows
    ]


# --- docs/choose.md, large data -------------------------------------------------------------------------


def _side_by_side(rows: list[Row]) -> Table:
    """A line for each table: accuracy for each number of factors, the best of each in bold."""
    table = []
    for title, of in _by_table(rows).items():
        ranks = [best_bold([_digits(found[name]["accuracy"]) for name in METHODS]) for found in of]
        table.append([title, *("/".join(dict.fromkeys(cells)) for cells in zip(*ranks, strict=True))])
    return ["samples × features", *METHODS], table


def _digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _by_table(rows: list[Row]) -> dict[str, list[dict[str, Row]]]:
    """Rows by method, for each number of factors of each table."""
    tables: dict[str, dict[int, dict[str, Row]]] = {}
    for row in rows:
        tables.setdefault(row["table"], {}).setdefault(row["rank"], {})[row["method"]] = row
    return {title: list(of.values()) for title, of in tables.items()}


def _summary(rows: list[Row]) -> Table:
    """Accuracy on tables that all methods take, and variance and time relative to PCA + LR."""
    tables = _by_table(rows)
    dense = [of for of in tables.values() if all(row["accuracy"] is not None for row in of[0].values())]
    found = [of for each in tables.values() for of in each]
    body = []
    for name in METHODS:
        shares, times = (
            [of[name][key] / of[PLAIN][key] for of in found if of[name][key] is not None]
            for key in ("variance", "CPU s")
        )
        accuracies = [mean(of[k][name]["accuracy"] for of in dense) for k in range(len(dense[0]))]
        least = [f"{median(shares):.0%}", f"{min(shares):.0%}"] if shares else ["–", "–"]
        body.append([name, *map(_digits, accuracies), *least, f"{median(times):.2g}"])
    return ["", "accuracy, 2 factors", "5 factors", "variance, median", "minimum", "time"], body


def _scale_memory(rows: list[Row]) -> Table:
    keys = ("anonymous MB, less codes and y", "scratch MB")
    head = ["storage", "n", "peak, MB", "temporary files, MB"]
    sizes = [row for row in rows if "n" in row]
    return head, [[row["storage"], f"{row['n']:,}", *(f"{row[key]:,.0f}" for key in keys)] for row in sizes]


def _scale_gpu(rows: list[Row]) -> Table:
    head = ["arrays", "type", "model", "fit, s", "with certificate", "objective against float64"]
    return head, [
        [row["library"], row["type"], row["model"]]
        + [text(row[key]) if key in row else "" for key in ("s without certificate", "s")]
        + [_apart(row)]
        for row in rows
    ]


def _apart(row: Row) -> str:
    return f"{row['relative difference']:.0e}" if "relative difference" in row else ""


# Name of a table: whose rows it is made of, and how.
TABLES: dict[str, tuple[str, Callable[[list[Row]], Table]]] = {
    "accuracy": ("accuracy", _accuracy),
    "defaults": ("defaults", _defaults),
    "searches": ("searches", _searches),
    "hard": ("hard", _hard),
    "reading": ("reading", _reading),
    "labels": ("labels", _labels),
    "missing": ("missing", _missing),
    "absent": ("absent", _absent),
    "cells": ("cells", _cells),
    "choose-accuracy": ("choose", _side_by_side),
    "choose-summary": ("choose", _summary),
    "scale-memory": ("scale/memory", _scale_memory),
    "scale-gpu": ("scale/gpu", _scale_gpu),
}
