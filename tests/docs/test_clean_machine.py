"""A clean machine: the wheel is installed, then what the first page says is copied and run, in order."""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

ROOT = Path(__file__).parents[2]
NO_INDEX = r"Connection|No matching distribution found for (?!superfactor)"


class _Machine:
    """An environment with nothing but Python in it, and an empty folder to work in."""

    def __init__(self, folder):
        self.folder = folder / "work"
        self.folder.mkdir()
        home, passing = folder / "environment", folder / "passing"
        venv.create(home)
        if not shutil.which("uv"):
            pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(passing), "uv"]
            subprocess.run(pip, capture_output=True)
        unseen = {"PYTHONPATH", "PYTHONHOME"}
        self.variables = {name: x for name, x in os.environ.items() if name not in unseen} | {
            "PATH": os.pathsep.join([f"{home}/bin", f"{passing}/bin", os.environ["PATH"]]),
            "VIRTUAL_ENV": str(home),
            "PYTHONUTF8": "1",
            "MPLBACKEND": "Agg",
        }

    def install(self, command):
        """`pip install`, by uv where it can: that takes seconds, and pip more than half a minute."""
        done = self.run(f"uv {command}")
        if done.returncode:
            done = self.run(f"python -m ensurepip --default-pip && {command}")
        if done.returncode and re.search(NO_INDEX, done.stderr):
            pytest.skip(f"nothing can be installed here: {done.stderr.splitlines()[-1]}")
        assert done.returncode == 0, done.stderr

    def run(self, command):
        return subprocess.run(
            command, shell=True, cwd=self.folder, env=self.variables, capture_output=True, encoding="utf-8"
        )

    def does(self, command):
        """Run it; what it printed. It has to end well."""
        done = self.run(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture
def wheel(tmp_path):
    pytest.importorskip("hatchling")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = tmp_path.glob("*.whl")
    return built


@pytest.mark.slow
def test_commands_of_the_first_page_work_in_order(wheel, tmp_path):
    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    blocks = re.findall("^```(\\w*)\n(.*?)^```", page, re.M | re.S)
    assert {language for language, _ in blocks} == {"sh", "python"}
    install, demo, fit = (text.strip() for language, text in blocks if language == "sh")
    machine = _Machine(tmp_path)

    # The page installs from a clone, or an index; the wheel is what comes from there.
    assert re.fullmatch(r'pip install "\S+\[[\w,]+\]"', install)
    machine.install(re.sub(r'"[^[]+\[', lambda _: f'"{wheel}[', install))

    assert demo == "superfactor demo"
    assert "88 %" in machine.does(demo)
    assert (machine.folder / "superfactor-demo" / "report.html").stat().st_size > 10_000

    table, malign = load_breast_cancer(return_X_y=True, as_frame=True)
    people = {"patient": [f"P{i}" for i in range(120)], "age": range(40, 160), "sex": ["f", "m"] * 60}
    table = table.iloc[:120, :6].assign(diagnosis=malign.map({0: "malignant", 1: "benign"}), **people)
    table.to_csv(machine.folder / "table.csv", index=False)
    assert "--target diagnosis" in fit
    machine.does(fit)
    assert {"model.skops", "report.html"} <= {path.name for path in machine.folder.iterdir()}

    # One session of Python: what the page shows has to be printed.
    session = "".join(text for language, text in blocks if language == "python")
    (machine.folder / "session.txt").write_text(session, encoding="utf-8")
    assert session.count(">>> ") > 10
    machine.does("python -m doctest -o ELLIPSIS -o NORMALIZE_WHITESPACE session.txt")

    tutorial = ROOT / "examples" / "tutorials" / "few_labels.py"
    assert "predicted right" in machine.does(f'python "{tutorial}"')
