"""Draws docs/images/architecture.svg: the way of the data from `fit` to the answer, and the rooms it passes.

python tools/architecture_figure.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path

TARGET = Path(__file__).parents[1] / "docs" / "images" / "architecture.svg"

WIDTH, LEFT, BOX, HIGH, GAP = 980, 40, 420, 58, 22

# Station, its file, what is handed on from it.
STATIONS = [
    ("fit", "estimators/base.py", "X, y, covariates, weights as the user has them"),
    ("state", "estimators/base.py, problem/posing.py", "checked arrays, or rows on disk"),
    ("samples", "samples/", "blocks that answer typed questions with sums"),
    ("problem", "problem/problem.py", "Problem: model, samples, loss, weights; units of its own"),
    ("begin", "solvers/newton/beginning.py", "State: a subspace, and the best point in it"),
    ("rounds", "solvers/newton/rounds.py", "State: descend inside, bound outside, grow"),
    ("other starts", "solvers/newton/starts.py, fleet.py", "State: only where nothing is proven yet"),
    ("solution", "solvers/newton/solve.py", "Solution: factors in the user's units"),
    ("adopt", "estimators/base.py", "components_, coef_, codes_, history_, …"),
    ("certify", "theory/certificate.py", "certificate_: no such model is lower than …"),
]

# Rooms beside the way: (title, what it is for, from station, to station).
ROOMS = [
    ("memory · files · workers", "an array in blocks, rows read in passes, Dask actors", 2, 2),
    ("models/", "Filter and Feature: search side, units, un-lifting, coding", 3, 7),
    ("subspace/", "basis, loss on a design, Newton model: k coordinates, not N", 4, 6),
    ("spectrum/", "X through its products, exact compression, eigenvalues", 9, 9),
]


def main() -> None:
    """Write the picture."""
    height = 2 * 30 + len(STATIONS) * (HIGH + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" role="img" '
        'aria-label="The way of the data from fit to the fitted attributes, station by station">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#44546a"/></marker></defs>',
    ]
    for i, station in enumerate(STATIONS):
        parts += _station(i, *station)
    for room in ROOMS:
        parts += _room(*room)
    TARGET.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")
    print(TARGET.name)


def _top(i: int) -> int:
    return 30 + i * (HIGH + GAP)


def _station(i: int, name: str, file: str, gives: str) -> list[str]:
    y, x = _top(i), LEFT
    parts = [
        f'<rect x="{x}" y="{y}" width="{BOX}" height="{HIGH}" rx="9" fill="#e8eef7" stroke="#44546a"/>',
        _text(x + 16, y + 24, f"{i + 1}  {name}", 16, "#16233a", "600"),
        _text(x + BOX - 14, y + 23, file, 11.5, "#44546a", anchor="end"),
        _text(x + 16, y + 45, gives, 12.5, "#16233a"),
    ]
    if i:
        middle = x + BOX / 2
        parts.append(
            f'<line x1="{middle}" y1="{y - GAP}" x2="{middle}" y2="{y - 2}" stroke="#44546a" '
            'stroke-width="1.6" marker-end="url(#tip)"/>'
        )
    return parts


def _room(title: str, purpose: str, first: int, last: int) -> list[str]:
    x, y = LEFT + BOX + 60, _top(first)
    inner = title == "subspace/"  # within the stretch of the models: a bracket of its own
    y += 84 * inner
    bottom = _top(last) + HIGH
    middle = (_top(first) + bottom) / 2 if first == last else y + 32
    parts = [
        f'<rect x="{x}" y="{middle - 30}" width="400" height="60" rx="9" fill="#fff6e5" stroke="#b98217"/>',
        _text(x + 16, middle - 6, title, 15, "#5c3d00", "600"),
        _text(x + 16, middle + 16, purpose, 12, "#5c3d00"),
    ]
    # A bracket along the stations that ask it.
    edge = LEFT + BOX + (30 if inner else 14)
    top = _top(first) + 8
    parts.append(
        f'<path d="M{edge - 6} {top} H{edge} V{bottom - 8} H{edge - 6} M{edge} {middle} H{x}" '
        'fill="none" stroke="#b98217" stroke-width="1.4"/>'
    )
    return parts


def _text(
    x: float, y: float, text: str, size: float, fill: str, weight: str = "400", anchor: str = "start"
) -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


if __name__ == "__main__":
    main()
