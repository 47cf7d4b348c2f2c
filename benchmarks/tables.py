"""Rows as plain tables for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

Row = dict[str, Any]


def show(title: str, rows: Sequence[Row]) -> None:
    """A table on the terminal; what belongs to one case stands under its name."""
    columns = [key for key in dict.fromkeys(key for row in rows for key in row) if key != "case"]
    cells = [[text(row.get(key)) for key in columns] for row in rows]
    # Words begin where the column does, numbers end where it does.
    words = [any(isinstance(row.get(key), str) for row in rows) for key in columns]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]

    def line(entries: Sequence[str]) -> str:
        placed = zip(entries, widths, words, strict=True)
        parts = [text.ljust(width) if word else text.rjust(width) for text, width, word in placed]
        return ("  " + "  ".join(parts)).rstrip()

    print(f"\n{title}\n{line(columns)}")
    for case, group in groupby(zip(rows, cells, strict=True), lambda pair: pair[0].get("case")):
        if case is not None:
            print(f"\n  {case}")
        for _, entries in group:
            print(line(entries))


def text(value: Any) -> str:
    """Three digits of a number; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def markdown(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [columns, *([text(cell) for cell in row] for row in rows)]
    head, *body = ("|" + "".join(f" {cell} |" if cell else " |" for cell in line) for line in lines)
    return "\n".join([head, "|" + "---|" * len(columns), *body])
