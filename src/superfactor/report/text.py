"""Text that is safe and readable: names from the data, numbers, tables.

Whatever comes from the data passes `label` once and `escape` (through `table` and its kind) on its
way into the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

# Longer names are cut in the middle: the ends of probe names tell them apart.
LONGEST_NAME = 200
LONGEST_CLASS = 60
LONGEST_NOTE = 2000
# A table of more columns is printed small.
MANY_COLUMNS = 12
# Longer names of rows get a wider column.
SHORT_ROW_NAME = 14
# Controls, halves of surrogate pairs and marks that reverse the direction of the text around them.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def label(value: Any, longest: int = LONGEST_NAME) -> str:
    """A name from the data as the page shows it: one line, visible characters, not too long."""
    name = _INVISIBLE.sub("\ufffd", re.sub(r"\s+", " ", str(value)))
    if len(name) > longest:
        half = (longest - 1) // 2
        name = f"{name[:half]}…{name[-half:]}"
    return name or "(no name)"


def number(value: float, digits: int = 3) -> str:
    """Significant digits with a real minus sign; thousands as 1,234, extremes as 1.2e−5."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if float(value).is_integer() and abs(value) < 1e9:
        text = f"{int(value):,}"
    elif 1e-4 <= abs(value) < 10**digits:
        text = f"{value:.{digits}g}"
    elif 1 <= abs(value) < 1e7:
        text = f"{value:,.0f}"
    else:
        text = re.sub(r"e([+-])0?", r"e\1", f"{value:.{digits - 1}e}").replace("e+", "e")
    return text.replace("-", "−")


def fixed(value: float, places: int = 3) -> str:
    """A number with that many decimals, – where there is none."""
    if not math.isfinite(value):
        return "–"
    # Adding zero makes −0.00 plain zero.
    return f"{round(float(value), places) + 0.0:.{places}f}".replace("-", "−")


def percent(share: float, places: int = 1) -> str:
    """0.123 as 12.3 %, – where there is none."""
    return "–" if not math.isfinite(share) else f"{100 * share:.{places}f} %"


def plural(count: int, noun: str) -> str:
    """3 factors, 1 factor, 2 classes."""
    if count != 1:
        noun += "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}"


def compact(values: Any, digits: int = 4) -> list[float | None]:
    """Numbers (k,) for the payload, rounded to significant digits; None where not finite."""
    form = f"%.{digits}g"
    plain = np.asarray(values, dtype=float).tolist()
    return [float(form % v) if math.isfinite(v) else None for v in plain]


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Sequence[int] = (),
    kind: str = "",
) -> str:
    """An HTML table in a frame that scrolls by itself; the first column names the row.

    `numbers` are the columns set to the right. Every cell is escaped.
    """
    right, rows = set(numbers), list(rows)
    if len(head) > MANY_COLUMNS:
        kind += " many"
    if max((len(row[0]) for row in rows), default=0) > SHORT_ROW_NAME:
        kind += " long-names"

    def cells(row: Sequence[str]) -> str:
        first, *others = (_cell(text, i in right) for i, text in enumerate(row))
        return (
            f'<tr><th scope="row"{first}</th>' + "".join(f"<td{c}</td>" for c in others) + "</tr>"
        )

    columns = "".join(
        f'<th scope="col"{_cell(text, i in right)}</th>' for i, text in enumerate(head)
    )
    body = "\n".join(cells(row) for row in rows)
    return frame(
        caption,
        f'<table class="{escape(kind)}">{caption_of(caption)}'
        f"<thead><tr>{columns}</tr></thead>\n<tbody>\n{body}\n</tbody></table>",
    )


def _cell(text: str, right: bool) -> str:
    return f"{' class=number' if right else ''}>{escape(text)}"


def caption_of(text: str) -> str:
    """The caption of a table; it stays where a wide table scrolls."""
    return f"<caption><span>{escape(text)}</span></caption>"


def frame(name: str, inside: str) -> str:
    """Room for something wide: it scrolls on its own, by keyboard too."""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(name)}">{inside}</div>'
    )


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """A list of names and values."""
    inside = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in rows)
    return f'<dl class="pairs">{inside}</dl>'


def details(summary: str, inside: str) -> str:
    """Something to open."""
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>"


def figure(name: str, caption: str, controls: str = "", kind: str = "") -> str:
    """The place where page.js draws the figure of that name."""
    return (
        f'<figure class="{escape(kind)}">{controls}<div class="plot" data-figure="{escape(name)}">'
        f"</div><figcaption>{escape(caption)}</figcaption></figure>"
    )


def select(name: str, text: str, options: Iterable[tuple[str, str]], chosen: str = "") -> str:
    """A labelled choice that page.js listens to."""
    inside = "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(shown)}'
        "</option>"
        for value, shown in options
    )
    return f'<label class="control">{escape(text)} <select id="{escape(name)}">{inside}</select></label>'


def controls(*parts: str) -> str:
    """A row of choices above a figure; only of use where scripts run."""
    return f'<div class="controls">{"".join(parts)}</div>'
