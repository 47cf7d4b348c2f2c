"""Terminal output: text, tables, notes and progress bars; or one JSON object for scripts.

Results go to standard output; notes, bars and errors go to standard error.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from superfactor._words import COPIES, GIVEN_AWAY
from superfactor.cli.output.option_names import option

if TYPE_CHECKING:
    from rich.console import Console

# Wider tables are hard to read.
WIDEST = 120

Progress = Callable[[int, int], None]


class Screen:
    """The output of a command.

    Parameters
    ----------
    quiet : print only errors
    as_json : print only one JSON object, in `finish`
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False):
        self.as_json = as_json
        self.silent: bool = quiet or as_json
        self.notes: list[str] = []
        self.kinds: dict[str, str] = {}
        self.seconds: dict[str, float] = {}
        self._begin = time.perf_counter()
        self._out: Console | None = None

    @property
    def out(self) -> Console:
        """Standard output, as wide as the terminal up to WIDEST."""
        if self._out is None:
            from rich.console import Console

            class Out(Console):
                def on_broken_pipe(self) -> None:
                    raise BrokenPipeError  # handled by `exit_with` instead of rich

            self._out = Out(highlight=False, emoji=False)
            self._out.width = min(self._out.width, WIDEST)
        return self._out

    def print(self, text: str = "", *, style: str | None = None) -> None:
        """Print a line or paragraph of the result; markup is not interpreted."""
        if not self.silent:
            self.out.print(text, style=style, markup=False)

    def fields(self, rows: Sequence[tuple[str, str]], style: str = "") -> None:
        """Print names and values in two columns."""
        if self.silent:
            return
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(overflow="fold", style=style)
        for name, value in rows:
            grid.add_row(Text(name), Text(value))
        self.out.print(grid)

    def legend(self, rows: Sequence[tuple[str, str]]) -> None:
        """Print explanations below a table."""
        self.fields(rows, style="dim")

    def table(
        self,
        title: str,
        columns: Sequence[tuple[str, str]],
        rows: Sequence[Sequence[str]],
        *,
        chosen: int | None = None,
    ) -> None:
        """Print a table; `columns` are (name, "left" or "right"), row number `chosen` is highlighted."""
        if self.silent:
            return
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.HORIZONTALS, show_edge=False, pad_edge=False)
        for j, (name, side) in enumerate(columns):
            right = side == "right"
            # Numbers are never cut; the line becomes wider than the terminal instead.
            whole = max(len(name), *(len(row[j]) for row in rows)) if right and rows else None
            table.add_column(
                Text(name),
                justify="right" if right else "left",
                no_wrap=right,
                min_width=whole,
                overflow="fold",
            )
        for i, row in enumerate(rows):
            cells = [Text(cell) for cell in row]
            table.add_row(*cells, style="bold green" if i == chosen else None)
        self.print(f"\n{title}\n", style="bold")
        self.out.print(table, crop=False)

    def note(self, note: Any) -> None:
        """Print a note once: text, or a Note of a table."""
        text = note if isinstance(note, str) else note.said(option)
        if text in self.notes:
            return
        self.kinds[text] = "" if isinstance(note, str) else note.kind
        self.notes.append(text)
        if not self.silent:
            print(f"note: {text}", file=sys.stderr)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure the time of a step, and turn its warnings into notes."""
        from superfactor.estimators.targets.spelling import LabelWarning

        begin = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            # Reported with options when the table was read.
            warnings.simplefilter("ignore", LabelWarning)
            # Columns were matched by name before they became an array.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            # Reported with names when the table was read.
            warnings.filterwarnings("ignore", "confounders: ")
            warnings.filterwarnings("ignore", "X: .* values are missing")
            for reported in (COPIES, GIVEN_AWAY):
                warnings.filterwarnings("ignore", f"X: {reported}")
            yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin
        for warning in caught:
            self.note(" ".join(str(warning.message).split()))

    @contextmanager
    def progress(self, text: str) -> Iterator[Progress | None]:
        """Show a bar on standard error while the block runs; yield None without a terminal."""
        if self.silent or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        with bars:
            task = bars.add_task(text, total=None)
            yield lambda done, total: bars.update(task, completed=done, total=total)

    def finish(self, result: dict[str, Any]) -> None:
        """End the output: with JSON, print the result, the notes and the seconds of each step."""
        self.seconds["total"] = time.perf_counter() - self._begin
        if self.as_json:
            everything = {**result, "notes": self.notes, "seconds": self.seconds}
            print(json.dumps(_plain(everything), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    """Convert NumPy numbers and arrays for JSON; null for NaN and infinity."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
