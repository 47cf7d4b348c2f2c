"""Checkpoints: what is restored, which files raise errors, and that files are always complete."""

import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from superfactor.solvers.newton import checkpoint as module
from superfactor.solvers.newton.checkpoint import Checkpoint

PROBLEM = {
    "model": "filter",
    "rank": 3,
    "xi": 0.1,
    "shape": (40, 6),
    "squared_norm": 1234.5678,
    "targets": "3f2a",
    "covariates": None,
}
STATE = {
    "W": np.arange(12.0).reshape(4, 3),
    "codes": np.ones((2, 3), dtype=np.float32),
    "objective": 0.1 + 0.2,
    "iteration": 7,
    "phase": "rounds",
}


def at(path, interval=0.0, **changes):
    return Checkpoint(path, {**PROBLEM, **changes}, interval)


def refused(text):
    return pytest.raises(ValueError, match=r"\Acheckpoint='[^\n]*" + text + r"[^\n]*\Z")


# --- round trip ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fit.npz", "fit"])
def test_a_saved_state_is_restored(tmp_path, name):
    path = tmp_path / name
    assert at(path).load() is None
    at(str(path)).save(lambda: STATE)
    found = at(path).load()
    assert set(found) == set(STATE)
    np.testing.assert_array_equal(found["W"], STATE["W"])
    assert found["codes"].dtype == np.float32
    assert float(found["objective"]) == STATE["objective"]  # to the last bit
    assert (int(found["iteration"]), str(found["phase"])) == (7, "rounds")
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_nothing_is_pickled(tmp_path):
    with pytest.raises(TypeError, match="checkpoint: rng is"):
        at(tmp_path / "fit.npz").save(lambda: {"rng": np.asarray(object())})
    assert not (tmp_path / "fit.npz").exists()


def test_the_state_is_computed_only_when_it_is_time(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    asked = []

    def state():
        asked.append(now[0])
        return STATE

    kept = at(tmp_path / "fit.npz", interval=10.0)
    for now[0] in (100.0, 109.0, 111.0, 112.0, 120.0, 121.5):
        kept.save(state)
    assert asked == [111.0, 121.5]
    kept.save(state, force=True)
    assert asked == [111.0, 121.5, 121.5]


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"rank": 4}, "another problem: rank is 3 in the file and 4 in this fit"),
        ({"xi": 0.1000001}, r"xi is 0\.1 in the file and 0\.1000001 in this fit"),
        ({"shape": (40, 7)}, r"shape is \[40, 6\] in the file and \[40, 7\] in this fit"),
        ({"covariates": [1.0]}, r"covariates is None in the file and \[1\.0\] in this fit"),
        ({"link": "probit"}, "link is missing in the file and 'probit' in this fit"),
        (
            {"rank": 4, "targets": "00"},
            "rank is 3 in the file and 4 in this fit, targets is '3f2a' in the file and",
        ),
    ],
    ids=["integer", "float", "tuple", "none", "missing", "two"],
)
def test_another_problem_raises_with_the_differences(tmp_path, changes, text):
    at(tmp_path / "fit.npz").save(lambda: STATE)
    with refused(text):
        at(tmp_path / "fit.npz", **changes).load()


def test_rounding_does_not_change_the_problem(tmp_path):
    at(tmp_path / "fit.npz", weights=[1.0, {"a": 2.0}]).save(lambda: STATE)
    near = at(
        tmp_path / "fit.npz",
        squared_norm=PROBLEM["squared_norm"] * (1 + 1e-12),
        weights=[1.0 + 1e-12, {"a": 2.0}],
    )
    assert near.load() is not None


def other_zip(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "words")


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text("a,b\n1,2\n"),
        lambda path: np.savez(path, W=np.eye(2)),
        lambda path: path.write_bytes(b"\x93NUMPY" + bytes(100)),
        other_zip,
    ],
    ids=["empty", "text", "npz", "npy", "zip"],
)
def test_another_file_is_not_a_checkpoint(tmp_path, write):
    path = tmp_path / "fit.npz"
    write(path)
    before = path.read_bytes()
    with refused("not a checkpoint of superfactor"):
        at(path).load()
    assert path.read_bytes() == before


@pytest.mark.parametrize("part", [0.02, 0.9], ids=str)
def test_a_truncated_file_is_damaged(tmp_path, part):
    path = tmp_path / "fit.npz"
    at(path).save(lambda: STATE)
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with refused("the file is damaged; delete it to start again"):
        at(path).load()


def test_another_format_raises(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FORMAT", 2)
    at(tmp_path / "fit.npz").save(lambda: STATE)
    monkeypatch.undo()
    with refused("format 2 of superfactor's checkpoints, and this version reads 1"):
        at(tmp_path / "fit.npz").load()


def test_an_invalid_path_raises_before_the_fit(tmp_path, monkeypatch):
    with refused("there is no folder '.*missing'"):
        at(tmp_path / "missing" / "fit.npz")
    with refused("a folder; the name of a file is required"):
        at(tmp_path)
    monkeypatch.setattr(module.os, "access", lambda *_: False)
    with refused("the folder '.*' cannot be written to"):
        at(tmp_path / "fit.npz")


# --- complete files ------------------------------------------------------------------------------


def full_disk(file, **arrays):
    file.write(b"PK half of a checkpoint")
    raise OSError(28, "No space left on device")


def test_a_failed_write_keeps_the_old_file_and_the_fit_continues(tmp_path, monkeypatch):
    path = tmp_path / "fit.npz"
    at(path).save(lambda: STATE)
    before = path.read_bytes()
    monkeypatch.setattr(module.np, "savez", full_disk)
    expected = r"checkpoint='.*': cannot be written \(No space left on device\); the fit continues"
    with pytest.warns(UserWarning, match=expected):
        at(path).save(lambda: STATE)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_process_killed_while_writing_keeps_the_old_file(tmp_path):
    path = tmp_path / "fit.npz"
    at(path).save(lambda: STATE)
    program = f"""
import os, signal
import numpy as np
from superfactor.solvers.newton.checkpoint import Checkpoint

def half(file, **arrays):
    file.write(b"PK half of a checkpoint")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

np.savez = half
Checkpoint({str(path)!r}, {PROBLEM!r}).save(lambda: {{"W": np.zeros(3)}}, force=True)
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)
    assert done.returncode == -9
    np.testing.assert_array_equal(at(path).load()["W"], STATE["W"])
    left = [file.name for file in tmp_path.iterdir() if file != path]
    assert all(re.fullmatch(r"\.fit\.npz\.\w+\.tmp", name) for name in left)
