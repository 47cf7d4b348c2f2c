"""Crafted model files are refused in one line, soon, in little memory, and nothing in them is run."""

import json
import subprocess
import sys
import zipfile

import pytest
from tests.cli.command import refused
from tests.saving.fixtures import FOLDER
from tests.saving.hostile import FILES

import superfactor
from superfactor.saving import ModelFileError

GOOD = FOLDER / "pipeline.skops"
SECONDS, BYTES = 5, 500 * 10**6
# Load files one by one, and print what came of each. A signal ends what hangs.
LOAD = """
import json, os, signal, sys, time
import superfactor
superfactor.load(sys.argv[1])
def size(name):
    lines = open("/proc/self/status").read().splitlines() if os.path.exists("/proc/self/status") else ()
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(name)), 0)
handles = lambda: len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
open_before, modules = handles(), {name for name in sys.modules if name.startswith("superfactor")}
for path in sys.argv[2:]:
    signal.alarm(20)
    before, begun = size("VmRSS"), time.monotonic()
    try:
        superfactor.load(path)
        kind, line = "loaded", ""
    except Exception as error:
        kind, line = type(error).__name__, str(error)
    after = {name for name in sys.modules if name.startswith("superfactor")}
    print(json.dumps({
        "path": path, "kind": kind, "line": line, "seconds": time.monotonic() - begun,
        "bytes": size("VmHWM") - before, "handles": handles() - open_before,
        "modules": sorted(after - modules),
    }), flush=True)
superfactor.load(sys.argv[1])
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What came of every file, by name; a file that ends or hangs Python has no entry."""
    folder = tmp_path_factory.mktemp("hostile")
    names = {}
    for number, (name, write) in enumerate(FILES.items()):
        path = folder / f"{number}.skops"
        with zipfile.ZipFile(GOOD) as archive:
            parts = {part: archive.read(part) for part in archive.namelist()}
        write(
            {part: content for part, content in parts.items() if part != "schema.json"},
            json.loads(parts["schema.json"]),
            path,
        )
        names[str(path)] = name
    found, left = {}, list(names)
    while left:
        done = subprocess.run([sys.executable, "-c", LOAD, GOOD, *left], capture_output=True, text=True)
        results = [json.loads(line) for line in done.stdout.splitlines()]
        found |= {names[result["path"]]: result for result in results}
        left = left[len(results) + 1 :]  # without the one that ended it
    return found


@pytest.mark.parametrize("name", FILES)
def test_crafted_files_are_refused(name, outcomes):
    assert name in outcomes, "Python hung or ended"
    outcome = outcomes[name]
    assert outcome["kind"] == "ModelFileError", outcome
    assert outcome["line"].startswith(f"{outcome['path']}: ") and "\n" not in outcome["line"], outcome
    assert len(outcome["line"]) < 250
    assert outcome["seconds"] < SECONDS and outcome["bytes"] < BYTES, outcome
    assert outcome["handles"] == 0 and not outcome["modules"], outcome


def test_a_file_that_expands_is_loaded_on_request(tmp_path):
    """Honest zeros are refused for their size only."""
    path = tmp_path / "m.skops"
    path.write_bytes(GOOD.read_bytes())
    with pytest.raises(ModelFileError, match=r"it would expand to .* GB; max_bytes= allows more"):
        superfactor.load(path, max_bytes=1000)
    assert superfactor.load(path, max_bytes=10**6).steps


def test_the_command_line_names_no_parameter_of_python(tmp_path):
    with zipfile.ZipFile(GOOD) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    FILES["8.4 GB in 8 MB"](parts, json.loads(parts.pop("schema.json")), tmp_path / "m.skops")
    line = refused("factors", tmp_path / "m.skops")
    assert "not loaded: it would expand to 8.4 GB; a file written by superfactor fit is required" in line


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(IsADirectoryError):
        superfactor.load(tmp_path)
