"""`superfactor reproduce`: an experiment of the paper, or of ours, into a folder."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.fit import read_markers
from superfactor.cli.screen import Screen
from superfactor.experiments import NAMES, TITLES, Setting, reproduce

WITH_MARKERS = "gene-groups"


def show_list(screen: Screen) -> None:
    """What there is, a line each."""
    screen.fields(list(TITLES.items()))
    screen.finish({"experiments": TITLES})


def run(
    name: str,
    out: Path,
    data_dir: Path | None,
    quick: bool,
    seed: int,
    markers: Path | None,
    screen: Screen,
) -> None:
    """Run one experiment, or all of them one after the other, and say how it compares with the paper."""
    if find_spec("matplotlib") is None:
        raise UserError(
            'figures need matplotlib; pip install "superfactor[cli,plot,data]" brings it'
        )
    names = NAMES if name == "all" else (name,)
    if name not in (*NAMES, "all"):
        raise UserError(f"no experiment {name}: one of {', '.join(NAMES)}, or all, is required")
    for option, folder in (("--out", out), ("--data-dir", data_dir)):
        if folder is not None and folder.exists() and not folder.is_dir():
            raise UserError(f"{option} {folder}: a file; the name of a folder is required")
    if data_dir is not None and not data_dir.is_dir():
        raise UserError(f"--data-dir {data_dir}: there is no such folder")
    _check_writable(out)
    options = {} if markers is None else {"markers": _checked(markers, names, screen)}
    if screen.silent:
        _silence_downloads()
    results = {}
    for each in names:
        with screen.step(each), screen.progress(each) as progress, as_user_error():
            setting = Setting(data_dir, quick, seed, options, note=screen.note)
            changes = {} if progress is None else {"progress": progress}
            outcome, files = reproduce(each, out, setting=setting, **changes)
        if len(names) > 1:
            screen.say(f"\n{each}", style="bold")
        screen.say(outcome.comparison + "\n")
        screen.fields([("written", "\n".join(map(str, files)))])
        results[each] = {"comparison": outcome.comparison, "files": [str(file) for file in files]}
    screen.finish({"experiments": results})


def _check_writable(out: Path) -> None:
    """Say now, and not after the work, that the folder could not be made or written to."""
    there = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    if not there.is_dir():
        raise UserError(f"--out {out}: {there} is a file; the name of a folder is required")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"--out {out}: the folder {there} cannot be written to")


def _checked(markers: Path, names: tuple[str, ...], screen: Screen) -> Path:
    """A file with markers; that no experiment uses them is worth a note."""
    if not read_markers(markers):
        raise UserError(f"--markers {markers}: no markers; a CSV feature,note is required")
    if WITH_MARKERS not in names:
        screen.note(f"--markers is not used: of the experiments only {WITH_MARKERS} has markers")
    return markers


def _silence_downloads() -> None:
    if find_spec("pooch") is not None:
        import pooch

        pooch.get_logger().setLevel("ERROR")
