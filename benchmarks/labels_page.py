"""The table of docs/unlabelled.md, from the numbers that are kept: `python -m benchmarks pages`."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.pages import TABLES, Blocks, Rows, renewed
from benchmarks.tables import markdown, told

PAGE = Path(__file__).parents[1] / "docs" / "unlabelled.md"


def write(results: Path) -> None:
    """Put the kept numbers into the page."""
    PAGE.write_text(renewed(PAGE.read_text(), json.loads(results.read_text()), BLOCKS))


def _labels(rows: Rows, machine: dict[str, Any]) -> str:
    """Per cent right by number of labels and table, the best of each row in bold; means over the tables."""
    methods = [key for key in rows[0] if key not in ("table", "share", "labels")]
    groups: dict[float, Rows] = {}
    for row in rows:
        groups.setdefault(row["share"], []).append(row)
    table = []
    for share, group in sorted(groups.items()):
        named = [(f"{TABLES.get(row['table'], row['table'])}: {row['labels']}", row) for row in group]
        means = {method: mean(row[method] for row in group) for method in methods}
        for name, row in [*named, (f"mean at {share:.0%}", means)]:
            scores = [f"{row[method]:.1f}" for method in methods]
            best = max(scores, key=float)
            table.append([name, *(f"**{score}**" if score == best else score for score in scores)])
    intro = (
        "Accuracy in per cent on the samples whose labels were hidden, mean of ten draws "
        "(`python -m benchmarks labels`); samples × genes: number of labels."
    )
    return told(intro, markdown(["", *methods], table))


BLOCKS: Blocks = {"labels": ("labels", _labels)}
