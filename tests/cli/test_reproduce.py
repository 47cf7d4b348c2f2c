"""`superfactor reproduce`: listing, running, bad words."""

import pandas as pd
import pytest
from tests.cli.command import refused, superfactor

from superfactor.experiments import NAMES


def test_list():
    done = superfactor("reproduce", "--list")
    assert done.code == 0
    for name in NAMES:
        assert name in done.out
    titles = superfactor("reproduce", "--list", "--json").json["experiments"]
    assert tuple(titles) == NAMES


def test_run(tmp_path):
    out = tmp_path / "out"
    done = superfactor("reproduce", "statistical", "--quick", "--out", out)
    assert done.code == 0, done.err
    assert "statistical.png" in done.out
    assert len(pd.read_csv(out / "statistical.csv")) > 1
    assert (out / "statistical.txt").read_text().split()[:5] == done.out.split()[:5]


def test_json(tmp_path):
    done = superfactor("reproduce", "statistical", "--quick", "--out", tmp_path, "--json")
    result = done.json["experiments"]["statistical"]
    assert result["comparison"]
    assert all(str(tmp_path) in file for file in result["files"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "the name of an experiment is required"),
        (("mnist",), "no experiment mnist: one of mnist-convergence, "),
        (("statistical", "--data-dir", "nowhere"), "--data-dir nowhere: there is no such folder"),
        (("statistical", "--data-dir", __file__), "a file; the name of a folder is required"),
        (("statistical", "--out", __file__), "a file; the name of a folder is required"),
        (("statistical", "--out", f"{__file__}/out"), "a file; the name of a folder is required"),
        (("gene-groups", "--markers", "no.csv"), "no.csv"),
        (("gene-groups", "--markers", "/dev/null"), "--markers /dev/null: no markers"),
    ],
    ids=[
        "no name",
        "unknown",
        "no folder",
        "data in a file",
        "out is a file",
        "out in a file",
        "no file of markers",
        "no markers",
    ],
)
def test_bad_words(words, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert says in refused("reproduce", *words)
    assert not list(tmp_path.iterdir())


def test_without_matplotlib(monkeypatch):
    monkeypatch.setattr("superfactor.cli.reproduce.find_spec", lambda name: None)
    assert 'pip install "superfactor[cli,plot,data]"' in refused("reproduce", "statistical")


def test_missing_data_in_one_line(tmp_path, monkeypatch):
    monkeypatch.delenv("SUPERFACTOR_DATA_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    line = refused("reproduce", "job-convergence", "--quick", "--data-dir", "empty")
    assert "fake_job_postings" in line
    assert not (tmp_path / "superfactor-experiments").exists()


def test_markers_that_nobody_uses_are_noted(tmp_path):
    (tmp_path / "known.csv").write_text("feature,note\nBRCA1,repair\n")
    words = ("--quick", "--out", tmp_path, "--markers", tmp_path / "known.csv", "--json")
    (note,) = superfactor("reproduce", "statistical", *words).json["notes"]
    assert "only gene-groups has markers" in note
