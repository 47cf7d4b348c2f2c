"""From an experiment to files: names, contents, and nothing half-written."""

import sys
from types import ModuleType

import pandas as pd
import pytest
from matplotlib.figure import Figure

from reproduction import NAMES, TITLES, Outcome, Setting, load, reproduce
from reproduction.writing import write


def outcome(**changes):
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([1, 2], [3, 4])
    table = pd.DataFrame({"ξ": [0.1, 1.0], "loss": [3.0, 4.0]})
    made = {"figures": {"": figure, "breast": figure}, "tables": {"": table}, "comparison": "ξ up"}
    return Outcome(**{**made, **changes})


@pytest.fixture
def fake(monkeypatch):
    """An experiment in place of a real one, which remembers what it was given."""
    module = ModuleType("reproduction.statistical")
    module.given = []
    module.run = lambda setting: module.given.append(setting) or outcome()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_names_of_the_files(tmp_path):
    files = write(outcome(), "gene-groups", tmp_path / "new" / "folder")
    assert [file.name for file in files] == [
        "gene-groups.png",
        "gene-groups.svg",
        "gene-groups-breast.png",
        "gene-groups-breast.svg",
        "gene-groups.csv",
        "gene-groups.txt",
    ]
    assert sorted(files) == sorted((tmp_path / "new" / "folder").iterdir())


def test_contents(tmp_path):
    write(outcome(), "x", tmp_path)
    assert (tmp_path / "x.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (tmp_path / "x.svg").read_text()
    assert pd.read_csv(tmp_path / "x.csv").to_dict("list") == {"ξ": [0.1, 1.0], "loss": [3.0, 4.0]}
    assert (tmp_path / "x.txt").read_text(encoding="utf-8") == "ξ up\n"


def test_long_lines_of_the_comparison_are_broken_between_words(tmp_path):
    lines = ["one-third of ξ " * 20, "short"]
    write(outcome(comparison="\n".join(lines)), "x", tmp_path)
    text = (tmp_path / "x.txt").read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 80
    assert text.split() == " ".join(lines).split()
    assert text.endswith("\nshort\n")


def test_the_same_numbers_give_the_same_files(tmp_path):
    for folder in ("one", "two"):
        write(outcome(), "x", tmp_path / folder)
    for ending in ("png", "svg", "csv"):
        one, two = (tmp_path / folder / f"x.{ending}" for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_what_fails_leaves_the_old_file(tmp_path):
    write(outcome(comparison="old"), "x", tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    class Broken:
        def to_csv(self, path, index):
            path.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write(outcome(figures={}, tables={"": Broken()}), "x", tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_setting_reaches_the_experiment(fake, tmp_path):
    _, files = reproduce("statistical", tmp_path, data_dir=str(tmp_path), quick=True)
    (given,) = fake.given
    assert given.quick
    assert given.data_dir == tmp_path
    assert files[0] == tmp_path / "statistical.png"
    given.progress(1, 2)  # silent unless asked
    given.note("nothing")
    reproduce("statistical", tmp_path, setting=Setting(seed=3))
    assert (fake.given[1].seed, fake.given[1].quick) == (3, False)


@pytest.mark.parametrize("seed", [-1, 2**31, 1.5, "a", True, None])
def test_bad_seed(seed):
    with pytest.raises(
        ValueError, match=r"seed=.*: a whole number from 0 to 2147483647 is required"
    ):
        Setting(seed=seed)


def test_a_file_instead_of_the_folder_is_refused_before_the_work(fake, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="a file; the name of a folder is required"):
        reproduce("statistical", tmp_path / "file")
    assert not fake.given


def test_unknown_name():
    with pytest.raises(ValueError, match="no experiment 'mnist': one of mnist-convergence, "):
        load("mnist")


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_says_what_it_is(name):
    assert 20 < len(TITLES[name]) <= 80
    assert "\n" not in TITLES[name]
    assert len(load(name).__doc__) > 200
