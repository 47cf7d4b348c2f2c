"""From an experiment to files: names, contents, and nothing half-written."""

from dataclasses import replace

import pytest

from reproduction import reproduce
from reproduction.writing import write


def test_the_same_numbers_give_the_same_files(outcome, tmp_path):
    for folder in ("one", "two"):
        write(outcome, "x", tmp_path / folder)
    for ending in ("png", "svg", "csv"):
        one, two = (tmp_path / folder / f"x.{ending}" for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_a_failed_write_keeps_the_old_file(outcome, tmp_path):
    write(outcome, "x", tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    class Broken:
        def to_csv(self, path, index):
            path.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write(replace(outcome, figures={}, tables={"": Broken()}), "x", tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_file_instead_of_the_folder_is_refused_before_the_work(fake, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="a file; the name of a folder is required"):
        reproduce("statistical", tmp_path / "file")
    assert not fake.given
