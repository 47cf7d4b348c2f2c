"""From an experiment to files: names, contents, and nothing half-written."""

from dataclasses import replace

import pandas as pd
import pytest

from reproduction import Setting, load, reproduce
from reproduction.writing import write


def test_names_of_the_files(outcome, tmp_path):
    files = write(outcome, "gene-groups", tmp_path / "new" / "folder")
    assert [file.name for file in files] == [
        "gene-groups.png",
        "gene-groups.svg",
        "gene-groups-breast.png",
        "gene-groups-breast.svg",
        "gene-groups.csv",
        "gene-groups.txt",
    ]
    assert sorted(files) == sorted((tmp_path / "new" / "folder").iterdir())


def test_contents(outcome, tmp_path):
    write(outcome, "x", tmp_path)
    assert (tmp_path / "x.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (tmp_path / "x.svg").read_text()
    assert pd.read_csv(tmp_path / "x.csv").to_dict("list") == {"ξ": [0.1, 1.0], "loss": [3.0, 4.0]}
    assert (tmp_path / "x.txt").read_text(encoding="utf-8") == "ξ up\n"


def test_the_same_numbers_give_the_same_files(outcome, tmp_path):
    for folder in ("one", "two"):
        write(outcome, "x", tmp_path / folder)
    for ending in ("png", "svg", "csv"):
        one, two = (tmp_path / folder / f"x.{ending}" for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_what_fails_leaves_the_old_file(outcome, tmp_path):
    write(outcome, "x", tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    class Broken:
        def to_csv(self, path, index):
            path.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write(replace(outcome, figures={}, tables={"": Broken()}), "x", tmp_path)
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
    with pytest.raises(ValueError, match=r"seed=.*: a whole number from 0 to 2147483647"):
        Setting(seed=seed)


def test_a_file_instead_of_the_folder_is_refused_before_the_work(fake, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="a file; the name of a folder is required"):
        reproduce("statistical", tmp_path / "file")
    assert not fake.given


def test_unknown_name():
    with pytest.raises(ValueError, match="no experiment 'mnist': one of mnist-convergence, "):
        load("mnist")
