"""``python -m reproduction``: a figure or table of the paper, or an experiment of ours, into a folder."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from reproduction import NAMES, TITLES, Setting, reproduce
from reproduction.experiment import LARGEST_SEED

__all__ = ["main"]

DONE, BAD_INPUT, INTERRUPTED = 0, 2, 130
ALL = "all"
WITH_MARKERS = "gene-groups"


class BadInput(ValueError):
    """Something the user can put right, in one line."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message} (--help lists what there is)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; what went wrong becomes one line.

    Parameters
    ----------
    arguments : the words after ``python -m reproduction``; None takes those of the process
    """
    try:
        given = _parser().parse_args(arguments)
        if given.list:
            print("\n".join(f"{name:<20} {title}" for name, title in TITLES.items()))
        else:
            _run(given)
    except (ValueError, OSError) as error:  # of the options, the data or the files
        return _fail(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m reproduction",
        description="Make a figure or table of the paper again: figures (PNG, SVG), their numbers (CSV) "
        "and how they compare with the paper.",
        epilog="Data already on disk are found in --data-dir or in the folder that SUPERFACTOR_DATA_DIR "
        "names; docs/data.md says where to get them.",
    )
    add = parser.add_argument
    add("name", metavar="NAME", nargs="?", help=f"see --list; {ALL} runs every one")
    add("--list", action="store_true", help="list the experiments and stop")
    add("--quick", action="store_true", help="seconds each: fewer starts, points and repeats")
    add("--data-dir", type=Path, metavar="DIR", help="where data sets already on disk are")
    add(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path("reproduced"),
        help="where to put figures and numbers (default: %(default)s)",
    )
    add("--markers", type=Path, metavar="CSV", help=f"known genes for {WITH_MARKERS}: feature,note")
    add("--seed", type=int, default=0, help="of what is drawn (default: %(default)s)")
    return parser


def _run(given: argparse.Namespace) -> None:
    """Check everything before the work; then one experiment, or all of them one after the other."""
    names = _names(given.name)
    _check_folders(given.out, given.data_dir)
    if not 0 <= given.seed <= LARGEST_SEED:
        raise BadInput(f"--seed {given.seed}: a whole number from 0 to {LARGEST_SEED} is required")
    options = {} if given.markers is None else {"markers": _markers(given.markers, names)}
    missing = [name for name in ("matplotlib", "pandas") if find_spec(name) is None]
    if missing:
        raise BadInput(f'{" and ".join(missing)} missing; pip install "superfactor[plot]" brings all')
    for name in names:
        with _shown(name) as shown:
            setting = Setting(given.data_dir, given.quick, given.seed, options, **shown)
            outcome, files = reproduce(name, given.out, setting=setting)
        heading = f"{name}\n" if len(names) > 1 else ""
        print(heading + outcome.comparison, "", "written:", *map(str, files), "", sep="\n")


def _names(name: str | None) -> tuple[str, ...]:
    if name is None:
        raise BadInput("the name of an experiment is required; --list has them")
    if name not in (*NAMES, ALL):
        raise BadInput(f"no experiment {name}: one of {', '.join(NAMES)}, or {ALL}, is required")
    return NAMES if name == ALL else (name,)


def _check_folders(out: Path, data_dir: Path | None) -> None:
    """Say now, and not after the work, what could be neither read nor written."""
    if data_dir is not None and not data_dir.is_dir():
        wrong = "a file; the name of a folder is required" if data_dir.exists() else "no such folder"
        raise BadInput(f"--data-dir {data_dir}: {wrong}")
    there = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    if not there.is_dir():
        raise BadInput(f"--out {out}: {there} is a file; the name of a folder is required")
    if not os.access(there, os.W_OK | os.X_OK):
        raise BadInput(f"--out {out}: the folder {there} cannot be written to")


def _markers(path: Path, names: tuple[str, ...]) -> Path:
    """A file with markers; that no experiment uses them is worth a note."""
    from superfactor.interpretation import read_markers

    if not read_markers(path):
        raise BadInput(f"--markers {path}: no markers; a CSV feature,note is required")
    if WITH_MARKERS not in names:
        _note(f"--markers is not used: of the experiments only {WITH_MARKERS} has markers")
    return path


@contextmanager
def _shown(name: str) -> Iterator[dict[str, Any]]:
    """How an experiment tells its progress (on a terminal) and its notes; warnings are noted at its end."""

    def progress(done: int, total: int) -> None:
        print(f"\r{name}: {done / max(total, 1):.0%}", end="", file=sys.stderr, flush=True)

    on_terminal = sys.stderr.isatty()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        try:
            yield {"note": _note} | ({"progress": progress} if on_terminal else {})
        finally:
            if on_terminal:
                print("\r\033[K", end="", file=sys.stderr)  # an empty line again
    for text in dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught):
        _note(text)


def _note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def _fail(message: str, code: int) -> int:
    """Print one line, whatever line breaks names of files may hold."""
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
