"""Run an experiment and put what it gives into files."""

from __future__ import annotations

import os
import secrets
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproduction.experiment import Outcome, Setting, load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["reproduce", "whole", "write"]

WIDTH = 80  # characters of a line of the comparison


def reproduce(
    name: str, out: str | Path, *, setting: Setting | None = None, **changes: Any
) -> tuple[Outcome, list[Path]]:
    """Run the experiment `name` and write its figures, numbers and comparison to the folder `out`.

    Parameters
    ----------
    name : one of `reproduction.NAMES`
    out : folder, made if it is not there
    setting : what the experiment is given; the default one if None
    changes : fields of the setting to replace, such as ``quick=True`` or ``data_dir="folder"``

    Returns
    -------
    outcome : figures, tables and the comparison with the paper
    files : NAME.png, NAME.svg, NAME.csv (more of them with a suffix) and NAME.txt, the comparison
    """
    experiment = load(name)
    if changes.get("data_dir") is not None:
        changes["data_dir"] = Path(changes["data_dir"])
    if Path(out).exists() and not Path(out).is_dir():
        raise ValueError(f"out={str(out)!r}: a file; the name of a folder is required")
    outcome = experiment.run(replace(setting or Setting(), **changes))
    return outcome, write(outcome, name, Path(out))


def write(outcome: Outcome, name: str, folder: Path) -> list[Path]:
    """Each file whole or not at all; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []

    @contextmanager
    def file(suffix: str, ending: str) -> Iterator[Path]:
        path = folder / ("-".join(filter(None, (name, suffix))) + ending)
        with whole(path) as part:
            yield part
        files.append(path)

    for suffix, figure in outcome.figures.items():
        for kind in ("png", "svg"):
            with file(suffix, f".{kind}") as part:
                _save(figure, part, kind)
    for suffix, table in outcome.tables.items():
        with file(suffix, ".csv") as part:
            table.to_csv(part, index=False)
    with file("", ".txt") as part:
        part.write_text(_wrapped(outcome.comparison) + "\n", encoding="utf-8")
    return files


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to; it becomes `path` only if nothing went wrong."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _wrapped(text: str) -> str:
    """Its lines broken between words where they are too long."""
    return "\n".join(
        textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False)
        for line in text.splitlines()
    )


def _save(figure: Figure, path: Path, kind: str) -> None:
    import matplotlib as mpl

    # Neither the date nor random names: the same numbers give the same file.
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {}
    with mpl.rc_context({"svg.hashsalt": "superfactor"}):
        figure.savefig(path, format=kind, dpi=150, metadata=metadata)
