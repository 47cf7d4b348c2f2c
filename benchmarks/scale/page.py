"""The measured parts of docs/scaling.md, from the numbers that are kept: `python -m benchmarks pages`.

Blocks are marked as in docs/benchmarks.md; one whose figure has no numbers yet stays as it is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.pages import Blocks, Rows, renewed
from benchmarks.tables import markdown, text, told

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"
RESULTS = Path(__file__).parents[1] / "results"


def kept() -> dict[str, Any]:
    """All figures of scale: those of the processor, and of GPUs from files of their own."""
    files = (path for path in sorted(RESULTS.glob("*.json")) if path.name != "results.json")
    return {name: figure for path in files for name, figure in json.loads(path.read_text()).items()}


def write() -> None:
    """Put the kept numbers into the page."""
    PAGE.write_text(renewed(PAGE.read_text(), kept(), BLOCKS))


def _growth(rows: Rows, machine: dict[str, Any]) -> str:
    sizes = [row for row in rows if "exponent in" not in row]
    table = [
        [row["series"], f"{row['n']:,}", f"{row['nnz']:,}", row["κ"]]
        + [_milliseconds(row[cost]) for cost in ("s an iteration", "s a question", "s a round")]
        for row in sizes
    ]
    for row in rows:
        if "exponent in" in row:
            costs = (row["s an iteration"], row["s a question"], row["s a round"])
            exponents = [f"**{cost:.2f}**" for cost in costs]
            table.append([row["series"], "exponent in", row["exponent in"], "", *exponents])
    columns = ["series", "n", "stored values", "κ", "an iteration", "a question", "a round"]
    return told(
        "How cost grows (r = 5). An iteration is a whole fit divided by its steps; a question is the fit "
        "divided by its questions; a round is one `evaluate`, one `curvature` and one `pull`. "
        f"{_on(machine)}:",
        markdown(columns, table),
    )


def _memory(rows: Rows, machine: dict[str, Any]) -> str:
    peaks = "anonymous MB, less codes and y", "resident MB, less codes and y"
    columns = (*peaks, "codes and y MB", "scratch MB")
    sizes = [row for row in rows if "n" in row]
    table = [[row["storage"], f"{row['n']:,}", *(f"{row[key]:,.0f} MB" for key in columns)] for row in sizes]
    spread = max(row[peaks[0]] for row in rows if "n" not in row)
    return told(
        f"Measured: peak memory of a whole process, {sizes[0]['p']} features, float32, 64 MiB of "
        "`working_memory`, codes and y taken off. Without mapped pages the largest is "
        f"{100 * spread:.0f} % above the smallest. {_on(machine)}:",
        markdown(["storage", "n", "peak", "mapped pages included", "codes and y", "temporary files"], table),
    )


def _million(rows: Rows, machine: dict[str, Any]) -> str:
    by = {row["X"]: row for row in rows}
    file, memory = by["file"], by.get("memory")
    table = [["file", _seconds(file["s"]), f"{file['passes']:.3g}", _seconds(file["s beyond reading"])]]
    if memory is not None:
        table.append(["memory", _seconds(memory["s"]), "", _seconds(memory["s"])])
    return told(
        f"{_size(file)}, float32, certificate included. The file is in the system's cache: a look at each of "
        f"its pages takes {_seconds(file['bare pass s'])}. {_on(machine)}:",
        markdown(["X", "whole fit", "passes", "beyond reading"], table),
    )


def _precision(rows: Rows, machine: dict[str, Any]) -> str:
    row = rows[0]
    return told(
        f"float32 against float64, {_size(row)}: {_seconds(row['float32 s'])} against "
        f"{_seconds(row['float64 s'])}, objectives {row['relative difference']:.0e} apart. {_on(machine)}."
    )


def _gpu(rows: Rows, machine: dict[str, Any]) -> str:
    table = [
        [row["library"], row["type"], row["model"]]
        + [_seconds(row[key]) if key in row else "" for key in ("s without certificate", "s")]
        + [_apart(row)]
        for row in rows
    ]
    columns = ["arrays", "type", "model", "fit", "with certificate", "objective against float64"]
    return told(
        f"On one {machine['device']}, {_size(rows[0])}, X there before, best of three "
        f"(PyTorch {machine['torch']}, CuPy {machine['cupy']}):",
        markdown(columns, table),
    )


def _cluster(rows: Rows, machine: dict[str, Any]) -> str:
    by = {row["who"]: row for row in rows}
    ways, small = [row for row in rows if "objective" in row], by["overhead"]
    table = [[row["who"], _seconds(row["s"]), _apart(row)] for row in ways]
    return told(
        f"Measured: {_size(ways[0])}, float64, one thread each. Two workers are "
        f"{by['2 workers against 1']['times faster']:.2f} times as fast as one. At {small['n']:,} samples a "
        f"question takes {small['ms a question, alone']:.1f} ms longer than in one process, "
        f"{small['ms a question, whole fit']:.1f} ms with loading. {_on(machine)}:",
        markdown(["", "whole fit", "objective against the plain process"], table),
    )


def _faults(rows: Rows, machine: dict[str, Any]) -> str:
    alone, *others = rows
    killed = [row for row in others if row["killed"]]
    apart = max(row["relative difference"] for row in killed)
    spent = sorted(row["s"] for row in killed)
    return told(
        f"Measured: {len(killed)} fits on two workers, one of which was killed between 20 and 80 % of the "
        f"way. All ended, at most {apart:.0e} from the objective of a fit that was left alone. That took "
        f"{_seconds(alone['s'])}, they {_seconds(spent[0])} to {_seconds(spent[-1])}. {_on(machine)}."
    )


BLOCKS: Blocks = {
    "memory": ("memory", _memory),
    "cluster": ("cluster", _cluster),
    "growth": ("growth", _growth),
    "million": ("million", _million),
    "precision": ("precision", _precision),
    "gpu": ("gpu", _gpu),
    "faults": ("faults", _faults),
}


def _on(machine: dict[str, Any]) -> str:
    return f"{machine['processor']}, {machine['cores']} cores"


def _size(row: dict[str, Any]) -> str:
    return f"{row['n']:,} × {row['p']:,}, {row['classes']} classes, r = {row['rank']}"


def _apart(row: dict[str, Any]) -> str:
    return f"{row['relative difference']:.0e}" if "relative difference" in row else ""


def _seconds(value: float) -> str:
    return f"{text(value)} s"


def _milliseconds(value: float) -> str:
    return f"{text(1e3 * value)} ms"
