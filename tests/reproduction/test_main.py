"""``python -m reproduction``: listing, running, invalid arguments."""

import subprocess
import sys

import pandas as pd
import pytest

from reproduction import NAMES
from reproduction.__main__ import main


@pytest.fixture
def refused(capsys):
    """Run arguments that must fail: exit code 2 and one line, which is returned."""

    def run(*words):
        assert main([str(word) for word in words]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        return err

    return run


def test_list_does_not_import_experiments():
    code = (
        "import sys; from reproduction.__main__ import main; code = main(['--list'])\n"
        "print(*{'numpy', 'pandas', 'sklearn', 'scipy'} & set(sys.modules), file=sys.stderr)\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert tuple(line.split()[0] for line in done.stdout.splitlines()) == NAMES
    assert done.stderr.strip() == ""


def test_run(fake, tmp_path, capsys):
    known = tmp_path / "known.csv"
    known.write_text("feature,note\nBRCA1,repair\n")
    out = tmp_path / "out"
    words = ("statistical", "--quick", "--seed", "3", "--out", str(out), "--markers", str(known))
    assert main(words) == 0
    (given,) = fake.given
    assert (given.quick, given.seed, given.options) == (True, 3, {"markers": known})
    printed, noted = capsys.readouterr()
    assert str(out / "statistical.png") in printed.splitlines()
    assert len(pd.read_csv(out / "statistical.csv")) > 1
    assert printed.startswith((out / "statistical.txt").read_text())
    assert "only gene-groups has markers" in noted


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "the name of an experiment is required"),
        (("mnist",), "no experiment mnist: one of mnist-convergence, "),
        (("statistical", "--quik"), "--quik"),
        (("statistical", "--seed", "-1"), "--seed -1: a whole number from 0"),
        (("statistical", "--data-dir", "nowhere"), "--data-dir nowhere: no such folder"),
        (("statistical", "--out", __file__), "a file; the name of a folder is required"),
        (("gene-groups", "--markers", "/dev/null"), "--markers /dev/null: no markers"),
    ],
)
def test_invalid_arguments(words, says, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert says in refused(*words)
    assert not list(tmp_path.iterdir())


def test_without_matplotlib(refused, monkeypatch, tmp_path):
    monkeypatch.setattr("reproduction.__main__.find_spec", lambda name: None)
    assert 'pip install "superfactor[plot]"' in refused("statistical", "--out", tmp_path)


def test_missing_data_in_one_line(refused, tmp_path, monkeypatch):
    monkeypatch.delenv("SUPERFACTOR_DATA_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    line = refused("job-convergence", "--quick", "--data-dir", "empty")
    assert "fake_job_postings" in line
    assert not (tmp_path / "reproduced").exists()
