"""Run the benchmarks: `python -m benchmarks [names] [--quick] [--out FILE]`.

Without names the evidence: the comparison with the peers, how cost grows, Algorithm 1 iteration for
iteration, and if SUPERFACTOR_DATA_DIR says where real tables are, the comparison on them. `python -m
benchmarks pages` writes the kept numbers into the pages of docs/ that show them.
`python -m benchmarks scale [figures]` measures how far it scales, and keeps these numbers in another file.
`python -m benchmarks trust --problems N --seed S` holds fits of random problems against naive code.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import (
    accuracy,
    baselines,
    cells,
    choose,
    classes,
    comparison,
    defaults,
    growth,
    hard,
    imports,
    labels,
    lpgd,
    measure,
    missing,
    optimum,
    pages,
    paper_figure,
    reading,
    selection,
)
from benchmarks.scale import figures
from benchmarks.tables import show
from benchmarks.trust import run
from reproduction.data import VARIABLE
from reproduction.writing import whole

RESULTS = Path(__file__).parent / "results" / "results.json"
SCALE = RESULTS.with_name("scale.json")
CHOOSE = RESULTS.with_name("choose.json")
EVIDENCE = ("comparison", "growth", "lpgd") + (("real",) if VARIABLE in os.environ else ())
BENCHMARKS: dict[str, Callable[[bool], list[dict[str, Any]]]] = {
    "comparison": comparison.comparison,
    "growth": growth.growth,
    "lpgd": lpgd.per_iteration,
    "real": comparison.on_real_data,
    "imports": imports.imports,
    "search": selection.search,
    "classes": classes.classes,
    "cells": cells.cells,
    "accuracy": accuracy.accuracy,
    "labels": labels.labels,
    "iterations": optimum.iterations,
    "restarts": optimum.restarts,
    "hard": hard.hard,
    "baselines": baselines.baselines,
    "searches": defaults.searches,
    "missing": missing.missing,
    "absent": missing.absent,
    "choose": choose.choose,
    "guided": choose.guided,
    "reading": reading.reading,
    "defaults": defaults.defaults,
}
# How rows are shown where that is not as they are.
SHOWN = {"growth": growth.exponents, "reading": reading.with_means}
# Where numbers are kept that are not in RESULTS.
ELSEWHERE = {"choose": CHOOSE, "guided": CHOOSE}


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and keep the numbers with the machine they come from."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["trust"]:  # with options of its own
        run.main(arguments[1:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        help=f"some of {', '.join(BENCHMARKS)}, or pages; by default {', '.join(EVIDENCE)}; or scale, and "
        f"some of {', '.join(figures.FIGURES)}, by default all",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, a minute altogether")
    parser.add_argument("--out", type=Path, help="the JSON; with --quick none by default")
    given = parser.parse_args(arguments)
    of_scale = given.names[:1] == ["scale"]
    known = figures.FIGURES if of_scale else (*BENCHMARKS, "pages")
    names = given.names[1:] if of_scale else given.names
    if unknown := set(names) - set(known):
        parser.error(f"unknown benchmark {sorted(unknown)}; allowed: {', '.join(known)}")
    # Numbers of small sizes are not evidence: they are kept only where somebody asks for it.
    out = given.out or (None if given.quick else SCALE if of_scale else RESULTS)
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        parser.error(f"--out {out}: the name of a file in a folder that is there is required")
    if of_scale:
        for name in names or known:
            into = (lambda rows: None) if out is None else partial(keep, out, name)
            figures.measured(name, given.quick, into)
        return
    for name in names or EVIDENCE:
        if name == "pages":
            pages.write()
            paper_figure.write()
            continue
        rows = BENCHMARKS[name](given.quick)
        show(name, SHOWN.get(name, list)(rows))
        if out is not None:
            keep(given.out or ELSEWHERE.get(name, out), name, rows)


def keep(out: Path, name: str, rows: list[dict[str, Any]]) -> None:
    """Put the rows into the file, beside those of other benchmarks."""
    kept = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    kept[name] = {"machine": measure.machine(), "rows": rows}
    with whole(out) as part:
        part.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
