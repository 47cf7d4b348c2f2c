"""Writes the picture that says how much of the package the tests run; ``make coverage`` calls it.

It is made here and kept with the pages, so that no service has to be asked for it.
"""

import json
import math
from pathlib import Path

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "build" / "coverage.json"
PICTURE = ROOT / "docs" / "images" / "coverage.svg"
WORD = "coverage"
PER_LETTER, MARGIN = 7, 6  # pixels


def main():
    """docs/images/coverage.svg from what coverage has measured."""
    totals = json.loads(MEASURED.read_text(encoding="utf-8"))["totals"]
    # Rounded down: 100 % is said of 100 % only.
    said = f"{math.floor(totals['percent_covered'])} %"
    PICTURE.write_text(badge(said), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {said}")


def badge(said):
    """A picture of the word and what is said of it, readable on light and dark pages."""
    left, right = (PER_LETTER * len(text) + 2 * MARGIN for text in (WORD, said))
    size = f'width="{left + right}" height="20"'
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{WORD}: {said}">
  <title>{WORD}: {said}</title>
  <rect width="{left}" height="20" fill="#4a4a4a"/>
  <rect x="{left}" width="{right}" height="20" fill="#0b5394"/>
  <g fill="#fff" text-anchor="middle" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">
    <text x="{left / 2:g}" y="14">{WORD}</text>
    <text x="{left + right / 2:g}" y="14">{said}</text>
  </g>
</svg>
"""


if __name__ == "__main__":
    main()
