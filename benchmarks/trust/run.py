"""Many problems, side by side: `python -m benchmarks trust --problems N --seed S`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from itertools import count, islice, product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.tables import show
from benchmarks.trust.checks import KINDS, Result, check
from benchmarks.trust.draw import kind
from benchmarks.trust.outcomes import KINDS as OUTCOMES
from benchmarks.trust.script import script
from benchmarks.trust.tables import SCALES
from reproduction.writing import whole

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
MODELS = ("filter", "feature")
#: Scripts to print of each kind.
SCRIPTS = 3


def main(arguments: Sequence[str]) -> None:
    """Check problems, print a table, and exit with 1 where anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks trust", description=__doc__)
    parser.add_argument("--problems", type=int, default=1000, help="how many; 1000 by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--search", choices=("auto", "thorough"), default="auto")
    parser.add_argument("--outcome", choices=OUTCOMES, help="the first problems of this kind only")
    parser.add_argument("--only", type=int, help="the one problem with this number")
    parser.add_argument("--out", type=Path, help="keep the figures as JSON")
    given = parser.parse_args(arguments)
    indices: Iterable[int] = range(given.problems) if given.only is None else [given.only]
    if given.outcome is not None:
        indices = islice((i for i in count() if kind(given.seed, i) == given.outcome), given.problems)
    begun = time.perf_counter()
    results = []
    printed: Counter[str] = Counter()
    for result in checked(indices, given.seed, given.search, given.jobs):
        results.append(result)
        if len(results) % 1000 == 0:
            print(f"{len(results)} problems, {time.perf_counter() - begun:.0f} s", file=sys.stderr)
        for violation in result.violations:
            printed[violation.kind] += 1
            if printed[violation.kind] <= SCRIPTS:
                print(f"\n{script(result, violation, given.search)}", flush=True)
    figures = summary(results)
    for title, rows in figures.items():
        if rows:
            show(title, rows)
    if given.out is not None:
        kept = {
            "machine": measure.machine(),
            "seed": given.seed,
            "search": given.search,
            "seconds": time.perf_counter() - begun,
            **figures,
            "violated": [asdict(result) for result in results if result.violations],
            "beaten or unequal": [asdict(result) for result in results if result.beaten or result.unequal],
        }
        with whole(given.out) as part:
            part.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if any(result.violations for result in results):
        sys.exit(1)


def checked(indices: Iterable[int], seed: int, search: str = "auto", jobs: int = 1) -> Iterable[Result]:
    """Yield results in the order of the indices, from any process."""
    one = partial(check, seed, search=search)
    if jobs == 1:
        yield from map(one, indices)
        return
    # Threads of linear algebra would fight over the same cores; a fresh process reads how many it may have.
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            yield from pool.map(one, indices, chunksize=8)
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def summary(results: Sequence[Result]) -> dict[str, list[dict[str, Any]]]:
    """Tables: violations and shares by outcome and model, and by scale; and what was refused."""
    rows = []
    for outcome, model in product(OUTCOMES, MODELS):
        some = [result for result in results if (result.outcome, result.model) == (outcome, model)]
        if some:
            rows.append({"outcome": outcome, "model": model, **_shares(some)})
    rows.append({"outcome": "all", "model": "both", **_shares(results)})
    by_scale = []
    for scale in dict.fromkeys(SCALES):
        if some := [result for result in results if result.scale == scale]:
            by_scale.append({"scale": scale, **_shares(some)})
    refused = Counter(result.refused for result in results if result.refused is not None)
    return {
        "trust": rows,
        "by scale": by_scale,
        "refused": [{"times": n, "message": message} for message, n in refused.most_common()],
    }


def _shares(results: Sequence[Result]) -> dict[str, Any]:
    kinds = Counter(kind for result in results for kind in {v.kind for v in result.violations})
    fitted = [r for r in results if r.refused is None]
    warned = [r for r in fitted if r.too_few_digits]
    unproven = [r for r in fitted if not (r.proven or r.too_few_digits)]
    beaten = [r for r in unproven if r.beaten > 0]
    return {
        "problems": len(results),
        **{kind: kinds[kind] for kind in KINDS},
        "refused": len(results) - len(fitted),
        "unproven": len(unproven) / max(len(fitted), 1),
        "beaten": len(beaten) / max(len(unproven), 1),
        # Those of which the fit itself says that it lacks digits are counted apart.
        "too few digits": len(warned) / max(len(fitted), 1),
        "beaten there": sum(r.beaten > 0 for r in warned) / max(len(warned), 1),
        "most": max((r.beaten for r in beaten), default=0.0),
        "unequal, unproven": sum(r.unequal > 0 for r in results),
        "overflows": sum(r.overflows > 0 for r in results),
        "s each": sum(r.seconds for r in results) / len(results),
    }
