"""The tables of docs/benchmarks.md, from the numbers that are kept.

A block of a page lies between `<!-- benchmark: NAME -->` and `<!-- end -->`. One whose benchmark has no
numbers yet stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.classes import LAM, RANK, XI
from benchmarks.comparison import Budget
from benchmarks.growth import BASE, exponents
from benchmarks.reading_page import by_method, by_table
from benchmarks.rivals import PIPELINE, RIVALS, outputs_exponents
from benchmarks.tables import markdown, told

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
Rows = list[dict[str, Any]]
# By name: whose numbers a block is made of, and how.
Blocks = dict[str, tuple[str, Callable[[Rows, dict[str, Any]], str]]]
OURS = "superfactor auto"
MODELS = ("filter", "feature")
# The tables of `accuracy` by what they are of.
TABLES = {
    "GSE16515": "pancreas, 52 × 473",
    "chowdary": "breast/colon, 104 × 22,283",
    "singh": "prostate, 102 × 12,600",
}


def write(results: Path) -> None:
    """Put the kept numbers into the page."""
    PAGE.write_text(renewed(PAGE.read_text(), json.loads(results.read_text())))


def renewed(text: str, kept: dict[str, Any], blocks: Blocks | None = None) -> str:
    """The text with every block made anew whose numbers are there; `blocks` are by default those of PAGE."""
    known = BLOCKS if blocks is None else blocks

    def block(found: re.Match[str]) -> str:
        name = found[1]
        if name not in known:
            raise ValueError(f"unknown benchmark block {name!r}; allowed: {', '.join(known)}")
        source, make = known[name]
        if source not in kept:
            return found[0]
        body = make(kept[source]["rows"], kept[source]["machine"])
        return f"<!-- benchmark: {name} -->\n\n{body}\n\n<!-- end -->"

    return re.sub(r"<!-- benchmark: (\S+) -->.*?<!-- end -->", block, text, flags=re.DOTALL)


def _speed(rows: Rows, machine: dict[str, Any]) -> str:
    """Whole fits and ways to the optimum."""
    table = []
    for case, of in _by_case(rows):
        pipeline = of[PIPELINE, None]["fit s"]
        for model in MODELS:
            own = of[OURS, model]
            table.append(
                [
                    case,
                    model,
                    _seconds(own),
                    _ratio(own["fit s"], pipeline),
                    *(
                        _arrival(of[name, model])
                        for name in (
                            OURS,
                            "superfactor lpgd",
                            "superfactor bcd",
                            "SupervisedMF LPGD",
                            "SupervisedMF BCD",
                        )
                    ),
                ]
            )
    columns = ["features × samples", "model", "whole fit", "of the pipeline's"]
    columns += ["to the optimum", "`lpgd`", "`bcd`", "release's LPGD", "release's BCD"]
    return told(
        "Whole fits from raw X to fitted attributes, against scikit-learn's `TruncatedSVD` + "
        "`LogisticRegression` (the pipeline), and seconds until the objective is within 1e-6 of the lowest "
        "that anybody found, measured against the part of it that supervision can change. Where that was "
        f"not reached in {Budget().run:g} seconds, the share that was left stands in brackets. Planted data "
        "of the paper's sizes, ξ = 1 or, where balanced, n·log 2/‖X‖², λ = 0.1; "
        f"{machine['processor']}, {machine['cores']} cores "
        "(`make bench`; `benchmarks/results/` keeps all numbers):",
        markdown(columns, table),
    )


def _peers(rows: Rows, machine: dict[str, Any]) -> str:
    """What the others need, and how often they are right."""
    names = [(OURS, "filter"), (OURS, "feature")]
    names += [(name, None) for name in (PIPELINE, "PLS-DA", "LDA", "NMF + LR")]
    table = [
        [case, *(f"{_seconds(of[who])}, {_memory(of[who])}, {_percent(of[who])}" for who in names)]
        for case, of in _by_case(rows)
    ]
    columns = ["features × samples"]
    columns += ["filter", "feature", "`TruncatedSVD` + LR", "PLS-DA", "LDA", "NMF + LR"]
    intro = "Beside others: time of a whole fit, memory it takes beyond X, accuracy on samples held out."
    return told(intro, markdown(columns, table))


def _iterations(rows: Rows, machine: dict[str, Any]) -> str:
    """Algorithm 1 of both."""
    table = [
        [
            row["case"],
            row["X"],
            row["model"],
            _milliseconds(row["ours ms"]),
            _milliseconds(row["release ms"]),
            f"{row['times']:,.0f}",
        ]
        for row in rows
    ]
    columns = ["features × samples", "X", "model", "`lpgd`", "release's LPGD", "times faster"]
    apart = max(row["objectives differ by"] for row in rows)
    intro = (
        "One iteration of the paper's algorithm from the same start; after a few, the objectives of both "
        f"differ by {apart:.0e} of what was gained at most (the release makes X dense):"
    )
    return told(intro, markdown(columns, table))


def _growth(rows: Rows, machine: dict[str, Any]) -> str:
    """Exponents."""
    lines = exponents(rows)
    axes = [key for key in lines[0] if key not in ("method", "model")]
    table = [
        [", ".join(filter(None, (line["method"], line["model"])))]
        + ["" if line[axis] is None else f"{line[axis]:.1f}" for axis in axes]
        for line in lines
    ]
    base = ", ".join(f"{axis} = {size:,}" for axis, size in BASE.items())
    intro = (
        f"How the time of a whole fit (of the release: an iteration) grows: its exponent in one size while "
        f"the others stay at {base}."
    )
    return told(intro, markdown(["", *axes], table))


def accuracy(rows: Rows, machine: dict[str, Any]) -> str:
    """Per cent right, the best of each row in bold."""
    methods = [key for key in rows[0] if key != "table"]
    table = []
    for row in rows:
        scores = [f"{row[method]:.1f}" for method in methods]
        best = max(scores, key=float)
        name, _, scale = row["table"].partition(", ")
        told = f"the same, {scale}" if scale else TABLES.get(name, name)
        table.append([told, *(f"**{score}**" if score == best else score for score in scores)])
    return markdown(["", *(method.replace("+", " + ") for method in methods)], table)


def _classes(rows: Rows, machine: dict[str, Any]) -> str:
    """Times with more and more classes."""
    table = [
        [
            f"{row['classes']} digits, 64 × {row['n']:,}",
            row["model"],
            _seconds(row),
            _ratio(row["fit s"], row["pipeline s"]),
            row["proven"],
        ]
        for row in rows
    ]
    columns = ["features × samples", "model", "whole fit", "of the pipeline's", "proven optimal"]
    intro = (
        f"With more classes: scikit-learn's digits, standardised, rank {RANK}, ξ = {XI:g}, λ = {LAM:g}; "
        f"{machine['processor']}, {machine['cores']} cores "
        "(`python -m benchmarks classes`):"
    )
    return told(intro, markdown(columns, table))


def _search(rows: Rows, machine: dict[str, Any]) -> str:
    """What choosing costs."""
    alone, two = ([row[f"pipeline fits{jobs}"] for row in rows] for jobs in ("", ", 2 jobs"))
    return told(
        "Choosing among 18 settings in 5 folds at 12,533 × 181 (`SMFClassifierCV`) takes as long as "
        f"{min(alone):.0f} to {max(alone):.0f} fits of the pipeline, with `n_jobs=2` {min(two):.0f} to "
        f"{max(two):.0f} (`python -m benchmarks search`)."
    )


def _rivals(rows: Rows, machine: dict[str, Any]) -> str:
    """Every shape beside everybody, and the ratios."""
    cases: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        cases.setdefault(row["case"], {})[row["method"]] = row
    table = [
        [case, *(f"{_seconds(of[who])}, {_memory(of[who])}, {_percent(of[who])}" for who in RIVALS)]
        for case, of in cases.items()
    ]
    on_digits = [row for row in rows if row["case"].startswith("digits") and row["pipelines"]]
    told_of = []
    for model in MODELS:
        if times := [row["pipelines"] for row in on_digits if row["method"] == model]:
            told_of.append(
                f"{model} {median(times):.2g} pipelines in the median and {max(times):.2g} at most"
            )
    excesses = [row["excess"] for row in rows if row["excess"] is not None]
    growth = outputs_exponents(rows)
    powers = [f"{growth[model]:.2f} ({model})" for model in MODELS if growth[model] is not None]
    intro = (
        "Every shape, as users fit it, on one thread: time of a whole fit, memory it takes beyond X, "
        f"accuracy on samples held out; {machine['processor']} (`python -m benchmarks rivals`)."
    )
    if told_of:
        intro += f" On the digits: {'; '.join(told_of)}; "
        intro += f"objectives at most {max(0.0, *excesses):.0e} above those kept."
    if powers:
        intro += f" Exponent of time in the number of outputs κ: {', '.join(powers)}."
    names = [f"`{PIPELINE.split()[0]}` + LR" if who == PIPELINE else who for who in RIVALS]
    return told(intro, markdown(["features × samples", *names], table))


def _searches(rows: Rows, machine: dict[str, Any]) -> str:
    """Whole searches side by side."""
    table = [
        [
            row["table"],
            row["model"],
            row["candidates"],
            _rounded(row["seconds"]),
            _rounded(row["PCA + LR s"]),
            _ratio(row["seconds"], row["PCA + LR s"]),
            f"{100 * row['score']:.1f} %",
            f"{100 * row['PCA + LR score']:.1f} %",
        ]
        for row in rows
    ]
    columns = ["samples × features", "model", "candidates", "`SMFClassifierCV`", "PCA + LR"]
    columns += ["times", "its accuracy", "PCA + LR's"]
    intro = (
        "`SMFClassifierCV` with its own grids against a `GridSearchCV` of PCA + LR with as many candidates "
        "and folds, both by accuracy on standardised tables, on one thread (`python -m benchmarks searches`):"
    )
    return told(intro, markdown(columns, table))


def _hard(rows: Rows, machine: dict[str, Any]) -> str:
    """How often other starts find more."""
    keys = ["problems", "proven", "unproven", "beaten", "by 1 % of supervised"]
    keys += ["certificates violated"]
    table = [[f"{row['case']}, {row['of']}", *(row[key] for key in keys)] for row in rows]
    columns = ["", *keys[:3], "beaten by 1e-6", "by 1 %", keys[-1]]
    intro = (
        "Small random problems, at extreme settings (hard) and at moderate ones (ordinary), against the "
        "lowest objective known, of some 50 descents by an independent method: how many answers are proven "
        "optimal, and how many of the others are beaten by more than 1e-6 of F, and by more than 1 % of the "
        "part that supervision can change (`python -m benchmarks hard`):"
    )
    return told(intro, markdown(columns, table))


BLOCKS: Blocks = {
    "speed": ("comparison", _speed),
    "peers": ("comparison", _peers),
    "classes": ("classes", _classes),
    "search": ("search", _search),
    "iterations": ("lpgd", _iterations),
    "growth": ("growth", _growth),
    "accuracy": ("accuracy", accuracy),
    "rivals": ("rivals", _rivals),
    "searches": ("searches", _searches),
    "hard": ("hard", _hard),
    "reading": ("reading", by_method),
    "reading-tables": ("reading", by_table),
}


def _by_case(rows: Rows) -> list[tuple[str, dict[tuple[str, str | None], dict[str, Any]]]]:
    cases: dict[str, dict[tuple[str, str | None], dict[str, Any]]] = {}
    for row in rows:
        cases.setdefault(row["case"], {})[row["method"], row["model"]] = row
    return list(cases.items())


def _seconds(row: dict[str, Any]) -> str:
    return "too long" if row["fit s"] is None else _rounded(row["fit s"])


def _arrival(row: dict[str, Any]) -> str:
    if row["to 1e-6 s"] is not None:
        return _rounded(row["to 1e-6 s"])
    return "–" if row["excess"] is None else f"({row['excess']:.0e})"


def _rounded(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 9.5 else f"{seconds:.2g} s"


def _ratio(one: float | None, other: float | None) -> str:
    if one is None or other is None:
        return ""
    times = one / other
    return f"{times:,.0f}" if times >= 9.5 else f"{times:.2g}"


def _memory(row: dict[str, Any]) -> str:
    return "–" if row["peak MB"] is None else f"{row['peak MB']:,.0f} MB"


def _percent(row: dict[str, Any]) -> str:
    return "–" if row["accuracy"] is None else f"{100 * row['accuracy']:.1f} %"


def _milliseconds(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 9.5 else f"{value:.2g} ms"
