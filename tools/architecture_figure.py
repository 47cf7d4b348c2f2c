"""Draw docs/images/architecture.svg: the steps from `fit` to the certificate, and the packages they use.

python tools/architecture_figure.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path

TARGET = Path(__file__).parents[1] / "docs" / "images" / "architecture.svg"

WIDTH, LEFT, BOX, HIGH, GAP = 980, 40, 420, 58, 22

# Step, its package, and what it returns.
STEPS = [
    ("check", "estimators/", "checked arrays, or rows on disk"),
    ("samples", "samples/", "blocks of rows that compute sums"),
    ("problem", "problem/", "Problem: model, samples, loss, weights, own units"),
    ("first basis", "solvers/newton/", "State: a subspace and a point in it"),
    ("rounds", "solvers/newton/", "State: descend inside, bound outside, grow"),
    ("other starts", "solvers/newton/", "State: only if nothing is proven yet"),
    ("solution", "solvers/newton/", "Solution: factors in the user's units"),
    ("fitted attributes", "estimators/", "components_, factor_coef_, codes_, …"),
    ("certificate", "theory/", "certificate_: a lower bound of the objective"),
]

# Packages beside the steps: (title, purpose, first step, last step).
PACKAGES = [
    ("memory · files · workers", "blocks of an array, rows on disk, Dask actors", 1, 1),
    ("models/", "filter and feature model: search side, units, factors", 2, 6),
    ("subspace/", "basis, loss on a design, Newton model: k coordinates", 3, 5),
    ("spectrum/", "products with X, exact compression, eigenvalues", 8, 8),
]


def main() -> None:
    """Write the figure."""
    height = 2 * 30 + len(STEPS) * (HIGH + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" role="img" '
        'aria-label="The steps from fit to the certificate">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#44546a"/></marker></defs>',
    ]
    for i, step in enumerate(STEPS):
        parts += _step(i, *step)
    for package in PACKAGES:
        parts += _package(*package)
    TARGET.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")
    print(TARGET.name)


def _top(i: int) -> int:
    return 30 + i * (HIGH + GAP)


def _step(i: int, name: str, file: str, gives: str) -> list[str]:
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


def _package(title: str, purpose: str, first: int, last: int) -> list[str]:
    x, y = LEFT + BOX + 60, _top(first)
    inner = title == "subspace/"  # inside the bracket of the models: its own bracket
    y += 84 * inner
    bottom = _top(last) + HIGH
    middle = (_top(first) + bottom) / 2 if first == last else y + 32
    parts = [
        f'<rect x="{x}" y="{middle - 30}" width="400" height="60" rx="9" fill="#fff6e5" stroke="#b98217"/>',
        _text(x + 16, middle - 6, title, 15, "#5c3d00", "600"),
        _text(x + 16, middle + 16, purpose, 12, "#5c3d00"),
    ]
    # A bracket along the steps that use it.
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
