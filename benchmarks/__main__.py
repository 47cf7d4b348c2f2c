"""Run the benchmarks: `python -m benchmarks [names] [--quick] [--out FILE]`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks import accuracy, fits, measure, optimum, selection

BENCHMARKS = {
    "imports": fits.imports,
    "wide": fits.wide,
    "sparse": fits.sparse,
    "search": selection.search,
    "accuracy": accuracy.accuracy,
    "iterations": optimum.iterations,
    "restarts": optimum.restarts,
}
RESULTS = Path(__file__).parent / "results" / "core.json"


def show(name: str, rows: list[dict[str, Any]]) -> None:
    """A plain table."""

    def text(value: Any) -> str:
        if isinstance(value, float):
            return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
        return str(value)

    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = [columns, *([text(row.get(key, "")) for key in columns] for row in rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
    print(f"\n{name}")
    for line in table:
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def main() -> None:
    """Measure, print, and keep the numbers with the machine they come from."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="fewer repeats and settings")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the JSON goes")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"unknown benchmark {sorted(unknown)}; allowed: {', '.join(BENCHMARKS)}")
    kept = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    kept["machine"] = measure.machine()
    for name in arguments.names or BENCHMARKS:
        rows = BENCHMARKS[name](arguments.quick)
        show(name, rows)
        kept[name] = rows
        temporary = arguments.out.with_suffix(".tmp")
        temporary.write_text(json.dumps(kept, indent=1) + "\n")
        temporary.replace(arguments.out)


if __name__ == "__main__":
    main()
