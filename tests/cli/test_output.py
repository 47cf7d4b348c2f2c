"""Files are complete or not there, however a run ends."""

import io
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import skops.io
from tests.cli.command import QUICK, SETTING, roles, superfactor
from tests.processes import INTERRUPTIBLE

from superfactor import saving
from superfactor._files import replacing
from superfactor.cli import main
from superfactor.cli.output import files, screen

# Saving writes half a file, says so, and waits to be stopped.
SLOW = """
import sys, time
import skops.io
from superfactor.cli import main

def slow(content, path):
    path.write_bytes(b"half of a mod")
    print("half", flush=True)
    time.sleep(60)

skops.io.dump = slow
main(sys.argv[1:])
"""


stopped = pytest.mark.parametrize(
    ("how", "code", "before"),
    [(signal.SIGINT, 130, b"an older model"), (signal.SIGTERM, 143, None)],
    ids=["interrupt-over-an-older-one", "terminate"],
)


@stopped
def test_stopped_while_saving(how, code, before, table, tmp_path, monkeypatch):
    """The signal reaches this process, since a new one takes seconds to start."""

    def stop(content, path):
        Path(path).write_bytes(b"half of a mod")
        signal.raise_signal(how)

    out = tmp_path / "m.skops"
    if before is not None:
        out.write_bytes(before)
    monkeypatch.setattr(skops.io, "dump", stop)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = superfactor("fit", table, *roles(), *QUICK, "--quiet", "--out", out)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert (done.code, done.out) == (code, "")
    assert done.err == ("error: interrupted\n" if how == signal.SIGINT else "")
    assert (out.read_bytes() if out.exists() else None) == before
    assert [p for p in tmp_path.iterdir() if p != out] == []


@pytest.mark.slow
@stopped
def test_a_process_stopped_while_saving(how, code, before, table, tmp_path):
    out = tmp_path / "m.skops"
    if before is not None:
        out.write_bytes(before)
    words = ["fit", table, *roles(), *QUICK, "--quiet", "--out", out]
    run = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE + SLOW, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stdout.readline() == "half\n"
    run.send_signal(how)
    _, err = run.communicate(timeout=60)
    assert run.returncode == code
    assert "Traceback" not in err
    assert err == ("error: interrupted\n" if how == signal.SIGINT else "")
    assert (out.read_bytes() if out.exists() else None) == before
    assert [p for p in tmp_path.iterdir() if p != out] == []


def test_a_failure_while_saving_leaves_nothing(table, tmp_path, monkeypatch):
    def full(content, path):
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(skops.io, "dump", full)
    done = superfactor("fit", table, *roles(), *QUICK, "-q", "--out", tmp_path / "m.skops")
    assert done.code == 2
    assert "No space left on device" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_writing_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.csv"
    files.write_table(path, ["a"], [[1]])

    def rows():
        yield [2]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        files.write_table(path, ["a"], rows())
    assert path.read_text() == "a\n1\n"
    with pytest.raises(KeyboardInterrupt), replacing(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "a\n1\n"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_of_a_new_file(tmp_path):
    plain, made = tmp_path / "plain", tmp_path / "made"
    plain.write_text("")
    files.write_table(made, ["a"], [])
    assert stat.S_IMODE(made.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_bytes_of_the_same_model_in_the_current_folder(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert superfactor("fit", table, *roles(), *QUICK, "-q", "--out", "m.skops").code == 0
    assert os.listdir() == ["m.skops"]


def test_a_terminal_without_unicode(table, monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    with pytest.raises(SystemExit) as done:
        main(["select", str(table), *roles(), *SETTING])
    assert done.value.code == 0
    assert b"Scree" in out.buffer.getvalue()


def test_an_internal_error_is_one_line(table, tmp_path, monkeypatch):
    def broken(*given, **more):
        raise TypeError("a bug\nof ours")

    monkeypatch.setattr(saving, "save", broken)
    words = ("fit", table, *roles(), *QUICK, "-q", "--out", tmp_path / "m.skops")
    done = superfactor(*words)
    assert done.code == 1
    assert (
        done.err
        == "error: internal error: TypeError: a bug of ours (SUPERFACTOR_DEBUG=1 prints a traceback)\n"
    )
    monkeypatch.setenv("SUPERFACTOR_DEBUG", "1")
    with pytest.raises(TypeError, match="a bug"):
        superfactor(*words)


class Terminal(io.StringIO):
    """A standard error that somebody looks at."""

    def isatty(self):
        return True


def test_progress_bars_only_in_a_terminal(monkeypatch):
    for quiet, stream, seen in (
        (False, Terminal(), True),
        (True, Terminal(), False),
        (False, io.StringIO(), False),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        with screen.Screen(quiet=quiet).progress("reading") as progress:
            assert (progress is not None) == seen
            if progress:
                progress(1, 2)
        assert bool(stream.getvalue()) == seen


def test_warnings_become_notes_once(capsys):
    import warnings

    show = screen.Screen()
    for _ in range(2):
        with show.step("fit"):
            warnings.warn("not converged:\n  try more", UserWarning, stacklevel=1)
            warnings.warn("somebody else's", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr().err == "note: not converged: try more\n"
    assert show.notes == ["not converged: try more"]


def test_json_has_no_nan(capsys):
    show = screen.Screen(as_json=True)
    show.finish({"a": float("nan"), "b": [float("inf"), 1], "c": {1: (2, 3)}})
    text = capsys.readouterr().out
    assert "NaN" not in text
    assert "Infinity" not in text


def test_a_device_is_not_replaced_by_a_file(model, table, tmp_path):
    pipe = tmp_path / "fifo"
    os.mkfifo(pipe)
    done = superfactor("predict", model, table, "--out", pipe)
    assert (done.code, done.err) == (2, f"error: --out {pipe}: not a file; the name of a file is required\n")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_a_link(model, table, tmp_path):
    (tmp_path / "real").mkdir()
    link, real = tmp_path / "p.csv", tmp_path / "real" / "p.csv"
    real.write_text("old")
    link.symlink_to(real)
    assert superfactor("predict", model, table, "--out", link).code == 0
    assert link.is_symlink()
    assert real.read_text().startswith("patient,predicted")


def test_the_model_is_saved_with_a_closed_pipe(table, tmp_path, monkeypatch):
    out = tmp_path / "m.skops"
    read, write = os.pipe()
    os.close(read)  # as `| head` does
    err = io.StringIO()
    with os.fdopen(write, "w") as pipe, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", pipe)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as done:
            main([str(word) for word in ("fit", table, *roles(), *QUICK, "--out", out)])
    assert (done.value.code, err.getvalue()) == (141, "")
    assert saving.read(out).about["target"] == "status"


@pytest.mark.slow
def test_a_process_with_a_closed_pipe(table, tmp_path):
    out = tmp_path / "m.skops"
    words = [str(word) for word in ("fit", table, *roles(), *QUICK, "--out", out)]
    run = subprocess.Popen(
        [sys.executable, "-m", "superfactor", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    run.stdout.close()  # as `| head` does
    assert run.stderr.read() == b""
    assert run.wait(timeout=60) == 141
    assert saving.read(out).about["target"] == "status"
