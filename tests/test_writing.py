"""Every file is complete or not there: after a kill, on a full disk, with two writers."""

import os
import signal
import stat
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.cli.command import superfactor as command
from tests.saving.fixtures import FOLDER

import superfactor
from superfactor.report import write_report

resource = pytest.importorskip("resource")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 40))
Y = np.where(X[:, 0] > 0, "a", "b")
TABLES = (FOLDER / "rna.csv", "--phenotype", FOLDER / "patients.csv", "--id", "patient")


@pytest.fixture(scope="module")
def model():
    return superfactor.SMFClassifier(2).fit(X, Y)


def save(model, path):
    superfactor.save(model, path)


def report(model, path):
    write_report(path, model, X, Y, held_out=False, stable=False, nearness=False)


def checkpoint(model, path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        superfactor.SMFClassifier(2, checkpoint=path).fit(X, Y)


def by_command(*words):
    def write(model, path):
        done = command(*words, "--out", path)
        if done.code:
            raise OSError(done.err.splitlines()[-1])

    return write


WRITERS = {
    "model.skops": save,
    "page.html": report,
    "checkpoint.npz": checkpoint,
    "table.csv": by_command("predict", FOLDER / "fit-classes.skops", *TABLES),
    "table.xlsx": by_command("predict", FOLDER / "fit-classes.skops", *TABLES),
    "table.parquet": by_command("predict", FOLDER / "fit-classes.skops", *TABLES),
    "table.tsv.gz": by_command("predict", FOLDER / "fit-classes.skops", *TABLES),
    "features.csv": by_command("factors", FOLDER / "fit-classes.skops"),
    "fit.skops": by_command(
        *("fit", *TABLES, "--target", "status", "--rank", "1", "--xi", "0.1", "--lam", "1"),
        *("--repeats", "0", "--no-stable"),
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_content_is_on_the_disk_before_the_name(name, model, tmp_path, monkeypatch):
    events = []
    sync, replace = os.fsync, os.replace

    def synced(file):
        found = os.fstat(file)
        events.append(("folder" if stat.S_ISDIR(found.st_mode) else "file", found.st_size))
        sync(file)

    def replaced(source, target):
        events.append(("name", os.stat(source).st_size))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    WRITERS[name](model, tmp_path / name)
    assert [kind for kind, _ in events[-3:]] == ["file", "name", "folder"]
    assert events[-3][1] == events[-2][1] == (tmp_path / name).stat().st_size > 0
    assert [path.name for path in tmp_path.iterdir()] == [name]


@contextmanager
def small_files(size=100):
    """No file may become larger: what a full disk does to a writer."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of openpyxl
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_names_the_file_and_leaves_the_old_one(name, model, tmp_path):
    path = tmp_path / name
    WRITERS[name](model, path)
    before = path.read_bytes()
    with small_files(), pytest.raises((OSError, UserWarning)) as error:
        WRITERS[name](model, path)
    message = str(error.value)
    assert str(path) in message and "File too large" in message
    assert "\n" not in message.strip() and ".tmp" not in message
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


def python(code, *words, **more):
    """Start Python with a fitted model and these arguments."""
    begin = (
        "import os, signal, sys, time, numpy as np, superfactor\n"
        "X = np.random.default_rng(0).normal(size=(60, 40))\n"
        "y = np.where(X[:, 0] > 0, 'a', 'b')\n"
    )
    return subprocess.Popen([sys.executable, "-c", begin + code, *map(str, words)], **more)


# Checkpoints need no import of skops, which takes seconds.
KILLED = """
os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
superfactor.SMFClassifier(2, checkpoint=sys.argv[1]).fit(X, y)
"""
SLOW = """
replace = os.replace
def wait(*names):
    print("here", flush=True)
    sys.stdin.readline()
    replace(*names)
os.replace = wait
superfactor.SMFClassifier(2, checkpoint=sys.argv[1], max_iter=1).fit(X, y)
"""


def test_the_next_write_removes_what_a_kill_left(model, tmp_path):
    path, other = tmp_path / "m.skops", tmp_path / "m.skops.old"
    for target in (path, path, other):
        assert python(KILLED, target).wait() == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) >= 2 and not path.exists()
    superfactor.save(model, path)
    assert other.name in "".join(os.listdir(tmp_path))  # what is left of another file stays
    superfactor.save(model, other)
    assert sorted(tmp_path.iterdir()) == [path, other]
    assert (superfactor.load(other).predict(X) == model.predict(X)).all()


def test_another_writer_is_left_alone(model, tmp_path):
    path = tmp_path / "m.skops"
    slow = python(SLOW, path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert slow.stdout.readline() == "here\n"
    superfactor.save(model, path)
    assert len(list(tmp_path.iterdir())) == 2
    slow.communicate("\n" * 100)
    assert slow.returncode == 0
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(superfactor.saving.ModelFileError):  # the slow one was the last
        superfactor.load(path)


def test_files_that_only_look_alike_are_kept(model, tmp_path):
    path = tmp_path / "m.skops"
    for name in (".m.skops.tmp", ".m.skops.notes.tmp", ".n.skops.0123456789abcdef.tmp", "m.skops.tmp"):
        (tmp_path / name).write_text("mine")
    os.mkfifo(tmp_path / ".m.skops.0123456789abcdef.tmp")
    superfactor.save(model, path)
    assert len(list(tmp_path.glob("*"))) + len(list(tmp_path.glob(".*"))) >= 5
    assert (tmp_path / ".n.skops.0123456789abcdef.tmp").read_text() == "mine"


PASSES = """
import sklearn, threading
from pathlib import Path
sklearn.set_config(working_memory=0.01)
def end():
    while not list(Path(sys.argv[1]).glob("superfactor-*/*/*")):
        time.sleep(0.001)
    if len(sys.argv) > 2:
        os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=end, daemon=True).start()
np.save(sys.argv[1] + "/X.npy", np.random.default_rng(0).normal(size=(3000, 20)))
rows = superfactor.row_blocks(sys.argv[1] + "/X.npy")
superfactor.SMFRegressor(2).fit(rows, np.arange(3000.0))
"""


def test_temporary_folders_of_a_killed_fit_are_removed_by_the_next(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    assert python(PASSES, tmp_path, "kill", env=environment).wait() == -signal.SIGKILL
    assert len(list(tmp_path.glob("superfactor-*"))) == 1
    (tmp_path / "superfactor-of-somebody").mkdir()
    assert python(PASSES, tmp_path, env=environment).wait() == 0
    assert [path.name for path in tmp_path.glob("superfactor-*")] == ["superfactor-of-somebody"]


def test_a_device_is_not_replaced(model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a file; the name of a file is required"):
        superfactor.save(model, tmp_path / "pipe")
    assert Path(tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("name", ["a" * 250, "folder"])
def test_a_name_that_cannot_be_written_is_named(name, model, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError) as error:
        superfactor.save(model, tmp_path / name)
    assert error.value.filename == str(tmp_path / name)
    assert os.listdir(tmp_path) == ["folder"]
