"""The tables of `python -m benchmarks reading` in docs/benchmarks.md."""

from __future__ import annotations

from typing import Any

from benchmarks.readers import LOADINGS, OURS, STATISTIC, WEIGHTS
from benchmarks.reading import LEVEL, MEASURES, N_SHOWN, N_SPLITS, means
from benchmarks.tables import markdown, told

Rows = list[dict[str, Any]]


def by_method(rows: Rows, machine: dict[str, Any]) -> str:
    """Means over the tables, and what they say in words."""
    found = {row["method"]: row for row in means(rows)}
    table = [[method, *(f"{row[key]:.0%}" for key in MEASURES)] for method, row in found.items()]
    head = ["", "return", f"differ (q ≤ {LEVEL:g})", "at the right end", "against their end"]
    returned = {method: row["returned"] for method, row in found.items()}
    ours = returned[OURS]
    chance = sum(N_SHOWN / _features(case) for case in _cases(rows)) / len(_cases(rows))
    intro = (
        f"Of the {N_SHOWN} features that are shown from one half of the samples: how many are shown again "
        "from the other half; how many differ between the classes there; how many stand at the end of the "
        "class that has more of them there; and how many stand at an end that they correlate against, in the "
        f"half that was seen. Means over {len(_cases(rows))} tables, each split {N_SPLITS} times (`python -m "
        "benchmarks reading`). What superfactor shows by default, correlations with the predictive factors, "
        f"returns {ours / returned[WEIGHTS]:.2g} times as often as what its weights show, "
        f"{_beside(ours, returned[LOADINGS])} PLS-DA's loadings and {_beside(ours, returned[STATISTIC])} "
        f"what differs most feature by feature. By chance {chance:.1%} would return."
    )
    return told(intro, markdown(head, table))


def by_table(rows: Rows, machine: dict[str, Any]) -> str:
    """How many return, the best of each table in bold."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    table, more, less = [], 0, 0
    for case in _cases(rows):
        of = {row["method"]: row for row in rows if row["case"] == case}
        cells = [f"{of[method]['returned']:.0%}" for method in methods]
        best = max(cells, key=_number)
        gain = round(of[OURS]["returned"] - of[WEIGHTS]["returned"], 9)  # means of counts: no rounding
        more, less = more + (gain > 0), less + (gain < 0)
        shown = [f"**{cell}**" if cell == best else cell for cell in cells]
        table.append([case, of[methods[0]]["classes"], *shown])
    intro = (
        f"How many of the {N_SHOWN} return, table by table; what superfactor shows by default returns more "
        f"often than its weights in {more} and less often in {less}:"
    )
    return told(intro, markdown(["samples × features", "classes", *methods], table))


def _beside(one: float, other: float) -> str:
    """In points, since small shares have large ratios."""
    points = 100 * (one - other)
    if abs(points) < 0.5:
        return "as often as"
    unit = "point" if f"{abs(points):.0f}" == "1" else "points"
    return f"{abs(points):.0f} {unit} {'more' if points > 0 else 'less'} often than"


def _cases(rows: Rows) -> list[str]:
    return list(dict.fromkeys(row["case"] for row in rows))


def _features(case: str) -> int:
    return int(case.rpartition("×")[2].replace(",", ""))


def _number(cell: str) -> float:
    return float(cell.rstrip("%"))
