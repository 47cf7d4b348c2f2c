"""`superfactor reproduce`: an experiment of the paper, or of ours, into a folder."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.screen import Screen
from superfactor.experiments import NAMES, Setting, load, reproduce


def show_list(screen: Screen) -> None:
    """What there is, a line each."""
    titles = {name: load(name).TITLE for name in NAMES}
    screen.fields(list(titles.items()))
    screen.finish({"experiments": titles})


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
    options = {}
    if markers is not None:
        markers.stat()
        options["markers"] = markers
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
