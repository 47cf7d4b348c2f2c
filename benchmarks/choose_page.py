"""The tables of docs/choose.md, from the numbers that are kept: `python -m benchmarks pages`."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.pages import Blocks, Rows, renewed
from benchmarks.relatives import ANY_RANK, METHODS, OURS
from benchmarks.tables import markdown, told

PAGE = Path(__file__).parents[1] / "docs" / "choose.md"
PLAIN = "PCA + LR"
# Points of accuracy that count as level.
LEVEL = 1.0


def write(results: Path) -> None:
    """Put the kept numbers into the page."""
    PAGE.write_text(renewed(PAGE.read_text(), json.loads(results.read_text()), BLOCKS))


def _accuracy(rows: Rows, machine: dict[str, Any]) -> str:
    return _side_by_side(rows, "accuracy")


def _variance(rows: Rows, machine: dict[str, Any]) -> str:
    return _side_by_side(rows, "variance", without=("ridge LR",))


def _seconds(rows: Rows, machine: dict[str, Any]) -> str:
    return told(
        f"Processor seconds of one tuned fit on one thread, {machine['processor']}:",
        _side_by_side(rows, "CPU s", best=min, places=2),
    )


def _lost(rows: Rows, machine: dict[str, Any]) -> str:
    """Where others are more accurate, in words."""
    won, level, behind, ahead, ridge = 0, 0, [], 0, []
    for case, of in _by_case(rows).items():
        ours = of[OURS]["accuracy"]
        others = {
            name: row["accuracy"]
            for name, row in of.items()
            if row["accuracy"] is not None and name not in (OURS, *ANY_RANK)
        }
        leader = max(others, key=lambda name: others[name])
        lead = others[leader] - ours
        won += lead < -LEVEL
        level += -LEVEL <= lead <= LEVEL
        if lead > LEVEL:
            behind.append(f"{case} ({leader}, {lead:.1f} points)")
        gap = of["ridge LR"]["accuracy"] - ours
        ahead += gap < -LEVEL
        if gap > LEVEL:
            ridge.append(f"{case} ({gap:.1f} points)")
    words = (
        f"Of {won + level + len(behind)} rows superfactor is ahead of everybody with as many factors in "
        f"{won}, level with the best of them (within a point) in {level}, and behind in {len(behind)}"
    )
    words += f": {'; '.join(behind)}." if behind else "."
    words += f" Ridge LR, which has no factors, is beaten in {ahead} and ahead in {len(ridge)}"
    words += f": {'; '.join(ridge)}." if ridge else "."
    return told(words)


def _kept(rows: Rows, machine: dict[str, Any]) -> str:
    """What factors keep of the variance that principal components explain, and what they cost."""
    shares, costs = {}, {}
    for name in METHODS:
        pairs = [(of[name], of[PLAIN]) for of in _by_case(rows).values()]
        both = [pair for pair in pairs if pair[0]["variance"] is not None]
        if both and name not in (PLAIN, *ANY_RANK):
            shares[name] = median(one["variance"] / plain["variance"] for one, plain in both)
        timed = [pair for pair in pairs if pair[0]["CPU s"] is not None]
        if timed and name != PLAIN:
            costs[name] = median(one["CPU s"] / plain["CPU s"] for one, plain in timed)
    kept = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    cost = ", ".join(f"{name} {times:.2g}" for name, times in costs.items())
    return told(
        f"In the median over the rows, factors keep of what as many principal components explain: {kept}. "
        f"A tuned fit takes, in tuned fits of {PLAIN}: {cost}."
    )


def _guided(rows: Rows, machine: dict[str, Any]) -> str:
    table = [
        [row["table"], row["rank"], *(_number(row[key], places) for key, places in _COLUMNS.items())]
        for row in rows
    ]
    head = ["samples × features", "factors", "balanced accuracy", "variance of held-out X", "CPU s"]
    return markdown(head, table)


_COLUMNS = {"accuracy": 1, "variance": 1, "CPU s": 0}


def _by_case(rows: Rows) -> dict[str, dict[str, dict[str, Any]]]:
    cases: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        cases.setdefault(row["case"], {})[row["method"]] = row
    return cases


def _side_by_side(
    rows: Rows, key: str, best: Any = max, places: int = 1, without: tuple[str, ...] = ()
) -> str:
    """A line for each table and rank, the best number of it in bold; a note where there is none."""
    names = [name for name in METHODS if name not in without]
    table = []
    for of in _by_case(rows).values():
        first = next(iter(of.values()))
        cells = [_number(of[name][key], places) or of[name]["note"] or "–" for name in names]
        numbers = [float(cell) for cell in cells if cell[-1].isdigit()]
        shown = [
            f"**{cell}**" if cell[-1].isdigit() and float(cell) == best(numbers) else cell for cell in cells
        ]
        table.append([first["table"], first["rank"], *shown])
    return markdown(["samples × features", "factors", *names], table)


def _number(value: float | None, places: int) -> str:
    return "" if value is None else f"{value:.{places}f}"


BLOCKS: Blocks = {
    "choose-lost": ("choose", _lost),
    "choose-accuracy": ("choose", _accuracy),
    "choose-kept": ("choose", _kept),
    "choose-variance": ("choose", _variance),
    "choose-seconds": ("choose", _seconds),
    "guided": ("guided", _guided),
}
